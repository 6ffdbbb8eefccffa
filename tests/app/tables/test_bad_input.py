"""What goes wrong with real files: a message with file, row or column, and code 2."""

import errno
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from mercer.app.cli.main import main
from mercer.app.tables.learning import learn
from mercer.app.tables.table import TableError, as_table
from mercer.app.tables.target import look_at_target
from tables_at_hand import two_groups


@pytest.fixture
def refused(tmp_path: Path) -> Callable[..., str]:
    """Run `mercer learn`, expect exit code 2 and no output; return the message."""

    def run(name: str, *options: str) -> str:
        out = tmp_path / "new" / "out"
        words = ["learn", str(tmp_path / name), "--out", str(out), *options]
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 2, result.output
        assert not (tmp_path / "new").exists()
        assert result.stderr.count("Error: ") == 1
        assert "Traceback" not in result.output
        return result.stderr.split("Error: ")[1]

    return run


def write(folder: Path, frame: pd.DataFrame, name: str = "t.csv") -> None:
    frame.to_csv(folder / name, index=False)


def test_missing_column(tmp_path: Path, refused: Callable[..., str]) -> None:
    write(tmp_path, two_groups())
    said = refused("t.csv", "--target", "species")
    assert "t.csv has no column 'species'; its columns are 'code', 'size'" in said
    assert "did you mean 'label'?" in refused("t.csv", "--target", "Label ")


def test_no_rows_or_a_title_above_the_header(
    tmp_path: Path, refused: Callable[..., str]
) -> None:
    (tmp_path / "t.csv").write_text("code,size,label\n")
    assert "t.csv has a header and no rows." in refused("t.csv")
    (tmp_path / "t.csv").write_text("Survey,,\n,,\ncode,size,label\n1,2,a\n")
    assert "t.csv: two columns have no name. Is there a title" in refused("t.csv")
    (tmp_path / "t.csv").write_text("Survey\n\ncode,size,label\n1,2,a\n2,3,b\n")
    said = refused("t.csv")
    assert "row 2 has 3 cells, the header has 1" in said
    assert "Is there a title above the header?" in said
    many = as_table({f"c{k}": [1] for k in range(14)})
    with pytest.raises(TableError, match=r"'c11' and 2 more\. Name one of them"):
        many.check_column("d", "--target")


def test_all_cells_empty(tmp_path: Path, refused: Callable[..., str]) -> None:
    write(tmp_path, two_groups(n_labels=0))
    assert "column 'label' has no label in 40 rows" in refused("t.csv")


def test_one_class(tmp_path: Path, refused: Callable[..., str]) -> None:
    frame = two_groups()
    frame.loc[frame["label"] == "big", "label"] = None
    write(tmp_path, frame)
    assert "column 'label' has one class only, 'small'" in refused("t.csv")


def test_a_label_that_occurs_once_is_said() -> None:
    frame = two_groups()
    frame.loc[4, "label"] = "Smal"
    said = " ".join(learn(frame).warnings)
    assert "the label 'Smal' occurs once, in row 5" in said
    assert "Is it 'small', spelled differently?" in said
    assert "cannot be checked" in said


def test_numbered_classes_are_not_taken_for_misspelled_ones() -> None:
    frame = two_groups().replace({"label": {"small": "type 1", "big": "type 2"}})
    frame.loc[4, "label"] = "type 6"
    said = " ".join(learn(frame).warnings)
    assert "the label 'type 6' occurs once" in said
    assert "spelled" not in said
    frame.loc[4, "label"] = "typ 1"
    assert "Is it 'type 1', spelled differently?" in " ".join(learn(frame).warnings)


