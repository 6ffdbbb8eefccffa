"""What Dai and Yeung (2007) run in one draw of labels."""

import warnings
from functools import lru_cache

import numpy as np

from mercer._base.typing import FloatArray, IntArray
from mercer.exceptions import DisconnectedGraphWarning
from mercer.kernels.sets import gaussian_set
from mercer.kernels.stack import gram_stack, resolve_kernels
from mercer.machines.annealed import AnnealedKernelMachine
from mercer.spectrum.graph_kernels import IMAGE_METRICS, laplacian_kernels
from mercer_studies.data.loading import load

GAMMA = 0.1
BETA = {"Gaussian": 0.1, "Laplacian": 0.01}
TOL = 1e-4
RATIO = 0.5
N_LABELS = 6  # of each class
N_IMAGES = 200  # of each class
SETS = {
    "Euclidean": slice(0, 10),
    "Transformation": slice(10, 20),
    "Tangent": slice(20, 30),
}


def images(digits: tuple[int, int]) -> FloatArray:
    """Return the first training images of two digits, 200 of each."""
    data = load("usps")
    train = np.asarray(data.train)
    rows = [train[np.flatnonzero(data.y[train] == d)[:N_IMAGES]] for d in digits]
    X: FloatArray = np.asarray(data.X)[np.concatenate(rows)]
    return X


@lru_cache(maxsize=1)
def gaussians(digits: tuple[int, int]) -> FloatArray:
    """Return the Gram matrices of the 20 Gaussians, (20, n, n)."""
    X = images(digits)
    return gram_stack(resolve_kernels(gaussian_set(), X), X)


@lru_cache(maxsize=1)
def laplacians(digits: tuple[int, int]) -> FloatArray:
    """Return pseudo-inverses of 30 Laplacians: 1 to 10 neighbours, three distances."""
    rng = np.random.default_rng(0)
    found = laplacian_kernels(images(digits), metrics=IMAGE_METRICS, rng=rng)
    return np.array([kernel() for kernel in found])


def draw_labels(truth: IntArray, split: int) -> IntArray:
    """Return labels of six points of each class, -1 elsewhere."""
    rng = np.random.default_rng(split)
    y = np.full(len(truth), -1)
    for c in (0, 1):
        y[rng.choice(np.flatnonzero(truth == c), N_LABELS, replace=False)] = c
    return y


def fit(
    K: FloatArray, y: IntArray, *, beta: float, scaled: bool = False
) -> AnnealedKernelMachine:
    """Fit the machine to kernel matrices, (n_kernels, n, n); beta 0 is supervised."""
    machine = AnnealedKernelMachine(
        list(K),
        gamma=GAMMA,
        beta=beta,
        class_ratio=RATIO,
        trace_normalized=scaled,
        tol=TOL,
        final_temperature=TOL,
    )
    rows = np.arange(len(y), dtype=np.float64)[:, None]  # the matrices are given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return machine.fit(rows, y)


def ridge_at_ratio(K: FloatArray, y: IntArray) -> IntArray:
    r"""Return classes from the labelled points alone, with the class ratio known.

    :math:`f = K_{ul} (K_{ll} + \gamma I)^{-1} y_l`; the half of the unlabelled points
    with the larger values is class 1.
    """
    known, hidden = np.flatnonzero(y >= 0), np.flatnonzero(y < 0)
    K_ll = K[np.ix_(known, known)] + GAMMA * np.eye(len(known))
    f = K[np.ix_(hidden, known)] @ np.linalg.solve(K_ll, 2.0 * y[known] - 1)
    found = y.copy()
    found[hidden] = 0
    upper = np.argsort(f, kind="stable")[len(f) - round(RATIO * len(f)) :]
    found[hidden[upper]] = 1
    return found


def error(found: IntArray, truth: IntArray, y: IntArray) -> float:
    """Return the percentage wrong of the points without a label."""
    hidden = y < 0
    return 100 * float(np.mean(found[hidden] != truth[hidden]))


def compare(
    K: FloatArray, truth: IntArray, y: IntArray, *, beta: float, names: tuple[str, str]
) -> dict[str, float]:
    """Return errors of both methods of the paper and of what stands beside them."""
    supervised, annealed = fit(K, y, beta=0), fit(K, y, beta=beta)
    average = K.mean(axis=0)
    selected = np.tensordot(supervised.weights_, K, axes=1)
    found = {
        names[0]: supervised.transduction_,
        names[1]: annealed.transduction_,
        f"{names[0]}, threshold at the class ratio": ridge_at_ratio(selected, y),
        "average of kernels, threshold at the class ratio": ridge_at_ratio(average, y),
        f"average of kernels, {names[1]}": fit(
            average[None], y, beta=beta
        ).transduction_,
    }
    return {name: error(labels, truth, y) for name, labels in found.items()}


def run_gaussians(*, digits: tuple[int, int], split: int) -> dict[str, float]:
    """Return a row of Table 1."""
    truth = np.repeat([0, 1], N_IMAGES)
    return compare(
        gaussians(tuple(digits)),
        truth,
        draw_labels(truth, split),
        beta=BETA["Gaussian"],
        names=("KS-SL", "KS-SSKM"),
    )


def run_laplacians(*, digits: tuple[int, int], split: int) -> dict[str, float]:
    """Return a row of Table 2, and kernels scaled to equal traces."""
    truth = np.repeat([0, 1], N_IMAGES)
    return compare_sets(laplacians(tuple(digits)), truth, draw_labels(truth, split))


def compare_sets(K: FloatArray, truth: IntArray, y: IntArray) -> dict[str, float]:
    """Return errors with the kernels of each distance and with all of them."""
    result: dict[str, float] = {}
    beta, names = BETA["Laplacian"], ("GLKS-SSL", "GLKS-SSKM")
    for label, part in SETS.items():
        for name, b in zip(names, (0.0, beta), strict=True):
            machine = fit(K[part], y, beta=b)
            result[f"{label} {name}"] = error(machine.transduction_, truth, y)
    result |= compare(K, truth, y, beta=beta, names=("All GLKS-SSL", "All GLKS-SSKM"))
    for name, b in zip(names, (0.0, beta), strict=True):
        machine = fit(K, y, beta=b, scaled=True)
        result[f"All {name}, equal traces"] = error(machine.transduction_, truth, y)
    return result


def run_each_laplacian(*, digits: tuple[int, int], split: int) -> dict[str, float]:
    """Return "kernel|column" for Figure 1: error of each alone, weight among all."""
    truth = np.repeat([0, 1], N_IMAGES)
    return each_kernel(laplacians(tuple(digits)), truth, draw_labels(truth, split))


def each_kernel(K: FloatArray, truth: IntArray, y: IntArray) -> dict[str, float]:
    """Return errors of machines on one kernel, and the weights of the selection."""
    beta = BETA["Laplacian"]
    weights = fit(K, y, beta=beta).weights_
    result = {}
    for i, kernel in enumerate(K):
        alone = fit(kernel[None], y, beta=beta)
        result[f"{i + 1}|error (%)"] = error(alone.transduction_, truth, y)
        result[f"{i + 1}|weight (%)"] = 100 * float(weights[i])
    return result
