"""The engine that runs studies and compares them with print."""

import csv
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from mercer_studies import study as study_module
from mercer_studies.render import to_csv, to_markdown, write
from mercer_studies.runner import cache_folder, run_study
from mercer_studies.study import Figure, Job, Study
from mercer_studies.table import make_table


def counted(*, split: int, offset: float, log: str) -> dict[str, float]:
    with Path(log).open("a") as lines:
        lines.write(f"{split}\n")
    if split == 3 and Path(log).with_suffix(".fail").exists():
        raise KeyboardInterrupt
    return {"A": offset + split, "<b>": 1.0}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setenv("MERCER_CACHE", str(tmp_path / "cache"))
    log = str(tmp_path / "log")

    def jobs(quick: bool) -> list[Job]:
        settings = {"offset": 90.0, "log": log}
        return [Job("one", s, counted, settings) for s in range(2 if quick else 5)]

    return Study("999", "table1", "A test", jobs, deviations=("None at all.",))


def finish(study: Study, **options: object) -> dict[str, list[dict[str, float]]]:
    *_, (done, total, results) = run_study(study, n_jobs=1, **options)
    assert done == total
    return results


def test_quick_runs_fewer_splits_and_a_full_run_reuses_them(
    study: Study, tmp_path: Path
) -> None:
    assert len(finish(study, quick=True)["one"]) == 2
    results = finish(study)
    assert [r["A"] for r in results["one"]] == [90, 91, 92, 93, 94]
    assert (tmp_path / "log").read_text().split() == ["0", "1", "2", "3", "4"]
    finish(study, fresh=True)
    assert len((tmp_path / "log").read_text().split()) == 10


def test_an_interrupt_keeps_what_was_finished(study: Study, tmp_path: Path) -> None:
    fail = tmp_path / "log.fail"
    fail.touch()
    with pytest.raises(KeyboardInterrupt):
        finish(study)
    assert len(list(cache_folder(study).glob("*.json"))) == 3
    assert not list(cache_folder(study).glob("*.tmp"))
    fail.unlink()
    (tmp_path / "log").unlink()
    finish(study)
    assert (tmp_path / "log").read_text().split() == ["3", "4"]


ASK_WORKERS = """
import signal
from mercer_studies.runner import run_study
from mercer_studies.study import Job, Study

def held_back(split=0):
    return {"held": signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])}

study = Study("999", "t", "", lambda quick: [Job("r", s, held_back) for s in range(4)])
*_, (_, _, results) = run_study(study, n_jobs=2)
print([result["held"] for result in results["r"]], held_back()["held"])
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no POSIX signals")
def test_workers_leave_interrupts_to_the_process_that_started_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERCER_CACHE", str(tmp_path))
    command = [sys.executable, "-c", ASK_WORKERS]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "[1.0, 1.0, 1.0, 1.0] False"


def test_the_key_changes_with_every_setting() -> None:
    jobs = [
        Job("r", 0, counted, {"offset": 1.0}),
        Job("r", 0, counted, {"offset": 2.0}),
        Job("r", 1, counted, {"offset": 1.0}),
        Job("s", 0, counted, {"offset": 1.0}),
    ]
    assert len({job.key(1) for job in jobs} | {jobs[0].key(2)}) == 5


@pytest.mark.parametrize(
    ("mean", "better", "verdict"),
    [
        (92.0, "higher", "agrees"),
        (93.0, "higher", "near"),
        (80.0, "higher", "better"),
        (99.0, "higher", "worse"),
        (99.0, "lower", "better"),
        (99.0, None, "differs"),
    ],
)
def test_verdicts(
    study: Study,
    monkeypatch: pytest.MonkeyPatch,
    mean: float,
    better: str | None,
    verdict: str,
) -> None:
    # Ours: mean 92, standard error sqrt(2.5/5) = 0.71; theirs a little more.
    printed = {("one", "A"): Figure(mean, 0.5, 5)}
    monkeypatch.setattr(Study, "printed", lambda self: printed)
    changed = Study("999", "table1", "A test", study.jobs, better=better)
    table = make_table(changed, finish(study))
    assert table.cells["one", "A"].verdict == verdict
    assert table.counts()["compared"] == 1


def test_a_print_without_deviation_varies_as_ours(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ours: 92 with deviation 1.58 over five; a single run of theirs 2.2 away agrees
    # to two combined standard errors only if its own deviation counts.
    verdicts = []
    for splits in (1, None):
        printed = {("one", "A"): Figure(94.2, None, splits)}
        monkeypatch.setattr(Study, "printed", lambda self, p=printed: p)
        cell = make_table(study, finish(study)).cells["one", "A"]
        verdicts.append(cell.verdict)
        assert not cell.within
    assert verdicts == ["near", "worse"]


def test_a_single_run_of_ours_varies_as_theirs(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One run of ours at 90; the error is 1.5 of ours and 1.5 / 10 of theirs.
    verdicts = []
    for mean in (91.4, 92.9, 93.1):
        printed = {("one", "A"): Figure(mean, 1.5, 100)}
        monkeypatch.setattr(Study, "printed", lambda self, p=printed: p)
        table = make_table(study, {"one": [{"A": 90.0}]})
        verdicts.append(table.cells["one", "A"].verdict)
    assert verdicts == ["agrees", "near", "worse"]


def test_cells_show_their_splits_where_these_differ(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Study, "printed", lambda self: {})
    runs = finish(study)["one"]
    text = to_markdown(make_table(study, {"one": runs, "two": runs[:2]}))
    assert "92.00 ± 1.58 [5]" in text
    assert "90.50 ± 0.71 [2]" in text
    assert "[5]" not in to_markdown(make_table(study, {"one": runs}))


def test_written_files_say_the_same(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = {
        ("one", "A"): Figure(92.5, 1.0, 10),
        ("two", "A"): Figure(1.0, None, None),
    }
    monkeypatch.setattr(Study, "printed", lambda self: printed)
    results = finish(study)
    table = make_table(study, results)
    lines = list(csv.DictReader(StringIO(to_csv(table))))
    assert [float(x["mean"]) for x in lines if x["column"] == "A" and x["mean"]] == [92]
    markdown = to_markdown(table)
    assert "92.00 ± 1.58 = (92.50 ± 1.00)" in markdown
    assert "None at all." in markdown
    paths = write(table, results, tmp_path / "out")
    assert [p.suffix for p in paths] == [".csv", ".md", ".png"]
    assert all(p.stat().st_size > 0 for p in paths)


def test_printed_figures_are_read_from_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "printed"
    folder.mkdir()
    (folder / "999_table1.csv").write_text("row,column,mean,std,splits\na,b,1.5,,\n")
    monkeypatch.setattr(study_module.resources, "files", lambda _: tmp_path)
    printed = Study("999", "table1", "", lambda _: []).printed()
    assert printed == {("a", "b"): Figure(1.5, None, None)}
    assert Study("999", "table2", "", lambda _: []).printed() == {}
