"""What Mao and Tsang (2010) run on one split of one data set."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.sparse import hstack
from sklearn.feature_extraction.text import TfidfTransformer

from mercer._base.typing import IntArray
from mercer.evidence.labels import Labels
from mercer.exceptions import DisconnectedGraphWarning
from mercer.graphs.neighbors import neighbor_graph
from mercer.learners.closed_form import ClosedFormKernelCV
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.laplacian import LapRLSCV, LapSVMCV
from mercer.machines.rls import RLSClassifier
from mercer.machines.simple_mkl import SimpleMKL
from mercer.machines.svm import KernelSVC
from mercer.model.estimator import UnifiedKernelMachine
from mercer.spectrum.graph import GraphBasis
from mercer_studies.data.dataset import Dataset, Split
from mercer_studies.data.loading import load

C_GRID = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)


@dataclass(frozen=True)
class Setting:
    """A line of Table 1."""

    dataset: str
    n_labels: int
    n_neighbors: int
    power: int
    n_splits: int = 12
    per_class: int | None = None  # labels a class of drawn splits; None: published


SETTINGS = {
    "G50C": Setting("g50c", 50, 50, 5, 10, per_class=25),
    "USPST": Setting("uspst", 50, 10, 2, 10, per_class=5),
    "PCMAC": Setting("pcmac", 50, 50, 5, 10, per_class=25),
    "webKB(P)": Setting("webkb_page", 12, 200, 5, 10, per_class=6),
    "webKB(PL)": Setting("webkb_both", 12, 200, 5, 10, per_class=6),
    **{
        f"{name} {n_labels}": Setting(dataset, n_labels, k, p)
        for n_labels in (10, 100)
        for name, dataset, k, p in (
            ("Digit1", "ssl_digit1", 5, 2),
            ("USPS", "ssl_usps", 5, 2),
            ("COIL2", "ssl_coil2", 5, 2),
            ("COIL6", "ssl_coil", 5, 2),
            ("TEXT", "ssl_text", 50, 5),
        )
    },
    "G50C published": Setting("g50c", 50, 50, 5, 10),
    "USPST published": Setting("uspst", 50, 10, 2, 10),
    "PCMAC published": Setting("pcmac", 50, 50, 5, 10),
}


@dataclass(frozen=True, eq=False)
class Problem:
    """Points with their graph and all eigenpairs of its Laplacian."""

    data: Dataset
    basis: GraphBasis
    power: int
    graph_seconds: float
    eigen_seconds: float


def load_points(name: str) -> Dataset:
    """Load a data set; WebKB as tf-idf of unit length, view by view."""
    views = {"webkb_page": ("page",), "webkb_both": ("page", "link")}.get(name)
    if views is None:
        return load(name)
    parts = [load("webkb_course", view=view) for view in views]
    X = hstack([TfidfTransformer().fit_transform(part.X) for part in parts])
    return Dataset(name, X.tocsr(), parts[0].y, parts[0].classes, "")


def split_of(data: Dataset, setting: Setting, split: int) -> Split:
    """Return a published split, or draw one with as many labels of every class."""
    if setting.per_class is None:
        return data.splits[setting.n_labels][split]
    rng = np.random.default_rng([setting.per_class, split])
    chosen = [
        rng.choice(np.flatnonzero(data.y == c), setting.per_class, replace=False)
        for c in range(len(data.classes))
    ]
    labeled = np.sort(np.concatenate(chosen))
    return Split(labeled, np.setdiff1d(np.arange(len(data.y)), labeled))


def prepare(data: Dataset, *, n_neighbors: int, power: int) -> Problem:
    """Build the graph and decompose its Laplacian."""
    rng = np.random.default_rng(0)
    graph, graph_seconds = timed(lambda: neighbor_graph(data.X, n_neighbors, rng=rng))
    basis, eigen_seconds = timed(lambda: GraphBasis(None, random_state=0).fit(graph))
    return Problem(data, basis, power, graph_seconds, eigen_seconds)


@lru_cache(maxsize=1)  # splits of a row come one after the other
def problem_of(dataset: str, n_neighbors: int, power: int) -> Problem:
    """Return the prepared data of a row."""
    return prepare(load_points(dataset), n_neighbors=n_neighbors, power=power)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the CPU seconds it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def run_split(*, split: int, **line: Any) -> dict[str, float]:
    """Run every method of the paper on one split; `line` is a `Setting`."""
    setting = Setting(**line)
    problem = problem_of(setting.dataset, setting.n_neighbors, setting.power)
    return run_methods(problem, *split_of(problem.data, setting, split))


def run_methods(
    problem: Problem, labeled: IntArray, unlabeled: IntArray
) -> dict[str, float]:
    """Return accuracies in percent and CPU seconds ("... s") of every method.

    SimpleMKL and SVM have a column for each C.
    """
    data, basis = problem.data, problem.basis
    graph: Any = problem.basis.graph_
    X, y = data.X, data.reveal(labeled)
    labels = Labels.read(y, min_classes=2)

    def skl() -> RLSClassifier:
        learner = ClosedFormKernelCV(power=problem.power).learn(basis, labels)
        return RLSClassifier(C=learner.C_).solve(learner.kernel_, labels)

    def skl_kta() -> RLSClassifier:
        learner = ParameterFreeKernel(power=problem.power).learn(basis, labels)
        return RLSClassifier(C=np.inf).solve(learner.kernel_, labels)

    runs: dict[str, Callable[[], Any]] = {
        "LapRLS": partial(LapRLSCV(graph=graph, degree=problem.power).fit, X, y),
        "LapSVM": partial(LapSVMCV(graph=graph, degree=problem.power).fit, X, y),
        "SKL": skl,
        "SKL_KTA": skl_kta,
    }
    for C in C_GRID:
        mkl = SimpleMKL(C=C / len(labeled))  # C as for kernels of unit trace
        runs[f"SimpleMKL C={C:g}"] = partial(mkl.fit, X, y)
        svm = KernelSVC(C=C, unreached="intercept")
        runs[f"SVM C={C:g}"] = partial(svm.fit, X, y)
    result = {"Lap s": problem.graph_seconds}
    for name, run in runs.items():
        machine, seconds = _quietly(run)
        right = machine.transduction_[unlabeled] == data.y[unlabeled]
        result[name] = 100 * float(np.mean(right))
        result[f"{name} s"] = seconds
    for name in ("SKL", "SKL_KTA"):
        result[f"{name} s"] += problem.eigen_seconds
    return result


def run_default(*, split: int, default: int, **line: Any) -> dict[str, float]:
    """Run Mercer's default; `default` counts its changes, for the cache."""
    setting = Setting(**line)
    data = load_points(setting.dataset)
    return run_unified(data, *split_of(data, setting, split))


