"""Checks of matrices that users pass in, with one wording across the library."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import starmap
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from mercer._base.tensors import checked_tensor, on_host
from mercer._base.typing import FloatArray
from mercer.exceptions import NotPSDError

FLOATS = [np.float64, np.float32]  # single precision stays as it is


def check_number(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> None:
    """Raise unless a value is a finite number within bounds.

    Unlike `sklearn.utils.check_scalar` it refuses NaN, infinity and booleans.

    Examples
    --------
    >>> check_number(float("nan"), "gamma", above=0)
    Traceback (most recent call last):
    ValueError: gamma must be a finite number above 0; got nan.
    """
    bounds = [("above", above), ("at least", at_least), ("at most", at_most)]
    wanted = " and ".join(
        f"{word} {bound:g}" for word, bound in bounds if bound is not None
    )
    msg = f"{name} must be a finite number {wanted}".rstrip() + f"; got {value!r}."
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        raise TypeError(msg)
    number = float(value)
    if (
        not np.isfinite(number)
        or (above is not None and number <= above)
        or (at_least is not None and number < at_least)
        or (at_most is not None and number > at_most)
    ):
        raise ValueError(msg)


def check_choice(value: Any, name: str, options: Sequence[Any]) -> None:
    """Raise unless a value is one of the options.

    Examples
    --------
    >>> check_choice("logistic", "loss", ("hinge", "linear"))
    Traceback (most recent call last):
    ValueError: loss must be 'hinge' or 'linear', got 'logistic'.
    """
    if value not in options:
        *others, last = map(repr, options)
        msg = f"{name} must be {', '.join(others)} or {last}, got {value!r}."
        raise ValueError(msg)


def is_several(values: Any) -> bool:
    """Tell lists, tuples, arrays, series, sets and views of a dict from single things.

    Examples
    --------
    >>> is_several({1, 2}), is_several("ab"), is_several({"a": 1}), is_several(len)
    (True, False, False, False)
    """
    is_one = isinstance(values, str | Mapping) or callable(values)
    return isinstance(values, Collection) and not is_one


def check_several(
    values: Any, name: str, *, above: float | None = None, whole: bool = False
) -> None:
    """Raise unless values are a list, a tuple or an array that is not empty.

    With `above` each must be a finite number above it, and with `whole` a whole one.

    Examples
    --------
    >>> check_several(10, "n_neighbors")
    Traceback (most recent call last):
    TypeError: n_neighbors must be a list with at least one entry; got 10.
    """
    is_list = is_several(values)
    if not is_list or len(values) == 0 or getattr(values, "ndim", 1) != 1:
        msg = f"{name} must be a list with at least one entry; got {values!r}."
        raise ValueError(msg) if is_list else TypeError(msg)
    for place, value in enumerate(values if above is not None else ()):
        check_number(value, f"{name}[{place}]", above=above)
        if whole and not float(value).is_integer():
            msg = f"{name}[{place}] must be a whole number; got {value!r}."
            raise ValueError(msg)


def check_finite(A: Any, name: str = "K") -> None:
    """Raise unless every stored entry of a dense or sparse matrix is finite.

    Examples
    --------
    >>> check_finite(np.array([[1.0, np.nan]]))
    Traceback (most recent call last):
    ValueError: K holds NaN or infinite entries (1); drop or impute them first.
    """
    bad = int(np.sum(~np.isfinite(A.data if issparse(A) else A)))
    if bad:
        msg = (
            f"{name} holds NaN or infinite entries ({bad}); drop or impute them first."
        )
        raise ValueError(msg)


def checked_points(
    X: Any,
    estimator: Any = None,
    *,
    reset: bool = True,
    sparse: bool = True,
    at_least: int = 1,
    tensors: bool = False,
    **options: Any,
) -> Any:
    """Return points, float64 or of the given type, checked by scikit-learn.

    With an `estimator` they must be like its training points, or with `reset` are
    those, `at_least` that many. Non-numeric cells are reported with their column. A
    tensor becomes an array; with `tensors` it stays where it is, and only its shape is
    checked.

    Examples
    --------
    >>> checked_points([[1.0, "red"], [2.0, "blue"]])
    Traceback (most recent call last):
    ValueError: column 1 of X holds 'red'; give numbers, e.g. encoded by skrub's
    TableVectorizer, or give the whole table to mercer.learn.
    """
    # Here, since a program that only reads labels has no use for scikit-learn.
    from sklearn.utils import check_array
    from sklearn.utils.validation import validate_data

    tensor = checked_tensor(X, estimator, reset=reset) if tensors else None
    if tensor is not None:
        return tensor
    X = on_host(X)
    options = {"dtype": np.float64, **options}
    options["accept_sparse"] = "csr" if sparse else False
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):  # else what is hidden is used
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        if estimator is None:
            return check_array(X, **options)
        options["ensure_min_samples"] = at_least if reset else 1
        points = validate_data(estimator, X, reset=reset, **options)
        # As which "numeric" leaves a frame with a categorical column.
        return points.astype(np.float64) if points.dtype == object else points
    except (TypeError, ValueError) as error:
        said = ""
        with suppress(Exception):  # the error stands where it cannot be explained
            said = next(filter(None, starmap(_no_number, _columns(X))), "")
        if not said:
            raise
        cause = error
    if estimator is not None and not reset:  # a column too many is the first mistake
        validate_data(estimator, X, reset=False, skip_check_array=True)
    raise ValueError(said) from cause


def _columns(X: Any) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Yield the name and the values of each column of dense points."""
    if issparse(X):
        return
    if hasattr(X, "column_names"):  # pyarrow
        for name, column in zip(X.column_names, X.columns, strict=True):
            yield name, np.asarray(column)
        return
    if hasattr(X, "columns"):
        frame = getattr(X, "iloc", X)
        for place, name in enumerate(X.columns):
            yield name, np.asarray(frame[:, place])
        return
    values = X if hasattr(X, "dtype") else np.asarray(X, dtype=object)
    for place in range(values.shape[-1] if values.ndim > 1 else 0):
        yield place, values[..., place].ravel()


