"""The studies of Mao and Tsang (2010), at a size that takes seconds."""

from dataclasses import asdict

import numpy as np
import pytest
from sklearn.datasets import make_moons

from data_folder import needs_data
from mercer_studies import mao2010
from mercer_studies.data.dataset import Dataset
from mercer_studies.mao2010_figure2 import learned_kernels
from mercer_studies.mao2010_methods import (
    C_GRID,
    SETTINGS,
    Setting,
    describe,
    prepare,
    run_methods,
    run_unified,
    split_of,
)
from mercer_studies.table import make_table

STUDIES = {study.name: study for study in mao2010.STUDIES}


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(60, noise=0.05, random_state=0)
    return Dataset("moons", X, y, np.array(["a", "b"]), "")


@pytest.fixture(scope="module")
def result(moons):
    problem = prepare(moons, n_neighbors=5, power=2)
    return run_methods(problem, *split_of(moons, Setting("", 10, 5, 2, 1, 5), 0))


def test_every_column_of_the_tables_is_filled(result):
    for name in ("table2", "table3", "figure1"):
        study = STUDIES[name]
        rows = make_table(study, {"G50C": [result, result]})
        filled = {c for c in rows.columns if rows.cells["G50C", c].splits == 2}
        assert filled == set(rows.columns)
        assert filled >= {column for _, column in study.printed()}
    assert all(0 <= v <= 100 for c, v in result.items() if not c.endswith(" s"))


def test_the_default_has_a_column(moons, result):
    default = run_unified(moons, *split_of(moons, Setting("", 10, 5, 2, 1, 5), 0))
    table = make_table(STUDIES["table2"], {"G50C": [result, default]})
    assert table.cells["G50C", "Mercer"].mean == default["Mercer"] > 80
    assert table.cells["G50C", "SVM"].splits == 1


def test_graphs_help_on_moons(result):
    supervised = max(result[f"SVM C={C:g}"] for C in C_GRID)
    for method in ("LapRLS", "LapSVM", "SKL", "SKL_KTA"):
        assert result[method] > supervised


def test_one_c_is_chosen_for_all_splits_of_a_row():
    methods = [f"{m} C={C:g}" for m in ("SVM", "SimpleMKL") for C in C_GRID]
    first = {f"{method}{suffix}": 0.0 for method in methods for suffix in ("", " s")}
    second = dict(first)
    first |= {"SVM C=1": 90.0, "SVM C=10": 80.0, "SVM C=10 s": 2.0}
    second |= {"SVM C=1": 50.0, "SVM C=10": 70.0, "SVM C=10 s": 4.0}
    table = mao2010.at_best_c({"row": [first, second, {"Mercer": 1.0}]})["row"]
    assert [run["SVM"] for run in table[:2]] == [80, 70]
    assert [run["SVM s"] for run in table[:2]] == [2, 4]
    assert table[2] == {"Mercer": 1.0}


def test_printed_ranks_are_those_of_the_printed_accuracies():
    accuracies = {row: [{}] for row in mao2010.PRINTED_ROWS}
    for (row, column), figure in STUDIES["table2"].printed().items():
        grid = [f"{column} C={C:g}" for C in C_GRID]
        names = grid if column in ("SimpleMKL", "SVM") else [column]
        for name in names:
            accuracies[row][0] |= {name: figure.mean, f"{name} s": 0.0}
    table = make_table(STUDIES["table2_ranks"], accuracies)
    assert table.counts()["compared"] == 80
    assert {cell.verdict for cell in table.cells.values()} == {"agrees"}


def test_ranks_wait_for_all_methods():
    assert mao2010.ranks({"G50C": [{"LapRLS": 1.0}]}) == {}


@pytest.mark.parametrize("name", ["table1", "table2", "table3"])
def test_printed_rows_are_rows_of_the_study(name):
    assert {row for row, _ in STUDIES[name].printed()} == set(mao2010.PRINTED_ROWS)


def test_quick_is_two_splits_of_every_row():
    jobs = STUDIES["table2"].jobs(True)
    per_row = {(job.row, job.function.__name__) for job in jobs}
    assert len(jobs) == 2 * len(per_row)
    assert {row for row, _ in per_row} == set(SETTINGS)


def test_drawn_splits_have_equal_classes_and_a_fixed_seed(moons):
    setting = Setting("", 12, 5, 2, 1, per_class=6)
    labeled, rest = split_of(moons, setting, 3)
    assert np.bincount(moons.y[labeled]).tolist() == [6, 6]
    assert sorted([*labeled, *rest]) == list(range(60))
    assert np.array_equal(split_of(moons, setting, 3).labeled, labeled)
    assert not np.array_equal(split_of(moons, setting, 4).labeled, labeled)


def test_kernels_of_figure_2_stand_class_by_class(moons):
    problem = prepare(moons, n_neighbors=5, power=2)
    labeled = np.arange(10)
    y = np.sort(moons.y)
    same = y[:, None] == y
    kernels = learned_kernels(problem, labeled)
    for K in kernels.values():
        np.testing.assert_allclose(K.diagonal(), 1)
    K = kernels["SKL_KTA"]
    assert K[same].mean() > K[~same].mean() + 0.1


@needs_data
def test_table_1_of_a_small_data_set_is_the_printed_one():
    found = describe(split=0, **asdict(SETTINGS["G50C"]))
    figures = STUDIES["table1"].printed().items()
    printed = {column: f.mean for (row, column), f in figures if row == "G50C"}
    assert {c: found[c] for c in printed} == printed
