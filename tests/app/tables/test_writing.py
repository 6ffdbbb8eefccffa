"""Files that appear whole or not at all, and cells that nobody runs."""

import errno
import tempfile
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.app.tables.writing import (
    all_or_nothing,
    check_writable,
    locked,
    safe_cell,
    write_csv,
)


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


@pytest.mark.parametrize("dtype", ["object", "string"])
def test_csv_keeps_quotes_commas_and_line_breaks(dtype: str, tmp_path: Path) -> None:
    cells = ['a "b"', "c,d", "e\nf", "ü", "=1"]
    frame = pd.DataFrame({"id": pd.Series(cells, dtype=dtype), "=n": range(5)})
    write_csv(frame, tmp_path / "t.csv")
    back = pd.read_csv(tmp_path / "t.csv")
    assert back["id"].tolist() == [*cells[:4], "'=1"]
    assert back.columns.tolist() == ["id", "'=n"]


def test_what_a_killed_run_left_is_cleared_and_a_living_one_is_not(
    tmp_path: Path,
) -> None:
    dead, living = tmp_path / ".mercer-dead", tmp_path / ".mercer-living"
    for folder in (dead, living):
        folder.mkdir()
        (folder / "half.csv").write_text("half")
    with locked(living), all_or_nothing(tmp_path) as part:
        assert not dead.exists()
        assert (living / "half.csv").exists()
        (part / "a.txt").write_text("whole")
    assert (tmp_path / "a.txt").read_text() == "whole"


def test_files_of_two_runs_do_not_mix(tmp_path: Path) -> None:
    names = [f"{k}.txt" for k in range(200)]

    def run(word: str) -> None:
        with all_or_nothing(tmp_path) as part:
            for name in names:
                (part / name).write_text(word)

    threads = [Thread(target=run, args=(f"run {k}",)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(tmp_path / name).read_text() for name in names}) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names)


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "out")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        check_writable(tmp_path / "file" / "out")


def test_a_folder_that_refuses_files_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(prefix: str, dir: Path) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", str(dir / prefix))

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(PermissionError) as caught:
        check_writable(tmp_path / "new")
    assert caught.value.filename == str(tmp_path)
    assert caught.value.strerror == "Cannot write there (Permission denied)"
