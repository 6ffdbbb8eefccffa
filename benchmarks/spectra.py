"""Graphs whose spectra are known in closed form, against `GraphBasis`.

Run: python benchmarks/spectra.py [cases] [largest n] [first seed]

Every case draws a family, a size, a number of directions and a seed. An answer is
wrong if a value, the gap after the last one or the certificate's lower bound
contradicts the closed form; it is refused if `EigenpairError` is raised. Half of the
cases switch dense algebra and the split into components off, so that the search is
tested on small graphs too.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh_tridiagonal

from mercer.eigen import smallest as eigen
from mercer.exceptions import EigenpairError
from mercer.spectrum.graph import GraphBasis

# Differences below these shares of the last value and of the usual degree are none.
RELATIVE, ROUNDING = 1e-6, 1e-11


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A graph, and all eigenvalues of one of its Laplacians."""

    name: str
    W: sparse.csr_array
    kind: str  # "normalized" or "combinatorial"
    values: np.ndarray  # ascending


Factor = tuple[sparse.csr_array, np.ndarray]  # adjacency, combinatorial spectrum


def path(m: int) -> Factor:
    W = sparse.diags_array([np.ones(m - 1)] * 2, offsets=[-1, 1], shape=(m, m))
    return W.tocsr(), 4 * np.sin(np.pi * np.arange(m) / (2 * m)) ** 2


def ring(m: int) -> Factor:
    step = np.arange(m)
    ones = np.ones(m)
    W = sparse.coo_array((ones, (step, (step + 1) % m)), shape=(m, m)).tocsr()
    return (W + W.T).tocsr(), 4 * np.sin(np.pi * step / m) ** 2


def complete(m: int) -> Factor:
    W = sparse.csr_array(np.ones((m, m)) - np.eye(m))
    return W, np.r_[0.0, np.full(m - 1, float(m))]


def bipartite(a: int, b: int) -> Factor:
    one = sparse.csr_array(np.ones((a, b)))
    W = sparse.block_array([[None, one], [one.T, None]]).tocsr()
    values = np.r_[0.0, np.full(b - 1, a), np.full(a - 1, b), a + b]
    return W, values.astype(float)


def product(one: Factor, other: Factor, weight: float = 1.0) -> Factor:
    """Return the Cartesian product; edges of the second factor have a weight."""
    (A, a), (B, b) = one, other
    W = sparse.kron(A, sparse.eye_array(B.shape[0])) + weight * sparse.kron(
        sparse.eye_array(A.shape[0]), B
    )
    return sparse.csr_array(W), (a[:, None] + weight * b).ravel()


def cube(d: int) -> Factor:
    factor = path(2)
    for _ in range(d - 1):
        factor = product(factor, path(2))
    return factor


def regular(name: str, factor: Factor) -> Known:
    """Take the normalised Laplacian of a graph of equal degrees."""
    W, values = factor
    degree = float(W.sum(axis=1)[0])
    return Known(name, W, "normalized", np.sort(values) / degree)


def combinatorial(name: str, factor: Factor) -> Known:
    return Known(name, factor[0], "combinatorial", np.sort(factor[1]))


def normalized_path(m: int) -> Known:
    W, _ = path(m)
    values = 2 * np.sin(np.pi * np.arange(m) / (2 * (m - 1))) ** 2
    return Known("path", W, "normalized", np.sort(values))


def normalized_bipartite(a: int, b: int) -> Known:
    W, _ = bipartite(a, b)
    name = "star" if a == 1 else "bipartite"
    return Known(name, W, "normalized", np.r_[0.0, np.ones(a + b - 2), 2.0])


def heavy_edge(m: int, weight: float, at: int) -> Known:
    """Return a path with one heavy edge; its values are those with the ends merged.

    The two ends differ by a share of 1 / weight. The value of the heavy edge itself,
    beyond all others, is left out.
    """
    W = path(m)[0].tolil()
    W[at, at + 1] = W[at + 1, at] = weight
    mass = np.ones(m - 1)
    mass[at] = 2.0
    diagonal = np.r_[1.0, np.full(m - 3, 2.0), 1.0] / mass
    beside = -1 / np.sqrt(mass[:-1] * mass[1:])
    values = eigh_tridiagonal(diagonal, beside, eigvals_only=True)
    values[0] = 0.0
    return Known("heavy edge", W.tocsr(), "combinatorial", values)


def copies(known: Known, m: int) -> Known:
    W = sparse.block_diag([known.W] * m, format="csr")
    name = f"copies of {known.name}"
    return Known(name, W, known.kind, np.repeat(known.values, m))


