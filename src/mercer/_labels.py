"""Partly labelled targets: what counts as a label and how classes are coded."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mercer._typing import ArrayLike, BoolArray, FloatArray, IntArray

UNLABELED = -1


@dataclass(frozen=True, eq=False)
class Labels:
    """Class codes of partly labelled points."""

    codes: IntArray  # (n,) position in `classes`, or UNLABELED
    classes: NDArray[Any]  # (n_classes,) sorted

    @property
    def labeled(self) -> IntArray:
        """Rows that carry a label, in order."""
        return np.flatnonzero(self.codes != UNLABELED)

    def one_hot(self) -> FloatArray:
        """Return the labelled rows of the 0/1 target, (n_labeled, n_classes)."""
        codes = self.codes[self.labeled]
        hot: FloatArray = np.equal.outer(codes, np.arange(len(self.classes))) * 1.0
        return hot

    def given(self) -> NDArray[Any]:
        """Return the labels, (n,), None where there is none."""
        given = np.full(len(self.codes), None, dtype=object)
        given[self.labeled] = self.classes[self.codes[self.labeled]]
        return given

    def take(self, rows: IntArray) -> "Labels":
        """Return the labels of some rows; the classes stay."""
        return Labels(self.codes[rows], self.classes)

    def without(self, rows: IntArray) -> "Labels":
        """Return the labels with some rows unlabelled, and classes that are left."""
        codes = self.codes.copy()
        codes[rows] = UNLABELED
        left, again = np.unique(codes[codes != UNLABELED], return_inverse=True)
        codes[codes != UNLABELED] = again
        return Labels(codes, self.classes[left])

    def prior(self) -> FloatArray:
        """Share of each class among the labelled points."""
        shares: FloatArray = self.one_hot().mean(axis=0)
        return shares


def is_labeled(y: NDArray[Any]) -> BoolArray:
    """Tell which entries are labels: -1, None and NaN are not."""
    if y.dtype.kind in "iuf":
        return np.asarray(~np.isnan(y) & (y != UNLABELED))
    if y.dtype.kind == "O":
        return np.array([not _is_missing(value) for value in y], dtype=bool)
    return np.ones(len(y), dtype=bool)


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ == "NAType" or value != value:
        return True  # in this order: pandas.NA is not comparable
    # A string "-1" is a name like any other; the number -1 is not.
    return isinstance(value, int | float | np.number) and value == UNLABELED


def encode_labels(y: ArrayLike, *, min_classes: int = 2) -> Labels:
    """Code partly labelled `y`; -1, None and NaN mark unlabelled points.

    Parameters
    ----------
    y : array-like of shape (n,)
        Numbers or strings.
    min_classes : int, default=2
        Fewer distinct labels than this are an error; 0 admits no label at all.

    Returns
    -------
    Labels

    Examples
    --------
    >>> encode_labels(["cat", None, "dog", "cat"]).codes
    array([ 0, -1,  1,  0])
    """
    values = column_or_1d(keep_missing(y), warn=True)
    known = is_labeled(values)
    if not known.any() and min_classes == 0:
        return Labels(np.full(len(values), UNLABELED), np.array([]))
    if not known.any():
        msg = (
            f"y has no label: all {len(values)} entries mean unlabelled "
            "(-1, None or NaN). Label at least one point of each class."
        )
        raise ValueError(msg)
    labels = _of_one_kind(values[known])
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        msg = "y holds infinity; mark unlabelled points with -1, None or NaN."
        raise ValueError(msg)
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < min_classes or _is_a_trap(values, classes):
        raise ValueError(_too_few_classes(values, classes, min_classes))
    coded = np.full(len(values), UNLABELED, dtype=np.intp)
    coded[known] = codes
    return Labels(coded, classes)


def as_labels(y: "Labels | ArrayLike") -> Labels:
    """Return labels that are coded already as they are, others coded.

    Examples
    --------
    >>> as_labels(["cat", None, "dog"]).codes
    array([ 0, -1,  1])
    """
    return y if isinstance(y, Labels) else encode_labels(y)


def require_y(y: ArrayLike | None, who: str) -> ArrayLike:
    """Return y, or raise if there is none.

    Examples
    --------
    >>> require_y(None, "Machine")
    Traceback (most recent call last):
    ValueError: Machine requires y to be passed, but the target y is None; mark
    unlabelled points by -1.
    """
    if y is None:
        msg = (
            f"{who} requires y to be passed, but the target y is None; mark "
            "unlabelled points by -1."
        )
        raise ValueError(msg)
    return y


def keep_missing(y: Any) -> Any:
    """Return a list with strings as an array of objects, all else as it is.

    NumPy would make the string "nan" of NaN.

    Examples
    --------
    >>> keep_missing(["cat", float("nan")])
    array(['cat', nan], dtype=object)
    """
    if isinstance(y, list | tuple) and any(isinstance(value, str) for value in y):
        return np.array(y, dtype=object)
    return y


def one_column(y: Any) -> Any:
    """Return y with one dimension; where it has more `encode_labels` has warned.

    Examples
    --------
    >>> one_column(np.array([[0], [1]]))
    array([0, 1])
    """
    return np.asarray(y).ravel() if getattr(y, "ndim", 1) > 1 else y


def _of_one_kind(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels of an object array as numbers or strings."""
    if labels.dtype.kind != "O":
        return labels
    kinds = {isinstance(value, str) for value in labels}
    plain = np.array(labels.tolist()) if len(kinds) == 1 else labels
    if plain.dtype.kind not in "biufU":
        names = sorted({type(value).__name__ for value in labels})
        msg = f"y holds {' and '.join(names)} labels; use numbers only or strings only."
        raise TypeError(msg)
    return plain


def _is_a_trap(values: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Tell whether -1 was probably meant as a class."""
    return classes.tolist() == [1] and bool(np.any(values == UNLABELED))


def _too_few_classes(
    values: NDArray[Any], classes: NDArray[Any], min_classes: int
) -> str:
    if _is_a_trap(values, classes):
        return (
            "y holds only -1 and 1, and -1 means unlabelled: one class is left. "
            "Recode, e.g. (y > 0).astype(int)."
        )
    return (
        f"y has {len(classes)} class ({classes.tolist()[0]!r}) among its labels; "
        f"at least {min_classes} classes are needed."
    )
