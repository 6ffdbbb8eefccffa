"""The studies of Hoi, Lyu and Chang (2006), at a size that takes seconds."""

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.datasets import make_classification

from mercer.machines.klr import KernelLogisticRegression
from mercer.model_selection import SemiSupervisedKFold
from mercer_studies import hoi2006, hoi2006_figures
from mercer_studies.hoi2006_methods import (
    RIDGES,
    choose_ridge,
    compare_kernels,
    compare_schemes,
    prepare,
)
from mercer_studies.reshape import by_row
from mercer_studies.table import make_table

STUDIES = {study.name: study for study in hoi2006.STUDIES}


@pytest.fixture(scope="module")
def problem():
    X, y = make_classification(
        60, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    X[:, 0] = 7.0  # a constant feature
    return prepare(X, y)


def test_features_are_scaled_and_kernels_have_a_common_size(problem):
    assert np.allclose(np.abs(problem.X[:, 1:]).max(axis=0), 1)
    assert np.all(problem.X[:, 0] == 0)
    for K in problem.grams.values():
        assert K.diagonal().mean() == pytest.approx(1)


def test_every_class_is_drawn(problem):
    for trial in range(20):
        rows = problem.draw(4, trial)
        assert len(rows) == 4
        assert set(problem.y[rows]) == {0, 1, 2}


def test_every_column_of_the_tables_is_filled(problem):
    runs = {
        "table2": 2 * [compare_kernels(problem, 9, 0)],
        "table3": 2 * [compare_schemes(problem, 9, 0)],
    }
    for name, study in STUDIES.items():
        if not name.startswith("table"):
            continue
        table = make_table(study, {"Wine 10": runs[name[:6]]})
        assert table.columns
        assert {column for _, column in study.printed()} <= set(table.columns)
        for column in table.columns:
            assert table.cells["Wine 10", column].splits == 2


def test_lambda_is_that_of_a_plain_cross_validation(problem):
    rows = problem.draw(15, 0)
    K, y = problem.grams["RBF"][np.ix_(rows, rows)], problem.y[rows]
    scores = []
    for ridge in RIDGES:
        hits = 0
        for train, held in SemiSupervisedKFold(5, random_state=0).split(y, y):
            few = np.full(15, -1)
            few[train] = y[train]
            machine = KernelLogisticRegression(
                "precomputed", C=1 / (len(train) * ridge), multi_class="ovr"
            )
            hits += np.sum(machine.fit(K, few).transduction_[held] == y[held])
        scores.append(hits)
    assert choose_ridge(K, y, intercept=True) == RIDGES[int(np.argmax(scores))]


def test_curves_have_a_row_for_each_dimension(problem):
    runs = 2 * [hoi2006_figures.dimensions(problem, "RBF", 0, (2, 5))]
    table = make_table(STUDIES["figure4b"], {"all": runs})
    assert table.rows == ("2", "5")
    assert table.columns[:3] == ("original", "K_Trunc", "K_Cluster")
    assert all(cell.splits == 2 for cell in table.cells.values())


def test_coefficients_decay_by_their_factor(problem):
    run = hoi2006_figures.coefficients(problem, "RBF", 0)
    rows = by_row({"all": [run]})
    for decay in (1.0, 2.0, 3.0):
        weights = np.array([runs[0][f"C={decay:g}"] for runs in rows.values()])
        assert weights[0] == 1
        assert np.all(weights[:-1] >= decay * weights[1:] - 1e-12)
    energy = [runs[0]["energy (%)"] for runs in rows.values()]
    assert np.all(np.diff(energy) > 0)
    assert energy[-1] <= 100 + 1e-9


def test_paired_tests_are_those_of_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(1.0, 1, 20), rng.normal(0, 1, 20)
    assert ttest_rel(a, b).pvalue < 0.05
    results = {
        "up": [{"A": x, "B": z} for x, z in zip(a, b, strict=True)],
        "down": [{"A": z, "B": x} for x, z in zip(a, b, strict=True)],
        "equal": [{"A": x, "B": x} for x in a],
        "noise": [{"A": x, "B": x + (-1) ** i} for i, x in enumerate(a)],
    }
    (sentence,) = hoi2006.paired_tests(results, (("A", "B"),))
    assert "better in 1 (up), worse in 1 (down), undecided in 2" in sentence


def test_printed_errors_become_deviations():
    figure = STUDIES["table2"].printed()["Heart 10", "Linear"]
    assert (figure.mean, figure.splits) == (67.19, 20)
    assert figure.std == pytest.approx(1.94 * np.sqrt(20))


def test_printed_figures_are_typed_alike_in_both_tables():
    two, three = STUDIES["table2"].printed(), STUDIES["table3"].printed()
    assert len(three) == 128
    assert {row for row, _ in two} == {row for row, _ in three} == set(hoi2006.ROWS)
    for row in hoi2006.ROWS:
        for kernel in ("Linear", "RBF"):
            same = two[row, kernel] == three[row, f"{kernel} KLR"]
            assert same == (not row.startswith("Sonar"))
        assert two.get((row, "Order")) == two.get((row, "Imp-Order"))


def test_the_machine_without_intercept_is_compared_with_the_same_print():
    assert STUDIES["table2_no_intercept"].printed() == STUDIES["table2"].printed()