def draw(rng: np.random.Generator, n: int) -> Known:
    """Draw a graph of about n points."""

    def sides() -> tuple[int, int]:
        a = max(3, int(np.exp(rng.uniform(np.log(3), np.log(max(n / 3, 4))))))
        return a, max(3, n // a)

    def few() -> int:
        return int(rng.integers(2, max(3, min(n // 3, 400))))

    makers: dict[str, Callable[[], Known]] = {
        "ring": lambda: regular("ring", ring(max(n, 3))),
        "path": lambda: normalized_path(max(n, 3)),
        "combinatorial path": lambda: combinatorial("path", path(n)),
        "grid": lambda: combinatorial("grid", product(*map(path, sides()))),
        "torus": lambda: regular("torus", product(*map(ring, sides()))),
        "complete": lambda: regular("complete", complete(min(n, 2000))),
        "star": lambda: normalized_bipartite(1, n - 1),
        "heavy star": lambda: combinatorial("star", bipartite(1, min(n, 20000) - 1)),
        "bipartite": lambda: normalized_bipartite(a := few(), max(2, n // (a + 1))),
        "cube": lambda: regular("cube", cube(max(3, int(np.log2(n))))),
        "heavy edge": lambda: heavy_edge(
            max(n, 6), 10.0 ** rng.uniform(7, 9), int(rng.integers(1, max(n, 6) - 3))
        ),
    }
    name = rng.choice([*makers, "bridges", "orders", "copies", "copies"])
    if name in makers:
        return makers[name]()
    if name == "bridges":
        factor = product(*map(ring, sides()), weight=10.0 ** rng.uniform(-12, -3))
        return regular("weak bridges", factor)
    if name == "orders":
        a, b = sides()
        one, other = path(a), ring(b)
        weight = 10.0 ** rng.uniform(-6, 6)
        W, values = product(one, other, weight)
        scale = 10.0 ** rng.uniform(-6, 6)
        return combinatorial("weights over 12 orders", (W * scale, values * scale))
    m = int(np.exp(rng.uniform(np.log(2), np.log(max(3, n / 6)))))
    return copies(draw(rng, max(6, n // m)), m)


def judge(known: Known, r: int, seed: int) -> str:
    """Return "right", "refused" or what is wrong."""
    basis = GraphBasis(
        r,
        affinity="precomputed",
        laplacian=known.kind,
        on_failure="raise",
        random_state=seed,
    )
    try:
        basis.fit(known.W)
    except EigenpairError:
        return "refused"
    truth, proof = known.values, basis.certificate_
    usual = 1.0 if known.kind == "normalized" else float(np.median(known.W.sum(axis=1)))
    # Degrees are stored rounded, which moves a value by their share in its vector.
    stored = np.finfo(float).eps * known.W.sum(axis=1) @ basis.vectors_**2
    if known.kind == "normalized":
        stored = np.zeros(1)
    same = RELATIVE * truth[r - 1] + ROUNDING * usual + stored.max()
    if len(basis.values_) != r:
        return "fewer"
    if np.abs(basis.values_ - truth[:r]).max() > same:
        return "a value"
    if r == len(truth) < known.W.shape[0]:
        return "right"
    following = truth[r] if r < len(truth) else np.inf
    gap = following - truth[r - 1]
    if proof.floor > following + same:
        return "the lower bound"
    if proof.floor < 0.98 * truth[r - 1] - same:
        return "a weak lower bound"
    if gap < np.inf and abs(proof.gap - gap) > 1e-3 * following + same:
        return "the gap"
    if gap > 1e-4 * following + same and proof.cuts_repeated_value:
        return "a repeated value that is none"
    is_resolved = gap < np.inf and abs(proof.gap - gap) <= 0.1 * gap
    if gap <= 0.1 * same and not (proof.cuts_repeated_value or is_resolved):
        return "a repeated value that was not seen"
    return "right"


def run(cases: int, largest: int, first: int, *, talk: bool = False) -> Counter[str]:
    """Judge random cases; return how often each verdict was given."""
    verdicts: Counter[str] = Counter()
    limits = eigen.DENSE_UP_TO, eigen.SMALL_COMPONENT
    for seed in range(first, first + cases):
        rng = np.random.default_rng(seed)
        n = int(np.exp(rng.uniform(np.log(10), np.log(largest))))
        known = draw(rng, n)
        n = known.W.shape[0]
        r = int(
            rng.integers(1, min(len(known.values), int(rng.choice([20, 150, 600]))) + 1)
        )
        searching = bool(rng.integers(2))
        eigen.DENSE_UP_TO, eigen.SMALL_COMPONENT = (10, 0) if searching else limits
        start = time.process_time()
        try:
            verdict = judge(known, r, seed)
        finally:
            eigen.DENSE_UP_TO, eigen.SMALL_COMPONENT = limits
        seconds = time.process_time() - start
        verdicts[verdict] += 1
        done = seed - first + 1
        if talk and done % 50 == 0:
            print(f"{done} of {cases}: {dict(verdicts)}", flush=True)
        if talk and (verdict != "right" or seconds > 20):
            print(
                f"seed {seed}: {known.name}, {known.kind}, n = {n:,}, r = {r}, "
                f"{'search' if searching else 'default'}: {verdict} ({seconds:.1f} s)",
                flush=True,
            )
    return verdicts


def main(cases: int = 1000, largest: int = 60_000, first: int = 0) -> None:
    start = time.process_time()
    verdicts = run(cases, largest, first, talk=True)
    wrong = {
        name: m for name, m in verdicts.items() if name not in ("right", "refused")
    }
    print(
        f"{cases} cases, {sum(wrong.values())} wrong {wrong or ''}, "
        f"{verdicts['refused']} refused, {time.process_time() - start:.0f} CPU s"
    )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
