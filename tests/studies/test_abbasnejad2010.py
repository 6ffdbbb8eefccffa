"""The studies of Abbasnejad et al. (2010), at a size that takes seconds."""

import numpy as np
import pytest

from data_folder import needs_data
from mercer.kernels.normalized import Normalized
from mercer_studies import abbasnejad2010
from mercer_studies import abbasnejad2010_figures as figures
from mercer_studies import abbasnejad2010_methods as methods
from mercer_studies.table import make_table

SETS = methods.SETS
STUDIES = {study.name: study for study in abbasnejad2010.STUDIES}


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.uniform(20, 60, size=(60, 8)) + 40 * y[:, None] * (np.arange(8) < 3)
    return X, y


@pytest.fixture(scope="module")
def run(points):
    X, y = points
    predict = methods.neighbours_after_pca(3)
    return methods.compare(X[:40], y[:40], X[40:], y[40:], predict)


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_every_column_of_the_tables_is_filled(run, name):
    study = STUDIES[name]
    row = next(iter(study.printed()))[0]
    table = make_table(study, {row: [run, run]})
    assert {column for _, column in study.printed()} <= set(table.columns)
    assert all(table.cells[row, column].splits == 2 for column in table.columns)
    assert {f"average {label}" for label in methods.SETS} <= set(table.columns)
    assert len(table.notes) == 1


def test_a_convex_combination_scores_as_the_kernel_with_the_closest_points(points, run):
    X, _ = points
    closeness = {
        name: Normalized(kernel)(X[:40]).mean()
        for name, kernel in methods.KERNELS.items()
    }
    best = {label: max(names, key=closeness.get) for label, names in SETS.items()}
    assert len({run[name] for name in best.values()}) > 1
    for label, name in best.items():
        assert run[f"convex {label}"] == run[name]


def test_support_vector_machine_parts_what_is_far_apart(points):
    X, y = points
    K = X @ X.T
    assert np.mean(methods.svm(K, y, K) == y) > 0.9


def test_times_fill_the_columns_of_the_paper(points):
    X, _ = points
    found = methods.seconds({"faces": X, "texts": X}, "affine")
    assert set(found) == {column for _, column in STUDIES["table3"].printed()}
    assert {row for row, _ in STUDIES["table3"].printed()} == set(abbasnejad2010.TIMED)


def test_printed_averages_are_those_of_the_printed_tables():
    printed = STUDIES["figure5"].printed()
    for name, row in (("table1", "faces"), ("table2", "texts")):
        rows = {}
        for (r, column), figure in STUDIES[name].printed().items():
            rows.setdefault(r, {})[column] = figure.mean
        for group in ("affine", "convex"):
            found = [v for x in rows.values() for c, v in x.items() if group in c]
            assert len(found) == 5 * len(rows)
            assert printed[row, group].mean == pytest.approx(np.mean(found), abs=0.005)
        single = [x[k] for x in rows.values() for k in methods.KERNELS]
        expected = pytest.approx(np.mean(single), abs=0.005)
        assert printed[row, "base kernels"].mean == expected


def test_averages_take_each_draw_over_all_rows():
    columns = [*methods.KERNELS, *(f"{g} LP" for g in abbasnejad2010.GROUPS)]
    results = {
        row: [dict.fromkeys(columns, 10.0 * i), dict.fromkeys(columns, 50.0)]
        for i, row in enumerate(abbasnejad2010.FACES)
    }
    (first, second), *_ = abbasnejad2010.averages(results).values()
    assert set(first.values()) == {40.0}
    assert set(second.values()) == {50.0}


def test_figures_have_a_row_for_each_matrix(points):
    X, _ = points
    for name, describe in (
        ("figure2", figures.describe),
        ("figure3", figures.influence_and_centre),
    ):
        table = make_table(STUDIES[name], {"COIL-20": 2 * [describe(X[:12])]})
        assert table.rows == ("linear", "polynomial", "average", "affine")
        assert all(np.isfinite(cell.mean) for cell in table.cells.values())


@needs_data
def test_draws_do_not_share_points():
    X, y, X_new, y_new = methods.draw_texts(50, 0)
    assert (X.shape[0], len(y), X_new.shape[0], len(y_new)) == (50, 50, 300, 300)
    assert y.mean() == y_new.mean() == 0.5
    X, y, X_new, _ = methods.draw_faces(150, 4, 0)
    assert (len(X), len(X_new), len(np.unique(y))) == (150, 150, 4)
