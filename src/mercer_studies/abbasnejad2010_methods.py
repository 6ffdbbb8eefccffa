"""What Abbasnejad, Ramachandram and Mandava (2010) run in one draw."""

import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from mercer._base.typing import FloatArray, IntArray
from mercer.exceptions import NearlyConstantKernelWarning
from mercer.kernels.normalized import Normalized
from mercer.kernels.parametric import RBF, Linear, Polynomial
from mercer.learners.influence import InfluenceKernel
from mercer_studies.data.dataset import Dataset
from mercer_studies.data.loading import load

KERNELS = {
    "L": Linear(),
    "P": Polynomial(degree=2, gamma=1.0, coef0=1.0),
    "G1": RBF(gamma=1 / 10_000),
    "G2": RBF(gamma=1 / 150_000),
}
SETS = {
    "LP": ("L", "P"),
    "LG1": ("L", "G1"),
    "LPG1": ("L", "P", "G1"),
    "LPG2": ("L", "P", "G2"),
    "LPG1G2": ("L", "P", "G1", "G2"),
}
TIMED = {2: "LP", 3: "LPG1", 4: "LPG1G2"}
N_FACES_TEST, N_TEXTS_TEST = 150, 300
N_NEIGHBORS = 5
Draw = tuple[Any, IntArray, Any, IntArray]  # points and classes, then those to test
Predictor = Callable[[FloatArray, IntArray, FloatArray], IntArray]


@lru_cache(maxsize=1)
def dataset(name: str) -> Dataset:
    """Return a data set, read once."""
    return load(name)


def draw_faces(n_train: int, n_people: int, split: int) -> Draw:
    """Draw people, and images of them to learn from and to test on."""
    data = dataset("pie_32x32_10subjects")
    rng = np.random.default_rng([n_train, split])
    people = rng.choice(len(data.classes), n_people, replace=False)
    rows = rng.permutation(np.flatnonzero(np.isin(data.y, people)))
    train, test = rows[:n_train], rows[n_train : n_train + N_FACES_TEST]
    return data.X[train], data.y[train], data.X[test], data.y[test]


def draw_texts(n_train: int, split: int) -> Draw:
    """Draw a newsgroup, and as many of its texts as of all others, of unit length."""
    data = dataset("news20_bydate")
    rng = np.random.default_rng([n_train, split])
    group = rng.integers(len(data.classes))
    y = (data.y == group).astype(np.intp)
    has_words = data.X.sum(axis=1) > 0
    parts = [rng.permutation(np.flatnonzero((y == c) & has_words)) for c in (0, 1)]
    n_all = n_train + N_TEXTS_TEST
    train = np.concatenate([part[: n_train // 2] for part in parts])
    test = np.concatenate([part[n_train // 2 : n_all // 2] for part in parts])
    return normalize(data.X[train]), y[train], normalize(data.X[test]), y[test]


def learn(X: Any, names: tuple[str, ...], combination: Any) -> InfluenceKernel:
    """Combine the named kernels; a nearly constant choice is expected here."""
    kernels = [KERNELS[name] for name in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearlyConstantKernelWarning)
        return InfluenceKernel(kernels, combination=combination).fit(X)


def neighbours_after_pca(dimensions: int) -> Predictor:
    """Return 5 nearest neighbours in the first directions of kernel PCA."""

    def predict(K: FloatArray, y: IntArray, K_new: FloatArray) -> IntArray:
        pca = KernelPCA(dimensions, kernel="precomputed")
        knn = KNeighborsClassifier(N_NEIGHBORS).fit(pca.fit_transform(K), y)
        found: IntArray = knn.predict(pca.transform(K_new))
        return found

    return predict


def svm(K: FloatArray, y: IntArray, K_new: FloatArray) -> IntArray:
    """Return the classes of a support vector machine with C = 1."""
    found: IntArray = SVC(kernel="precomputed", C=1.0).fit(K, y).predict(K_new)
    return found


def compare(
    X: Any, y: IntArray, X_new: Any, y_new: IntArray, predict: Predictor
) -> dict[str, float]:
    """Return accuracies (%) of each kernel, of the combinations and of averages."""
    base = {name: Normalized(kernel) for name, kernel in KERNELS.items()}
    K = {name: kernel(X) for name, kernel in base.items()}
    K_new = {name: kernel(X_new, X) for name, kernel in base.items()}
    weights: dict[str, dict[str, float]] = {name: {name: 1.0} for name in KERNELS}
    for label, names in SETS.items():
        for kind in ("affine", "convex"):
            found = learn(X, names, kind).weights_.tolist()
            weights[f"{kind} {label}"] = dict(zip(names, found, strict=True))
        weights[f"average {label}"] = dict.fromkeys(names, 1 / len(names))
    result = {}
    for column, parts in weights.items():
        combined = np.sum([w * K[name] for name, w in parts.items()], axis=0)
        new = np.sum([w * K_new[name] for name, w in parts.items()], axis=0)
        right = predict(combined, y, new) == y_new
        result[column] = 100 * float(np.mean(right))
    return result


def run_faces(
    *, n_train: int, n_people: int, dimensions: int, split: int
) -> dict[str, float]:
    """Return a row of Table 1."""
    draw = draw_faces(n_train, n_people, split)
    return compare(*draw, neighbours_after_pca(dimensions))


def run_texts(*, n_train: int, split: int) -> dict[str, float]:
    """Return a row of Table 2."""
    return compare(*draw_texts(n_train, split), svm)


def run_times(*, n_train: int, combination: str, split: int) -> dict[str, float]:
    """Return a row of Table 3."""
    X_faces, *_ = draw_faces(n_train, 2, split)
    X_texts, *_ = draw_texts(n_train, split)
    return seconds({"faces": X_faces, "texts": X_texts}, combination)


def seconds(points: dict[str, Any], combination: str) -> dict[str, float]:
    """Return CPU seconds of learning with two, three and four kernels."""
    result = {}
    for name, X in points.items():
        for n_kernels, label in TIMED.items():
            start = time.process_time()
            learn(X, SETS[label], combination)
            column = f"{name}, {n_kernels} kernels"
            result[column] = time.process_time() - start
    return result
