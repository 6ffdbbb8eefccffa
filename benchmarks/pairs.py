"""Kernels from pairs: the figures of docs/pairs.md but those of pairs_sdp.py.

    python benchmarks/pairs.py a1a | a5a | a9a | mnist | clusters | active

One part a process, so that the peak memory printed belongs to it. Times are CPU
seconds. MERCER_DATA names the folder of data sets; bases of large sets are kept in
the system's temporary folder between runs.
"""

import argparse
import contextlib
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from constrained_kmeans import constrained_kmeans
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import (
    adjusted_rand_score,
    normalized_mutual_info_score,
    rand_score,
)
from sklearn.preprocessing import StandardScaler

from mercer.active.pairs import next_pairs, select_constraints
from mercer.evidence.pairs import Pairs
from mercer.graphs.laplacians import laplacian
from mercer.graphs.neighbors import neighbor_graph
from mercer.learners.clustering import cluster
from mercer.learners.pairwise import PairwiseKernel
from mercer.optim.npkl import PairProblem
from mercer.optim.npkl_newton import solve_npkl
from mercer.optim.npkl_paper import solve_npkl_paper
from mercer.optim.pair_forms import EntryForms
from mercer.optim.psd_ball import project_psd_ball
from mercer.persist import load as load_model
from mercer.persist import save
from mercer.spectrum.graph import GraphBasis
from mercer_studies.data import load

SMALL = ("iris", "wine", "glass", "heart", "sonar", "soybean_small")
QUESTIONS = (20, 40, 80, 120)
ENOUGH = 0.05  # CPU seconds that a time is taken over


def cpu(function: Callable[[], object]) -> tuple[float, object]:
    """Return CPU seconds per call, of as many calls as a coarse clock needs."""
    start, calls = time.process_time(), 0
    while (spent := time.process_time() - start) < ENOUGH:
        result = function()
        calls += 1
    return spent / calls, result


def peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def standardised(name: str, at_most: int | None = None):
    data = load(name)
    X, y = np.asarray(data.X), data.y
    if at_most is not None and len(y) > at_most:
        rows = np.random.default_rng(0).choice(len(y), at_most, replace=False)
        X, y = X[rows], y[rows]
    return StandardScaler().fit_transform(X), y


def adult_problem(name: str, C: float, ratio: float = 0.7) -> PairProblem:
    """All kernels over the points: k = 50, B = N, the paper's pairs and closure."""
    data = load(name)
    pairs = Pairs.by_components(data.y, ratio, random_state=0).closure()
    rng = np.random.default_rng(0)
    graph = neighbor_graph(data.X, 50, weights="binary", rng=rng)
    n = len(data.y)
    forms = EntryForms(pairs.first, pairs.second, pairs.signs, n)
    L = laplacian(graph.adjacency)
    return PairProblem(forms, L, "squared_hinge", C, float(n))


def describe(name: str, seconds: float, solution) -> None:
    print(
        f"{name:34s} {seconds:8.1f} s  {solution.n_eigh:4d} eigen-decompositions  "
        f"relative gap {solution.relative_gap:.1e}  rank {len(solution.values)}",
        flush=True,
    )


def a1a() -> None:
    """Squared hinge, three solvers, exact family."""
    for C in (1.0, 10.0):
        problem = adult_problem("a1a", C)
        print(f"a1a, C={C:g}, B=N, {problem.forms.n_pairs} pairs")
        seconds, solution = cpu(lambda p=problem: solve_npkl(p, tol=1e-4))
        describe("Newton", seconds, solution)
        for name, step in (("C/t", C), ("1/t", 1.0)):
            seconds, solution = cpu(
                lambda p=problem, s=step: solve_npkl_paper(
                    p, step=s, tol=1e-4, max_eigh=45
                )
            )
            describe(f"Algorithm 1, steps {name}", seconds, solution)
        lbfgs(problem)
    n = problem.forms.side
    wide = replace(adult_problem("a1a", 1.0), budget=n * n / 2)
    seconds, solution = cpu(lambda: solve_npkl(wide, tol=1e-4))
    describe("Newton, C=1, B=N^2/2", seconds, solution)
    print(f"peak memory {peak_gb():.2f} GB")


