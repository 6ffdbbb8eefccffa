"""Columns of labels as people pass them: which entries are labels, and of what kind."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.checks import is_empty
from mercer._base.tensors import on_host
from mercer._base.typing import BoolArray, FloatArray
from mercer._base.words import counted
from mercer.exceptions import UnlabeledClassWarning

UNLABELED = -1


def is_labeled(y: NDArray[Any]) -> BoolArray:
    """Return which entries are labels: -1, None and NaN are not.

    Examples
    --------
    >>> is_labeled(np.array([None, 2, -1, "-1"], dtype=object))
    array([False,  True, False,  True])
    """
    if y.dtype.kind in "iuf":
        return np.asarray(~np.isnan(y) & (y != UNLABELED))
    if y.dtype.kind == "O":
        labeled = np.zeros(len(y), dtype=bool)
        # Most entries of a large table are None.
        rows = np.flatnonzero([value is not None for value in y])
        labeled[rows] = [not _is_missing(value) for value in y[rows]]
        return labeled
    return np.ones(len(y), dtype=bool)


def _is_missing(value: object) -> bool:
    if is_empty(value):
        return True
    # A string "-1" is a name like any other; the number -1 is not.
    return isinstance(value, int | float | np.number) and value == UNLABELED


def are_shares(y: Any) -> bool:
    """Return whether y has several columns: the shares of the classes in each row."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] > 1


def read_shares(y: Any) -> tuple[FloatArray, NDArray[Any]]:
    """Return class shares, (n, n_classes), and the classes; rows of 0 have no label.

    The names of the classes are those of the columns of a data frame, else 0, 1, ...
    """
    y = on_host(y)
    whole = np.asarray(y)
    if whole.dtype.kind in "biu" and np.isin(whole, (0, 1)).all():
        msg = (
            "y is a matrix of 0 and 1, and it is not clear what its rows of zeros are. "
            "If every row has one class, give y.argmax(axis=1), with -1 for rows "
            "without a label; if these are class shares, give y.astype(float). Several "
            "classes per row (multilabel) are not supported: fit one model per column."
        )
        raise ValueError(msg)
    shares = np.nan_to_num(np.asarray(y, dtype=np.float64), nan=0.0)
    total = shares.sum(axis=1)
    if (shares < 0).any() or np.abs(total[total > 0] - 1).max(initial=0.0) > 1e-6:
        msg = (
            "y has several columns, so each row must hold shares of the classes that "
            "sum to 1, or zeros where there is no label; for numbers of answers divide "
            "by their sum and give the sum as sample_weight."
        )
        raise ValueError(msg)
    names = np.asarray(getattr(y, "columns", np.arange(shares.shape[1])))
    classes, order = np.unique(names, return_index=True)
    shares = shares[:, order]
    used = shares.sum(axis=0) > 0
    return shares[:, used], classes[used]


def read_column(y: Any, *, warn: bool = False) -> tuple[NDArray[Any], BoolArray]:
    """Return the entries of y in one dimension, and which of them are labels.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, 1)
        A list, array, masked array, or column of pandas, polars or pyarrow.
    warn : bool, default=False
        Whether to warn of a second axis.
    """
    from sklearn.utils import column_or_1d

    if isinstance(y, Mapping | str):
        msg = f"y must hold one label per point; got {type(y).__name__}."
        raise ValueError(msg)
    values = column_or_1d(_keep_missing(y), warn=warn)
    return values, is_labeled(values)


def known_labels(y: Any) -> tuple[BoolArray, NDArray[Any]]:
    """Return which rows have a label, and these labels as numbers or strings.

    Shares of the classes count as their likeliest class.

    Examples
    --------
    >>> known_labels(np.array([None, 2, 1], dtype=object))
    (array([False,  True,  True]), array([2, 1]))
    """
    if are_shares(y):
        shares, classes = read_shares(y)
        known: BoolArray = shares.sum(axis=1) > 0
        return known, classes[shares[known].argmax(axis=1)] if known.any() else classes
    values, known = read_column(y)
    return known, of_one_kind(values[known]) if known.any() else values[known]


def of_one_kind(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels, at least one, as an array of numbers or of strings."""
    if labels.dtype.kind == "O":
        kinds = {isinstance(value, str) for value in labels}
        plain = np.array(labels.tolist()) if len(kinds) == 1 else labels
        if plain.dtype.kind not in "biufU" or plain.ndim > 1:
            names = " and ".join(sorted({type(value).__name__ for value in labels}))
            msg = f"y holds {names} labels; use numbers only or strings only."
            raise TypeError(msg)
        labels = plain
    if labels.dtype.kind == "f":
        if np.isinf(labels).any():
            msg = (
                "Input y contains infinity or a value too large for "
                f"{labels.dtype!r}; mark unlabelled points with -1, None or NaN."
            )
            raise ValueError(msg)
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(labels)
    return labels


def _keep_missing(y: Any) -> Any:
    """Return y so that NumPy keeps what is missing in it.

    NumPy would make the string "nan" of NaN in a list with strings, floats of the whole
    numbers of pandas, polars and pyarrow where one is missing, and would show the
    hidden labels of masked arrays. All of these become objects.

    Examples
    --------
    >>> _keep_missing(["cat", float("nan")])
    array(['cat', nan], dtype=object)
    """
    y = on_host(y)
    home = type(y).__module__.partition(".")[0]
    if home == "pyarrow" and not hasattr(y, "columns"):
        return np.array(y.to_pylist(), dtype=object)
    if home in ("pandas", "polars") and len(y.shape) == 1:
        if not isinstance(y.dtype, np.dtype):
            return np.array(list(y), dtype=object)
        return y
    if isinstance(y, np.ma.MaskedArray):
        values = y.data.astype(object)
        values[np.ma.getmaskarray(y)] = None
        return values
    if isinstance(y, np.ndarray) and y.dtype.kind == "T":
        return y.astype(object)
    if isinstance(y, list | tuple) and any(isinstance(value, str) for value in y):
        return np.array(y, dtype=object)
    return y


def warn_of_names(values: NDArray[Any], classes: NDArray[Any]) -> None:
    """Warn if a class has the name that NumPy gives to -1, None or NaN in strings."""
    if values.dtype.kind != "U" or set(classes) <= {"-1", "0", "1", "+1"}:
        return
    for name in ("-1", "-1.0", "nan", "None", ""):
        n = int(np.count_nonzero(values == name))
        if n:
            msg = (
                f"{counted(n, 'label is', 'labels are')} the string {name!r}, which "
                "counts as a class. If it "
                "means unlabelled, give objects with None: y = y.astype(object); "
                f"y[y == {name!r}] = None."
            )
            warnings.warn(msg, UnlabeledClassWarning, stacklevel=4)


def check_classes(values: NDArray[Any], classes: NDArray[Any], least: int) -> None:
    """Raise if labels have too few classes, or -1 was probably meant as one."""
    if not len(classes):
        if least > 0:
            msg = (
                f"y has no label: all {len(values)} entries mean unlabelled "
                "(-1, None or NaN). Label at least one point of each class."
            )
            raise ValueError(msg)
        return
    if classes.tolist() == [1] and bool(np.any(values == UNLABELED)):
        msg = (
            "y holds only -1 and 1, and -1 means unlabelled: one class is left. "
            "Recode, e.g. (y > 0).astype(int)."
        )
        raise ValueError(msg)
    if len(classes) < least:
        msg = (
            f"y has {len(classes)} class ({classes.tolist()[0]!r}) among its labels; "
            f"at least {least} classes are needed."
        )
        raise ValueError(msg)
