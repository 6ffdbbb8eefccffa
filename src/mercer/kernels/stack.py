"""Lists of kernels: what a person may write, and their Gram matrices."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.checks import (
    check_finite,
    check_psd,
    check_square,
    check_symmetric,
    is_several,
)
from mercer._base.typing import FloatArray
from mercer.kernels.base import Kernel
from mercer.kernels.columns import OnColumns
from mercer.kernels.spec import as_kernel
from mercer.kernels.tabulated import Tabulated

_RTOL = 1e-9


def resolve_kernels(
    kernels: Collection[Any], X: Any, *, names: NDArray[Any] | None = None
) -> list[Kernel]:
    """Return the kernels that the entries of a list stand for, resolved on X.

    Parameters
    ----------
    kernels : collection
        Each a Kernel, a name, a function of two sets of points, a pair
        ``(kernel, columns)`` for a block of columns, or a matrix over the rows of X.
    X : array of shape (n, d)
        Training points.
    names : ndarray of shape (d,), optional
        Names of the columns, if blocks are given by name.

    Returns
    -------
    list of Kernel

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> kernels = resolve_kernels(["linear", ("rbf", [1]), np.eye(2)], X)
    >>> kernels[1](X).round(3)
    array([[1.   , 0.018],
           [0.018, 1.   ]])
    """
    if not is_several(kernels) or len(kernels) == 0:
        msg = f"kernels must be a list of at least one kernel, got {kernels!r}."
        raise ValueError(msg)
    return [
        _resolved(spec, X, names, f"kernels[{j}]") for j, spec in enumerate(kernels)
    ]


def gram_stack(kernels: Sequence[Kernel], X: Any) -> FloatArray:
    """Return the checked Gram matrices of kernels on X, (n_kernels, n, n).

    Every one must be finite, symmetric and positive semi-definite; the error tells
    which is not, and by how much.

    Examples
    --------
    >>> from mercer.kernels.parametric import Linear
    >>> gram_stack([Linear()], [[1.0], [2.0]])
    array([[[1., 2.],
            [2., 4.]]])
    """
    n = np.shape(X)[0]
    stack = np.empty((len(kernels), n, n))
    for j, kernel in enumerate(kernels):
        K = kernel(X)
        check_finite(K, f"kernels[{j}]")
        check_symmetric(K, f"kernels[{j}]", rtol=_RTOL)
        stack[j] = (K + K.T) / 2
        if not _is_psd(stack[j]):
            check_psd(stack[j], f"kernels[{j}]", rtol=_RTOL)
    return stack


def _is_psd(K: FloatArray) -> bool:
    """Prove it by a Cholesky factor, at a tenth of the cost of eigenvalues."""
    shifted = K.copy()
    shifted.flat[:: len(K) + 1] += _RTOL * K.diagonal().max()
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return True


def _resolved(spec: Any, X: Any, names: NDArray[Any] | None, where: str) -> Kernel:
    if isinstance(spec, tuple) and len(spec) == 2:
        columns = [_position(c, names, where) for c in np.atleast_1d(spec[1]).tolist()]
        return OnColumns(as_kernel(spec[0]), columns).resolve(X)
    if isinstance(spec, np.ndarray) or hasattr(spec, "to_numpy"):
        return _tabulated(np.asarray(spec, dtype=np.float64), X, where)
    if hasattr(spec, "features") and not isinstance(spec, Kernel):
        return as_kernel(spec)
    return as_kernel(spec).resolve(X)


def _tabulated(K: FloatArray, X: Any, where: str) -> Tabulated:
    check_square(K, where)
    n = X.shape[0]
    if len(K) != n:
        msg = f"{where} is a {len(K)} x {len(K)} matrix, but X has {n} rows."
        raise ValueError(msg)
    check_finite(K, where)
    check_symmetric(K, where, rtol=_RTOL)
    return Tabulated(X, K)


def _position(column: Any, names: NDArray[Any] | None, where: str) -> int:
    if isinstance(column, int):
        return column
    if names is None:
        msg = f"{where} names column {column!r}, but X is not a data frame with names."
        raise ValueError(msg)
    found = np.flatnonzero(names == column)
    if len(found) == 0:
        msg = f"{where} names column {column!r}, which X does not have."
        raise ValueError(msg)
    return int(found[0])
