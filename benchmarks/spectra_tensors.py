"""The default on tensors and on arrays: errors, agreement and truth of the certificate.

Run: python benchmarks/spectra_tensors.py [--cases 300] [--max-points 10000]
[--device cpu] [--arrays-up-to 3000] [--workers 0] [--seconds inf] [--out results.json]

Every case draws a kind of data, 10 points or more, 2 to 784 columns, 2 to 100 classes,
and labels two or five rows of each class. The default is fitted to a tensor and, up to
a number of points, to the same array. A case fails if anything is raised, if less
than 99% of the rows that are not ties get the same class, or if the certificate of a
`GraphBasis` of the tensor is not true: its residual is measured again in double
precision, and up to 1,500 points its values are compared with those of dense algebra.
A row is a tie if either model gives its two likeliest classes probabilities less than
0.05 apart.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh

from mercer.graphs.laplacians import laplacian
from mercer.model.estimator import UnifiedKernelMachine
from mercer.spectrum.graph import GraphBasis

DENSE_UP_TO = 1500  # points whose spectrum is computed as a whole
TIE = 0.05  # between the probabilities of the two likeliest classes
AGREE = 0.99
MOST_NUMBERS = 64_000_000  # entries of the largest set

Points = tuple[np.ndarray, np.ndarray]
Rng = np.random.Generator


def isotropic(rng: Rng, n: int, d: int, C: int) -> Points:
    y = rng.integers(C, size=n)
    apart = rng.choice([0.3, 0.5, 1.0, 2.0])
    return apart * rng.standard_normal((C, d))[y] + rng.standard_normal((n, d)), y


def low_dimensional(rng: Rng, n: int, d: int, C: int) -> Points:
    y, m = rng.integers(C, size=n), min(d, int(rng.integers(1, 11)))
    axes = rng.standard_normal((C, m, d)) / np.sqrt(m)
    X = (
        0.1 * rng.standard_normal((n, d))
        + rng.choice([0.3, 1.0]) * (rng.standard_normal((C, d))[y])
    )
    for c in range(C):
        rows = np.flatnonzero(y == c)
        X[rows] += rng.standard_normal((len(rows), m)) @ axes[c]
    return X, y


def sheets(rng: Rng, n: int, d: int, C: int) -> Points:
    """Draw rolled sheets beside each other."""
    y, t = rng.integers(C, size=n), rng.uniform(1.5 * np.pi, 4.5 * np.pi, n)
    X = rng.choice([0.05, 0.5]) * rng.standard_normal((n, d))
    X[:, 0] += t * np.cos(t) + 4 * y
    X[:, 1] += t * np.sin(t)
    X[:, -1] += rng.uniform(0, 10, n)
    return X, y


def rings(rng: Rng, n: int, d: int, C: int) -> Points:
    """Draw rings around each other."""
    y, t = rng.integers(C, size=n), rng.uniform(0, 2 * np.pi, n)
    X = rng.choice([0.02, 0.2]) * rng.standard_normal((n, d))
    X[:, 0] += (1 + y) * np.cos(t)
    X[:, 1] += (1 + y) * np.sin(t)
    return X, y


def duplicates(rng: Rng, n: int, d: int, C: int) -> Points:
    X, y = isotropic(rng, max(C, n // 10), d, C)
    rows = rng.integers(len(X), size=n)
    return X[rows], y[rows]


def heavy_tails(rng: Rng, n: int, d: int, C: int) -> Points:
    y = rng.integers(C, size=n)
    return rng.standard_normal((C, d))[y] + rng.standard_t(1.5, (n, d)), y


def one_blob(rng: Rng, n: int, d: int, C: int) -> Points:
    X = rng.standard_normal((n, d))
    return X, (C * X[:, 0].argsort().argsort() // n).astype(int)


def integers(rng: Rng, n: int, d: int, C: int) -> Points:
    X, y = isotropic(rng, n, d, C)
    return np.round(2 * X), y


def mixed_units(rng: Rng, n: int, d: int, C: int) -> Points:
    X, y = low_dimensional(rng, n, d, C)
    return X * 10.0 ** rng.uniform(-3, 3, d), y


KINDS: dict[str, Callable[[Rng, int, int, int], Points]] = {
    kind.__name__: kind
    for kind in (
        isotropic, low_dimensional, sheets, rings, duplicates, heavy_tails, one_blob,
        integers, mixed_units,
    )
}  # fmt: skip


def draw(seed: int, most: int) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    """Return kind, points, truth and labels of a case."""
    rng = np.random.default_rng(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    n = int(np.exp(rng.uniform(np.log(10), np.log(most))))
    d = int(np.exp(rng.uniform(np.log(2), np.log(784))))
    d = max(2, min(d, MOST_NUMBERS // n))
    C = int(np.exp(rng.uniform(np.log(2), np.log(100))))
    X, truth = KINDS[kind](rng, n, d, max(2, min(C, n // 8)))
    number = np.float32 if rng.random() < 0.7 else np.float64
    y, per_class = np.full(n, -1), int(rng.choice([2, 5]))
    for c in np.unique(truth):
        rows = np.flatnonzero(truth == c)
        y[rng.choice(rows, min(per_class, len(rows)), replace=False)] = c
    return kind, X.astype(number), truth, y


@dataclass(frozen=True)
class Decided:
    """What a model says of the rows."""

    decision: np.ndarray  # (n,)
    is_tie: np.ndarray  # (n,)
    seconds: float


def decided(points: object, y: np.ndarray) -> Decided:
    start = time.perf_counter()
    model = UnifiedKernelMachine(random_state=0).fit(points, y)
    decision = model.transduction_
    seconds = time.perf_counter() - start
    best = np.sort(model.training_proba(), axis=1)
    return Decided(decision, best[:, -1] - best[:, -2] < TIE, seconds)


def decided_array(seed: int, most: int) -> Decided:
    _, X, _, y = draw(seed, most)
    return decided(X, y)


@dataclass(frozen=True)
class Case:
    """One case and what came of it."""

    seed: int
    kind: str
    n: int
    d: int
    C: int
    wrong: str = ""  # empty if nothing is
    seconds: float = 0.0
    right: float = 0.0  # share of the rows
    right_array: float | None = None
    agree: float | None = None
    agree_but_ties: float | None = None


def untrue(X: object, seed: int) -> str:
    """Say what is not true in the certificate of a basis of a tensor."""
    rng = np.random.default_rng(seed)
    r, k = int(rng.choice([5, 20, 100])), int(rng.choice([3, 10, 30]))
    basis = GraphBasis(r, n_neighbors=k, weights="self_tuning", random_state=0).fit(X)
    graph, proof = basis.graph_, basis.certificate_
    parts = [graph.weights.double(), graph.columns, graph.starts]
    W = sparse.csr_array(
        tuple(part.cpu().numpy() for part in parts), shape=(graph.n_points,) * 2
    )
    L, U = laplacian(W), np.asarray(basis.vectors_)
    if not (np.isfinite(U).all() and np.isfinite(basis.values_).all()):
        return "not finite"
    residual = float(np.linalg.norm(L @ U - U * basis.values_, axis=0).max())
    if residual > 1.01 * proof.residual + 1e-5:  # rounding of single precision
        return f"the residual is {residual:.1e}, not {proof.residual:.1e}"
    off = float(np.abs(U.T @ U - np.eye(U.shape[1])).max())
    if off > 1e-4 or off > 1.01 * proof.orthogonality + 1e-5:
        return f"|U'U - I| is {off:.1e}, not {proof.orthogonality:.1e}"
    if len(W.indptr) <= DENSE_UP_TO:
        values = eigvalsh(L.toarray())[: U.shape[1]]
        apart = float(np.abs(values - basis.values_).max())
        if apart > proof.residual + 1e-5:
            return f"a value is off by {apart:.1e}"
    return ""


def judge(
    seed: int, most: int, device: str, array: Decided | None, arrays_up_to: int
) -> Case:
    import torch

    kind, X, truth, y = draw(seed, most)
    case = Case(seed, kind, *X.shape, C=len(np.unique(truth)))
    facts = asdict(case)
    try:
        points = torch.as_tensor(X, device=device)
        found = decided(points, y)
        facts["seconds"] = found.seconds
        facts["right"] = float(np.mean(found.decision == truth))
        facts["wrong"] = untrue(points, seed)
        if len(X) <= arrays_up_to:
            array = decided(X, y) if array is None else array
    except Exception as error:  # whatever it is, it is the finding
        return Case(**{**facts, "wrong": f"{type(error).__name__}: {error}"[:300]})
    if array is not None:
        same = found.decision == array.decision
        clear = ~(found.is_tie | array.is_tie)
        agree = float(same[clear].mean()) if clear.any() else 1.0
        facts |= {
            "right_array": float(np.mean(array.decision == truth)),
            "agree": float(same.mean()),
            "agree_but_ties": agree,
        }
        if agree < AGREE and not facts["wrong"]:
            facts["wrong"] = f"{agree:.1%} of the rows that are no ties agree"
    return Case(**facts)


def run(
    cases: int,
    most: int,
    *,
    device: str = "cpu",
    first: int = 0,
    arrays_up_to: int = 3000,
    workers: int = 0,
    seconds: float = np.inf,
    talk: bool = False,
) -> list[Case]:
    """Judge random cases, until the time is over."""
    start, found = time.perf_counter(), []
    seeds = range(first, first + cases)
    arrays: dict[int, Future[Decided]] = {}
    pool = ProcessPoolExecutor(workers, get_context("spawn")) if workers else None
    if pool is not None:
        for seed in seeds:
            if len(draw(seed, most)[1]) <= arrays_up_to:
                arrays[seed] = pool.submit(decided_array, seed, most)
    for seed in seeds:
        if time.perf_counter() - start > seconds:
            break
        array = arrays[seed].result() if seed in arrays else None
        found.append(judge(seed, most, device, array, arrays_up_to))
        if talk and found[-1].wrong:
            print(found[-1], flush=True)
    if pool is not None:
        pool.shutdown(cancel_futures=True)
    return found


def summary(found: list[Case]) -> str:
    """Return a line per kind: cases, errors, untrue, disagreeing, and agreement."""
    lines = ["kind             cases errors untrue apart agree%  but ties%  least%"]
    for kind in [*KINDS, "all"]:
        some = [case for case in found if kind in (case.kind, "all")]
        both = [case for case in some if case.agree is not None]
        errors = sum("Error" in case.wrong for case in some)
        apart = sum("ties agree" in case.wrong for case in some)
        untruths = sum(bool(case.wrong) for case in some) - errors - apart
        agree = [100 * case.agree for case in both] or [100.0]
        clear = [100 * case.agree_but_ties for case in both] or [100.0]
        lines.append(
            f"{kind:16s} {len(some):5d} {errors:6d} {untruths:6d} {apart:5d} "
            f"{np.mean(agree):6.2f} {np.mean(clear):9.2f} {min(clear):8.2f}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--max-points", type=int, default=10_000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--arrays-up-to", type=int, default=3000)
    parser.add_argument("--workers", type=int, default=0, help="processes for arrays")
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    found = run(
        args.cases, args.max_points, device=args.device, first=args.first,
        arrays_up_to=args.arrays_up_to, workers=args.workers, seconds=args.seconds,
        talk=True,
    )  # fmt: skip
    print(summary(found))
    if args.out:
        args.out.write_text(json.dumps([asdict(case) for case in found], indent=1))


if __name__ == "__main__":
    main()
