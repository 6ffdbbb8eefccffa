"""The page of all tables, and what studies share."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from mercer_studies import causes, registry
from mercer_studies.__main__ import main
from mercer_studies.causes import Cause
from mercer_studies.page import reproduction_page
from mercer_studies.reproduce import command
from mercer_studies.runner import run_study
from mercer_studies.study import Figure, Job, Results, Study


def number(*, split: int) -> dict[str, float]:
    return {"A": 90.0 + split, "A s": 0.5}


def jobs(quick: bool) -> list[Job]:
    return [Job("one", split, number) for split in range(2 if quick else 4)]


def seconds(results: Results) -> Results:
    return {row: [{"A": run["A s"]} for run in runs] for row, runs in results.items()}


def accuracies(results: Results) -> Results:
    return {row: [{"A": run["A"]} for run in runs] for row, runs in results.items()}


STUDY = Study("999", "table1", "Accuracy", jobs, collect=accuracies, minutes=2.5)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERCER_CACHE", str(tmp_path))
    printed = {("one", "A"): Figure(99.0, 0.1, 10), ("two", "A"): Figure(1.0, 1.0, 1)}
    monkeypatch.setattr(Study, "printed", lambda self: printed)


def run(study: Study, *, quick: bool) -> None:
    *_, (done, total, _) = run_study(study, quick=quick, n_jobs=1)
    assert done == total


def test_what_is_missing_is_said_and_not_counted() -> None:
    assert "0 of 4 jobs have run" in reproduction_page([STUDY])
    run(STUDY, quick=True)
    page = reproduction_page([STUDY])
    assert "No table is complete." in page
    assert "**Not complete: 2 of 4 jobs have run.**" in page
    assert "90.50 ± 0.71 - (99.00 ± 0.10)" in page
    assert "| two |" not in page


def test_worse_cells_are_named_with_what_there_is_to_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(STUDY, quick=False)
    page = reproduction_page([STUDY])
    assert "| 999 table1 | Accuracy | 2.5 | complete |" in page
    assert "1 compared, 0 within the printed deviation, 0 better, 1 worse" in page
    assert "Worse than print:\n\n- one: A. We do not know why." in page
    assert "| 999 | 1 | 0 | 0 | 1 | 0 |" in page
    cause = Cause("999_table1", ("*",), ("*",), "The moon was full.")
    monkeypatch.setattr(causes, "known_causes", lambda: (cause,))
    page = reproduction_page([STUDY])
    assert "- one: A. The moon was full." in page
    assert "| 999 | 1 | 0 | 0 | 1 | 1 |" in page


def test_times_and_what_follows_from_other_tables_are_kept_apart() -> None:
    run(STUDY, quick=False)
    times = replace(STUDY, name="t", better="lower", times=True, minutes=None)
    times = replace(times, shares="table1")
    ranks = replace(STUDY, name="r", aside="a jest", shares="table1", minutes=None)
    page = reproduction_page([STUDY, times, ranks])
    assert "| 999 | 1 | 0 | 0 | 1 | 0 |" in page
    assert "1 compared, 1 shorter than print, 0 longer" in page
    assert "Not counted: 999 r (a jest)." in page
    assert "| 999 r | Accuracy | with table1 | complete |" in page


def test_a_paper_says_a_deviation_once() -> None:
    run(STUDY, quick=False)
    one = replace(STUDY, deviations=("The same.",))
    two = replace(one, name="two", shares="table1", deviations=("The same.", "More."))
    page = reproduction_page([one, two])
    assert page.count("The same.") == 1
    assert "- More.\n- For the rest as under table1." in page


def test_figures_are_drawn_beside_the_page(tmp_path: Path) -> None:
    run(STUDY, quick=False)
    images = tmp_path / "images"
    images.mkdir()
    drawn = replace(STUDY, draw=lambda figure, results: figure.subplots())
    page = reproduction_page([drawn], images)
    (link,) = re.findall(r"!\[Accuracy\]\((.*)\)", page)
    assert (tmp_path / link).stat().st_size > 0


def test_every_study_says_what_it_costs() -> None:
    for study in registry.studies():
        assert study.minutes is not None or study.shares is not None, study.id


def test_studies_with_the_same_jobs_share_results() -> None:
    run(STUDY, quick=False)
    times = replace(STUDY, name="table2", collect=seconds, shares="table1")
    done, total, results = next(run_study(times))
    assert (done, total) == (4, 4)
    assert times.collected(results)["one"] == 4 * [{"A": 0.5}]


def interrupted(*, split: int) -> dict[str, float]:
    if split == 2:
        raise KeyboardInterrupt
    return {"A": 1.0}


def test_an_interrupt_says_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def jobs(quick: bool) -> list[Job]:
        return [Job("one", split, interrupted) for split in range(4)]

    study = replace(STUDY, jobs=jobs)
    monkeypatch.setattr(registry, "studies", lambda: [study])
    answer = CliRunner().invoke(command, ["999", "table1", "--jobs", "1"])
    assert answer.exit_code == 130
    assert "stopped: 2 of 4 jobs are kept" in answer.output


def test_unknown_study_is_named() -> None:
    answer = CliRunner().invoke(main, ["reproduce", "999", "table9"])
    assert answer.exit_code == 2
    assert "999 table9" in answer.output


def test_papers_are_called_by_their_authors() -> None:
    answer = CliRunner().invoke(main, ["reproduce"])
    assert answer.exit_code == 0, answer.output
    assert "  mao2010 table2 " in answer.output
    assert {study.paper for study in registry.studies()} == set(registry.PAPERS)


def test_the_command_writes_the_page_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "studies", lambda: [STUDY])
    path = tmp_path / "docs" / "page.md"
    answer = CliRunner().invoke(command, ["--page", str(path)])
    assert answer.exit_code == 0, answer.output
    assert "0 of 4 jobs have run" in path.read_text(encoding="utf-8")
