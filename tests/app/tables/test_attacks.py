"""Files, names and cells that somebody made to do harm, one test for each way in."""

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mercer._base.words import printable
from mercer.app.cli.main import main
from mercer.app.tables.reading import read_table
from mercer.app.tables.saving import RESULT, changes_since
from mercer.app.tables.table import TableError
from mercer.app.tables.writing import safe_cell, write_csv

LIMIT = 24 * 2**20


def _npy(kind: str, *shape: int) -> bytes:
    """Return the header of an array, and no numbers."""
    stream = io.BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue()


def _image(folder: Path, name: str, data: bytes | None = None) -> None:
    from PIL import Image

    folder.mkdir(exist_ok=True)
    if data is None:
        Image.new("L", (8, 8), 3).save(folder / name)
    else:
        (folder / name).write_bytes(data)


@pytest.mark.parametrize(
    "text",
    ['{"a":' * 100_000 + "1" + "}" * 100_000, '{"a":' + "[" * 9999 + "]" * 9999 + "}"],
)
@pytest.mark.parametrize("name", ["t.jsonl", "t.json"])
def test_brackets_of_json_cannot_end_the_process(
    tmp_path: Path, text: str, name: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(TableError, match="nested too deep"):
        read_table(tmp_path / name)


def test_brackets_in_texts_of_json_are_no_nesting(tmp_path: Path) -> None:
    lines = [json.dumps({"a": '[{ "' * 300, "k": k}) for k in range(5)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    assert len(read_table(tmp_path / "t.jsonl")) == 5


@pytest.mark.parametrize(
    ("kind", "shape"), [("<f8", (10**12, 0)), ("|S0", (10**12,)), ("<f8", (0, 3))]
)
def test_arrays_without_a_byte_have_no_rows(
    tmp_path: Path, kind: str, shape: tuple[int, ...]
) -> None:
    (tmp_path / "t.npy").write_bytes(_npy(kind, *shape))
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("a.npy", _npy(kind, *shape))
    with pytest.raises(TableError, match="holds no array with a row per item"):
        read_table(tmp_path / "t.npy")
    with pytest.raises(TableError, match="holds no array that has rows"):
        read_table(tmp_path / "t.npz")


def test_offsets_of_arrow_cannot_lead_out_of_their_buffer(tmp_path: Path) -> None:
    import pyarrow as pa

    offsets = np.array([0, 1, 2**30, 3], dtype=np.int32)
    texts = pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(b"abc"))
    table = pa.table({"a": texts})
    with pa.ipc.new_file(str(tmp_path / "t.arrow"), table.schema) as file:
        file.write_table(table)
    with pytest.raises(TableError, match="cannot be read as arrow"):
        read_table(tmp_path / "t.arrow")


@pytest.mark.parametrize(
    "said",
    [
        b"[1,2",
        b'{"index_columns": "x", "columns": 5}',
        b'{"index_columns": [], "columns": [{"name": "a", "field_name": "a", '
        b'"pandas_type": "int64", "numpy_type": "os.system", "metadata": null}]}',
    ],
)
def test_notes_of_pandas_in_a_file_are_not_believed(
    tmp_path: Path, said: bytes
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({"a": [1, 2]}).replace_schema_metadata({b"pandas": said})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(TableError, match="is damaged"):
        read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_zip_is_unpacked_only_where_the_unpacked_can_be_counted(
    tmp_path: Path, method: int
) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w", method) as archive:
        archive.writestr("t.csv", b"a,b\n" + b"1,2\n" * 10)
    with pytest.raises(TableError, match="packed in an unusual way"):
        read_table(tmp_path / "t.zip")


def test_names_in_archives_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with zipfile.ZipFile(tmp_path / "in" / "t.zip", "w") as archive:
        archive.writestr("../../evil.csv", "a,b\n1,2\n")
    stream = io.BytesIO()
    np.save(stream, np.arange(3))
    with zipfile.ZipFile(tmp_path / "in" / "t.npz", "w") as archive:
        archive.writestr("../../evil.npy", stream.getvalue())
    assert len(read_table(tmp_path / "in" / "t.zip")) == 1
    assert len(read_table(tmp_path / "in" / "t.npz")) == 3
    names = {p.name for p in tmp_path.rglob("*")}
    assert names == {"in", "t.zip", "t.npz"}


@pytest.mark.parametrize("cell", ["np.array([print])", "print"])
def test_arrays_of_objects_are_refused(tmp_path: Path, cell: str) -> None:
    held = np.array([{"a": cell}, None], dtype=object)
    np.savez(tmp_path / "t.npz", a=held)
    with pytest.raises(TableError, match="Object arrays cannot be loaded"):
        read_table(tmp_path / "t.npz")


def test_an_array_beside_a_table_counts_and_is_no_link(tmp_path: Path) -> None:
    pd.DataFrame({"a": range(50)}).to_csv(tmp_path / "t.csv", index=False)
    np.save(tmp_path / "large.npy", np.zeros((50, 200_000), dtype=np.float32))
    (tmp_path / "t.npy").hardlink_to(tmp_path / "large.npy")
    with pytest.raises(TableError, match=r"may be used. Raise --memory"):
        read_table(tmp_path / "t.csv", memory=LIMIT)
    (tmp_path / "t.npy").unlink()
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "t.csv").rename(inside / "t.csv")
    (inside / "t.npy").symlink_to(tmp_path / "large.npy")
    assert read_table(inside / "t.csv").columns == ["a"]


def test_labels_of_a_folder_are_no_link_out_of_it(tmp_path: Path) -> None:
    for k in range(3):
        _image(tmp_path / "images", f"{k}.png")
    (tmp_path / "secret.csv").write_text("file,label\n0.png,my-private-key\n")
    (tmp_path / "images" / "labels.csv").symlink_to(tmp_path / "secret.csv")
    table = read_table(tmp_path / "images")
    assert table.frame["label"].isna().all()
    assert "1 link to files outside" in table.notes[0]


@pytest.mark.parametrize("name", ["../secret.png", "/etc/passwd"])
def test_labels_of_a_folder_name_files_of_it(tmp_path: Path, name: str) -> None:
    _image(tmp_path / "images", "0.png")
    (tmp_path / "images" / "labels.csv").write_text(f"file,label\n{name},x\n")
    with pytest.raises(TableError, match="has no such file"):
        read_table(tmp_path / "images")


@pytest.mark.parametrize(
    "data",
    [
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n",
        b"\x00\x00\x01\x00\x01\x00\x08\x08\x00\x00\x01\x00\x20\x00" + bytes(60),  # icon
    ],
)
def test_an_image_is_of_a_kind_that_its_ending_may_name(
    tmp_path: Path, data: bytes
) -> None:
    """Pillow would give PostScript to a program, whatever the file is called."""
    from mercer.app.embedding.computing import UnreadableError
    from mercer.app.embedding.file_cells import opened_image

    _image(tmp_path / "images", "a.png", data)
    _image(tmp_path / "images", "b.png")
    table = read_table(tmp_path / "images")
    assert table.frame["file"].tolist() == ["b.png"]
    assert "cannot identify image file" in table.notes[0]
    with pytest.raises(UnreadableError, match="cannot be read as an image"):
        opened_image(data)


def test_a_file_whose_name_is_not_text_is_left_out(tmp_path: Path) -> None:
    import os

    _image(tmp_path / "images", "b.png")
    try:
        other = os.path.join(os.fsencode(tmp_path / "images"), b"\xff.png")
        Path(os.fsdecode(other)).write_bytes((tmp_path / "images/b.png").read_bytes())
    except OSError:
        pytest.skip("this system has only names that are text")
    table = read_table(tmp_path / "images")
    assert table.frame["file"].tolist() == ["b.png"]
    assert table.notes == ("1 file left out: the name is not UTF-8.",)


def test_a_recording_of_silence_cannot_fill_memory(tmp_path: Path) -> None:
    library = pytest.importorskip("soundfile")
    (tmp_path / "sounds").mkdir()
    silence = np.zeros((1_000_000, 8), dtype=np.int16)
    library.write(tmp_path / "sounds" / "a.flac", silence, 96_000)
    with pytest.raises(TableError, match=r"needs more than 24\.0 MiB"):
        read_table(tmp_path / "sounds", memory=LIMIT)


@pytest.mark.parametrize("kind", ["png", "pgm"])
def test_pixels_that_are_only_claimed_are_not_reserved(
    tmp_path: Path, kind: str
) -> None:
    head = {
        "pgm": b"P5 60000 60000 255\n0",
        "png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
        + struct.pack(">II", 60000, 60000)
        + b"\x08\x00\x00\x00\x00\x93\x18\xb4\x02",
    }
    _image(tmp_path / "images", f"a.{kind}", head[kind])
    _image(tmp_path / "images", "b.png")
    assert read_table(tmp_path / "images").frame["file"].tolist() == ["b.png"]


def test_entities_of_a_workbook_are_not_resolved(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("my-private-key")
    pd.DataFrame({"a": ["x"]}).to_excel(tmp_path / "plain.xlsx", index=False)
    entity = f'<!DOCTYPE r [<!ENTITY e SYSTEM "file://{tmp_path}/secret.txt">]>'
    with (
        zipfile.ZipFile(tmp_path / "plain.xlsx") as old,
        zipfile.ZipFile(tmp_path / "t.xlsx", "w") as new,
    ):
        for name in old.namelist():
            text = old.read(name).decode()
            if name.endswith("sharedStrings.xml"):
                text = text.replace("<sst", f"{entity}<sst").replace(">x<", ">&e;<")
            new.writestr(name, text)
    try:
        held = str(read_table(tmp_path / "t.xlsx").frame)
    except TableError as error:
        held = str(error)
    assert "my-private-key" not in held


@pytest.mark.parametrize(
    "results",
    [
        [1],
        {"report": []},
        {"report": {"source": 5, "target": "t", "n_given": "x", "quality": []}},
        {"report": {"source": "t.csv", "target": "t", "n_given": [1, "x"]}},
        {
            "report": {
                **{"source": "t.csv", "target": "t", "n_given": [1]},
                "quality": {"contestants": []},
            }
        },
        "[" * 100_000,
    ],
)
def test_results_that_others_left_in_a_folder_do_no_harm(
    tmp_path: Path, results: Any
) -> None:
    text = results if isinstance(results, str) else json.dumps(results)
    (tmp_path / RESULT).write_text(text)
    rows = pd.DataFrame({"id": ["1"], "prediction": ["a"]})
    rows.to_parquet(tmp_path / "predictions.parquet")
    report = {
        **{"source": "t.csv", "target": "t", "n_given": [1], "quality": None},
        **{"class_sizes": None, "labels_drawn": None, "sizes_in_part": None},
    }
    assert isinstance(changes_since(tmp_path, rows, report, "t"), tuple)


def test_what_a_file_says_cannot_steer_the_terminal(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a\x1b[2J\u202e": [1.0, 2.0], "label": ["x", "y"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = CliRunner().invoke(
        main,
        ["learn", str(tmp_path / "no\x1b]0;pwned\x07.csv"), "--out", str(tmp_path)],
    )
    assert done.exit_code == 2
    assert "there is no file" in done.output
    assert printable(done.output) == done.output
    assert printable("\x1b[31m\x07\x85\u202e\u2066 é ＝\n") == (
        "\\x1b[31m\\x07\\x85\\u202e\\u2066 é ＝\n"
    )


@pytest.mark.parametrize("mark", [*"=+-@\t\r\n'＝＋－＠\ufeff"])
def test_no_cell_starts_as_a_formula_in_any_script(mark: str) -> None:
    assert safe_cell(f"{mark}1+1") == f"'{mark}1+1"


def test_cells_of_many_kinds_are_written_as_text(tmp_path: Path) -> None:
    from uuid import UUID

    held = {
        "mixed": [1, "=2"],
        "ids": [UUID(int=1), UUID(int=2)],
        "records": [{"a": 1}, "x"],
        "large": [10**400, None],
    }
    frame = pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in held.items()})
    write_csv(frame, tmp_path / "t.csv")
    read = pd.read_csv(tmp_path / "t.csv", dtype=str)
    assert read["mixed"].tolist() == ["1", "'=2"]
    assert read["ids"].tolist() == [str(v) for v in held["ids"]]
    assert read["records"].tolist() == ["{'a': 1}", "x"]
    assert read["large"].fillna("").tolist() == [str(10**400), ""]


@pytest.mark.parametrize("encoding", ["utf-32", "utf-16", "utf-8-sig"])
def test_a_mark_of_byte_order_tells_the_encoding(tmp_path: Path, encoding: str) -> None:
    frame = pd.DataFrame({"größe": [1.5, 2.5], "label": ["a", "b"]})
    frame.to_csv(tmp_path / "t.csv", index=False, encoding=encoding)
    assert read_table(tmp_path / "t.csv").columns == ["größe", "label"]
