"""What a file holds of a pool of kernels; the rest is computed when it is read."""

from copy import copy
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from mercer._typing import FloatArray
from mercer.spectrum._base import BasisMixin
from mercer.spectrum.gram import GramBasis


class SmallFiles(BasisMixin):
    """A pool that is saved without what its points and its kernels tell.

    A file holds the columns of graphs and of the density in single precision, and the
    rows that came after the fit. The columns of plain kernels are computed again. The
    pool that is read equals the one that was saved: columns in double precision are
    rounded before they are used.
    """

    blocks_: tuple[Any, ...]
    index_: Any
    _is_sparse: bool
    _mean: FloatArray  # (r,) of the columns of the fit; they are centred
    _n_fitted: int
    _parts: list[Any]
    _saved: list[tuple[slice, FloatArray]]  # columns of the fit, in single precision
    _later: FloatArray  # rows of `vectors_` that came after the fit

    def _set_columns(self, U: FloatArray, saved: list[slice]) -> None:
        """Centre the columns of the fit and keep them.

        Parameters
        ----------
        U : ndarray of shape (n, r)
            Overwritten.
        saved : list of slice
            Columns that files hold.
        """
        self._n_fitted = len(U)
        self._saved = [(at, U[:, at].astype(np.float32, copy=False)) for at in saved]
        if not _is_single(U):
            for at, column in self._saved:
                U[:, at] = column
        self._mean = U.mean(axis=0, dtype=np.float64)
        U -= self._mean.astype(U.dtype)
        self._set_vectors(U)

    def _set_vectors(self, U: FloatArray) -> None:
        """Keep the centred columns of all rows."""
        n = self._n_fitted
        self.vectors_, self._later = U, U[n:]
        if _is_single(U):  # what files hold is a part of it
            self._saved = [(at, U[:n, at]) for at, _ in self._saved]

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file holds."""
        state = dict(super().__getstate__())
        if "_saved" in state:
            del state["vectors_"]
            state["_parts"] = [_without_points(part) for part in self._parts]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what a file holds, and compute the rest."""
        super().__setstate__(state)
        if "_saved" not in state:
            return
        n, X = self._n_fitted, self.index_.points.X
        X = csr_array(X) if self._is_sparse else X
        U = np.empty((n + len(self._later), len(self.values_)), self._later.dtype)
        mean = self._mean.astype(U.dtype)
        for at, column in self._saved:
            U[:n, at] = column if _is_single(U) else column - mean[at]
        for block, part in zip(self.blocks_, self._parts, strict=True):
            if block.kind == "kernel":
                if isinstance(part, GramBasis):
                    part._points = X[part.landmarks_]
                U[:n, block.columns] = part.extend(X)
                U[:n, block.columns] -= mean[block.columns]
        U[n:] = self._later
        self._set_vectors(U)

    def __copy__(self) -> Self:
        """Return a pool with the same arrays; nothing is computed again."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other


def _is_single(U: FloatArray) -> bool:
    return bool(U.dtype == np.float32)


def _without_points(part: Any) -> Any:
    """Return a part of a pool without its copies of points, which the pool has."""
    if not isinstance(part, GramBasis):
        return part
    slim = copy(part)
    del slim._points
    return slim
