"""Block Lanczos on a transform of a sparse matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.utils import gen_batches

from mercer._typing import BoolArray, FloatArray, IntArray, SparseArray
from mercer.spectrum.proof import largest_unseen
from mercer.spectrum.transforms import Transform
from mercer.spectrum.work import Work

BLOCK, WIDEST = 8, 64
_ROWS = 8192  # of a block that is turned at a time
# Residuals of this many vectors, the least exact, tell when to compute all.
PROBE = 4
# Of a unit vector, in the complement: nearly all, or errors grow from step to step.
_KEPT = 0.9
# Directions longer than this share of the longest come from the Gram matrix, exact
# enough for the second projection; shorter ones from Householder's method, slowly.
_EVEN = 1e-4
# Residuals are computed where their estimates are below this many times the goal.
_NEAR = 4.0
# A residual cannot be below this share of what a product with the matrix adds up.
_ROUNDING = 64 * np.finfo(float).eps


@dataclass(frozen=True, slots=True, eq=False)
class RitzPairs:
    """Approximate smallest eigenpairs of A in the complement of a given space."""

    values: FloatArray  # (m,) ascending
    vectors: FloatArray  # (n, m) orthonormal
    residuals: FloatArray  # (m,) |A u - value u|
    rounding: FloatArray  # (m,) what rounding may add to the residual

    def converged(self, k: int, tol: float) -> bool:
        """Tell whether the first k residuals are small, relative to the k-th value."""
        return bool(self.exact(k, tol)[:k].all())

    def exact(self, k: int, tol: float) -> BoolArray:
        """Tell which residuals are below `tol` times the k-th value, or rounding."""
        goal = tol * max(float(self.values[min(k, len(self.values)) - 1]), 0.0)
        small: BoolArray = self.residuals <= np.maximum(goal, self.rounding)
        return small


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What a search in the complement of a space saw, and what it proves."""

    smallest: float  # an eigenvalue of the complement is not above it; inf: not seen
    floor: float  # none is below it, but for the stated probability


