"""Principal directions of a kernel over the data, and their values at new points."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular
from sklearn.utils import Tags, check_scalar, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._checks import check_psd
from mercer._random import as_generator
from mercer._typing import ArrayLike, FloatArray, IntArray, RandomState, SparseArray
from mercer.kernels.base import Kernel
from mercer.kernels.parametric import RBF, PairwiseKernelFunction
from mercer.spectrum._base import (
    BasisCertificate,
    BasisMixin,
    check_n_components,
    fix_signs,
)
from mercer.spectrum.nystrom import pivoted_cholesky

EXACT_UP_TO = 3000
DEFAULT_LANDMARKS = 1000
# Directions with less of the largest eigenvalue are lost in rounding at new points.
_RANK_TOL = 1e-10
_BLOCK = 4096


class GramBasis(BasisMixin):
    r"""The r largest eigenpairs of the Gram matrix of a kernel.

    :math:`K u_i = e_i u_i`, and at a new point
    :math:`u_i(x) = \frac{1}{e_i} \sum_j k(x, x_j) u_{ij}`.

    Parameters
    ----------
    n_components : int or None, default=50
        At most so many directions r; None for all. Directions below the numerical
        rank, :math:`e_i \le 10^{-10} e_1`, are never kept.
    kernel : Kernel, str or callable, default="rbf"
        A Mercer kernel, a scikit-learn kernel name, a callable, or "precomputed".
    centered : bool, default=False
        Centre the points in feature space, as kernel PCA does.
    normalized : bool, default=False
        Cosine normalisation, :math:`k(x, z) / \sqrt{k(x, x) k(z, z)}`, before any
        centring.
    n_landmarks : int, optional
        Approximate K by that many of its columns (Nyström). By default K is exact up
        to 3000 points and has 1000 landmarks beyond.
    random_state : int, Generator, RandomState or None, default=None
        Draws the landmarks.

    Attributes
    ----------
    vectors_ : ndarray of shape (n, r)
        Orthonormal columns.
    values_ : ndarray of shape (r,)
        Eigenvalues of K, descending.
    certificate_ : BasisCertificate
        `lost_trace` is the share of the trace of K outside the basis.
    landmarks_ : ndarray of shape (n_landmarks,)
        Rows of the landmarks; all rows if K is exact.

    Notes
    -----
    The start of Hoi, Lyu and Chang (KDD 2006), section 4, and of kernel PCA. With
    landmarks S, K is replaced by :math:`K_{:S} K_{SS}^{-1} K_{S:}`, whose eigenpairs
    and extension are exact; see `pivoted_cholesky` for the choice of S.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    >>> basis = GramBasis(kernel="linear").fit(X)
    >>> basis.values_  # rank 2
    array([9., 5.])
    >>> bool(np.allclose(basis.extend(X), basis.vectors_))
    True
    """

    def __init__(
        self,
        n_components: int | None = 50,
        *,
        kernel: Any = "rbf",
        centered: bool = False,
        normalized: bool = False,
        n_landmarks: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.centered = centered
        self.normalized = normalized
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X: ArrayLike | SparseArray, y: object = None) -> Self:
        """Compute the principal directions.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            Points, or the Gram matrix itself with ``kernel="precomputed"``.
        y : ignored
        """
        X = self._checked(X, reset=True)
        n = X.shape[0]
        r = check_n_components(self.n_components, n)
        self._kernel = (
            None if self.kernel == "precomputed" else _resolved(self.kernel, X)
        )
        m = self._n_landmarks(n)
        if m is None:
            self._fit_exact(X, r)
        else:
            self._fit_landmarks(X, r, m)
        return self

    def extend(self, X: ArrayLike | SparseArray) -> FloatArray:
        """Return the values of the directions at new points.

        Parameters
        ----------
        X : array-like or sparse array of shape (m, n_features)
            New points; with ``kernel="precomputed"`` their kernel values with the
            training points, (m, n).

        Returns
        -------
        ndarray of shape (m, r)
        """
        check_is_fitted(self, "vectors_")
        X = self._checked(X, reset=False)
        U = np.empty((X.shape[0], self._map.shape[1]))
        for rows in gen_batches(X.shape[0], _BLOCK):
            K = (
                X[rows][:, self.landmarks_]
                if self._kernel is None
                else (self._cosine(X[rows], self._points))
            )
            U[rows] = (K - self._offset) @ self._map
        return U

    def _fit_exact(self, X: Any, r: int) -> None:
        n = X.shape[0]
        if self._kernel is None:
            check_psd(X)
            K = np.array(X)
        else:
            K = self._cosine(X, X)
        self._offset = K.mean(axis=0) if self.centered else np.zeros(n)
        if self.centered:
            K = K - self._offset - self._offset[:, None] + self._offset.mean()
        k = min(r + 1, n)
        values, vectors = eigh(K, subset_by_index=[n - k, n - 1])
        values, vectors = values[::-1], vectors[:, ::-1]
        next_value = values[r] if r < n else -np.inf
        kept = _rank(values[:r], float(np.trace(K)))
        U = fix_signs(vectors[:, :kept])
        e = values[:kept].copy()
        self.landmarks_ = np.arange(n)
        self._points = X if self._kernel is not None else None
        self._map = U / e
        residual = _worst(K @ U - U * e)
        self._keep(U, e, float(next_value), float(np.trace(K)), residual, "dense")

    def _fit_landmarks(self, X: Any, r: int, m: int) -> None:
        n = X.shape[0]
        rng = as_generator(self.random_state)
        if self._kernel is None:
            diagonal = np.array(X.diagonal())
        else:
            diagonal = np.ones(n) if self.normalized else self._kernel.diag(X)

        def columns(rows: IntArray) -> FloatArray:
            if self._kernel is None:
                picked: FloatArray = X[:, rows]
                return picked
            return self._cosine(X, X[rows])

        found = pivoted_cholesky(columns, diagonal, m, rng=rng)
        self.landmarks_ = found.pivots
        self._points = X[found.pivots] if self._kernel is not None else None
        F, L = found.factor, found.factor[found.pivots]
        mean = F.mean(axis=0) if self.centered else np.zeros(F.shape[1])
        F = F - mean
        e, V = eigh(F.T @ F)
        e, V = e[::-1], V[:, ::-1]
        trace = float(e.sum()) + found.lost
        kept = _rank(e[:r], trace)
        next_value = e[kept] if kept < len(e) else 0.0
        T = V[:, :kept] / np.sqrt(e[:kept])
        # F T is orthonormal up to the condition of F; one Cholesky step repairs it.
        gram = (F @ T).T @ (F @ T)
        T = solve_triangular(cholesky(gram), T.T, trans="T").T
        U = F @ T
        signs = np.where(np.sum(fix_signs(U) * U, axis=0) < 0, -1.0, 1.0)
        U, T, e = U * signs, T * signs, e[:kept].copy()
        residual = _worst(F @ (F.T @ U) - U * e)
        self._map = solve_triangular(L, T, lower=True, trans="T")
        self._offset = L @ mean
        self._keep(U, e, float(next_value), trace, residual, "nystrom")

    def _keep(
        self,
        U: FloatArray,
        e: FloatArray,
        next_value: float,
        trace: float,
        residual: float,
        method: str,
    ) -> None:
        self.vectors_, self.values_ = U, e
        gap = float(e[-1]) - next_value
        self.certificate_ = BasisCertificate(
            method=method,
            reason="asked for",
            residual=residual,
            orthogonality=float(np.abs(U.T @ U - np.eye(len(e))).max()),
            gap=gap,
            cuts_repeated_value=gap <= 1e-6 * float(e[0]),
            lost_trace=max(0.0, 1.0 - float(e.sum()) / trace),
        )

    def _cosine(self, X: Any, Z: Any) -> FloatArray:
        """Return the Gram matrix, cosine-normalised if asked for."""
        assert self._kernel is not None
        K = self._kernel(X, Z)
        if not self.normalized:
            return K
        left, right = self._kernel.diag(X), self._kernel.diag(Z)
        if min(left.min(), right.min()) <= 0:
            msg = (
                "normalized=True divides by k(x, x), which is 0 for some point; "
                "drop such points (all-zero rows?) or set normalized=False."
            )
            raise ValueError(msg)
        return K / np.sqrt(left)[:, None] / np.sqrt(right)

    def _n_landmarks(self, n: int) -> int | None:
        if self.n_landmarks is None:
            return None if n <= EXACT_UP_TO else DEFAULT_LANDMARKS
        check_scalar(self.n_landmarks, "n_landmarks", Integral, min_val=1)
        return min(int(self.n_landmarks), n)

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _checked(self, X: ArrayLike | SparseArray, *, reset: bool) -> Any:
        precomputed = self._is_precomputed()
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=not precomputed and "csr",
            dtype=np.float64,
        )
        if precomputed and reset and X.shape[0] != X.shape[1]:
            msg = f"kernel='precomputed' needs a square Gram matrix, got {X.shape}."
            raise ValueError(msg)
        if precomputed and self.normalized:
            msg = (
                "normalized=True needs k(x, x) of new points, which a precomputed "
                "matrix does not hold; normalise the matrices before."
            )
            raise ValueError(msg)
        return X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = self._is_precomputed()
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        return tags


def _resolved(kernel: Any, X: Any) -> Kernel:
    if isinstance(kernel, Kernel):
        return kernel.resolve(X)
    if kernel == "rbf":
        return RBF().resolve(X)
    return PairwiseKernelFunction(kernel).resolve(X)


def _rank(values: FloatArray, trace: float) -> int:
    """Count the eigenvalues, in descending order, that rounding did not make."""
    if not trace > 0 or values[0] <= 0:
        msg = (
            "the Gram matrix is zero (after centring, if asked for): all points are "
            "equal in feature space and there is no direction to keep."
        )
        raise ValueError(msg)
    return int(np.count_nonzero(values > _RANK_TOL * values[0]))


def _worst(difference: FloatArray) -> float:
    return float(np.linalg.norm(difference, axis=0).max())
