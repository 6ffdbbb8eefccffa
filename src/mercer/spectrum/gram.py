"""Principal directions of a kernel over the data, and their values at new points."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags, check_scalar, gen_batches
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import check_psd, check_symmetric, checked_points
from mercer._base.random import as_generator
from mercer._base.rows import in_batches
from mercer._base.threads import with_n_jobs
from mercer._base.typing import (
    ArrayLike,
    FloatArray,
    IntArray,
    RandomState,
    SparseArray,
)
from mercer.graphs.points import refuse_graph
from mercer.kernels.base import Kernel
from mercer.kernels.spec import as_kernel
from mercer.spectrum.base import (
    BasisCertificate,
    BasisMixin,
    check_n_components,
    orthogonality,
)
from mercer.spectrum.directions import Directions
from mercer.spectrum.kernel_pairs import exact_pairs, landmark_pairs, leading_pairs

EXACT_UP_TO = 3000
DEFAULT_LANDMARKS = 1000
_BLOCK = 4096


@dataclass(frozen=True, slots=True, eq=False)
class KernelMap:
    """What takes points to the directions of a kernel."""

    kernel: Kernel | None  # None: points are rows of kernel values
    landmarks: IntArray  # (m,) rows of the points that others are compared with
    points: Any  # these points; None where there is no kernel, or in a file
    offset: Any  # taken off kernel values, (m,) or a number
    weights: FloatArray  # (m, r)

    def at(self, X: Any) -> FloatArray:
        """Return the directions at points, (n, r)."""
        U = np.empty((X.shape[0], self.weights.shape[1]))
        for rows in gen_batches(X.shape[0], _BLOCK):
            if self.kernel is None:
                K = X[rows][:, self.landmarks]
            else:
                K = self.kernel(X[rows], self.points)
            U[rows] = (K - self.offset) @ self.weights
        return U


@dataclass(frozen=True, slots=True, eq=False)
class GramDirections(Directions):
    """Principal directions of a kernel, and what finds them at new points."""

    map: KernelMap


def gram_directions(
    X: Any,
    kernel: Kernel | None,
    r: int,
    *,
    n_landmarks: int | None = None,
    centered: bool = False,
    energy: float = 1.0,
    rng: np.random.Generator,
) -> GramDirections:
    """Compute the r largest eigenpairs of the Gram matrix of a kernel.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        Points, or the Gram matrix where there is no kernel.
    kernel : Kernel or None
    r : int
        Directions, at most n.
    n_landmarks : int, optional
        Approximate the matrix by that many of its columns; exact where left out.
    centered : bool, default=False
        Centre the points in feature space.
    energy : float, default=1
        Keep no more directions than have this share of the trace.
    rng : numpy.random.Generator
        Draws the landmarks.

    Examples
    --------
    >>> from mercer.kernels.parametric import Linear
    >>> rng = np.random.default_rng(0)
    >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    >>> gram_directions(X, Linear(), 2, rng=rng).values
    array([9., 5.])
    """
    if n_landmarks is None:
        if kernel is None:
            check_psd(X)
        K = X if kernel is None else kernel(X)
        pairs, method = exact_pairs(K, r, centered=centered), "dense"
    else:
        if kernel is None:
            check_symmetric(X)

        def columns(rows: IntArray) -> FloatArray:
            if kernel is None:
                return np.asarray(X[:, rows])
            return in_batches(lambda some: kernel(some, X[rows]), X)

        diagonal = X.diagonal() if kernel is None else kernel.diag(X)
        pairs = landmark_pairs(
            columns, diagonal, r, n_landmarks, centered=centered, rng=rng
        )
        method = f"nystrom with {len(pairs.landmarks)} landmarks"
    if energy < 1:
        enough = directions_of_energy(pairs.values, pairs.trace, energy)
        if enough is not None:
            pairs = leading_pairs(pairs, enough)
    gap = float(pairs.values[-1]) - pairs.next_value
    certificate = BasisCertificate(
        method=method,
        reason="asked for",
        residual=pairs.residual,
        orthogonality=orthogonality(pairs.vectors),
        gap=gap,
        cuts_repeated_value=gap <= 1e-6 * float(pairs.values[0]),
        lost_trace=max(0.0, 1.0 - float(pairs.values.sum()) / pairs.trace),
    )
    points = None if kernel is None else X[pairs.landmarks]
    found = KernelMap(kernel, pairs.landmarks, points, pairs.offset, pairs.weights)
    return GramDirections(pairs.vectors, pairs.values, certificate, found)


def directions_of_energy(values: FloatArray, trace: float, energy: float) -> int | None:
    """Return how many leading eigenvalues have a share of the trace; None: not all do.

    Examples
    --------
    >>> directions_of_energy(np.array([6.0, 3.0, 1.0]), 10.0, 0.9)
    2
    """
    enough = np.cumsum(values) >= energy * trace * (1 - 1e-12)
    return int(np.argmax(enough)) + 1 if enough.any() else None


def _directions_wanted(n_components: float | None, n: int) -> tuple[int, float]:
    """Return the largest number of directions, and the share of the trace wanted."""
    if isinstance(n_components, Real) and not isinstance(n_components, Integral):
        if not 0 < float(n_components) < 1:
            msg = (
                "n_components must be a whole number from 1, a share of the trace "
                f"between 0 and 1, or None; got {n_components!r}."
            )
            raise ValueError(msg)
        return n, float(n_components)
    return check_n_components(n_components, n), 1.0


class GramBasis(BasisMixin):
    r"""The r largest eigenpairs of the Gram matrix of a kernel.

    :math:`K u_i = e_i u_i`, and at a new point
    :math:`u_i(x) = \frac{1}{e_i} \sum_j k(x, x_j) u_{ij}`.

    Parameters
    ----------
    n_components : int, float or None, default=50
        Largest number of directions r; None for all. A number between 0 and 1 keeps as
        few as have that share of the trace of K, their cumulative energy. Directions
        below the numerical rank, :math:`e_i \le 10^{-10} e_1`, are never kept.
    kernel : Kernel, str or callable, default="rbf"
        A Mercer kernel, a scikit-learn kernel name, a callable, or "precomputed".
        `Normalized` makes one of cosines.
    centered : bool, default=False
        Centre the points in feature space, as kernel PCA does.
    n_landmarks : int, optional
        Approximate K by that many of its columns (Nyström). By default K is exact up
        to 3000 points and has 1000 landmarks beyond.
    n_jobs : int, optional
        Threads, as in scikit-learn: -1 for one per core; one by default. No result
        depends on it.
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

    See Also
    --------
    GraphBasis : The directions of a neighbour graph.
    SpectralKernel : What is made of a basis and weights.

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
        n_components: float | None = 50,
        *,
        kernel: Any = "rbf",
        centered: bool = False,
        n_landmarks: int | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.centered = centered
        self.n_landmarks = n_landmarks
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_n_jobs
    def fit(self, X: ArrayLike | SparseArray, y: object = None) -> Self:
        """Compute the principal directions.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            Points, or the Gram matrix itself with ``kernel="precomputed"``.
        y : ignored
        """
        refuse_graph(X, "GramBasis", "use GraphBasis() as the basis")
        X = self._checked(X, reset=True)
        kernel: Kernel | None = None
        if not self._is_precomputed():
            kernel = as_kernel(self.kernel).resolve(X)
        r, energy = _directions_wanted(self.n_components, X.shape[0])
        found = gram_directions(
            X,
            kernel,
            r,
            energy=energy,
            n_landmarks=self._n_landmarks(X.shape[0]),
            centered=self.centered,
            rng=as_generator(self.random_state),
        )
        self.vectors_, self.values_ = found.vectors, found.values
        self.certificate_ = found.certificate
        self._map, self.landmarks_ = found.map, found.map.landmarks
        return self

    @with_n_jobs
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
        return in_batches(self._map.at, self._checked(X, reset=False))

    def _n_landmarks(self, n: int) -> int | None:
        if self.n_landmarks is None:
            return None if n <= EXACT_UP_TO else DEFAULT_LANDMARKS
        check_scalar(self.n_landmarks, "n_landmarks", Integral, min_val=1)
        return min(int(self.n_landmarks), n)

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _checked(self, X: ArrayLike | SparseArray, *, reset: bool) -> Any:
        return checked_points(X, self, reset=reset, sparse=not self._is_precomputed())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = not self._is_precomputed()
        return tags
