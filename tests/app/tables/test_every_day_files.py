"""Files as people have them: packed, from a spreadsheet, a database or a pipe."""

import bz2
import gzip
import io
import lzma
import sqlite3
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer._base.memory import GIB
from mercer.app.tables.delimited import find_delimiter, find_encoding
from mercer.app.tables.number_columns import tidy_numbers
from mercer.app.tables.reading import read_table
from mercer.app.tables.screening import screen
from mercer.app.tables.table import TableError, as_table
from mercer.app.tables.task import Task
from tables_at_hand import two_groups

TEXT = ("code", "label")


def packed(name: str, data: bytes) -> bytes:
    """Return data packed as the ending of a name says."""
    import pyarrow as pa

    if name.endswith(".zip"):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("folder/t.csv", data)
        return stream.getvalue()
    if name.endswith(".zst"):
        return pa.compress(data, "zstd", asbytes=True)
    packers = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    return packers[Path(name).suffix](data)


@pytest.mark.parametrize(
    "name", ["t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.csv.zst", "t.zip"]
)
def test_packed_files(tmp_path: Path, name: str) -> None:
    frame = two_groups()
    data = frame.to_csv(index=False).encode()
    (tmp_path / name).write_bytes(packed(name, data))
    read = read_table(tmp_path / name, as_text=TEXT).frame
    assert read["code"].tolist() == frame["code"].tolist()
    np.testing.assert_array_equal(read["size"], frame["size"])


def test_a_broken_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n")[:-6])
    with pytest.raises(TableError, match=r"t\.csv\.gz cannot be unpacked"):
        read_table(tmp_path / "t.csv.gz")
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "a\n1\n")
    with pytest.raises(TableError, match="holds 2 files"):
        read_table(tmp_path / "t.zip")


