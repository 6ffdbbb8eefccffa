"""Sheets to fill in, and a result in a notebook."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook

from mercer.app.studio.items import Items
from mercer.app.tables.answers import add_answers, with_later
from mercer.app.tables.learning import learn
from mercer.app.tables.reading import read_table
from mercer.app.tables.sheets import write_sheets, write_workbook
from mercer.app.tables.table import TableError, as_table
from mercer.app.tables.task import Task
from mercer.app.tables.writing import write_csv
from mercer.judging.outlook import Outlook
from tables_at_hand import two_groups


def test_no_cell_of_a_workbook_is_a_formula(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "row": ["=1+1", "b"],
            "label": ["", ""],
            "x": [np.nan, 2.5],
            "y": ["\x01a", "@"],
        }
    )
    path = tmp_path / "t.xlsx"
    write_workbook(frame, path, target="label", classes=["yes", "no"])
    page = load_workbook(path).active
    assert page["A2"].value == "=1+1"
    assert page["A2"].data_type == "s"
    assert page["D2"].value == " a"
    assert page["C2"].value is None
    assert [v.formula1 for v in page.data_validations.dataValidation] == ['"yes,no"']


def test_pictures_of_the_rows_are_in_the_workbook(tmp_path: Path) -> None:
    frame = pd.DataFrame({"row": [1, 2, 3], "label": ["", "", ""], "size": [1, 2, 3]})
    rng = np.random.default_rng(0)
    pictures = [rng.random((8, 12, 1)), None, rng.random((100, 50, 3))]
    path = tmp_path / "a.xlsx"
    write_workbook(frame, path, target="label", classes=["a"], pictures=pictures)
    placed = load_workbook(path).active._images
    cells = [(p.anchor._from.row + 1, p.anchor._from.col + 1) for p in placed]
    assert cells == [(2, 4), (4, 4)]  # beside the rows, after the last column
    assert [(p.width, p.height) for p in placed] == [(96, 64), (32, 64)]
    assert len(read_table(path)) == 3


def test_more_columns_than_excel_holds(tmp_path: Path) -> None:
    """A table of 50,000 columns ended in "Invalid column index" after all the work."""
    wide = pd.DataFrame(np.zeros((1, 17_000)), columns=[f"x{k}" for k in range(17_000)])
    text, book = write_sheets(
        tmp_path,
        as_table(wide),
        np.array([1]),
        np.array([0]),
        target="label",
        id=None,
        proba=np.array([[0.6, 0.4]]),
        classes=["yes", "no"],
    )
    assert load_workbook(book).active.max_column == 16_384
    assert pd.read_csv(text).shape == (1, 17_004)  # row, label, guess, probability


def test_numbers_as_labels_and_rows_without_ids(tmp_path: Path) -> None:
    table = as_table({"x": np.arange(4.0), "label": [1.0, 2.0, np.nan, np.nan]})
    (tmp_path / "a.csv").write_text("row,label\n3,2\n4,\n1,?\n2,1\n")
    done = add_answers(table, np.arange(1, 5), "label", [tmp_path / "a.csv"])
    assert done.table.frame["label"].tolist()[:3] == ["1", "1", "2"]
    assert (done.n_new, done.n_changed) == (1, 1)
    assert done.history["label before"].tolist() == ["", "2"]


def test_two_answers_for_a_row_and_new_classes_are_told(tmp_path: Path) -> None:
    """The same sheet twice added a line to the history for each of the two answers."""
    table = as_table(two_groups())
    ids = [f"{k:03d}" for k in range(40)]
    sheet, history = tmp_path / "a.csv", tmp_path / "answers.csv"
    lines = ["020,big", "021,BIG ", "022,huge", "023,huge", "020,small", "021,big"]
    sheet.write_text("\n".join(["code,label", *lines]))
    first = add_answers(table, ids, "label", [sheet], id="code", history=history)
    assert first.notes == (
        "a.csv answers row '020' with 'big' and then 'small'; the last one counts.",
        "New in your answers, no row had it before: 'huge' (2 answers).",
    )
    assert first.n_new == len(first.history) == 4
    assert first.table.frame["label"][20] == "small"
    write_csv(first.history, history)
    second = add_answers(table, ids, "label", [sheet], id="code", history=history)
    assert (second.n_new, second.n_changed, second.n_earlier) == (0, 0, 4)
    pd.testing.assert_frame_equal(second.history, first.history)


def test_a_sheet_that_a_german_excel_saved(tmp_path: Path) -> None:
    """Excel takes leading zeros from the ids of a CSV, and writes ; and , and 1252."""
    table = as_table(two_groups())
    ids = [f"{k:03d}" for k in range(40)]
    lines = ["code;label;größe", "20;big;1,5", "21;small;2,5"]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="cp1252")
    done = add_answers(table, ids, "label", [tmp_path / "a.csv"], id="code")
    assert done.history["id"].tolist() == ["020", "021"]
    assert done.table.frame["label"][20:22].tolist() == ["big", "small"]


def test_answers_that_another_run_added_meanwhile_are_kept(tmp_path: Path) -> None:
    table = as_table({"x": np.arange(4.0), "label": ["a", "b", None, None]})
    history = tmp_path / "answers.csv"
    ids = np.arange(1, 5)
    done = []
    for name, line in (("a.csv", "3,a"), ("b.csv", "4,b")):
        (tmp_path / name).write_text(f"row,label\n{line}\n")
        sheets = [tmp_path / name]
        done.append(add_answers(table, ids, "label", sheets, history=history))
    for answered in done:  # both were read before either was written
        write_csv(with_later(answered.history, history), history)
    again = add_answers(table, ids, "label", [], history=history)
    assert again.table.frame["label"].tolist() == ["a", "b", "a", "b"]
    unchanged = with_later(again.history, history)
    assert unchanged["id"].tolist() == again.history["id"].tolist()


def test_a_result_in_a_notebook(tmp_path: Path) -> None:
    frame = two_groups()
    frame["code"] = "<b>" + frame["code"]
    result = learn(frame, id="code")
    assert repr(result).startswith("10 of 40 rows labelled, 2 classes; expected")
    page = result._repr_html_()
    assert "expected correct" in page
    assert "&lt;b&gt;0" in page
    assert "<td>big</td><td>5</td>" in page
    assert page.count("<tr>") == 1 + 2 + 1 + 5  # classes, and the least certain rows
    more = replace(result, outlook=Outlook(20, 0.8, 0.85, 0.82, 0.88))._repr_html_()
    assert (
        "<p>20 more labels would add about 5 points (2 to 8), from 80% to about" in more
    )
    assert "<b>0" not in page
    files = result.save(tmp_path / "out")
    assert files[0].name == "report.html"
    assert all(path.exists() for path in files)


def test_labels_that_are_in_a_second_file_only(tmp_path: Path) -> None:
    table = as_table({"code": ["a", "b", "c"], "size": [1.0, 2.0, 3.0]})
    sheet = tmp_path / "labels.csv"
    sheet.write_text("code,label\nc,big\na,small\n")
    done = add_answers(table, ["a", "b", "c"], "label", [sheet], id="code")
    assert done.table.frame["label"].fillna("").tolist() == ["small", "", "big"]
    assert (done.n_new, done.n_changed, done.notes) == (2, 0, ())
    with pytest.raises(TableError, match="If one of these names the rows, pass it to"):
        add_answers(table, [1, 2, 3], "label", [sheet])
    with pytest.raises(TableError, match=r"labels\.csv has no column 'lable'"):
        add_answers(table, ["a", "b", "c"], "lable", [sheet], id="code")


def test_cells_that_pandas_knows_to_be_empty_are_shown_as_empty(tmp_path: Path) -> None:
    """A nullable column with an empty cell ended the run when files were written."""
    frame = two_groups().assign(
        n=pd.array([None, *range(39)], dtype="Int64"),
        is_new=pd.array([None, True] * 20, dtype="boolean"),
        when=pd.Series([pd.NaT, *pd.date_range("2026-01-01", periods=39)]),
    )
    result = learn(frame, id="code")
    result.save(tmp_path / "o")
    sheet = pd.read_csv(tmp_path / "o" / "to_label.csv", dtype=str)
    assert sheet["is_new"].isna().any()
    page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert "NaT" not in page
    assert "&lt;NA&gt;" not in page
    items = Items(as_table(frame), Task(id="code"))
    cells = {c["name"]: c["value"] for c in items.show(0)["cells"]}
    assert (cells["n"], cells["is_new"], cells["when"]) == ("", "", "")
