"""Files that appear whole or not at all, and cells that nobody runs."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.tables.writing import all_or_nothing, safe_cell, write_csv


def test_files_appear_together(tmp_path: Path) -> None:
    with all_or_nothing(tmp_path / "a" / "b") as part:
        (part / "x").write_text("1")
        (part / "y").write_text("2")
        assert list((tmp_path / "a" / "b").glob("[xy]")) == []
    assert sorted(p.name for p in (tmp_path / "a" / "b").iterdir()) == ["x", "y"]


def _stop_midway(folder: Path, error: BaseException) -> None:
    with all_or_nothing(folder) as part:
        (part / "x").write_text("half")
        raise error


def test_nothing_is_left_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        _stop_midway(tmp_path / "a" / "b", RuntimeError())
    assert list(tmp_path.iterdir()) == []


def test_older_files_survive_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        _stop_midway(tmp_path, KeyboardInterrupt())
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_text() == "old"


@given(st.text(max_size=8))
def test_cells_are_safe_and_nothing_is_lost(cell: str) -> None:
    written = safe_cell(cell)
    if written != cell:
        assert written == "'" + cell
    is_number = cell.removeprefix("-").replace(".", "", 1).isdecimal()
    assert is_number or not written.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    # What was changed and what was not never look alike.
    assert written == cell or cell[0] in "=+-@\t\r\n'"
    assert written != cell or not cell.startswith("'")


def test_csv_keeps_quotes_commas_and_line_breaks(tmp_path: Path) -> None:
    cells = ['a "b"', "c,d", "e\nf", "ü", "=1"]
    write_csv(pd.DataFrame({"id": cells, "=n": range(5)}), tmp_path / "t.csv")
    back = pd.read_csv(tmp_path / "t.csv")
    assert back["id"].tolist() == [*cells[:4], "'=1"]
    assert back.columns.tolist() == ["id", "'=n"]
