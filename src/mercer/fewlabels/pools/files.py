"""What a file holds of a pool of kernels; the rest is computed when it is read."""

from copy import copy
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mercer._base.typing import FloatArray
from mercer.spectrum.base import BasisMixin
from mercer.spectrum.gram import GramBasis


class SmallFiles(BasisMixin):
    """A pool that is saved without what its points and its kernels tell.

    A file holds the columns of graphs, in half precision where points are many, the
    density in single precision, and the rows that came after the fit. The columns of
    plain kernels are computed again. The pool that is read equals the one that was
    saved: what a file holds is rounded before it is used. Half precision changes a
    number by at most one part in 2,048.
    """

    blocks_: tuple[Any, ...]
    index_: Any
    _is_sparse: bool
    _mean: FloatArray  # (r,) of the columns of the fit; they are centred
    _n_fitted: int
    _parts: list[Any]
    _saved: list[tuple[slice, FloatArray]]  # columns of the fit, as files hold them
    _later: FloatArray  # rows of `vectors_` that came after the fit

    def _set_columns(self, U: FloatArray, saved: list[tuple[slice, Any]]) -> None:
        """Centre the columns of the fit and keep them.

        Parameters
        ----------
        U : ndarray of shape (n, r)
            Overwritten.
        saved : list of (slice, type)
            Columns that files hold, and their precision there.
        """
        self._n_fitted = len(U)
        self._saved = [(at, U[:, at].astype(dtype)) for at, dtype in saved]
        for at, columns in self._saved:
            U[:, at] = columns
        self._mean = U.mean(axis=0, dtype=np.float64)
        U -= self._mean.astype(U.dtype)
        self._set_vectors(U)

    def _set_vectors(self, U: FloatArray) -> None:
        """Keep the centred columns of all rows."""
        self.vectors_, self._later = U, U[self._n_fitted :]

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
        for at, columns in self._saved:
            U[:n, at] = columns
            U[:n, at] -= mean[at]
        for block, part in zip(self.blocks_, self._parts, strict=True):
            if block.kind == "kernel":
                if isinstance(part, GramBasis):
                    part._points = X[part.landmarks_]
                U[:n, block.columns] = part.extend(X)
                U[:n, block.columns] -= mean[block.columns]
        U[n:] = self._later
        self._set_vectors(U)


def _without_points(part: Any) -> Any:
    """Return a part of a pool without its copies of points, which the pool has."""
    if not isinstance(part, GramBasis):
        return part
    slim = copy(part)
    del slim._points
    return slim
