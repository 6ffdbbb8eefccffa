"""Figures 1 and 2 of Zhuang, Tsang and Hoi (2009): convergence, choice of pairs."""

import time
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from mercer._base.ranges import unit_rows
from mercer._base.typing import FloatArray, IntArray, SparseArray
from mercer.active.pairs import select_constraints
from mercer.evidence.pairs import Pairs
from mercer.optim.npkl import PairProblem
from mercer.optim.npkl_paper import solve_npkl_paper
from mercer_studies.reshape import mean
from mercer_studies.study import Results
from mercer_studies.zhuang2009_methods import (
    C_ADULT,
    draw_pairs,
    graph_laplacian,
    hinge_features,
    linear_features,
    pair_problem,
    points,
    scores,
)

N_STEPS = 15
SHARES = (20, 40, 50, 60, 80, 100)  # percent of the pairs


def run_convergence(*, dataset: str, split: int) -> dict[str, float]:
    """Return "step|column" for Figure 1."""
    _, y = points(dataset)
    L = graph_laplacian(dataset, 50, scaled=False)
    return convergence(_problem(L, draw_pairs(y, 0.7, split)), N_STEPS)


def _problem(L: SparseArray, pairs: Pairs) -> PairProblem:
    return pair_problem(L, pairs, C=C_ADULT, budget=float(pairs.n_points))


def convergence(problem: PairProblem, n_steps: int) -> dict[str, float]:
    """Return the objective of eq. (12) before each step of Algorithm 1, and of K."""
    result = {}
    a = np.full(problem.forms.n_pairs, 2.0)  # 1 for (i, j) and 1 for (j, i)
    for t in range(1, n_steps + 1):
        now = solve_npkl_paper(problem, start=a, max_eigh=1)
        result[f"{t}|J"] = now.bound
        result[f"{t}|primal"] = now.objective
        margins = problem.forms.margins(now.vectors * now.values, now.vectors)
        gradient = 1 - problem.curvature * a - margins
        a = np.maximum(a + problem.C / t * gradient, 0)
    return result


def run_selection(*, dataset: str, split: int) -> dict[str, float]:
    """Return "percent|column" for Figure 2: twenty neighbours, B = N."""
    _, y = points(dataset)
    pairs = draw_pairs(y, 0.7, split)
    L = graph_laplacian(dataset, 20, scaled=False)
    return selection(L, y, pairs, split, SHARES)


def selection(
    L: SparseArray, y: IntArray, pairs: Pairs, repetition: int, shares: tuple[int, ...]
) -> dict[str, float]:
    """Return scores and seconds with pairs that section 3.2.4 chooses, and at random.

    The kernel that ranks the points is that of the linear loss with all pairs.
    """
    start = time.process_time()
    features = linear_features(_problem(L, pairs))
    ranking = time.process_time() - start
    rng = np.random.default_rng(repetition)
    result: dict[str, float] = {}
    for share in shares:
        n_kept = round(share / 100 * len(pairs))
        chosen = pairs if share == 100 else _most_doubtful(pairs, features, n_kept)
        drawn = np.sort(rng.choice(len(pairs), len(chosen), replace=False))
        for name, kept, extra in (
            ("selected", chosen, 0.0 if share == 100 else ranking),
            ("random", pairs[drawn], 0.0),
        ):
            row = _score(L, y, kept, repetition)
            row["s"] += extra
            for suffix, value in row.items():
                result[f"{share}|{f'{name} {suffix}'.rstrip()}"] = value
        result[f"{share}|pairs"] = len(chosen)
    return result


def _most_doubtful(pairs: Pairs, features: FloatArray, n_pairs: int) -> Pairs:
    """Return the pairs of the fewest points, most doubtful first, that are enough."""
    low, high = 1, pairs.n_points
    while low < high:
        middle = (low + high) // 2
        if len(select_constraints(pairs, features, middle)) >= n_pairs:
            high = middle
        else:
            low = middle + 1
    return select_constraints(pairs, features, low)


def _score(
    L: SparseArray, y: IntArray, pairs: Pairs, repetition: int
) -> dict[str, float]:
    start = time.process_time()
    features = hinge_features(_problem(L, pairs))
    seconds = time.process_time() - start
    model = KMeans(len(np.unique(y)), n_init=10, random_state=repetition)
    found = scores("", y, model.fit_predict(unit_rows(features)))
    return {"": found[""], "ARI": found[" ARI"], "s": seconds}


def draw_figure1(figure: Any, results: Results) -> None:
    """Draw the objective over the steps, a panel for each data set."""
    figure.set_size_inches(9, 4)
    columns = dict.fromkeys(c for runs in results.values() for r in runs for c in r)
    datasets = dict.fromkeys(column.split()[0] for column in columns)
    steps = [int(row) for row in results]
    panels = figure.subplots(1, len(datasets), squeeze=False)[0]
    for ax, dataset in zip(panels, datasets, strict=True):
        for column in (c for c in columns if c.split()[0] == dataset):
            means = [mean(runs, column) for runs in results.values()]
            ax.plot(steps, means, "o-", ms=3, label=column)
        ax.set_xlabel("step")
        ax.legend(fontsize=8)


def draw_figure2(figure: Any, results: Results) -> None:
    """Draw Rand index, ARI and seconds over the share of pairs kept."""
    figure.set_size_inches(11, 4)
    shares = [int(row) for row in results]
    panels = zip(
        figure.subplots(1, 3),
        (("", "Rand index (%)"), (" ARI", "ARI"), (" s", "CPU s")),
        strict=True,
    )
    for ax, (suffix, label) in panels:
        for name in ("selected", "random"):
            means = [mean(runs, name + suffix) for runs in results.values()]
            ax.plot(shares, means, "o-", ms=3, label=name)
        ax.set_xlabel("pairs kept (%)")
        ax.set_ylabel(label)
    figure.axes[0].legend()
