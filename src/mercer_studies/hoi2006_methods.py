"""What Hoi, Lyu and Chang (2006) run in one trial."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg import eigh

from mercer._base.typing import FloatArray, IntArray
from mercer.active.strategies import entropy
from mercer.evidence.labels import Labels
from mercer.kernels.parametric import RBF, Linear, Polynomial
from mercer.learners.decaying import DecayingKernel
from mercer.learners.ordered import OrderedKernel
from mercer.machines.klr import KernelLogisticRegression
from mercer.model_selection import SemiSupervisedKFold
from mercer.optim.newton import solve_klr
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis
from mercer_studies.data.loading import load

RIDGES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # lambda, smallest first
N_COMPONENTS = 20
DECAY = 2.0
N_ASKED = 10
STANDARD = {
    "Linear": Linear(),
    "Quadratic": Polynomial(degree=2, gamma=1.0, coef0=1.0),
    "RBF": RBF(gamma="mean_distance"),
}
WITHOUT_B = " without b"


@dataclass(frozen=True, eq=False)
class Problem:
    """Points with the kernels and bases that every trial shares."""

    X: FloatArray
    y: IntArray
    grams: dict[str, FloatArray]  # standard kernels, k(x, x) = 1 on average
    bases: dict[str, Any]  # fitted, of the standard kernels and "graph"

    def reveal(self, rows: IntArray) -> IntArray:
        """Return labels with -1 outside these rows."""
        known = np.full(len(self.y), -1)
        known[rows] = self.y[rows]
        return known

    def draw(self, size: int, trial: int) -> IntArray:
        """Draw labelled rows until every class is among them."""
        rng = np.random.default_rng([size, trial])
        while True:
            rows = np.sort(rng.choice(len(self.y), size, replace=False))
            if len(np.unique(self.y[rows])) == len(np.unique(self.y)):
                return rows


def prepare(X: FloatArray, y: IntArray) -> Problem:
    """Scale features to [-1, 1] and compute kernels and bases."""
    low, high = X.min(axis=0), X.max(axis=0)
    half = np.where(high > low, (high - low) / 2, 1.0)
    X = (X - (low + high) / 2) / half
    grams, bases = {}, {}
    for name, kernel in STANDARD.items():
        K = kernel.resolve(X)(X)
        grams[name] = K / K.diagonal().mean()
        basis = GramBasis(None, kernel="precomputed").fit(grams[name])
        bases[name] = basis
    graph = GraphBasis(N_COMPONENTS, weights="binary", random_state=0)
    bases["graph"] = graph.fit(X)
    return Problem(X, y, grams, bases)


@lru_cache(maxsize=1)
def problem_of(dataset: str) -> Problem:
    """Return the prepared data set."""
    data = load(dataset)
    return prepare(np.asarray(data.X), data.y)


def decaying_gram(
    problem: Problem,
    name: str,
    y: IntArray,
    *,
    decay: float = DECAY,
    n_components: int = N_COMPONENTS,
) -> FloatArray:
    """Return the kernel learned from the spectrum of a standard one, (n, n)."""
    basis = problem.bases[name]
    learner = DecayingKernel(decay, n_components)
    return learner.learn(basis, Labels.read(y, min_classes=2)).kernel_()


def ordered_gram(problem: Problem, y: IntArray, *, improved: bool) -> FloatArray:
    """Return the order-constrained graph kernel, (n, n)."""
    learner = OrderedKernel(improved, N_COMPONENTS)
    return learner.learn(
        problem.bases["graph"], Labels.read(y, min_classes=2)
    ).kernel_()


def choose_ridge(K: FloatArray, codes: IntArray, *, intercept: bool) -> float:
    """Choose lambda by five-fold cross-validation on the labelled points.

    It is the best of `RIDGES`, the smallest of equals. K are the kernel values of the
    labelled points.
    """
    values, vectors = eigh(K)
    Phi = vectors * np.sqrt(np.maximum(values, 0.0))
    targets = (codes[:, None] == np.unique(codes)).astype(np.float64)
    if targets.shape[1] == 2:
        targets = targets[:, 1:]
    right = np.zeros(len(RIDGES))
    for train, held in SemiSupervisedKFold(5, random_state=0).split(codes, codes):
        for i, ridge in enumerate(RIDGES):
            C = 1 / (len(train) * ridge)
            scores = np.column_stack(
                [
                    Phi[held] @ fit.coef + fit.intercept
                    for fit in (
                        solve_klr(Phi[train], t[train], C=C, fit_intercept=intercept)
                        for t in targets.T[:, :, None]
                    )
                ]
            )
            if scores.shape[1] == 1:
                scores = np.hstack([-scores, scores])
            right[i] += np.sum(np.unique(codes)[scores.argmax(axis=1)] == codes[held])
    return RIDGES[int(right.argmax())]


def fit_klr(K: FloatArray, y: IntArray, *, intercept: bool) -> KernelLogisticRegression:
    """Fit kernel logistic regression, one class against the rest, lambda chosen."""
    rows = np.flatnonzero(y >= 0)
    ridge = choose_ridge(K[np.ix_(rows, rows)], y[rows], intercept=intercept)
    machine = KernelLogisticRegression(
        "precomputed",
        C=1 / (len(rows) * ridge),
        fit_intercept=intercept,
        multi_class="ovr",
    )
    return machine.fit(K, y)


def accuracy(machine: Any, problem: Problem, y: IntArray) -> float:
    """Return the percentage right of the points without a label."""
    rest = y < 0
    return 100 * float(np.mean(machine.transduction_[rest] == problem.y[rest]))


def run_table2(*, dataset: str, size: int, split: int) -> dict[str, float]:
    """Return accuracies with and without intercept, and seconds of learning."""
    return compare_kernels(problem_of(dataset), size, split)


def compare_kernels(problem: Problem, size: int, trial: int) -> dict[str, float]:
    """Run all kernels of Table 2 in one trial."""
    y = problem.reveal(problem.draw(size, trial))
    result: dict[str, float] = {}
    grams = dict(problem.grams)
    learned: dict[str, Callable[[], FloatArray]] = {
        "Order": lambda: ordered_gram(problem, y, improved=False),
        "Imp-Order": lambda: ordered_gram(problem, y, improved=True),
        "SKL(Linear)": lambda: decaying_gram(problem, "Linear", y),
        "SKL(Quad)": lambda: decaying_gram(problem, "Quadratic", y),
        "SKL(RBF)": lambda: decaying_gram(problem, "RBF", y),
    }
    for name, learn in learned.items():
        start = time.process_time()
        grams[name] = learn()
        result[f"{name} s"] = time.process_time() - start
    for suffix, intercept in (("", True), (WITHOUT_B, False)):
        for name, K in grams.items():
            machine = fit_klr(K, y, intercept=intercept)
            result[name + suffix] = accuracy(machine, problem, y)
    return result


def run_table3(*, dataset: str, size: int, split: int) -> dict[str, float]:
    """Return accuracies of the four schemes with two kernels, with and without b."""
    return compare_schemes(problem_of(dataset), size, split)


def compare_schemes(problem: Problem, size: int, trial: int) -> dict[str, float]:
    """Run all schemes of Table 3 in one trial."""
    rows = problem.draw(size, trial)
    y = problem.reveal(rows)
    rest = np.flatnonzero(y < 0)
    rng = np.random.default_rng([size, trial, N_ASKED])
    more = problem.reveal(np.union1d(rows, rng.choice(rest, N_ASKED, replace=False)))
    result: dict[str, float] = {}
    for suffix, intercept in (("", True), (WITHOUT_B, False)):
        for name in ("Linear", "RBF"):
            K = problem.grams[name]
            plain = fit_klr(K, y, intercept=intercept)
            asked = most_uncertain(plain, K, rest)
            active = problem.reveal(np.union1d(rows, asked))
            K_first = decaying_gram(problem, name, y)
            first = fit_klr(K_first, y, intercept=intercept)
            asked = most_uncertain(first, K_first, rest)
            unified = problem.reveal(np.union1d(rows, asked))
            K_last = decaying_gram(problem, name, unified)
            runs = {
                "KLR": (plain, y),
                "KLR+Rand": (fit_klr(K, more, intercept=intercept), more),
                "KLR+Active": (fit_klr(K, active, intercept=intercept), active),
                "UKLR": (fit_klr(K_last, unified, intercept=intercept), unified),
            }
            for scheme, (machine, known) in runs.items():
                column = f"{name} {scheme}{suffix}"
                result[column] = accuracy(machine, problem, known)
    return result


def most_uncertain(machine: Any, K: FloatArray, rest: IntArray) -> IntArray:
    """Return the rows of largest entropy (eq. 19) among those without a label."""
    order = np.argsort(-entropy(machine.predict_proba(K[rest])), kind="stable")
    return rest[order[:N_ASKED]]