def lbfgs(problem: PairProblem, max_eigh: int = 60) -> None:
    """L-BFGS-B on the dual, the usual quasi-Newton method."""
    start, evaluations, best = time.process_time(), [0], [np.inf, -np.inf]

    def negative_dual(a):
        projection = project_psd_ball(problem.matrix(a), budget=problem.budget)
        Q = projection.range
        scale = np.sqrt(problem.budget) / projection.norm
        values = projection.eigenvalues[: projection.rank] * scale
        margins = problem.forms.margins(Q * values, Q)
        value = problem.dual(a, projection.norm)
        evaluations[0] += 1
        best[0] = min(best[0], problem.primal(values, Q, margins))
        best[1] = max(best[1], value)
        if best[0] - best[1] <= 1e-4 * best[0] or evaluations[0] >= max_eigh:
            raise StopIteration
        return -value, -(1 - problem.curvature * a - margins)

    a = np.full(problem.forms.n_pairs, problem.C)
    bounds = [(0, None)] * len(a)
    with contextlib.suppress(StopIteration):
        minimize(negative_dual, a, jac=True, method="L-BFGS-B", bounds=bounds)
    gap = (best[0] - best[1]) / best[0]
    print(
        f"{'L-BFGS-B':34s} {time.process_time() - start:8.1f} s  {evaluations[0]:4d} "
        f"eigen-decompositions  relative gap {gap:.1e}",
        flush=True,
    )


def a5a() -> None:
    """Exact family at 6,414 points; the ratio gives 16,000 pairs."""
    problem = adult_problem("a5a", 1.0, 0.668)
    seconds, solution = cpu(lambda: solve_npkl(problem, tol=1e-4))
    print(f"a5a, C=1, B=N, {problem.forms.n_pairs} pairs, all kernels on 6414 points")
    describe("Newton", seconds, solution)
    print(f"peak memory {peak_gb():.2f} GB")


def cached_basis(name: str, X, basis: GraphBasis):
    path = Path(tempfile.gettempdir()) / f"mercer-pairs-{name}.skops"
    if not path.exists():
        seconds, fitted = cpu(lambda: basis.fit(X))
        print(f"{name}: basis in {seconds:.0f} s of CPU, kept in {path}")
        save(fitted, path)
    return load_model(path)


def scores_of(y, found) -> tuple[float, float, float]:
    return (
        adjusted_rand_score(y, found),
        normalized_mutual_info_score(y, found),
        rand_score(y, found),
    )


def inside_basis(name: str, X, y, pairs: Pairs, basis: GraphBasis) -> None:
    frozen = cached_basis(name, X, basis)
    before = peak_gb()
    learner = PairwiseKernel(tol=1e-4)
    seconds, _ = cpu(lambda: learner.learn(frozen, pairs=pairs))
    certificate = learner.certificate_
    print(f"{name}: {len(y)} points, {len(pairs)} pairs")
    print(f"fit {seconds:.1f} s of CPU, {certificate.n_eigh} eigen-decompositions")
    print(f"relative gap {certificate.relative_gap:.1e}, {certificate.family}")
    print(f"peak memory {peak_gb():.2f} GB ({before:.2f} GB before the fit)")
    k = len(np.unique(y))
    found = cluster(learner.kernel_, k, n_init=3, random_state=0)
    print("clusters, ARI, NMI and Rand index", *scores_of(y, found))


def a9a() -> None:
    """32,561 points, 80,000 random pairs, 200 directions."""
    data = load("a9a")
    pairs = Pairs.from_labels(data.y, n_pairs=80_000, random_state=0)
    basis = GraphBasis(200, n_neighbors=50, weights="binary", random_state=0)
    inside_basis("a9a", data.X, data.y, pairs, basis)


def mnist() -> None:
    """70,000 points, 5,000 random pairs, 200 directions."""
    data = load("mnist", dtype=np.float32)
    pairs = Pairs.from_labels(data.y, n_pairs=5000, random_state=0)
    basis = GraphBasis(200, random_state=0)
    inside_basis("mnist", data.X, data.y, pairs, basis)


def clusters(n_repeats: int = 20) -> None:
    """Six small sets, pairs of the paper's generator, one setting for all."""
    methods: dict[str, Callable] = {
        "k-means": lambda X, p, k, s: KMeans(k, n_init=10, random_state=s).fit_predict(
            X
        ),
        "PCKMeans": lambda X, p, k, s: constrained_kmeans(
            X, p, k, rng=np.random.default_rng(s), learn_metric=False
        ),
        "MPCKMeans": lambda X, p, k, s: constrained_kmeans(
            X, p, k, rng=np.random.default_rng(s), learn_metric=True
        ),
        "linear": lambda X, p, k, s: cluster(
            PairwiseKernel("linear", random_state=0).fit(X, pairs=p).kernel_,
            k,
            random_state=s,
        ),
        "squared hinge": lambda X, p, k, s: cluster(
            PairwiseKernel(random_state=0).fit(X, pairs=p).kernel_, k, random_state=s
        ),
    }
    table = np.zeros((len(SMALL), len(methods), n_repeats, 3))
    one = []
    for d, name in enumerate(SMALL):
        X, y = standardised(name)
        k = len(np.unique(y))
        for s in range(n_repeats):
            pairs = Pairs.by_components(y, 0.7, random_state=s).closure()
            for m, method in enumerate(methods.values()):
                table[d, m, s] = scores_of(y, method(X, pairs, k, s))
        one.append(rand_score(y, np.zeros_like(y)))
        print(f"{name}: {len(y)} points, {len(pairs)} pairs", flush=True)
    for c, score in enumerate(("ARI", "NMI", "Rand index")):
        print(f"\n{score}, mean (standard deviation) of {n_repeats} draws of pairs")
        print("| |" + "|".join((*methods, "one cluster")) + "|")
        for d, name in enumerate(SMALL):
            cells = [f"{v.mean():.3f} ({v.std():.3f})" for v in table[d, :, :, c]]
            cells.append(f"{one[d]:.3f}" if score == "Rand index" else "0")
            print(f"|{name}|" + "|".join(cells) + "|")
        means = table[:, :, :, c].mean(axis=(0, 2))
        print("|mean|" + "|".join(f"{v:.3f}" for v in means) + "||")


