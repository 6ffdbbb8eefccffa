"""The decaying spectrum of Hoi et al. (eq. 14) next to generic QP solvers.

Both sides start from the d x d matrix G and the vector b. Each generic solver runs at
the tolerances below, tight enough to agree with the optimum to 1e-8.

Run with: python benchmarks/decaying.py [repetitions]
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import time

import cvxpy as cp
import numpy as np
from sklearn.datasets import load_digits

from mercer.kernels.parametric import RBF
from mercer.optim.cone import solve_decaying_spectrum
from mercer.spectrum.gram import GramBasis

SETTINGS = {
    "CLARABEL": {},
    "OSQP": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iter": 100_000},
}
N_LABELS = 100
CALLS = 3  # in a row, timed together


def problem(d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(seed).permutation(len(X))[:600]
    basis = GramBasis(d, kernel=RBF(gamma="mean_distance")).fit(X[rows])
    U = basis.vectors_[:N_LABELS]
    target = np.where(y[rows[:N_LABELS]] % 2 == 0, 1.0, -1.0)
    return np.square(U.T @ U), np.square(U.T @ target)


def by_qp(G: np.ndarray, b: np.ndarray, decay: float, solver: str) -> np.ndarray:
    mu = cp.Variable(len(b))
    square = cp.quad_form(mu, cp.psd_wrap(G / np.abs(G).max()))
    fixed = (b / np.abs(b).max()) @ mu == 1
    chain = mu[:-1] >= decay * mu[1:]
    cp.Problem(cp.Minimize(square), [fixed, mu >= 0, chain]).solve(
        solver=solver, **SETTINGS[solver]
    )
    return mu.value


def by_nnls(G: np.ndarray, b: np.ndarray, decay: float) -> np.ndarray:
    return solve_decaying_spectrum(G, b, decay=decay).weights


def main(repetitions: int = 5) -> None:
    runs = {"Mercer": by_nnls}
    for name in SETTINGS:
        runs[f"cvxpy + {name}"] = lambda G, b, decay, s=name: by_qp(G, b, decay, s)
    by_nnls(np.eye(2), np.ones(2), 1.0)  # compiles
    head = f"{'d':>4} {'decay':>5}"
    head += "".join(f"{name + ' ms':>20}" for name in runs)
    print(head + f"{'ratios':>16}{'largest gap':>14}")
    for d in (20, 100, 200):
        for decay in (1.0, 1.2, 2.0):
            seconds: dict[str, list[float]] = {name: [] for name in runs}
            gap = 0.0
            for seed in range(repetitions):
                G, b = problem(d, seed)
                found = {}
                for name, run in runs.items():
                    start = time.process_time()
                    for _ in range(CALLS):
                        mu = run(G, b, decay)
                    seconds[name].append((time.process_time() - start) / CALLS)
                    found[name] = float(b @ mu / np.sqrt(mu @ G @ mu)) / N_LABELS
                gap = max(gap, np.ptp(list(found.values())))
            ms = {name: 1e3 * float(np.median(s)) for name, s in seconds.items()}
            ratios = [value / ms["Mercer"] for value in ms.values()][1:]
            line = f"{d:>4} {decay:>5}" + "".join(f"{v:>20.3f}" for v in ms.values())
            print(line + "".join(f"{r:>8.0f}" for r in ratios) + f"{gap:>14.1e}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