class KrylovSpace:
    """An orthonormal basis of a block Krylov space outside given vectors."""

    def __init__(
        self,
        transform: Transform,
        outside: FloatArray,
        start: FloatArray,
        room: int,
        rng: np.random.Generator,
        *,
        single: bool = False,
    ) -> None:
        number = np.float32 if single else np.float64
        self.transform = transform
        self.outside = outside = outside.astype(number, copy=False)
        self.rng = rng
        self.V = np.empty((len(outside), room), number, order="F")
        self.H = np.zeros((room, room))
        self.size = 0
        P = transform.apply(start.astype(number, copy=False))
        _, self.T, self.R = _orthonormalised(P, outside, self.V[:, :0], rng)

    def is_full(self) -> bool:
        """Tell whether there is no room for a further block."""
        b = int(self.T.shape[1])
        return b == 0 or self.size + b > self.V.shape[1]

    def expand(self) -> None:
        """Add the next block."""
        old, self.size = self.size, self.size + self.T.shape[1]
        V = self.V[:, : self.size]
        V[:, old:] = self.T
        P = self.transform.apply(self.T)
        C, self.T, self.R = _orthonormalised(P, self.outside, V, self.rng)
        self.H[: self.size, old : self.size] = C
        self.H[old : self.size, : self.size] = C.T

    def ritz(self, m: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the m largest Ritz values, their coordinates and relative errors."""
        heights, Y = eigh(self.H[: self.size, : self.size])
        heights, Y = heights[::-1][:m], Y[:, ::-1][:, :m]
        last = Y[self.size - self.R.shape[1] :]
        return heights, Y, np.linalg.norm(self.R @ last, axis=0) / np.abs(heights)

    def vectors(self, Y: FloatArray) -> FloatArray:
        """Return the vectors with these coordinates, in double precision."""
        X = self.V[:, : self.size] @ Y.astype(self.V.dtype)
        return np.asarray(X, dtype=np.float64)

    def restart(self, heights: FloatArray, Y: FloatArray) -> None:
        """Keep the directions Y only."""
        m = len(heights)
        self.V[:, :m] = self.V[:, : self.size] @ Y.astype(self.V.dtype)
        self.H[:] = 0.0
        self.H[:m, :m] = np.diag(heights)
        self.size = m


def lowest_pairs(
    A: SparseArray,
    transform: Transform,
    k: int,
    *,
    outside: FloatArray,
    tol: float,
    rng: np.random.Generator,
    block: int | None = None,
    restarts: int = 4,
    single: bool = False,
    work: Work | None = None,
) -> RitzPairs:
    r"""Compute the k smallest eigenpairs of A in the complement of a space.

    Block Lanczos with full reorthogonalisation and thick restarts on a transform of A.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Symmetric.
    transform : Transform
        Of A.
    k : int
        Number of pairs whose residuals should fall below `tol` times the k-th value.
    outside : ndarray of shape (n, c)
        Orthonormal eigenvectors of A that the result must be orthogonal to.
    tol : float
        On the residuals.
    rng : numpy.random.Generator
        Draws the starting block.
    block : int, optional
        Vectors in a block; by default a power of 2 near k / 4, 8 to 64.
    restarts : int, default=4
        How often the space may be filled again.
    single : bool, default=False
        Build the space in single precision; the pairs are computed in double.
    work : Work, optional
        What may be spent. Where it is, the pairs are returned as they are, but not
        before the space has room for all of them.

    Returns
    -------
    RitzPairs
        With 10 + k // 10 pairs more than asked for, less exact. The residuals may be
        above the tolerance: whoever calls this looks at them.

    Notes
    -----
    A Krylov space holds at most as many copies of a repeated eigenvalue as its block
    has vectors: whoever calls this must look for others, see `search_outside`.
    """
    n, c = outside.shape
    if block is None:
        block = int(np.clip(2 ** int(np.log2(k / 4 + 1)), BLOCK, WIDEST))
    wanted = min(k + 10 + k // 10, n - c)
    room = min(n - c, max(3 * wanted, wanted + 12 * block))
    Z = rng.standard_normal((n, min(block, n - c)))
    Z -= outside @ (outside.T @ Z)
    space = KrylovSpace(transform, outside, Z, room, rng, single=single)
    look, ratio = wanted, 0.0
    work = Work() if work is None else work
    least = _ROUNDING * float(np.abs(A.diagonal()).max())
    while True:
        work.spend(transform.cost * space.T.shape[1])
        space.expand()
        stop = work.is_spent and space.size >= wanted
        if space.size < look and not space.is_full() and not stop:
            continue
        look = space.size + space.size // 16
        heights, Y, slips = space.ritz(wanted)
        complete = space.T.shape[1] == 0
        probe = np.argsort(slips[:k])[-PROBE:]
        goal = max(tol * transform.value(heights[k - 1]), least)
        slip = float(slips[probe].max())
        hopeful = ratio * slip <= _NEAR * goal
        if hopeful:  # residuals and slips fall together, and slips cost nothing
            residual = _largest_residual(A, space.vectors(Y[:, probe]))
            hopeful, ratio = residual <= goal, residual / slip if slip > 0 else 0.0
        # Values from the cut on are not told apart, however long one goes on.
        is_lost = transform.value(heights[k - 1]) >= transform.cut
        stop = stop or (space.is_full() and (restarts == 0 or is_lost))
        if hopeful or complete or stop:
            X = space.vectors(Y)
            shares = outside.T @ X
            for rows in gen_batches(n, _ROWS):
                X[rows] -= outside[rows] @ shares
            pairs = rayleigh_ritz(A, X)
            if pairs.converged(k, tol):
                return pairs
        if stop or complete:
            return pairs
        if space.is_full():
            restarts -= 1
            keep = min(wanted + space.T.shape[1], space.size - 1)
            heights, Y, _ = space.ritz(keep)
            space.restart(heights, Y)
            look = keep + block


def search_outside(
    transform: Transform,
    outside: FloatArray,
    level: float,
    *,
    same: float,
    failure: float,
    rng: np.random.Generator,
    block: int = BLOCK,
    steps: int = 60,
    enough: int = 12,
    resolution: float = 0.01,
    single: bool = False,
    work: Work | None = None,
) -> Search:
    """Search for eigenvalues below a level in the complement of a space.

    Parameters
    ----------
    transform : Transform
        What is done to the spectrum of the matrix.
    outside : ndarray of shape (n, c)
        Orthonormal; the space.
    level : float
        Below the transform's cut.
    same : float
        Stop once an eigenvalue below `level` - `same` is seen.
    failure : float
        Probability that the returned floor is not one.
    rng : numpy.random.Generator
        Draws the start, which must not depend on `outside`.
    block : int, default=8
        Vectors in a block.
    steps : int, default=60
        At most this many blocks.
    enough : int, default=12
        After this many, a floor within `resolution` times `level` will do.
    resolution : float, default=0.01
    single : bool, default=False
        Compute in single precision, whose rounding is far below the resolution.
    work : Work, optional
        What may be spent; where it is, the floor is as low as it is.

    Returns
    -------
    Search

    Notes
    -----
    Nothing is asked of the vectors but that they are orthonormal: by Cauchy's
    interlacing theorem the matrix has at most c eigenvalues below the floor.
    """
    n, c = outside.shape
    if c == n:
        return Search(np.inf, np.inf)
    Z = rng.standard_normal((n, min(block, n - c)))
    Z -= outside @ (outside.T @ Z)
    norm = float(np.linalg.norm(Z, 2))
    room = min(n - c, steps * Z.shape[1])
    space = KrylovSpace(transform, outside, Z, room, rng, single=single)
    done = 0
    work = Work() if work is None else work
    while True:
        work.spend(transform.cost * space.T.shape[1])
        space.expand()
        done += 1
        seen = float(space.ritz(1)[0][0])
        smallest = transform.value(seen)
        if smallest >= transform.cut:  # values from the cut on are not told apart
            smallest = np.inf
        if space.T.shape[1] == 0:
            return Search(smallest, min(smallest, transform.cut))
        most = largest_unseen(
            seen,
            done,
            low=transform.low,
            norm=norm,
            block=Z.shape[1],
            failure=failure,
        )
        result = Search(smallest, min(transform.value(most), smallest))
        near = level - resolution * abs(level) if done >= enough else level
        found = smallest < level - same or result.floor >= near
        if found or space.is_full() or work.is_spent:
            return result


def _largest_residual(A: SparseArray, X: FloatArray) -> float:
    """Return the largest residual of unit vectors as eigenvectors of A."""
    AX = A @ X
    values = np.einsum("ij,ij->j", X, AX)
    return float(np.linalg.norm(AX - X * values, axis=0).max())


def rayleigh_ritz(A: SparseArray, X: FloatArray) -> RitzPairs:
    """Return the Ritz pairs of A in the span of the columns of X, and residuals.

    The columns are orthonormal up to their rounding, and afterwards exactly. X is
    overwritten, and a few columns are multiplied at a time: it is large.
    """
    m = X.shape[1]
    parts = [slice(start, start + BLOCK) for start in range(0, m, BLOCK)]
    H, G = np.hstack([X.T @ (A @ X[:, part]) for part in parts]), X.T @ X
    values, S = eigh((H + H.T) / 2, (G + G.T) / 2)
    for rows in gen_batches(len(X), _ROWS):
        X[rows] = X[rows] @ S
    residuals, rounding = residuals_of(A, X, values), np.zeros(m)
    limit = 4 * _ROUNDING * float(np.abs(A.diagonal()).max())
    small = np.flatnonzero(residuals <= limit)  # the others are above rounding
    rounding[small] = rounding_errors(A, X, small)
    return RitzPairs(values, X, residuals, rounding)


def residuals_of(A: SparseArray, X: FloatArray, values: FloatArray) -> FloatArray:
    """Return the norms of the columns of A X - X diag(values)."""
    residuals = np.empty(len(values))
    for start in range(0, len(values), BLOCK):
        some = slice(start, start + BLOCK)
        errors = A @ X[:, some] - X[:, some] * values[some]
        residuals[some] = np.linalg.norm(errors, axis=0)
    return residuals


def rounding_errors(A: SparseArray, X: FloatArray, columns: IntArray) -> FloatArray:
    """Return what rounding of some columns, unit vectors, may add to residuals."""
    errors = np.empty(len(columns))
    if not len(columns):
        return errors
    size = sparse.csr_array((np.abs(A.data), A.indices, A.indptr), shape=A.shape)
    for start in range(0, len(columns), BLOCK):
        some = slice(start, start + BLOCK)
        errors[some] = np.linalg.norm(size @ np.abs(X[:, columns[some]]), axis=0)
    return _ROUNDING * errors


def _orthonormalised(
    P: Any, outside: Any, V: Any, rng: np.random.Generator
) -> tuple[Any, Any, Any]:
    """Return C, T, R with P = V C + T R + a part in the span of `outside`.

    T is orthonormal and orthogonal to V and `outside`. What the first projection
    leaves may be rounding errors; the second, of unit vectors, tells. Where it leaves
    less than it was given the Krylov space is exhausted, and random directions go on.
    """
    P = P - outside @ (outside.T @ P)
    C = V.T @ P
    P -= V @ C
    T, R, lengths = _unit_columns(P)
    if P.dtype == np.float64 and (lengths <= _EVEN * lengths.max(initial=0.0)).any():
        T, R = np.linalg.qr(P)
    T, turn, left = _unit_columns(_projected(T, outside, V))
    R = turn @ R
    m = int(np.count_nonzero(left > _KEPT))
    free = P.shape[0] - outside.shape[1] - V.shape[1]
    if m < len(left):
        fresh = rng.standard_normal((len(P), min(len(left), free) - m))
        fresh = fresh.astype(P.dtype, copy=False)
        T = T[:, : m + fresh.shape[1]]
        R = R[: T.shape[1]]
        for _ in range(2):
            fresh = _projected(fresh, outside, V)
            fresh -= T[:, :m] @ (T[:, :m].T @ fresh)
            fresh = np.linalg.qr(fresh)[0]
        T[:, m:], R[m:] = fresh, 0.0
    return C, T, R


def _unit_columns(P: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Return T, R with P = T R, T orthonormal, and the singular values, descending.

    From the Gram matrix, in double precision, which is cheap. Directions shorter than
    the rounding errors of single precision are zero in T.
    """
    P64 = P.astype(np.float64, copy=False)
    squares, W = eigh(P64.T @ P64)
    lengths, W = np.sqrt(np.maximum(squares[::-1], 0.0)), W[:, ::-1]
    sure = lengths > 1e-6 * lengths.max(initial=0.0)
    scales = np.zeros_like(lengths)
    np.divide(1.0, lengths, out=scales, where=sure)
    T = P @ (W * scales).astype(P.dtype)
    return T, lengths[:, None] * W.T, np.where(sure, lengths, 0.0)


def _projected(X: Any, outside: Any, V: Any) -> Any:
    X = X - outside @ (outside.T @ X)
    X -= V @ (V.T @ X)
    return X
