"""The studies of Dai and Yeung (2007), at a size that takes seconds."""

import numpy as np
import pytest

from data_folder import needs_data
from mercer.kernels.parametric import RBF
from mercer.machines.rls import RLSClassifier
from mercer_studies import dai2007
from mercer_studies import dai2007_methods as methods
from mercer_studies.render import write
from mercer_studies.table import make_table

STUDIES = {study.name: study for study in dai2007.STUDIES}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 20)
    X = rng.standard_normal((40, 2)) + 2.5 * truth[:, None]
    K = np.array([RBF(gamma=g)(X) for g in np.geomspace(0.01, 10, 30)])
    return K, truth, methods.draw_labels(truth, 0)


def test_six_labels_of_each_class_are_drawn(problem):
    _, truth, y = problem
    assert np.bincount(y[y >= 0]).tolist() == [6, 6]
    assert np.array_equal(truth[y >= 0], y[y >= 0])


def test_threshold_gives_half_of_the_points_to_each_class(problem):
    kernels, _, y = problem
    for K in kernels:
        machine = RLSClassifier("precomputed", C=1 / methods.GAMMA).fit(K, y)
        f = machine.decision_function(K[y < 0])
        found = methods.ridge_at_ratio(K, y)[y < 0]
        assert np.array_equal(found, (f > np.median(f)).astype(int))


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_every_column_of_the_tables_is_filled(problem, name):
    K, truth, y = problem
    if name == "table1":
        names = ("KS-SL", "KS-SSKM")
        run = methods.compare(K, truth, y, beta=0.1, names=names)
    else:
        run = methods.compare_sets(K, truth, y)
    table = make_table(STUDIES[name], {"1 vs 7": [run, run]})
    assert {column for _, column in STUDIES[name].printed()} <= set(table.columns)
    assert any("average of kernels" in column for column in table.columns)
    assert all(table.cells["1 vs 7", column].splits == 2 for column in table.columns)
    assert len(table.notes) == 1


def test_figure_has_error_and_weight_of_every_kernel(problem, tmp_path):
    K, truth, y = problem
    results = {"1 vs 7": [methods.each_kernel(K[:6], truth, y)]}
    table = make_table(STUDIES["figure1"], results)
    assert table.rows == tuple("123456")
    weights = [table.cells[row, "1 vs 7 weight (%)"].mean for row in table.rows]
    assert sum(weights) == pytest.approx(100)
    assert all(path.stat().st_size for path in write(table, results, tmp_path))


def test_printed_tables_have_all_rows():
    assert len(STUDIES["table1"].printed()) == 10
    assert len(STUDIES["table2"].printed()) == 40
    for name in ("table1", "table2"):
        assert {row for row, _ in STUDIES[name].printed()} == set(dai2007.ROWS)


@needs_data
def test_images_are_the_first_of_both_digits():
    from mercer_studies.data import load

    data = load("usps")
    X = methods.images((2, 3))
    assert X.shape == (400, 256)
    assert np.array_equal(X[0], data.X[np.flatnonzero(data.y == 2)[0]])
    assert np.array_equal(X[200], data.X[np.flatnonzero(data.y == 3)[0]])
