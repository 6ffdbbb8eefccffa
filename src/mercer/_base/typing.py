"""Array types used in signatures across the library."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
# scipy ships no annotations: a sparse array is any scipy.sparse matrix or array.
SparseArray: TypeAlias = Any
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


class HasRows(Protocol):
    """Points that are not an array of NumPy: sparse ones, tensors, those of Dask."""

    @property
    def shape(self) -> tuple[Any, ...]:
        """Numbers of rows and of columns."""

    def __getitem__(self, rows: Any, /) -> Any:
        """Return some rows."""


Points: TypeAlias = ArrayLike | HasRows
# Shares of the classes, or what is known of them (`LeaveOneOutRLS`).
ClassShares: TypeAlias = Mapping[Any, Any] | ArrayLike

__all__ = [
    "ArrayLike",
    "BoolArray",
    "ClassShares",
    "FloatArray",
    "HasRows",
    "IntArray",
    "Points",
    "RandomState",
    "SparseArray",
]
