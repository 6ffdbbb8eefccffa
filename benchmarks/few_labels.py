"""Which default for one to a hundred labels: ours and its peers, the same labels.

Cells: the 15 of Mao and Tsang (UAI 2010), Table 2; the four UCI sets of Hoi, Lyu and
Chang (KDD 2006), digits and MNIST (PCA-50) at 1, 2, 5 and 10 labels per class; with
`--held-out` data sets that no choice was made on. Accuracy on the unlabelled points.

    python benchmarks/few_labels.py run RESULTS.jsonl [--held-out] [--ours] [cell ...]
    python benchmarks/few_labels.py table RESULTS.jsonl

Results are appended one draw at a time, and draws that are there are not run again.
Every draw numbers the classes in a new order: a method that gives what it cannot decide
to the first class shall not profit from which class that is.
Needs MERCER_DATA; peers need graphlearning. Methods that need n x n matrices or train
a support vector machine on all points are left out beyond 2500 points. graphlearning:
exact neighbours, conjugate gradients capped at 1000 steps and 1e-8, the projection to
class sizes at 2000 steps and one or two points.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import json
import pathlib
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from mercer.evidence.labels import Labels
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.laplacian import LapRLSCV
from mercer.machines.rls import RLSClassifier
from mercer.neighbors.index import NeighborIndex
from mercer.spectrum.graph import GraphBasis
from mercer_studies.data import load

PAPER = {  # k and p of Mao and Tsang, Table 1; 10 and 2 elsewhere
    "g50c": (50, 5), "pcmac": (50, 5), "text": (50, 5), "webkb-p": (200, 5),
    "webkb-pl": (200, 5), "digit1": (5, 2), "usps": (5, 2), "coil": (5, 2),
    "coil2": (5, 2),
}  # fmt: skip
UCI = ("heart", "ionosphere", "sonar", "wine")
PER_CLASS = ("1/c", "2/c", "5/c", "10/c")
CELLS = [
    ("g50c", "50"), ("uspst", "50"), ("pcmac", "50"), ("webkb-p", "6/c"),
    ("webkb-pl", "6/c"),
    *((name, size) for name in ("digit1", "usps", "coil2", "coil", "text")
      for size in ("10", "100")),
    *((name, size) for name in (*UCI, "digits", "mnist") for size in PER_CLASS),
]  # fmt: skip
HELD_OUT = [
    (name, size)
    for name in ("coil20", "pie", "usps-all", "news", "covtype", "a1a", "breast",
                 "iris", "moons", "glass", "soybean")
    for size in ("1/c", "2/c", "5/c")
]  # fmt: skip
SMALL = 2500  # points, for n x n methods
PEERS = (
    "KTA", "LapRLS", "LS knn", "LS rbf", "SelfTraining", "Laplace", "Poisson", "PMBO",
)  # fmt: skip
TOLD = ("ours, sizes", "PMBO, sizes")


@dataclass(eq=False)
class Problem:
    """One data set, its published splits and what methods share."""

    name: str
    X: Any
    y: np.ndarray
    splits: dict[int, list[np.ndarray]]

    def labeled(self, size: str, n_draws: int) -> Iterator[np.ndarray]:
        """Yield the labelled rows of each draw."""
        if not size.endswith("/c"):
            yield from self.splits[int(size)][:n_draws]
            return
        count = int(size[:-2])
        for draw in range(n_draws):
            rng = np.random.default_rng([draw, 17])
            rows = [np.flatnonzero(self.y == c) for c in np.unique(self.y)]
            yield np.concatenate(
                [rng.choice(r, min(count, len(r) - 1), replace=False) for r in rows]
            )


def problem(name: str) -> Problem:
    splits: dict[int, list[np.ndarray]] = {}
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    elif name == "breast":
        X, y = load_breast_cancer(return_X_y=True)
        X = StandardScaler().fit_transform(X)
    elif name == "moons":
        X, y = make_moons(1000, noise=0.15, random_state=0)
    elif name.startswith("mnist"):  # mnist4000: a sample
        data = load("mnist")
        X = PCA(50, svd_solver="covariance_eigh").fit_transform(data.X / 255.0)
        X, y = sample(X, data.y, int(name[5:] or 70000), seed=int(name[5:] or 0))
    elif name.startswith("webkb"):
        view = "page" if name == "webkb-p" else "page+link"
        data = load("webkb_course", view=view)
        X, y = TfidfTransformer().fit_transform(data.X), data.y
    elif name == "news":
        data = load("news20_bydate")
        kept = np.isin(data.y, [1, 4, 7, 10, 13, 16, 19])
        X = TfidfTransformer().fit_transform(data.X[kept])
        X, y = sample(X, np.unique(data.y[kept], return_inverse=True)[1], 4000, seed=1)
    else:
        long = {"digit1": "ssl_digit1", "usps": "ssl_usps", "coil": "ssl_coil",
                "coil2": "ssl_coil2", "text": "ssl_text", "coil20": "coil20_32x32",
                "pie": "pie_32x32_10subjects", "usps-all": "usps",
                "soybean": "soybean_small"}  # fmt: skip
        data = load(long.get(name, name))
        X, y = data.X, data.y
        splits = {
            size: [s.labeled for s in group] for size, group in data.splits.items()
        }
        if name in ("usps-all", "covtype"):
            X, y = sample(X, y, 4000, seed=1)
            y = np.unique(y, return_inverse=True)[1]
        if name in (*UCI, "covtype", "glass", "iris", "soybean"):
            X = StandardScaler().fit_transform(X)
    X = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    return Problem(name, X, np.asarray(y), splits)


def sample(X: Any, y: np.ndarray, n: int, *, seed: int) -> tuple[Any, np.ndarray]:
    if n >= len(y):
        return X, y
    rows = np.random.default_rng(seed).permutation(len(y))[:n]
    return X[rows], y[rows]


class Methods:
    """All methods on one data set; what does not depend on labels is made once."""

    def __init__(self, data: Problem, *, ours_only: bool) -> None:
        self.data, self.n = data, data.X.shape[0]
        start = time.process_time()
        self.pool = KernelPool(random_state=0).fit(data.X)
        self.seconds = time.process_time() - start
        self.run: dict[str, Callable[[np.ndarray], np.ndarray]] = {
            "ours": self.ours,
            "ours, sizes": lambda y: self.ours(y, class_sizes=self.shares),
        }
        self.shares = np.bincount(data.y) / self.n  # renewed for each draw
        if not ours_only:
            self.add_peers()

    def ours(self, y: np.ndarray, **sizes: Any) -> np.ndarray:
        """Return the labels of the default."""
        labels = Labels.read(y, min_classes=2)
        learner = AutoKernel().learn(self.pool, labels)
        machine = LeaveOneOutRLS(**sizes).solve(learner.kernel_, labels)
        return machine.transduction_

    def add_peers(self) -> None:
        """Prepare the other methods."""
        X, n = self.data.X, self.n
        k, p = PAPER.get(self.data.name, (10, 2))
        index = NeighborIndex.fit(X, method="exact", rng=np.random.default_rng(0))
        near = index.neighbors(9)
        own = np.arange(n)[:, None]
        self.neighbors = np.hstack([own, near.indices])
        self.distances = np.hstack([np.zeros((n, 1)), near.distances])
        small = n <= SMALL
        basis = GraphBasis(None if small else 200, n_neighbors=k, random_state=0).fit(X)
        self.kta, self.basis = ParameterFreeKernel(power=p), basis
        W7 = sparse.csr_matrix(
            (np.ones(7 * n), self.neighbors[:, :7].ravel(), np.arange(0, 7 * n + 1, 7)),
            shape=(n, n),
        )
        dense = X.toarray() if sparse.issparse(X) else X
        self.run["KTA"] = lambda y: (
            RLSClassifier(C=np.inf)
            .solve(
                self.kta.learn(self.basis, Labels.read(y, min_classes=2)).kernel_,
                Labels.read(y, min_classes=2),
            )
            .transduction_
        )
        self.run["LS knn"] = lambda y: (
            LabelSpreading(lambda a, b=None: W7).fit(dense[:, :1], y).transduction_
        )
        if small:
            self.run["SelfTraining"] = lambda y: (
                SelfTrainingClassifier(SVC(probability=True, random_state=0))
                .fit(X, y)
                .predict(X)
            )
            self.run["LS rbf"] = lambda y: LabelSpreading().fit(dense, y).transduction_
            self.run["LapRLS"] = lambda y: (
                LapRLSCV(degree=p, n_neighbors=k, random_state=0)
                .fit(X, y)
                .transduction_
            )
        self.add_graphlearning()

    def add_graphlearning(self) -> None:
        """Prepare the methods of graphlearning."""
        gl = import_graphlearning()
        pair = (self.neighbors, self.distances)
        graph = gl.graph(gl.weightmatrix.knn(None, 10, knn_data=pair))

        def run(
            make: Callable[[np.ndarray], Any],
        ) -> Callable[[np.ndarray], np.ndarray]:
            def predict(y: np.ndarray) -> np.ndarray:
                rows = np.flatnonzero(y >= 0)
                return make(y[rows]).fit_predict(rows, y[rows])

            return predict

        C = len(self.shares)
        self.run["Laplace"] = run(lambda _: gl.ssl.laplace(graph))
        self.run["Poisson"] = run(lambda _: gl.ssl.poisson(graph))
        self.run["PMBO"] = run(
            lambda y: gl.ssl.poisson_mbo(graph, np.bincount(y, minlength=C) / len(y))
        )
        self.run["PMBO, sizes"] = run(lambda _: gl.ssl.poisson_mbo(graph, self.shares))


def import_graphlearning() -> Any:
    import graphlearning as gl

    solve = gl.utils.conjgrad

    def capped(
        A: Any, b: Any, x0: Any = None, max_iter: int = 0, tol: float = 0
    ) -> Any:
        return solve(A, b, x0=x0, max_iter=1000, tol=max(tol, 1e-8))

    def project(self: Any) -> Any:
        n, C = self.prob.shape
        scores = self.prob - self.prob.min()
        scores = scores / scores.max()
        self.weights = np.ones(C) if isinstance(self.weights, int) else self.weights
        for _ in range(2000):
            shares = np.bincount((scores * self.weights).argmax(1), minlength=C) / n
            if np.abs(shares - self.class_priors).max() <= max(1e-3, 2 / n):
                break
            self.weights = self.weights - 0.1 * (shares - self.class_priors)
            self.weights /= self.weights[0]
        return self.predict()

    if solve.__name__ != "capped":
        gl.utils.conjgrad = capped
        gl.ssl.ssl.volume_label_projection = project
        gl.ssl.poisson_mbo.volume_label_projection = project
    return gl


def read(path: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.open()] if path.exists() else []


def run(args: argparse.Namespace) -> None:
    warnings.simplefilter("ignore")
    path = pathlib.Path(args.results)
    done = {(r["cell"], r["method"], r["draw"]) for r in read(path)}
    cells = HELD_OUT if args.held_out else CELLS
    wanted = [c for c in cells if not args.cells or c[0] in args.cells]
    if args.cells and not wanted:  # such as mnist4000, a sample
        wanted = [(name, size) for name in args.cells for size in PER_CLASS]
    for name in dict.fromkeys(name for name, _ in wanted):
        data = problem(name)
        methods = Methods(data, ours_only=args.ours)
        print(f"{name}: n = {methods.n}, pool {methods.seconds:.1f} s CPU", flush=True)
        for size in (size for other, size in wanted if other == name):
            for draw, rows in enumerate(data.labeled(size, args.draws)):
                names = np.random.default_rng([draw, 23]).permutation(data.y.max() + 1)
                truth, y = names[data.y], np.full(methods.n, -1)
                methods.shares = np.bincount(truth) / methods.n
                y[rows] = truth[rows]
                for method, predict in methods.run.items():
                    cell = f"{name} {size}"
                    if (cell, method, draw) in done:
                        continue
                    start = time.process_time()
                    right = (predict(y) == truth)[y < 0]
                    row = {
                        "cell": cell, "method": method, "draw": draw,
                        "accuracy": 100 * float(right.mean()),
                        "seconds": round(time.process_time() - start, 2),
                    }  # fmt: skip
                    with path.open("a") as file:
                        file.write(json.dumps(row) + "\n")


def table(args: argparse.Namespace) -> None:
    found: dict[str, dict[str, dict[int, float]]] = {}
    for r in read(pathlib.Path(args.results)):
        draws = found.setdefault(r["cell"], {}).setdefault(r["method"], {})
        draws[r["draw"]] = r["accuracy"]
    columns = ("ours", *PEERS, *TOLD)
    print("| cell | " + " | ".join(columns) + " | ours - best peer |")
    print("|---" * (len(columns) + 2) + "|")
    lack, ranks = [], []
    for cell, methods in found.items():
        if "ours" not in methods:
            continue
        common = set.intersection(*(set(draws) for draws in methods.values()))
        mean = {m: np.mean([d[i] for i in common]) for m, d in methods.items()}
        peers = [mean[m] for m in PEERS if m in mean]
        texts = [f"{mean[m]:.1f}" if m in mean else "-" for m in columns]
        if not peers:
            print(f"| {cell} | " + " | ".join(texts) + " | - |")
        else:
            rival = methods[max((m for m in PEERS if m in mean), key=mean.__getitem__)]
            leads = np.array([methods["ours"][i] - rival[i] for i in common])
            lead, error = leads.mean(), leads.std(ddof=1) / np.sqrt(len(leads))
            print(
                f"| {cell} | " + " | ".join(texts) + f" | {lead:+.1f} ± {error:.1f} |"
            )
            lack.append(max(-lead, 0.0))
            rivals = [mean[m] for m in ("ours", *PEERS) if m in mean]
            ranks.append(
                [
                    1 + sum(v > mean[m] + 1e-9 for v in rivals) if m in mean else np.nan
                    for m in ("ours", *PEERS)
                ]
            )
    if lack:
        print(f"\nshortfall of ours: mean {np.mean(lack):.1f}, worst {max(lack):.1f}")
        for m, rank in zip(("ours", *PEERS), np.nanmean(ranks, axis=0), strict=True):
            print(f"mean rank of {m}: {rank:.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("results")
    parser.add_argument("cells", nargs="*", help="names of data sets")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--ours", action="store_true", help="leave out the peers")
    parser.add_argument("--draws", type=int, default=12)
    arguments = parser.parse_intermixed_args()
    {"run": run, "table": table}[arguments.what](arguments)