def learn(X, pairs: Pairs, frozen) -> PairwiseKernel:
    return PairwiseKernel(tol=1e-4).learn(frozen, pairs=pairs)


def active(n_repeats: int = 5) -> None:
    """ARI after so many questions, and after keeping half of the pairs."""
    names = (*SMALL[:5], "ionosphere", "g50c")
    asked = np.zeros((2, len(names), n_repeats, len(QUESTIONS)))
    kept = np.zeros((3, len(names), n_repeats))
    for d, name in enumerate(names):
        X, y = standardised(name, 300)
        k = len(np.unique(y))
        frozen = GraphBasis(100, random_state=0).fit(X)
        for s in range(n_repeats):
            asked[0, d, s] = random_questions(X, y, k, frozen, s)
            asked[1, d, s] = chosen_questions(X, y, k, frozen, s)
            kept[:, d, s] = half_of_the_pairs(X, y, k, frozen, s)
        print(
            f"|{name}|" + "|".join(f"{v:.3f}" for v in asked[0, d].mean(axis=0)) + "|"
            + "|".join(f"{v:.3f}" for v in asked[1, d].mean(axis=0)) + "|"
            + "|".join(f"{v:.3f}" for v in kept[:, d].mean(axis=1)) + "|",
            flush=True,
        )  # fmt: skip
    print(
        f"mean, random questions after {QUESTIONS}", asked[0].mean(axis=(0, 1)).round(3)
    )
    print(f"mean, next_pairs after {QUESTIONS}", asked[1].mean(axis=(0, 1)).round(3))
    print(
        "mean, pairs kept: all, random half, 3.2.4 half",
        kept.mean(axis=(1, 2)).round(3),
    )


def quality(X, y, k, frozen, pairs: Pairs, seed: int) -> float:
    found = cluster(learn(X, pairs, frozen).kernel_, k, random_state=seed)
    return adjusted_rand_score(y, found)


def random_questions(X, y, k, frozen, seed: int) -> list[float]:
    pairs = Pairs.from_labels(y, n_pairs=max(QUESTIONS), random_state=seed)
    order = np.random.default_rng(seed).permutation(len(pairs))
    return [
        quality(X, y, k, frozen, pairs[np.sort(order[:q])].closure(), seed)
        for q in QUESTIONS
    ]


def chosen_questions(X, y, k, frozen, seed: int, batch: int = 5) -> list[float]:
    """Ask in batches of five; learn the kernel again after each twenty."""
    rng = np.random.default_rng(seed)
    features = frozen.vectors_ * np.exp(-2.5 * frozen.values_)
    pairs, n_asked, scores = Pairs.from_index(n_points=len(y)), 0, []
    while n_asked < max(QUESTIONS):
        questions = next_pairs(features, pairs, batch, rng=rng)
        same = y[questions[:, 0]] == y[questions[:, 1]]
        pairs = pairs + Pairs.from_index(
            questions[same], questions[~same], n_points=len(y)
        )
        n_asked += batch
        if n_asked % 20 == 0:
            learner = learn(X, pairs.closure(), frozen)
            features = learner.kernel_.features()
        if n_asked in QUESTIONS:
            scores.append(quality(X, y, k, frozen, pairs.closure(), seed))
    return scores


def half_of_the_pairs(X, y, k, frozen, seed: int) -> list[float]:
    pairs = Pairs.by_components(y, 0.7, random_state=seed).closure()
    features = learn(X, pairs, frozen).kernel_.features()
    n_points = 1
    while len(half := select_constraints(pairs, features, n_points)) < len(pairs) // 2:
        n_points += 1
    some = np.random.default_rng(seed).choice(len(pairs), len(half), replace=False)
    return [
        quality(X, y, k, frozen, subset, seed)
        for subset in (pairs, pairs[np.sort(some)], half)
    ]


PARTS = {f.__name__: f for f in (a1a, a5a, a9a, mnist, clusters, active)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    warnings.simplefilter("ignore", ConvergenceWarning)
    PARTS[parser.parse_args().part]()
