"""The studies of Zhuang, Tsang and Hoi (2009), at a size that takes seconds."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from data_folder import needs_data
from mercer.graphs.laplacians import laplacian
from mercer.graphs.neighbors import neighbor_graph
from mercer.optim.npkl_newton import solve_npkl
from mercer_studies import zhuang2009
from mercer_studies import zhuang2009_figures as figures
from mercer_studies import zhuang2009_methods as methods
from mercer_studies.render import write
from mercer_studies.table import make_table

STUDIES = {study.name: study for study in zhuang2009.STUDIES}


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(60, noise=0.05, random_state=0)
    rng = np.random.default_rng(0)
    graph = neighbor_graph(X, 5, weights="binary", symmetry="mutual", rng=rng)
    return X, y, laplacian(graph.adjacency)


def test_table2_shows_scores_times_and_the_missing_set(moons):
    X, y, L = moons
    run = methods.compare_small(X, y, L, 0)
    table = make_table(STUDIES["table2"], {"Iris": [run, run]})
    assert table.cells["Protein", "k-means"].verdict == "missing"
    for column in ("k-means", "NPKL HL", "SimpleNPKL LL", "SimpleNPKL SHL", "Mercer"):
        assert table.cells["Iris", column].splits == 2
        assert -1 <= table.cells["Iris", f"{column} ARI"].mean <= 1
    one = table.cells["Iris", "one cluster"].mean
    same = y[:, None] == y  # the pairs that one cluster gets right
    assert one == pytest.approx(100 * same[np.triu_indices(len(y), 1)].mean())
    times = make_table(STUDIES["table2_times"], {"Iris": [run]})
    assert "SimpleNPKL LL" in times.columns
    assert not any(" ARI" in column or column == "pairs" for column in times.columns)


@pytest.mark.parametrize("seed", range(5))
def test_accuracy_is_the_formula_of_the_paper(seed):
    c, found = np.random.default_rng(seed).integers(0, 3, size=(2, 12))
    above = np.triu_indices(12, 1)
    agree = (c[:, None] == c) == (found[:, None] == found)
    score = methods.scores("k-means", c, found)
    assert score["k-means"] == pytest.approx(100 * agree[above].mean())


def test_each_pair_counts_twice(moons):
    _, y, L = moons
    pairs = methods.draw_pairs(y, 0.7, 0)
    problem = methods.pair_problem(L, pairs, C=0.3, budget=1.0)
    T = pairs.matrix().toarray()
    A = 0.3 * T - L.toarray()
    found = problem.matrix(np.full(problem.forms.n_pairs, problem.C))
    assert np.allclose(found, A)


def test_the_steps_of_figure1_close_in_on_the_optimum(moons):
    _, y, L = moons
    pairs = methods.draw_pairs(y, 0.7, 0)
    problem = methods.pair_problem(L, pairs, C=1.0, budget=60.0)
    run = figures.convergence(problem, 12)
    optimum = solve_npkl(problem).objective
    for t in range(1, 13):
        assert run[f"{t}|J"] <= optimum * (1 + 1e-6)
        assert run[f"{t}|primal"] >= optimum * (1 - 1e-6)
    assert run["12|primal"] - run["12|J"] < 0.2 * (run["1|primal"] - run["1|J"])


def test_figure2_keeps_enough_pairs(moons, tmp_path):
    _, y, L = moons
    pairs = methods.draw_pairs(y, 0.7, 0)
    run = figures.selection(L, y, pairs, 0, (50, 100))
    assert len(pairs) / 2 <= run["50|pairs"] < run["100|pairs"] == len(pairs)
    assert run["100|selected"] == run["100|random"]
    table = make_table(STUDIES["figure2"], {"a1a": [run]})
    assert table.rows == ("50", "100")
    assert table.cells["100", "selected"].printed.mean == 60.8
    assert all(p.stat().st_size for p in write(table, {"a1a": [run]}, tmp_path))


def test_figure1_is_drawn(moons, tmp_path):
    _, y, L = moons
    problem = methods.pair_problem(L, methods.draw_pairs(y, 0.7, 0), C=1, budget=60)
    results = {name: [figures.convergence(problem, 3)] for name in ("a1a", "a2a")}
    table = make_table(STUDIES["figure1"], results)
    assert table.rows == ("1", "2", "3")
    assert table.columns == ("a1a J", "a1a primal", "a2a J", "a2a primal")
    assert all(path.stat().st_size for path in write(table, results, tmp_path))


def test_rows_below_one_cluster_are_named():
    methods_ = ("k-means", "SimpleNPKL LL", "SimpleNPKL SHL", "Mercer")
    low = dict.fromkeys(methods_, 50.0) | {"one cluster": 60.0}
    high = dict.fromkeys(methods_, 70.0) | {"one cluster": 60.0}
    for sentence in zhuang2009.below_one_cluster({"a": [low], "b": [high]}):
        assert sentence.endswith("in 1 of 2 rows (a).")


def test_printed_times_of_the_linear_loss_have_the_printed_quotients():
    printed = STUDIES["table2_times"].printed()
    quotients = {
        row: printed[row, "NPKL LL"].mean / printed[row, "SimpleNPKL LL"].mean
        for row, _ in printed
    }
    speedups = {
        "Iris": 48.4,
        "Sonar": 106.2,
        "Glass": 84.1,
        "Heart": 131.4,
        "Protein": 39.2,
        "Soybean": 95.0,
        "Wine": 75.9,
    }
    assert quotients == pytest.approx(speedups, abs=0.05)


@needs_data
def test_a_row_of_table2_runs():
    run = methods.run_small(dataset="soybean_small", split=0)
    assert run["SimpleNPKL LL"] > run["one cluster"]
