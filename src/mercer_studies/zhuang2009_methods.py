"""What Zhuang, Tsang and Hoi (2009) run in one repetition."""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.preprocessing import StandardScaler

from mercer._base.ranges import unit_rows
from mercer._base.typing import FloatArray, IntArray, SparseArray
from mercer.evidence.pairs import Pairs
from mercer.graphs.laplacians import laplacian
from mercer.graphs.neighbors import neighbor_graph
from mercer.learners.pairwise import PairwiseKernel
from mercer.optim.budgeted_psd import solve_budgeted_psd
from mercer.optim.npkl import PairProblem
from mercer.optim.npkl_newton import solve_npkl
from mercer.optim.pair_forms import EntryForms
from mercer_studies.data.generators import make_chessboard, make_double_spiral
from mercer_studies.data.loading import load

C_SMALL, C_ADULT = 0.1, 1.0
TOL = 1e-4
GENERATED: dict[str, Callable[..., tuple[FloatArray, IntArray]]] = {
    "chessboard": make_chessboard,
    "double_spiral": make_double_spiral,
}


@lru_cache(maxsize=1)
def points(dataset: str) -> tuple[Any, IntArray]:
    """Return features as they come, and classes."""
    if dataset in GENERATED:
        return GENERATED[dataset](100, random_state=0)
    data = load(dataset)
    return data.X, data.y


def standardised(X: Any) -> Any:
    """Return features of variance 1, and mean 0 where they are dense."""
    return StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X)


@lru_cache(maxsize=1)
def graph_laplacian(dataset: str, n_neighbors: int, *, scaled: bool) -> SparseArray:
    """Return the normalised Laplacian of mutual neighbours, all weights 1."""
    X, _ = points(dataset)
    graph = neighbor_graph(
        standardised(X) if scaled else X,
        n_neighbors,
        weights="binary",
        symmetry="mutual",
        rng=np.random.default_rng(0),
    )
    return laplacian(graph.adjacency)


def draw_pairs(y: IntArray, ratio: float, repetition: int) -> Pairs:
    """Draw pairs until `ratio` n components are left, and close them."""
    return Pairs.by_components(y, ratio, random_state=repetition).closure()


def pair_problem(
    L: SparseArray, pairs: Pairs, *, C: float, budget: float
) -> PairProblem:
    """Return eq. (9), in which every pair counts as (i, j) and (j, i)."""
    forms = EntryForms(pairs.first, pairs.second, pairs.signs, pairs.n_points)
    return PairProblem(forms, L, "squared_hinge", 2 * C, budget)


def linear_features(problem: PairProblem) -> FloatArray:
    """Return features of the kernel of eq. (6), SimpleNPKL with linear loss."""
    A = problem.matrix(np.full(problem.forms.n_pairs, problem.C))
    best = solve_budgeted_psd(A, budget=problem.budget)
    features: FloatArray = best.vectors * np.sqrt(best.values)
    return features


def hinge_features(problem: PairProblem) -> FloatArray:
    """Return features of the kernel of eq. (9), squared hinge loss."""
    best = solve_npkl(problem, tol=TOL)
    features: FloatArray = best.vectors * np.sqrt(best.values)
    return features


def npkl_features(problem: PairProblem) -> FloatArray:
    """Return features of the kernel of eq. (4), hinge loss, without a budget.

    The budget n² is that of a kernel of ones and does not bind.
    """
    free = replace(problem, loss="hinge", budget=float(problem.forms.side) ** 2)
    return hinge_features(free)


def default_features(X: Any, pairs: Pairs) -> FloatArray:
    """Return features of Mercer's default on standardised points."""
    learner = PairwiseKernel(random_state=0)
    return learner.fit(standardised(X), pairs=pairs).kernel_.features()


def scores(method: str, y: IntArray, found: IntArray) -> dict[str, float]:
    """Return the Rand index (%), under the method's name, and the adjusted one."""
    adjusted = float(adjusted_rand_score(y, found))
    return {method: 100 * float(rand_score(y, found)), f"{method} ARI": adjusted}


def learned(
    methods: Mapping[str, Callable[[], FloatArray]], y: IntArray, repetition: int
) -> dict[str, float]:
    """Learn, cluster and score; seconds are of learning alone."""
    result: dict[str, float] = {}
    n_clusters = len(np.unique(y))
    for name, learn in methods.items():
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            features = learn()
        seconds = time.process_time() - start
        model = KMeans(n_clusters, n_init=10, random_state=repetition)
        found = model.fit_predict(unit_rows(features))
        result |= scores(name, y, found) | {f"{name} s": seconds}
    return result


def compare(
    X: Any, y: IntArray, problem: PairProblem, pairs: Pairs, *, repetition: int
) -> dict[str, float]:
    """Run k-means, both losses and Mercer's default with one draw of pairs."""
    plain = KMeans(
        len(np.unique(y)), init="random", n_init=1, random_state=repetition
    ).fit_predict(X)
    result = scores("k-means", y, plain)
    result |= learned(
        {
            "SimpleNPKL LL": partial(linear_features, problem),
            "SimpleNPKL SHL": partial(hinge_features, problem),
            "Mercer": partial(default_features, X, pairs),
        },
        y,
        repetition,
    )
    result["one cluster"] = 100 * float(rand_score(y, np.zeros_like(y)))
    result["pairs"] = len(pairs)
    return result


def run_small(*, dataset: str, split: int) -> dict[str, float]:
    """Return a row of Table 2: five neighbours, B = 1."""
    X, y = points(dataset)
    L = graph_laplacian(dataset, 5, scaled=True)
    return compare_small(X, y, L, split)


def compare_small(
    X: Any, y: IntArray, L: SparseArray, repetition: int
) -> dict[str, float]:
    """Run all methods of Table 2."""
    pairs = draw_pairs(y, 0.7, repetition)
    problem = pair_problem(L, pairs, C=C_SMALL, budget=1.0)
    npkl = {"NPKL HL": partial(npkl_features, problem)}
    result = learned(npkl, y, repetition)
    return result | compare(X, y, problem, pairs, repetition=repetition)


def run_adult(*, dataset: str, split: int) -> dict[str, float]:
    """Return a row of Table 4: fifty neighbours, B = N."""
    X, y = points(dataset)
    L = graph_laplacian(dataset, 50, scaled=False)
    pairs = draw_pairs(y, 0.7, split)
    problem = pair_problem(L, pairs, C=C_ADULT, budget=float(len(y)))
    return compare(X, y, problem, pairs, repetition=split)
