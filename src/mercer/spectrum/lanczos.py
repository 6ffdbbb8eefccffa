"""Block Lanczos on a Chebyshev polynomial of a sparse matrix."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

from mercer._typing import FloatArray, SparseArray
from mercer.exceptions import EigenpairError
from mercer.spectrum.chebyshev import chebyshev_filter, value_below_which

BLOCK = 8
# A step of the filter multiplies the smoothest direction by about exp(GROWTH) / 2.
GROWTH = 6.0
# Of a unit vector, in the complement: nearly all, or errors grow from step to step.
_KEPT = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class RitzPairs:
    """Approximate smallest eigenpairs of A in the complement of a given space."""

    values: FloatArray  # (m,) ascending
    vectors: FloatArray  # (n, m) orthonormal
    residuals: FloatArray  # (m,) |A u - value u|
    cut: float  # eigenvalues above it were damped


def filtered_lanczos(
    A: SparseArray,
    k: int,
    *,
    outside: FloatArray,
    upper: float,
    tol: float,
    rng: np.random.Generator,
    cut: float | None = None,
) -> RitzPairs:
    r"""Compute the k smallest eigenpairs of A in the complement of a space.

    Block Lanczos with full reorthogonalisation on :math:`T_m(A)`, the Chebyshev
    polynomial that damps the eigenvalues beyond the k-th and some guards. The
    polynomial divides the number of vectors to orthogonalise by its degree m.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Symmetric with eigenvalues in [0, upper].
    k : int
        Number of pairs whose residuals must fall below `tol` times `upper`.
    outside : ndarray of shape (n, c)
        Orthonormal eigenvectors of A that the result must be orthogonal to.
    upper : float
        Bound on the eigenvalues.
    tol : float
        On the residuals.
    rng : numpy.random.Generator
        Draws the starting block.
    cut : float, optional
        Where the filter begins to damp, if that is known; estimated by default.

    Returns
    -------
    RitzPairs
        With 10 + k // 10 pairs more than asked for, less exact.

    Raises
    ------
    EigenpairError
        If the residuals stay above the tolerance.

    Notes
    -----
    From a block of 8 vectors a Krylov space holds at most 8 copies of a repeated
    eigenvalue: whoever calls this must look for others, as `smallest_eigenpairs`
    does.
    """
    guard = 10 + k // 10
    Z = rng.standard_normal((A.shape[0], BLOCK))
    Z -= outside @ (outside.T @ Z)
    # The cut is a random estimate: one that is too low leaves wanted pairs damped.
    # Where values crowd beyond the k-th the Krylov space also needs more room.
    for margin in (2, 4, 8, 16):
        if cut is None:
            cut = value_below_which(A, k + margin * guard, Z, upper=upper)
            cut = min(cut, 0.9 * upper)
        pairs = _lanczos(A, k, guard, Z, outside, cut, upper, tol, rng, margin // 2)
        worst = float(pairs.residuals[:k].max())
        if worst <= tol * upper:
            return pairs
        cut = None
    msg = (
        f"the {k} smallest eigenpairs have residuals up to {worst:.1e}, above "
        f"{tol * upper:.1e}; ask for fewer directions, or for more neighbours."
    )
    raise EigenpairError(msg)


def _lanczos(
    A: SparseArray,
    k: int,
    guard: int,
    Z: FloatArray,
    outside: FloatArray,
    low: float,
    upper: float,
    tol: float,
    rng: np.random.Generator,
    rooms: int,
) -> RitzPairs:
    """Run block Lanczos on the filter that cuts at `low` until done or out of room."""
    n, c = outside.shape
    wanted = min(k + guard, n - c)
    degree = _degree(low, upper)
    room = min(n - c, rooms * max(5 * wanted, 20 * BLOCK))
    V = np.empty((n, c + room), order="F")
    V[:, :c] = outside
    H = np.zeros((room, room))
    start = chebyshev_filter(A, Z, degree, low, upper)
    _, T, _ = _orthonormalised(start, V[:, :c], rng)
    size, goal = 0, tol
    while True:
        b = T.shape[1]
        V[:, c + size : c + size + b] = T
        size += b
        P = chebyshev_filter(A, T, degree, low, upper)
        C, T, R = _orthonormalised(P, V[:, : c + size], rng)
        H[:size, size - b : size] = C[c:]
        H[size - b : size, :size] = C[c:].T
        full = size + BLOCK > room
        if size < wanted and not full:
            continue
        heights, Y = eigh(H[:size, :size])
        heights, Y = heights[::-1][:wanted], Y[:, ::-1][:, :wanted]
        slips = np.linalg.norm(R @ Y[size - b : size], axis=0) / np.abs(heights)
        if slips[:k].max() > goal and not full:
            continue
        values, vectors, residuals = _rayleigh_ritz(A, V[:, c : c + size] @ Y)
        if full or residuals[:k].max() <= tol * upper:
            return RitzPairs(values, vectors, residuals, low)
        goal /= 10


def _degree(low: float, upper: float) -> int:
    """Choose the even degree at which T_m grows to exp(GROWTH) / 2 at 0."""
    rate = np.arccosh(1 + 2 * low / (upper - low))
    return 2 * int(np.clip(np.ceil(GROWTH / rate / 2), 1, 1000))


def _orthonormalised(
    P: FloatArray, against: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return C, T, R with P = against C + T R, T orthonormal and outside `against`.

    What the first projection leaves may be rounding errors, along `against`; the
    second, of unit vectors, tells. Where it leaves less than it was given the Krylov
    space is exhausted, and random directions go on.
    """
    C = against.T @ P
    T, R = np.linalg.qr(P - against @ C)
    T, left, Y = svd(T - against @ (against.T @ T), full_matrices=False)
    R = (left[:, None] * Y) @ R
    m = int(np.count_nonzero(left > _KEPT))
    if m < len(left):
        fresh = rng.standard_normal((len(P), len(left) - m))
        fresh -= against @ (against.T @ fresh)
        fresh -= T[:, :m] @ (T[:, :m].T @ fresh)
        T[:, m:], R[m:] = np.linalg.qr(fresh)[0], 0.0
    return C, T, R


def _rayleigh_ritz(
    A: SparseArray, X: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    AX = A @ X
    H = X.T @ AX
    values, S = eigh((H + H.T) / 2)
    X, AX = X @ S, AX @ S
    return values, X, np.linalg.norm(AX - X * values, axis=0)
