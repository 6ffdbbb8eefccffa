"""Files as people have them, and broken ones: what every reader is tried on.

A file is read as a table whose columns have one length, or refused with a `TableError`
that names it. A model file is loaded, or refused with a `ValueError`.
"""

import gzip
import io
import json
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import mercer
from mercer.app.tables.reading import read_table
from mercer.app.tables.table import Table, TableError

N_PRINTED = 300
MEMORY = 2e8  # bytes that a reader may use
NASTY = (
    "",
    "NA",
    "-1",
    "1,5",
    "1.234,50",
    "$1,100",
    "12 %",
    "1e400",
    "nan",
    "2024-02-30",
    '"',
    "a\tb",
    "a;b",
    "line\nbreak",
    "=1+1",
    "\x00",
    "\ufeff",
    "é",
    "日本",
    "💥",
    "0x10",
    "True",
    "[1, 2]",
    " ",
)
cells = st.one_of(st.sampled_from(NASTY), st.text(max_size=8), st.floats().map(str))
TABLES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".csv.gz", ".xlsx", ".parquet")
KINDS = (*TABLES, ".feather", ".npz", ".zip", ".ods")


@dataclass(frozen=True)
class Spoiled:
    """A file: its ending and its bytes."""

    ending: str
    content: bytes

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        cut = "..." if len(self.content) > N_PRINTED else ""
        printer.text(f"Spoiled({self.ending!r}, {self.content[:N_PRINTED]!r}{cut})")


@cache
def sound(ending: str) -> bytes:
    """Return a small file of a kind that can be read."""
    frame = pd.DataFrame(
        {"id": [1, 2, 3], "size": [0.5, 1.5, 2.5], "label": ["a", None, "b"]}
    )
    out = io.BytesIO()
    if ending == ".xlsx":
        frame.to_excel(out, index=False)
    elif ending == ".parquet":
        frame.to_parquet(out)
    elif ending == ".feather":
        frame.to_feather(out)
    elif ending == ".npz":
        np.savez(out, size=frame["size"], vectors=np.eye(3))
    elif ending == ".jsonl":
        frame.to_json(out, orient="records", lines=True)
    elif ending == ".json":
        out.write(json.dumps(frame.to_dict("records")).encode())
    elif ending == ".csv.gz":
        out.write(gzip.compress(frame.to_csv(index=False).encode(), mtime=0))
    else:
        sign = "\t" if ending == ".tsv" else ","
        out.write(frame.to_csv(index=False, sep=sign).encode())
    return out.getvalue()


@st.composite
def from_cells(draw: st.DrawFn) -> Spoiled:
    """Draw a text file of nasty cells, rows perhaps of different lengths."""
    width = draw(st.integers(1, 4))
    rows = draw(
        st.lists(
            st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6
        )
    )
    if draw(st.booleans()):
        rows[draw(st.integers(0, len(rows) - 1))].append("one more")
    sign = draw(st.sampled_from(",;\t|"))
    encoding = draw(st.sampled_from(["utf-8", "utf-16", "latin-1", "utf-8-sig"]))
    ends = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = ends.join(sign.join(row) for row in rows)
    ending = draw(st.sampled_from((".csv", ".tsv", ".txt")))
    return Spoiled(ending, text.encode(encoding, errors="replace"))


@st.composite
def from_sound(draw: st.DrawFn, endings: tuple[str, ...] = TABLES) -> Spoiled:
    """Draw a sound file with bytes changed, cut off or added."""
    ending = draw(st.sampled_from(endings))
    content = bytearray(sound(ending))
    for _ in range(draw(st.integers(0, 4))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    end = draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))
    return Spoiled(ending, bytes(content[:end]) + draw(st.binary(max_size=4)))


files = st.one_of(
    from_cells(),
    from_sound(),
    st.builds(Spoiled, st.sampled_from(KINDS), st.binary(max_size=200)),
)


patches = st.one_of(
    st.sampled_from([b"", b"null", b"{}", b"[]", b"-1", b"1e999", b'"os.system"']),
    st.binary(max_size=3),
)


@cache
def model_file() -> bytes:
    """Return a saved model."""
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = mercer.KernelLogisticRegression().fit(X, [0, -1, 1, -1])
    with tempfile.TemporaryDirectory() as folder:
        mercer.save(model, Path(folder) / "model.skops")
        return (Path(folder) / "model.skops").read_bytes()


@st.composite
def model_files(draw: st.DrawFn) -> Spoiled:
    """Draw a model file with bytes changed or cut off, in the zip or inside it."""
    if draw(st.booleans()):
        return Spoiled(".skops", _with_other_schema(draw))
    content = bytearray(model_file())
    for _ in range(draw(st.integers(0, 3))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    end = draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))
    return Spoiled(".skops", bytes(content[:end]))


def _with_other_schema(draw: st.DrawFn) -> bytes:
    out = io.BytesIO()
    with ZipFile(io.BytesIO(model_file())) as old, ZipFile(out, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "schema.json":
                start = draw(st.integers(0, len(text)))
                gone = draw(st.integers(0, 20))
                text = text[:start] + draw(patches) + text[start + gone :]
            new.writestr(name, text)
    return out.getvalue()


def _at_a_path(spoiled: Spoiled, read: Callable[[Path], object]) -> object:
    with tempfile.TemporaryDirectory(prefix="mercer-fuzz") as folder:
        path = Path(folder) / f"file{spoiled.ending}"
        path.write_bytes(spoiled.content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(path)


def reads_or_refuses(spoiled: Spoiled) -> str:
    """Return "answered" or "refused", or raise what a reader must not."""
    try:
        table = _at_a_path(spoiled, lambda path: read_table(path, memory=MEMORY))
    except TableError as error:
        assert "file" in str(error), f"message does not name the file: {error}"  # noqa: PT017
        return "refused"
    assert isinstance(table, Table)
    assert len(set(table.columns)) == len(table.columns)
    for name, vectors in table.vectors.items():
        assert len(vectors) == len(table), name
    return "answered"


def loads_or_refuses(spoiled: Spoiled) -> str:
    """Return "answered" or "refused", or raise what loading must not."""
    try:
        _at_a_path(spoiled, mercer.load)
    except ValueError as error:
        assert len(str(error)) > 15, f"message {error}"  # noqa: PT017
        return "refused"
    return "answered"
