"""Points as they are given, made ready for a search."""

from typing import Any

import numpy as np
from scipy import sparse

from mercer._base.checks import FLOATS, checked_points
from mercer._base.typing import ArrayLike, SparseArray

_FARTHEST = 1e30  # entries of new points, those of the points being about 1


def checked_array(X: ArrayLike | SparseArray) -> Any:
    """Return X as floats, dense or csr."""
    if not sparse.issparse(X) and not np.ma.is_masked(X):
        array = np.asarray(X)
        # Small integers, pixels say, are exact in single precision.
        if array.dtype.kind in "iub" and array.dtype.itemsize <= 2:
            X = array.astype(np.float32)
    checked = checked_points(X, dtype=FLOATS, input_name="X")
    if sparse.issparse(checked):
        checked = sparse.csr_array(checked)
        checked.sum_duplicates()
    return checked


def unit_rows(X: Any) -> Any:
    """Scale rows to length one; a last column makes rows of zeros one more direction.

    Rows are divided by their largest entry first: squares neither overflow nor vanish.
    """
    if sparse.issparse(X):
        largest = abs(X).max(axis=1).toarray().ravel()
        zero = largest == 0
        Y = sparse.csr_array(X, copy=True)
        # Divided, for 1 / 1e-40 is infinite in single precision.
        Y.data /= np.repeat(np.where(zero, 1, largest), np.diff(Y.indptr))
        norms = np.sqrt((Y * Y).sum(axis=1))
        Y = sparse.diags_array(1 / np.where(zero, 1, norms)) @ Y
        return sparse.hstack([Y, sparse.csr_array(zero[:, None] * 1.0)], format="csr")
    largest = np.abs(X).max(axis=1, keepdims=True)
    zero = largest == 0
    Y = np.hstack([X / np.where(zero, 1, largest), zero.astype(X.dtype)])
    return Y / np.linalg.norm(Y, axis=1, keepdims=True)


def check_far(Q: Any, scale: float) -> None:
    """Refuse new points that are so far away that all distances round to one."""
    largest = max(-float(Q.min()), float(Q.max()))
    if largest > _FARTHEST / scale:
        msg = (
            f"X_new has an entry of size {largest:.1g}, more than {_FARTHEST:g} times "
            "the largest of the points; all points are equally far from there."
        )
        raise ValueError(msg)
