"""The benchmark on tiny data: every task, resumed, given up, in an environment."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from mercer_studies.__main__ import main
from mercer_studies.bench import runner
from mercer_studies.bench.cells import TASKS, Cell, Method, plan
from mercer_studies.bench.data import saved
from mercer_studies.bench.measure import measure
from mercer_studies.bench.show import plots, table

# The others compile for half a minute, or are not installed for tests.
QUICK = {"mercer", "scipy", "sklearn", "cvxpy"}


def bench(*arguments):
    return CliRunner().invoke(main, ["bench", *arguments])


def test_a_run_measures_ours_and_a_peer_and_goes_on_where_it_stopped(
    tmp_path, monkeypatch
):
    run = ["solvers", "--data", "digits", "--out", str(tmp_path)]
    run += ["--method", "mercer", "--method", "cvxpy, Clarabel"]
    first = bench(*run, "--size", "8")
    assert first.exit_code == 0, first.output
    results = tmp_path / "results.jsonl"
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert [row["method"] for row in rows] == ["mercer", "cvxpy, Clarabel"]
    assert {row["status"] for row in rows} == {"ok"}
    # Both reach the same optimum.
    assert rows[0]["score"] == pytest.approx(rows[1]["score"], rel=1e-6)
    assert all(row["cpu"] > 0 and row["gigabytes"] > 0 for row in rows)

    def run_one(cell, *_):
        assert cell.n == 12, "a finished cell was run again"
        return {"status": "failed: on purpose"}

    monkeypatch.setattr(runner, "_run_one", run_one)
    second = bench(*run, "--size", "8", "--size", "12")
    assert second.exit_code == 0, second.output
    assert "failed: on purpose" in second.stdout
    assert "2 of 4" in second.stderr
    assert len(results.read_text().splitlines()) == 4
    shown = bench(*run, "--size", "8", "--size", "12", "--show")
    assert shown.stdout == second.stdout
    assert (tmp_path / "results.md").read_text() in second.stdout


@pytest.mark.parametrize("task", list(TASKS))
def test_every_method_of_a_task_can_be_measured(task, tmp_path):
    data = "sheet" if task == "eigenpairs" else "digits"
    n = 20 if task == "solvers" else 300
    path = str(saved(task, data, n, tmp_path))
    scores = {}
    for method in TASKS[task].methods:
        if method.package in QUICK:
            found = measure(Cell(task, data, n, method.name), path)
            scores[method.name] = found["score"]
            assert found["cpu"] >= 0
            assert found["wall"] > 0
    if task == "neighbors":
        assert min(scores.values()) >= 0.99
    elif task == "eigenpairs":
        assert max(scores.values()) < 1e-6
    elif task == "learn":
        assert scores["mercer"] > scores["nearest label"] > 50
    assert len(scores) >= 2


def test_every_method_reads_the_same_data(tmp_path):
    path = saved("learn", "digits", 200, tmp_path)
    with np.load(path) as file:
        y, truth = file["y"], file["truth"]
    assert (np.bincount(y[y >= 0]) == 5).all()
    assert (truth[y >= 0] == y[y >= 0]).all()
    written = path.stat().st_mtime_ns
    assert saved("learn", "digits", 200, tmp_path).stat().st_mtime_ns == written


def test_a_method_that_takes_too_long_is_not_tried_on_more(tmp_path):
    cells = plan(["solvers"], data=["digits"], sizes=[6, 9], methods=["mercer"])
    states = list(runner.run_cells(cells, tmp_path, limit=0.01))
    assert states[-1] == (2, 2, "")
    said = [row["status"] for row in runner.read(tmp_path / "results.jsonl")]
    assert said == ["over 0.01 s", "not tried: a smaller size took too long"]


def test_a_peer_runs_in_its_own_environment_and_a_missing_one_is_named(
    tmp_path, monkeypatch
):
    started = []
    run = runner.subprocess.run

    def spy(command, **options):
        started.append(command[0])
        return run([sys.executable, *command[1:]], **options)

    monkeypatch.setattr(runner.subprocess, "run", spy)
    cell = plan(["solvers"], data=["digits"], sizes=[6], methods=["cvxpy, Clarabel"])
    list(runner.run_cells(cell, tmp_path, pythons={"cvxpy": "/elsewhere/python"}))
    assert set(started) == {"/elsewhere/python"}
    assert runner.read(tmp_path / "results.jsonl")[0]["status"] == "ok"

    missing = Method("other", "solvers:other", "package_that_is_not_there")
    monkeypatch.setattr(Cell, "how", lambda self: missing)
    found = runner._run_one(cell[0], tmp_path, {}, 60.0)
    assert found == {"status": "package_that_is_not_there is not installed"}


def test_a_line_that_was_cut_off_is_measured_again(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"task": "solvers"}\n{"task": "sol')
    assert runner.read(path) == [{"task": "solvers"}]


def test_tables_and_plots_show_ratios_and_sizes(tmp_path):
    rows = [
        {
            "task": "neighbors", "data": "mixture", "n": n, "method": method,
            "status": "ok", "cpu": n * cost, "wall": n * cost, "gigabytes": 0.5,
            "score": 0.991, "setting": "",
        }
        for n in (100, 1000)
        for method, cost in (("mercer", 0.001), ("faiss", 0.004))
    ]  # fmt: skip
    rows.append({**rows[0], "method": "hnswlib", "status": "over 600 s"})
    text = table(rows, "neighbors")
    assert "| mixture | 1,000 | faiss | 4 | 4 | 0.50 | 0.991 | 4 |" in text
    assert "hnswlib | over 600 s" in text
    assert [path.name for path in plots(rows, tmp_path)] == ["neighbors-mixture.png"]
    assert (tmp_path / "neighbors-mixture.png").stat().st_size > 10_000
    assert not list(plots(rows[:2], tmp_path))  # one size


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["typing"], "there is no task 'typing'"),
        (["--python", "faiss"], "PACKAGE=PATH"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments, said, tmp_path):
    found = bench(*arguments, "--out", str(tmp_path))
    assert found.exit_code == 2
    assert said in found.output