def test_workbooks_json_and_databases_agree(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = two_groups()
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        frame.to_excel(book, sheet_name="wines", index=False)
        frame.head(3).to_excel(book, sheet_name="few", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "t.json", orient="records")
    with sqlite3.connect(tmp_path / "t.db") as connection:
        frame.to_sql("people", connection, index=False)
    connection.close()
    with duckdb.connect(str(tmp_path / "t.duckdb")) as store:
        store.register("given", frame)
        store.execute("create table people as select * from given")
    url = f"sqlite:///{tmp_path / 't.db'}"
    for name in ("t.xlsx", "t.jsonl", "t.json", "t.db", "t.duckdb", url):
        path = name if "://" in name else tmp_path / name
        read = read_table(path, as_text=TEXT).frame
        assert read["code"].tolist() == frame["code"].tolist(), name
        np.testing.assert_allclose(read["size"], frame["size"], err_msg=name)
        assert read["label"].isna().tolist() == frame["label"].isna().tolist()
    workbook = read_table(tmp_path / "t.xlsx")
    assert workbook.notes == ("Sheet 'wines' was read; for 'few' pass --sheet.",)
    with pytest.raises(TableError, match=r"its columns are .* for 'few' pass --sheet"):
        workbook.check_column("elsewhere", "--target")
    assert len(read_table(tmp_path / "t.xlsx", sheet="few")) == 3
    with pytest.raises(TableError, match="no sheet 'many'; its sheets are 'wines'"):
        read_table(tmp_path / "t.xlsx", sheet="many")
    query = "select size from people where size > 3"
    for path in (tmp_path / "t.db", tmp_path / "t.duckdb", url):
        assert read_table(path, query=query).frame["size"].min() > 3
        with pytest.raises(TableError, match="the query failed"):
            read_table(path, query="select nothing from people")


def test_a_query_cannot_change_a_file(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "t.db") as connection:
        two_groups().to_sql("people", connection, index=False)
        two_groups().to_sql("more", connection, index=False)
    connection.close()
    before = (tmp_path / "t.db").read_bytes()
    with pytest.raises(TableError, match="not authorized"):
        read_table(tmp_path / "t.db", query="delete from people")
    assert (tmp_path / "t.db").read_bytes() == before
    with pytest.raises(TableError, match=r"has 2 tables \(more, people\)"):
        read_table(tmp_path / "t.db")


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    with pytest.raises(TableError, match=r"there is no file .*absent\.db"):
        read_table(f"sqlite:///{tmp_path / 'absent.db'}")
    assert not (tmp_path / "absent.db").exists()


def test_addresses_are_not_downloaded() -> None:
    with pytest.raises(TableError, match="is not downloaded; fetch the file first"):
        read_table("https://example.org/t.csv")


def test_a_sheet_of_something_else_is_refused(tmp_path: Path) -> None:
    two_groups().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(TableError, match=r"t\.csv is not a workbook"):
        read_table(tmp_path / "t.csv", sheet="wines")


def test_ordinals_are_numbers_and_names_have_no_units(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "class": ["1st", "2nd", "3rd", "4th"] * 10,
            "style": ["1Story", "2Story", "1.5Fin", "2.5Unf"] * 10,
            "weight": [f"{k} {'kg' if k % 2 else 'lb'}" for k in range(40)],
            "length": [f"{k % 8} {'cm' if k % 2 else 'in'}" for k in range(40)],
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", as_text=())
    assert table.frame["class"].tolist() == [1, 2, 3, 4] * 10
    assert table.frame["style"].tolist() == frame["style"].tolist()
    mixed = [note for note in table.notes if "mixes units" in note]
    assert len(mixed) == 2  # a tenth of the cells may be names of categories
    assert "'weight'" in mixed[0]
    assert "'length'" in mixed[1]


def test_a_password_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sqlalchemy")
    url = "sqlite://someone:secret@/nowhere/at/all.db"
    with pytest.raises(TableError) as caught:
        read_table(url, query="select 1")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "kind", ["csv", "csv.gz", "parquet", "jsonl", "xlsx", "xlsx.gz"]
)
def test_standard_input(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    frame = two_groups()
    stream = io.BytesIO()
    if kind == "parquet":
        frame.to_parquet(stream)
    elif kind.startswith("xlsx"):
        frame.to_excel(stream, index=False)
    elif kind == "jsonl":
        stream.write(frame.to_json(orient="records", lines=True).encode())
    else:
        stream.write(frame.to_csv(index=False).encode())
    data = stream.getvalue()
    stream = io.BytesIO(gzip.compress(data) if kind.endswith(".gz") else data)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    read = read_table("-", as_text=TEXT)
    assert read.source == "standard input"
    assert read.frame["code"].tolist() == frame["code"].tolist()


def test_numbers_as_people_write_them(tmp_path: Path) -> None:
    lines = [
        "preis;menge;anteil;masse;grün;label",
        "1,99;1.234;12%;5 kg;1.5;a",
        "2,50;2.500;7%;?;2.5;b",
        "3,10;10.000;9%;7 kg;2.5;b",
    ]
    (tmp_path / "t.csv").write_bytes("\n".join(lines).encode("latin-1"))
    table = read_table(tmp_path / "t.csv", as_text=("label",))
    assert table.frame["preis"].tolist() == [1.99, 2.5, 3.1]
    assert table.frame["menge"].tolist() == [1234, 2500, 10000]
    assert table.frame["anteil"].tolist() == [0.12, 0.07, 0.09]
    assert table.frame["masse"].isna().tolist() == [False, True, False]
    assert table.frame["grün"].tolist() == [1.5, 2.5, 2.5]
    said = " ".join(table.notes)
    assert "read as Windows-1252" in said
    assert "The delimiter is ';'" in said
    assert "decimal comma: 'preis'" in said
    assert "Points separate thousands (1.234 means 1234): 'menge'" in said
    assert "anteil (%), masse (kg). 12% is read as 0.12." in said
    assert "read as empty: 1 cell such as '?'" in said


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["$1,100", "$900"], [1100, 900]),
        (["€ 5,5", "3,2 €"], [5.5, 3.2]),
        (["1 234,5", "10"], [1234.5, 10]),
        (["(3.5)", "−2"], [-3.5, -2]),
        (["1'234.50", "USD 2"], [1234.5, 2]),
        (["1e5", "12%"], [1e5, 0.12]),
        (["$5", "€7"], None),  # two currencies
        (["2024-01-05", "2024-01-06"], None),
        (["12:30", "12:40"], None),
        (["24.12.2024", "1.2.2024"], None),
        (["1.2.3", "1.2.4"], None),
        (["A1", "B2"], None),
        (["5 kg", "7"], None),
    ],
)
def test_what_is_a_number(
    tmp_path: Path, cells: list[str], numbers: list[float] | None
) -> None:
    frame = pd.DataFrame({"x": cells, "y": [1.5, 2.5]})
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";")
    read = read_table(tmp_path / "t.csv").frame["x"]
    if numbers is None:
        assert read.dtype.kind != "f"
    else:
        np.testing.assert_allclose(read, numbers)


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("cp1252", "cp1252"),
    ],
)
def test_encodings_are_found(tmp_path: Path, encoding: str, found: str) -> None:
    text = "size,label\n1,grün\n2,blau\n"
    data = text.encode(encoding)
    assert find_encoding(data)[0] == found
    (tmp_path / "t.csv").write_bytes(data)
    table = read_table(tmp_path / "t.csv", as_text=None)
    assert table.columns == ["size", "label"]
    assert table.frame["label"].tolist() == ["grün", "blau"]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiters_are_found(mark: str) -> None:
    rows = [["name", "price"], ["a, b", "1"], ["c; d", "2"], ["e|f", "3"]]
    text = "\n".join(mark.join(f'"{cell}"' for cell in row) for row in rows)
    assert find_delimiter(text) == mark