def test_ten_thousand_classes(tmp_path: Path, refused: Callable[..., str]) -> None:
    frame = pd.DataFrame({"x": np.arange(20_000), "label": np.arange(20_000) // 2})
    write(tmp_path, frame)
    said = refused("t.csv")
    assert "column 'label' has 10,000 different labels in 20,000 labelled rows" in said


def test_duplicate_ids(tmp_path: Path, refused: Callable[..., str]) -> None:
    frame = two_groups()
    frame.loc[7, "code"] = "002"
    write(tmp_path, frame)
    said = refused("t.csv", "--id", "code")
    assert "the id '002' in column 'code' appears in rows 3 and 8" in said


def test_empty_id(tmp_path: Path, refused: Callable[..., str]) -> None:
    frame = two_groups()
    frame.loc[7, "code"] = None
    write(tmp_path, frame)
    assert "row 8, column 'code', is empty" in refused("t.csv", "--id", "code")


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.npz"])
def test_unreadable_file(
    tmp_path: Path, refused: Callable[..., str], name: str
) -> None:
    (tmp_path / name).write_bytes(b"this is no such file" * 10)
    assert f"{name} cannot be read as" in refused(name)


def test_binary_file_named_csv(tmp_path: Path, refused: Callable[..., str]) -> None:
    (tmp_path / "t.csv").write_bytes(bytes(range(256)) * 20)
    assert "t.csv" in refused("t.csv")


def test_no_file_empty_file_unknown_ending(
    tmp_path: Path, refused: Callable[..., str]
) -> None:
    assert "there is no file" in refused("nowhere.csv")
    (tmp_path / "t.csv").write_text("")
    assert "t.csv is empty" in refused("t.csv")
    (tmp_path / "t.xyz").write_text("a")
    assert "the ending '.xyz' is not known" in refused("t.xyz")


def test_rows_of_different_length(tmp_path: Path, refused: Callable[..., str]) -> None:
    (tmp_path / "t.csv").write_text("a,label\n1,x\n2,y,3\n")
    assert "row 2 has 3 cells, the header has 2" in refused("t.csv")


def test_mixed_types(tmp_path: Path, refused: Callable[..., str]) -> None:
    frame = two_groups()
    frame["size"] = frame["size"].astype(object)
    frame.loc[30, "size"] = "large"
    write(tmp_path, frame)
    said = refused("t.csv")
    assert "column 'size' holds numbers, but row 31 has 'large'" in said
    words = ["learn", str(tmp_path / "t.csv"), "--out", str(tmp_path / "o"), "-q"]
    for way_out in ("--missing", "large"), ("--drop", "size"):
        assert CliRunner().invoke(main, [*words, *way_out]).exit_code == 0


def test_mixed_types_in_the_target() -> None:
    frame = two_groups()
    frame["label"] = frame["label"].astype(object)
    frame.loc[3, "label"] = 7
    with pytest.raises(TableError, match="row 4 holds the int 7, other rows hold text"):
        learn(frame)


def test_a_measurement_as_target(tmp_path: Path, refused: Callable[..., str]) -> None:
    frame = two_groups()
    frame["label"] = frame["size"]
    frame.to_parquet(tmp_path / "t.parquet")
    assert "Is it a measurement?" in refused("t.parquet")
    write(tmp_path, frame)
    assert "holds the number 0.126 in row 1" in refused("t.csv")
    frame["label"] = [f"{k},5 kg".removesuffix(" kg") for k in range(len(frame))]
    write(tmp_path, frame)
    assert "Is it a measurement?" in refused("t.csv")
    frame["label"] = range(100, 100 + len(frame))
    write(tmp_path, frame)
    assert "Is it a measurement?" in refused("t.csv", "--keep", "code")
    for written in ("${},500.00", "{} kg", "{}%"):
        frame["label"] = [written.format(k) for k in range(1, len(frame) + 1)]
        write(tmp_path, frame)
        assert f"holds the number {written.format(1)} in row 1" in refused("t.csv")


def test_a_few_amounts_and_numbered_names_are_classes() -> None:
    """Twenty kinds of $5 may be classes; 1a and 2b, and 007, are names."""
    few = [f"${k}" for k in range(20)]
    names = [f"{k}{unit}" for k in range(20) for unit in "ab"]
    codes = [f"0{k}" for k in range(30)]
    for labels in (few, names, codes):
        found = look_at_target(as_table({"label": labels}), "label")
        assert found.labels.tolist() == labels


@pytest.mark.parametrize("length", [1_000_001, 20_000_000])
def test_huge_text_cell(
    tmp_path: Path, refused: Callable[..., str], length: int
) -> None:
    frame = two_groups()
    frame.loc[5, "colour"] = "x" * length
    write(tmp_path, frame)
    said = refused("t.csv")
    assert f"row 6, column 'colour', has {length:,} characters" in said


def test_an_encoding_that_was_named_wrongly(
    tmp_path: Path, refused: Callable[..., str]
) -> None:
    frame = two_groups()
    frame.loc[11, "colour"] = "grün"
    frame.to_csv(tmp_path / "t.csv", index=False, encoding="latin-1")
    said = refused("t.csv", "--encoding", "utf-8")
    assert "t.csv is not UTF-8: line 13 has the byte 0xfc" in said
    assert "--encoding latin-1" in said
    assert "no encoding 'klingon'" in refused("t.csv", "--encoding", "klingon")


def test_nothing_to_learn_from(tmp_path: Path, refused: Callable[..., str]) -> None:
    write(tmp_path, two_groups()[["code", "label"]])
    assert "no column besides target and id" in refused("t.csv", "--id", "code")
    write(tmp_path, two_groups()[["label"]].assign(same=1))
    assert "every column holds one value in all rows" in refused("t.csv")


def test_pairs_of_unknown_rows(tmp_path: Path, refused: Callable[..., str]) -> None:
    write(tmp_path, two_groups())
    (tmp_path / "pairs.csv").write_text("a,b,link\n000,999,must\n")
    options = ("--id", "code", "--pairs", str(tmp_path / "pairs.csv"))
    assert "pairs.csv: row 1 names '999'" in refused("t.csv", *options)
    (tmp_path / "pairs.csv").write_text("a,b,link\n000,001,maybe\n")
    assert "row 1 says 'maybe'" in refused("t.csv", *options)


def test_too_little_memory(tmp_path: Path, refused: Callable[..., str]) -> None:
    write(tmp_path, two_groups())
    assert "40 points need at least" in refused("t.csv", "--memory", "1MB")
    assert "--memory must be a size" in refused("t.csv", "--memory", "lots")


def test_a_file_that_disappears_midway(
    tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa

    write(tmp_path, two_groups())
    opened = pa.OSFile

    def vanish(path: str) -> object:
        Path(path).unlink()
        return opened(path)

    monkeypatch.setattr(pa, "OSFile", vanish)
    assert "t.csv" in refused("t.csv")


def test_where_results_go_is_tested_first(
    tmp_path: Path, refused: Callable[..., str]
) -> None:
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "out")
    words = ["learn", str(tmp_path / "nowhere.csv"), "--out", out]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "file: Not a folder" in result.stderr


def test_an_image_that_disappears_midway(
    tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import Image

    for group in ("a", "b"):
        (tmp_path / "images" / group).mkdir(parents=True)
        for k in range(3):
            image = Image.new("L", (8, 8), 100 * k)
            image.save(tmp_path / "images" / group / f"{k}.png")
    opened = Image.open

    def vanish(path: Path, **how: object) -> object:
        path.unlink()
        return opened(path, **how)

    monkeypatch.setattr(Image, "open", vanish)
    assert "0.png disappeared while the folder was read" in refused("images")


def test_a_full_disk(
    tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mercer import persist

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "model.skops")

    write(tmp_path, two_groups())
    monkeypatch.setattr(persist, "save", full)
    said = refused("t.csv")
    assert "model.skops: No space left on device. Nothing was written." in said


def test_an_interrupt_leaves_older_results_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mercer import persist

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    write(tmp_path, two_groups())
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("of yesterday")
    monkeypatch.setattr(persist, "save", stop)
    words = ["learn", str(tmp_path / "t.csv"), "--out", str(out)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 130
    assert [path.name for path in out.iterdir()] == ["report.html"]
    assert (out / "report.html").read_text() == "of yesterday"


def test_formulas_are_written_back_safely(tmp_path: Path) -> None:
    frame = two_groups()
    frame.loc[0, "code"] = '=HYPERLINK("http://example.org")'
    frame.loc[1, "code"] = "@SUM(A1)"
    frame.loc[2, "code"] = "-5"
    frame["label"] = frame["label"].replace({"big": "+big", "small": "=small"})
    write(tmp_path, frame)
    out = tmp_path / "out"
    words = ["learn", str(tmp_path / "t.csv"), "--id", "code", "--out", str(out)]
    assert CliRunner().invoke(main, words).exit_code == 0
    text = pd.read_csv(out / "predictions.csv", dtype=str, keep_default_na=False)
    starts = {cell[0] for name in text for cell in [name, *text[name]]}
    assert not starts & set("=+@\t\r")
    assert text["id"][2] == "-5"
    kept = pd.read_parquet(out / "predictions.parquet")
    assert kept["id"].tolist() == frame["code"].tolist()
    undone = [cell.removeprefix("'") for cell in text["id"]]
    assert undone == frame["code"].tolist()


def damaged_parquet(folder: Path, damage: str, name: str = "t.parquet") -> None:
    """Write a Parquet file with page checksums and damage it."""
    path = folder / name
    table = pa.Table.from_pandas(two_groups())
    parquet.write_table(table, path, write_page_checksum=True)
    chunk = parquet.ParquetFile(path).metadata.row_group(0).column(1)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    whole = path.read_bytes()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "magic":
        path.write_bytes(whole[:-4] + b"CSV?")
    else:
        last = start + chunk.total_compressed_size - 1
        at = start if damage == "header" else last
        path.write_bytes(whole[:at] + bytes([255 - whole[at]]) + whole[at + 1 :])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("cut", "magic bytes not found"),
        ("magic", "magic bytes not found"),
        ("header", "page header"),
        ("page", "checksum verification failed"),
    ],
)
@pytest.mark.parametrize("file", ["t.parquet", "t*.parquet"])
def test_a_damaged_parquet_file_is_named(
    tmp_path: Path, refused: Callable[..., str], file: str, damage: str, said: str
) -> None:
    pytest.importorskip("dask")
    damaged_parquet(tmp_path, damage)
    message = refused(file, "--id", "code")
    assert "t.parquet cannot be read as " in message
    assert said in message
    assert message.count("\n") == 1
    assert message.endswith(".\n")
    assert ".." not in message


def test_predict_refuses_a_damaged_parquet_file(tmp_path: Path) -> None:
    two_groups().to_csv(tmp_path / "t.csv", index=False)
    model, out = tmp_path / "m" / "model.skops", tmp_path / "p.csv"
    words = [
        "learn",
        str(tmp_path / "t.csv"),
        "--id",
        "code",
        "--out",
        str(model.parent),
    ]
    assert CliRunner().invoke(main, words).exit_code == 0
    damaged_parquet(tmp_path, "page")
    words = ["predict", str(model), str(tmp_path / "t.parquet"), "--out", str(out)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "t.parquet cannot be read as parquet: " in result.stderr
    assert not out.exists()
