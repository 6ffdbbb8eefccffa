"""The features of all points as a tensor, and the products the model asks for."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.tensors import to_numpy, torch
from mercer._base.typing import FloatArray, IntArray
from mercer.backends.torch.files import InFiles
from mercer.backends.torch.scores import TorchScores, one_hot
from mercer.backends.torch.vectors import column_sums, second_moment


@dataclass(frozen=True, eq=False)
class TorchFeatures(InFiles):
    r"""Features :math:`\Phi = U R`; only U, a tensor, is as long as the data.

    The same as `mercer.spectrum.features.DenseFeatures`: small NumPy arrays go in, and
    come out; nothing else leaves the device but by `times` and `rows`.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> U = torch.tensor([[1.0, 0.0], [1.0, 2.0]])
    >>> Phi = TorchFeatures(U, np.array([2.0, 0.5]))
    >>> Phi.rows(np.array([1]))
    array([[2., 1.]])
    >>> Phi.moments()
    (array([2. , 0.5]), 4.5)
    """

    vectors: Any  # (n, k) U, kept and not copied
    root: FloatArray  # (k,) the diagonal of R, or (k, r) R

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of columns."""
        return len(self.vectors), self.root.shape[-1]

    def rows(self, rows: IntArray) -> FloatArray:
        """Return the features of some points, (m, r)."""
        U: FloatArray = to_numpy(self.vectors[self._index(rows)])
        return U * self.root if self.root.ndim == 1 else U @ self.root

    def times(self, A: FloatArray) -> FloatArray:
        r"""Return :math:`\Phi A`, (n, C)."""
        inner = self.root[:, None] * A if self.root.ndim == 1 else self.root @ A
        product: FloatArray = to_numpy(self.vectors @ self._small(inner))
        return product

    def scores(self, A: FloatArray, offset: FloatArray) -> TorchScores:
        r"""Return :math:`\Phi A + 1 b^\top`, (n, C), in double precision."""
        t = torch()
        inner = self.root[:, None] * A if self.root.ndim == 1 else self.root @ A
        b = t.as_tensor(np.asarray(offset), device=self.vectors.device)
        return TorchScores((self.vectors @ self._small(inner)).double() + b)

    def class_sums(self, codes: IntArray, n_classes: int) -> FloatArray:
        """Return the sums of the features of each class, (r, C)."""
        hot = one_hot(self._index(codes), n_classes)
        sums = to_numpy(self.vectors.T @ hot.to(self.vectors.dtype))
        weighted: FloatArray
        if self.root.ndim == 1:
            weighted = self.root[:, None] * sums
        else:
            weighted = self.root.T @ sums
        return weighted

    def second_moment(self) -> FloatArray:
        r"""Return :math:`\Phi^\top \Phi`, (r, r)."""
        C = to_numpy(second_moment(self.vectors))
        R = np.diag(self.root) if self.root.ndim == 1 else self.root
        moment: FloatArray = R.T @ C @ R
        return moment

    def moments(self) -> tuple[FloatArray, float]:
        """Return the mean of the columns, (r,), and the mean squared length."""
        n = len(self.vectors)
        mean, squares = (to_numpy(sums) / n for sums in column_sums(self.vectors))
        if self.root.ndim == 1:
            return mean * self.root, float(squares @ self.root**2)
        return mean @ self.root, float(np.trace(self.second_moment())) / n

    def take(self, rows: IntArray) -> "TorchFeatures":
        """Return the features of some points."""
        return TorchFeatures(self.vectors[self._index(rows)], self.root)

    def sample(self, rows: IntArray) -> tuple["TorchFeatures", FloatArray]:
        """Return the features of some points, centred, and their second moment."""
        U = self.vectors[self._index(rows)]
        centred = TorchFeatures(U - U.mean(dim=0), self.root)
        return centred, centred.second_moment() / max(len(U), 1)

    def _index(self, rows: Any) -> Any:
        return torch().as_tensor(rows, device=self.vectors.device)

    def _small(self, A: FloatArray) -> Any:
        A = np.ascontiguousarray(A)
        return torch().as_tensor(
            A, dtype=self.vectors.dtype, device=self.vectors.device
        )
