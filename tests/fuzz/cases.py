"""Tables as people have them, and worse: what every estimator is tried on."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy.sparse import csr_array

CONTAINERS = ("array", "fortran", "read_only", "memmap", "list", "frame", "sparse")
FLAWS = ("none", "nan", "inf", "constant_column", "constant", "duplicates", "huge_row")
DTYPES = ("float64", "float32", "int64", "bool")
# A row times 1e12 is still finite; infinities of both signs make NumPy warn inside
# scikit-learn's check before it refuses them.
LARGEST = {"float64": 1e280, "float32": 1e25, "int64": 1e280, "bool": 1e280}
LABELS = ("int", "str", "none_marks", "nan_marks")


@dataclass(frozen=True)
class Case:
    """One input, small enough to print; `make` gives the arrays."""

    seed: int
    n: int
    d: int
    exponent: int  # columns are of the size 10**exponent
    dtype: str
    container: str
    flaw: str
    n_classes: int
    share_labeled: float
    labels: str

    def make(self) -> tuple[Any, Any]:
        """Return X in its container, and y."""
        rng = np.random.default_rng(self.seed)
        codes = np.arange(self.n) % self.n_classes
        X = rng.normal(size=(self.n, self.d)) + 3 * codes[:, None]
        X *= 10.0 ** self._exponent()
        with np.errstate(all="ignore"):
            spoil(X, self.flaw, rng, largest=LARGEST[self.dtype])
            X = X.astype(self.dtype)
        return contain(X, self.container), self._labels(codes, rng)

    def _exponent(self) -> int:
        if self.dtype == "float64":
            return self.exponent
        if self.dtype == "float32":  # from its subnormal numbers to its largest
            return min(max(self.exponent, -40), 37)
        return self.exponent % 5

    def _labels(self, codes: Any, rng: np.random.Generator) -> Any:
        shown = rng.random(self.n) < self.share_labeled
        shown[: self.n_classes] = self.share_labeled > 0
        if self.labels == "int":
            return np.where(shown, codes, -1)
        if self.labels == "nan_marks":
            return np.where(shown, codes, np.nan)
        names = np.array([f"class {code}" for code in codes], dtype=object)
        if self.labels == "str":
            return np.where(shown, names, None)
        return [n if known else None for n, known in zip(names, shown, strict=True)]


def spoil(
    X: Any, flaw: str, rng: np.random.Generator, *, largest: float = 1e280
) -> None:
    """Write a flaw into X."""
    row, column = rng.integers(len(X)), rng.integers(X.shape[1])
    if flaw == "nan":
        X[row, column] = np.nan
    elif flaw == "inf":
        X[row, column] = -np.inf
    elif flaw == "constant_column":
        X[:, column] = X[0, column]
    elif flaw == "constant":
        X[:] = X[0]
    elif flaw == "duplicates":
        X[:] = X[rng.integers(max(1, len(X) // 3), size=len(X))]
    elif flaw == "huge_row" and np.abs(X).max() < largest:
        X[row] *= 1e12


def contain(X: Any, container: str) -> Any:
    """Return X as the kind of object that a user has it in."""
    if container == "fortran":
        return np.asfortranarray(X)
    if container == "list":
        return X.tolist()
    if container == "frame":
        return pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    if container == "sparse":
        return csr_array(X)
    if container == "memmap":
        path = Path(tempfile.mkdtemp(prefix="mercer-fuzz")) / "X.npy"
        np.save(path, X)
        mapped = np.load(path, mmap_mode="r")
        path.unlink()  # the mapping keeps the data
        path.parent.rmdir()
        return mapped
    if container == "read_only":
        X.setflags(write=False)
    return X


cases = st.builds(
    Case,
    seed=st.integers(0, 2**31),
    n=st.one_of(st.integers(6, 30), st.integers(8, 20), st.integers(1, 5)),
    d=st.integers(1, 5),
    exponent=st.one_of(st.integers(-3, 3), st.integers(-300, 300)),
    dtype=st.sampled_from(DTYPES),
    container=st.sampled_from(CONTAINERS),
    # Sound input, with two classes or more, is what most estimators answer.
    flaw=st.sampled_from((*FLAWS, *["none"] * 4)),
    n_classes=st.sampled_from((1, 2, 2, 2, 3, 4)),
    share_labeled=st.sampled_from((0.0, 0.3, 0.5, 0.5, 1.0)),
    labels=st.sampled_from(LABELS),
)