def _no_number(name: Any, values: NDArray[Any]) -> str:
    """Return what a column holds in place of numbers, and what to do, or nothing."""
    found = f"column {name!r} of X holds "
    kind = values.dtype.kind
    if kind in "mM":
        what = "dates" if kind == "M" else "durations"
        return found + what + "; give numbers, or the whole table to mercer.learn."
    if kind == "f":
        values = values[~np.isfinite(values)][:1]
    for value in values.tolist() if kind in "fOTU" else ():
        if isinstance(value, str) and not _is_number(value):
            return found + _ENCODE.format(repr(value))
        if is_empty(value):
            return found + _FILL
        if isinstance(value, float) and not isfinite(value):
            return found + "infinity; give finite numbers."
    return ""


def is_empty(value: Any) -> bool:
    """Tell whether a cell holds nothing: None, NaN, or what pandas has for it."""
    if value is None or type(value).__name__ == "NAType":  # which is not comparable
        return True
    differs = value != value  # an array, if the cell holds one
    return isinstance(differs, bool | np.bool_) and bool(differs)


_ENCODE = (
    "{}; give numbers, e.g. encoded by skrub's TableVectorizer, or give the whole "
    "table to mercer.learn."
)
_FILL = (
    "NaN; fill what is missing, e.g. by SimpleImputer, or give the whole table to "
    "mercer.learn."
)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_square(A: Any, name: str = "K") -> None:
    """Raise unless a dense or sparse matrix is square and not empty.

    Examples
    --------
    >>> check_square(np.ones((4, 3)))
    Traceback (most recent call last):
    ValueError: K must be square, got shape (4, 3); for the rectangular Gram matrix
    of two sets call the kernel with both.
    """
    shape = np.shape(A)
    if len(shape) != 2 or shape[0] != shape[1]:
        msg = (
            f"{name} must be square, got shape {shape}; for the rectangular Gram "
            "matrix of two sets call the kernel with both."
        )
        raise ValueError(msg)
    if shape[0] == 0:
        msg = f"{name} is empty (shape {shape}); at least one point is needed."
        raise ValueError(msg)


def check_symmetric(A: Any, name: str = "K", *, rtol: float = 1e-10) -> None:
    r"""Raise unless :math:`|A - A^\top| \le` `rtol` :math:`\max |A|` everywhere.

    Examples
    --------
    >>> check_symmetric(np.array([[1.0, 2.0], [0.0, 1.0]]))
    Traceback (most recent call last):
    ValueError: K must be symmetric: K[0, 1] = 2 but K[1, 0] = 0. If it should be
    symmetric up to rounding, pass (K + K.T) / 2.
    """
    check_square(A, name)
    difference = abs(A - A.T)
    if difference.max() <= rtol * abs(A).max():
        return
    i, j = divmod(int(difference.argmax()), A.shape[0])
    i, j = min(i, j), max(i, j)
    msg = (
        f"{name} must be symmetric: {name}[{i}, {j}] = {A[i, j]:g} but "
        f"{name}[{j}, {i}] = {A[j, i]:g}. If it should be symmetric up to rounding, "
        f"pass ({name} + {name}.T) / 2."
    )
    raise ValueError(msg)


def check_psd(A: FloatArray, name: str = "K", *, rtol: float = 1e-10) -> None:
    r"""Raise `NotPSDError` if an eigenvalue is below `-rtol` times the largest.

    Examples
    --------
    >>> check_psd(np.array([[1.0, 2.0], [2.0, 1.0]]))
    Traceback (most recent call last):
    mercer.exceptions.NotPSDError: K must be positive semi-definite: its smallest
    eigenvalue is -1 (the largest is 3, 1 of 2 are negative). Clip the spectrum or
    add 1 to the diagonal.
    """
    check_finite(A, name)
    check_symmetric(A, name)
    values = np.linalg.eigvalsh(A)
    floor = -rtol * np.abs(values).max()
    if values[0] >= floor:
        return
    msg = (
        f"{name} must be positive semi-definite: its smallest eigenvalue is "
        f"{values[0]:.3g} (the largest is {values[-1]:.3g}, "
        f"{np.sum(values < floor)} of {len(values)} are negative). "
        f"Clip the spectrum or add {-values[0]:.3g} to the diagonal."
    )
    raise NotPSDError(msg)


def check_same_length(a: Any, b: Any, a_name: str, b_name: str) -> None:
    """Raise an error if two arrays, or numbers of rows, differ in length.

    Examples
    --------
    >>> check_same_length(np.ones(3), np.ones(4), "X", "y")
    Traceback (most recent call last):
    ValueError: X has 3 rows and y has 4; they must describe the same points.
    """
    n_a, n_b = (n if isinstance(n, int) else np.shape(n)[0] for n in (a, b))
    if n_a != n_b:
        msg = (
            f"{a_name} has {n_a} rows and {b_name} has {n_b}; "
            "they must describe the same points."
        )
        raise ValueError(msg)