def test_nothing_is_unpacked_beyond_the_memory_that_may_be_used(
    tmp_path: Path,
) -> None:
    np.savez_compressed(tmp_path / "t.npz", X=np.zeros((2000, 2000)))
    with pytest.raises(TableError, match="unpacked it is large"):
        read_table(tmp_path / "t.npz", memory=0.02 * GIB)
    line = gzip.compress(b"a,b\n" + b"1,2\n" * 5_000_000)
    (tmp_path / "t.csv.gz").write_bytes(line)
    with pytest.raises(TableError, match=r"more than .* MiB, unpacked; 10\.2 MiB of"):
        read_table(tmp_path / "t.csv.gz", memory=0.01 * GIB)
    (tmp_path / "t.csv").write_bytes(b"," * 1_000_000 + b"\n1\n")
    with pytest.raises(TableError, match="its header has 1,000,001 columns"):
        read_table(tmp_path / "t.csv", memory=1 * GIB)
    pd.DataFrame({"a": np.zeros(1_000_000)}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"needs more than .* of memory"):
        read_table(tmp_path / "t.parquet", memory=5_000_000)


def test_records_in_cells_are_left_out_and_named(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    nested = {
        "a": pa.array([{"x": 1, "y": 2}] * 2),
        "m": pa.array([[("k", 1)]] * 2, type=pa.map_(pa.string(), pa.int64())),
        "tags": pa.array([["new", "old"]] * 2),
        "deep": pa.array([[[1, 2]]] * 2),
    }
    held = {
        "a": "records with the fields x, y",
        "m": "maps",
        "tags": "lists of texts",
        "deep": "nested values (list<item: list<item: int64>>)",
    }
    cells = {"v": [[1.0, 2.0], [3.0, 4.0]], "size": [1, 2], "label": list("ab")}
    records = pa.table({**nested, **cells})
    parquet.write_table(records, tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.columns == ["size", "label", "v"]
    assert {k: v.replace("element:", "item:") for k, v in table.unread.items()} == held
    (tmp_path / "t.jsonl").write_text('{"a": {"x": 1}, "b": 1}\n{"a": null, "b": 2}\n')
    assert read_table(tmp_path / "t.jsonl").unread == {"a": "records with the fields x"}
    (tmp_path / "t.json").write_text('[{"a": {"x": 1}, "t": ["u"]}]')
    found = read_table(tmp_path / "t.json")
    assert found.unread == {"a": "records", "t": "lists of texts"}


def test_columns_of_records_and_of_vectors_are_said_and_can_be_dropped() -> None:
    frame = pd.DataFrame({"size": [1, 2, 3] * 4, "label": ["a", "b", None] * 4})
    frame["rec"] = [{"x": 1}] * 12
    frame["v"] = [[1.0, 2.0]] * 12
    table = as_table(frame)
    screened = screen(table, Task("label"))
    assert "Column 'rec' was left out: it holds records" in screened.notes[0]
    assert ("rec", "left out", "holds records", 0) in screened.column_notes
    assert screened.table.columns == ["size", "v"]
    dropped = screen(table, Task("label", drop=("rec", "v")))
    assert dropped.notes == ()
    assert dropped.table.columns == ["size"]
    with pytest.raises(TableError, match=r"'rec' holds records; --target needs"):
        screen(table, Task("rec"))
    with pytest.raises(TableError, match="no column 'reck'"):
        screen(table, Task("label", drop=("reck",)))


def test_long_words_for_no_value_in_a_long_table() -> None:
    """Of a thousand rows and more, none longer than 16 characters was screened at."""
    told = "no measurement taken"
    frame = pd.DataFrame({"size": [told, *map(str, range(1200))]})
    found, _ = tidy_numbers(frame, source="the table", missing=(told,))
    assert found["size"].isna().sum() == 1
    assert found["size"].dtype == np.float64
