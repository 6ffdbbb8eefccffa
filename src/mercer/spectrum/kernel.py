"""The kernel that learners return: a fitted basis and a small core."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh, eigvalsh

from mercer._base.html import Shown
from mercer._base.typing import ArrayLike, FloatArray, IntArray
from mercer.exceptions import NotPSDError
from mercer.kernels.base import Kernel
from mercer.spectrum.base import Basis
from mercer.spectrum.features import Features


@dataclass(frozen=True, eq=False)
class SpectralKernel(Shown, Kernel):
    r"""The kernel :math:`k(x, z) = u(x)^\top M\, u(z)` of a basis u and a core M.

    Parameters
    ----------
    basis : fitted basis
        Has `vectors_` (n, r) and `extend(X)`. Kept, not copied.
    core : array-like of shape (r,) or (r, r)
        Spectral weights >= 0, the diagonal of M, or M itself, symmetric and positive
        semi-definite.

    See Also
    --------
    GraphBasis : A basis of a graph.
    FilterKernel : Weights from a function of the spectrum.
    ClosedFormKernel : Weights learned from labels.

    Notes
    -----
    Mao and Tsang (2010), below eq. (8), and Hoi, Lyu and Chang (KDD 2006), eq. (7),
    are the case of weights; kernels from pairs (Zhuang, Tsang and Hoi, ICML 2009)
    need a full core. The n x n matrix is formed only by a call.

    scikit-learn's `SVC(kernel=kernel)` takes the object as it is. `KernelPCA` calls a
    kernel once for each pair of rows, which works and is slow: give it
    `kernel="precomputed"` and the matrix `kernel()`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.spectrum.graph import GraphBasis
    >>> from mercer.spectrum.filters import diffusion
    >>> X = np.array([[0.0], [0.1], [0.3], [5.0], [5.2], [5.3]])
    >>> basis = GraphBasis(n_components=3, n_neighbors=2).fit(X)
    >>> kernel = SpectralKernel(basis, diffusion(basis.values_))
    >>> kernel().shape
    (6, 6)
    >>> bool(kernel([[0.2]], [[5.1]])[0, 0] == 0.0)  # no path from one to the other
    True
    """

    basis: Basis
    core: FloatArray
    _root: FloatArray = field(init=False, repr=False)  # M = R Rᵀ, or sqrt of weights

    def __post_init__(self) -> None:
        core = np.array(self.core, dtype=np.float64)
        r = self.basis.vectors_.shape[1]
        if core.shape not in {(r,), (r, r)}:
            msg = (
                f"core has shape {core.shape}, but the basis has {r} directions; "
                f"give {r} weights or a {r} x {r} matrix."
            )
            raise ValueError(msg)
        if not np.isfinite(core).all():
            msg = "core holds NaN or infinity; give finite weights."
            raise ValueError(msg)
        root = _root_of_weights(core) if core.ndim == 1 else _root_of_matrix(core)
        for array in (core, root):
            array.flags.writeable = False
        object.__setattr__(self, "core", core)
        object.__setattr__(self, "_root", root)

    def at_training(self) -> Features:
        """Return the features of the training rows, without a copy of the basis."""
        return self.basis.weighted(self._root)

    def _facts(self) -> dict[str, Any]:
        n, r = self.basis.vectors_.shape
        return {
            "points": n,
            "directions": r,
            "basis": type(self.basis).__name__,
            "core": "weights of the directions" if self.core.ndim == 1 else "a matrix",
            "spectrum": _spectrum(self.core),
        }

    def features(
        self, X: ArrayLike | None = None, *, rows: IntArray | slice = slice(None)
    ) -> FloatArray:
        r"""Return :math:`\Phi = U M^{1/2}`, (m, r), with :math:`\Phi\Phi^\top = K`.

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            New points; the training rows, without a search, when left out.
        rows : int ndarray or slice, optional
            Which of the training rows.
        """
        U: FloatArray = self.basis.vectors_[rows] if X is None else self.basis.extend(X)
        return U * self._root if self._root.ndim == 1 else U @ self._root

    def __call__(
        self, X: ArrayLike | None = None, Z: ArrayLike | None = None
    ) -> FloatArray:
        """Return the Gram matrix between X and Z (or X); None is the training rows.

        Two vectors in place of two matrices give one number.
        """
        if X is not None and Z is not None and np.ndim(X) == 1 and np.ndim(Z) == 1:
            pair = self.features(np.stack([np.asarray(X), np.asarray(Z)]))
            return np.asarray(pair[0] @ pair[1])
        left = self.features(X)
        right = left if Z is None else self.features(Z)
        return left @ right.T

    def diag(self, X: ArrayLike | None = None) -> FloatArray:
        """Return k(x, x) for each row, without the matrix.

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            New points; the training points if left out.
        """
        features = self.features(X)
        squares: FloatArray = np.einsum("ij,ij->i", features, features)
        return squares

    def __sklearn_clone__(self) -> Self:
        return self


def _spectrum(core: FloatArray) -> FloatArray:
    values: FloatArray = core if core.ndim == 1 else eigvalsh(core)
    return values


def _root_of_weights(weights: FloatArray) -> FloatArray:
    if (weights < 0).any():
        worst = int(np.argmin(weights))
        msg = (
            f"core[{worst}] = {weights[worst]:.3g} is negative; "
            "weights of a kernel are >= 0."
        )
        raise NotPSDError(msg)
    root: FloatArray = np.sqrt(weights)
    return root


def _root_of_matrix(core: FloatArray) -> FloatArray:
    scale = float(np.abs(core).max(initial=0.0))
    if not np.allclose(core, core.T, rtol=0, atol=1e-10 * scale):
        msg = (
            "core must be symmetric; pass (core + core.T) / 2 if the asymmetry is "
            "rounding."
        )
        raise ValueError(msg)
    values, vectors = eigh(core)
    if values.min(initial=0.0) < -1e-10 * scale:
        msg = (
            f"core has the eigenvalue {values[0]:.3g} < 0; a kernel needs a "
            "positive semi-definite core. Cut its negative eigenvalues first."
        )
        raise NotPSDError(msg)
    root: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