def run_unified(
    data: Dataset, labeled: IntArray, unlabeled: IntArray
) -> dict[str, float]:
    """Return accuracy in percent and CPU seconds of Mercer's default."""
    model = UnifiedKernelMachine(random_state=0)
    machine, seconds = _quietly(lambda: model.fit(data.X, data.reveal(labeled)))
    right = machine.transduction_[unlabeled] == data.y[unlabeled]
    return {"Mercer": 100 * float(np.mean(right)), "Mercer s": seconds}


def _quietly(work: Callable[[], Any]) -> tuple[Any, float]:
    """Time work whose points beyond the reach of any label are a known matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return timed(work)


def describe(*, split: int, **line: Any) -> dict[str, float]:
    """Return the line of Table 1."""
    setting = Setting(**line)
    data = load_points(setting.dataset)
    labeled, _ = split_of(data, setting, split)
    rng = np.random.default_rng(0)
    graph = neighbor_graph(data.X, setting.n_neighbors, rng=rng)
    return {
        "c": len(data.classes),
        "d": data.X.shape[1],
        "n_l": len(labeled),
        "n": data.X.shape[0],
        "k": setting.n_neighbors,
        "p": setting.power,
        "parts of the graph": graph.n_components,
        "fewest labels of a class": int(np.bincount(data.y[labeled]).min()),
    }
