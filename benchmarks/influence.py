"""Combining kernels by influence (Abbasnejad et al. 2010): time and usefulness.

CPU seconds of the affine combination next to a general semi-definite solver, then
kernel PCA and 5 nearest neighbours on faces with each kernel of the paper, the chosen
combinations and the plain average.

Run with: python benchmarks/influence.py [--skip-sdp]
The faces need the folder of data sets in MERCER_DATA.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import time
import warnings

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.decomposition import KernelPCA
from sklearn.neighbors import KNeighborsClassifier

from mercer.exceptions import NearlyConstantKernelWarning
from mercer.kernels.parametric import RBF, Linear, Polynomial
from mercer.learners.influence import InfluenceKernel
from mercer.optim.affine_psd import solve_affine_psd
from mercer.optim.influence import influence_costs, stationary_distances
from mercer_studies.data import load


def cpu(function, *args):
    start = time.process_time()
    result = function(*args)
    return result, time.process_time() - start


def problem(n: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """L, P, G, G of the paper, or 8 Gaussians of nearly the same width."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5))
    X[: n // 2] += 1.5
    squared = cdist(X, X, "sqeuclidean")
    if kind == "L P G G":
        linear = X @ X.T
        K = [linear, (linear + 1) ** 2, np.exp(-squared / 5), np.exp(-squared / 50)]
    else:
        K = [np.exp(-squared / (10 + 0.5 * i)) for i in range(8)]
    K = np.array([k / np.sqrt(np.outer(k.diagonal(), k.diagonal())) for k in K])
    return K, influence_costs(K, 1 - stationary_distances(cdist(X, X))).weighted


def by_sdp(K: np.ndarray, s: np.ndarray) -> tuple[float, str]:
    import cvxpy as cp

    alpha = cp.Variable(len(K))
    combined = sum(alpha[i] * K[i] for i in range(len(K)))
    constraints = [cp.sum(alpha) == 1, combined >> 0]
    sdp = cp.Problem(cp.Minimize(s / s.max() @ alpha), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sdp.solve(solver=cp.CLARABEL)
        except cp.SolverError:
            return np.nan, "failed"
    return float(sdp.value), sdp.status


def times(skip_sdp: bool) -> None:
    print("affine combination, tol 1e-6 (objective / max s)")
    print(f"{'kernels':>10} {'n':>5} {'CPU s':>8} {'objective':>10} {'gap':>8}", end="")
    print(f" {'min eig':>9} {'rounds':>6} | {'SDP CPU s':>9} {'objective':>10} status")
    rows = [("L P G G", n) for n in (50, 100, 300, 1000)]
    rows += [("8 close", n) for n in (50, 100, 1000)]
    for kind, n in rows:
        K, s = problem(n, kind)
        ours, seconds = cpu(solve_affine_psd, K, s)
        print(
            f"{kind:>10} {n:5d} {seconds:8.3f} {ours.objective / s.max():10.6f} "
            f"{ours.gap:8.1e} {ours.smallest_eigenvalue:9.1e} {ours.n_rounds:6d} | ",
            end="",
        )
        if skip_sdp or n > (100 if kind == "L P G G" else 50):
            print(f"{'-':>9}", flush=True)
            continue
        (value, status), theirs = cpu(by_sdp, K, s)
        print(
            f"{theirs:9.2f} {value:10.6f} {status}, {theirs / seconds:.0f}x", flush=True
        )


def faces(n_train: int, n_people: int, dim: int, repetitions: int = 5) -> None:
    data = load("pie_32x32_10subjects")
    kernels = {
        "L": Linear(),
        "P": Polynomial(degree=2, gamma=1.0),
        "G1": RBF(gamma=1 / 10_000),
        "G2": RBF(gamma=1 / 150_000),
    }
    scores: dict[str, list[float]] = {}
    effects = []
    for seed in range(repetitions):
        rows = np.flatnonzero(data.y < n_people)
        rows = np.random.default_rng(seed).permutation(rows)
        train, test = rows[:n_train], rows[n_train : n_train + 150]
        X, y = data.X[train], data.y[train]
        X_new, y_new = data.X[test], data.y[test]
        learners = {
            name: InfluenceKernel(list(kernels.values()), combination=name)
            for name in ("convex", "affine")
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NearlyConstantKernelWarning)
            for learner in learners.values():
                learner.fit(X)
        effects.append(learner.certificate_.influence_effect)
        candidates = dict(zip(kernels, learner.kernels_, strict=True))
        candidates["average"] = learner.average_kernel_
        candidates |= {name: learner.kernel_ for name, learner in learners.items()}
        for name, kernel in candidates.items():
            pca = KernelPCA(dim, kernel="precomputed")
            low = pca.fit_transform(kernel(X, X))
            knn = KNeighborsClassifier(5).fit(low, y)
            score = knn.score(pca.transform(kernel(X_new, X)), y_new)
            scores.setdefault(name, []).append(100 * score)
    cells = "  ".join(f"{name} {np.mean(s):.1f}" for name, s in scores.items())
    print(f"{n_train:4d} images, {n_people} people, {dim} dims: {cells}", end="")
    print(f"  (influence changes s by at most {100 * max(effects):.2f}%)", flush=True)


def main() -> None:
    times("--skip-sdp" in sys.argv)
    print("\nkernel PCA + 5-NN on PIE faces, accuracy in percent, mean of 5 draws")
    for n_train, n_people in ((50, 2), (100, 2), (150, 4)):
        for dim in (20, 40):
            faces(n_train, n_people, dim)


if __name__ == "__main__":
    main()
