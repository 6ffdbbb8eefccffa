"""Whether kernel logistic regression is worth having inside the one model.

The same pool, the same learned kernel, two machines: LeaveOneOutRLS, the default, and
KernelLogisticRegression(C=10), which `mercer learn` used before. Accuracy and log-loss
on the rows without a label, over data sets of the papers. Needs MERCER_DATA.

    python benchmarks/machines.py [draws]
"""

import sys
import warnings

import numpy as np
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from mercer.fewlabels import AutoKernel, LeaveOneOutRLS
from mercer.machines import KernelLogisticRegression
from mercer_studies.data import load

SETS = ("wine", "heart", "ionosphere", "sonar", "glass", "iris", "ssl_usps")
CELLS = [
    *(("per class", n) for n in (1, 2, 5, 10)),
    *(("random", n) for n in (20, 50, 100)),
]
MOST = 600


def draw(y, kind, n, rng):
    """Return labels, or None where there are too few rows of a class."""
    counts = np.bincount(y)
    if kind == "per class":
        if counts.min() <= n:
            return None
        rows = [rng.choice(np.flatnonzero(y == c), n, replace=False) for c in set(y)]
        rows = np.concatenate(rows)
    else:
        rows = rng.choice(len(y), n, replace=False)
        if len(np.unique(y[rows])) < len(counts):
            return None
    few = np.full(len(y), -1)
    few[rows] = y[rows]
    return few


def main(n_draws: int = 3) -> None:
    warnings.simplefilter("ignore")
    found: dict[tuple[str, int], list[list[float]]] = {cell: [] for cell in CELLS}
    for name in SETS:
        data = load(name)
        rng = np.random.default_rng(0)
        rows = rng.permutation(len(data.y))[:MOST]
        X, y = StandardScaler().fit_transform(data.X[rows]), data.y[rows]
        pool = AutoKernel(random_state=0).fitted_basis(X)
        for kind, n in CELLS:
            for seed in range(n_draws):
                few = draw(y, kind, n, np.random.default_rng(seed))
                if few is None:
                    continue
                hidden, line = few < 0, []
                kernel = AutoKernel().learn(pool, few).kernel_
                for machine in (LeaveOneOutRLS(), KernelLogisticRegression(C=10.0)):
                    P = machine.solve(kernel, few).training_proba_[hidden]
                    line.append(100 * np.mean(P.argmax(axis=1) == y[hidden]))
                    line.append(
                        log_loss(y[hidden], np.clip(P, 1e-9, 1), labels=np.unique(y))
                    )
                found[kind, n].append(line)
    print("| labels | runs | default: accuracy | log-loss | KLR: accuracy | log-loss |")
    print("|---|---|---|---|---|---|")
    for (kind, n), lines in found.items():
        a, b, c, d = np.mean(lines, axis=0)
        print(f"| {n} {kind} | {len(lines)} | {a:.1f} | {b:.2f} | {c:.1f} | {d:.2f} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
