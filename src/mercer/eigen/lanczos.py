"""Block Lanczos on a transform of a sparse matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from mercer._base.typing import FloatArray, SparseArray
from mercer.eigen.chebyshev import copy_rows
from mercer.eigen.orthogonal import inner, orthonormalised, remove, turn
from mercer.eigen.proof import largest_unseen
from mercer.eigen.ritz import (
    ROUNDING,
    RitzPairs,
    largest_residual,
    rayleigh_ritz,
)
from mercer.eigen.transforms import Transform, in_single

BLOCK, WIDEST = 8, 64
# Residuals of this many vectors, the least exact, tell when to compute all.
PROBE = 4
# Residuals are computed where their estimates are below this many times the goal.
_NEAR = 4.0
# Columns of a space in single precision may be this share of the tolerance from
# orthogonal: the pairs are made orthonormal in the end.
_SLANT = 0.3
# From this tolerance on, pairs of a space in single precision are computed in it too.
SINGLE_PAIRS_FROM = 1e-2


class Work:
    """Budget of matrix-vector products, with a counter.

    Parameters
    ----------
    most : float, default=inf

    Examples
    --------
    >>> work = Work(10.0)
    >>> work.spend(7.0)
    >>> work.left, work.is_spent
    (3.0, False)
    """

    def __init__(self, most: float = np.inf) -> None:
        self.most = most
        self.spent = 0.0

    def spend(self, amount: float) -> None:
        """Count multiplications."""
        self.spent += amount

    @property
    def left(self) -> float:
        """What may still be spent; 0 when it was more than allowed."""
        return max(self.most - self.spent, 0.0)

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= self.most


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
        null: SparseArray,
        aside: Sequence[FloatArray],
        block: int,
        room: int,
        rng: np.random.Generator,
        *,
        single: bool = False,
        most_slant: float = 0.0,
    ) -> None:
        number = np.float32 if single else np.float64
        self.transform = transform
        self.null = null.astype(number, copy=False)
        self.aside = aside
        self.rng = rng
        self.slants, self.most_slant = (0.0, 0.0), most_slant  # of the last two blocks
        self.H = np.zeros((room, room))
        self.size = 0
        self._reserve(number)
        start = rng.standard_normal((null.shape[0], block)).astype(number, copy=False)
        known = self.V[:, : len(aside)]
        remove(start, self.null, known)
        self.norm = float(np.sqrt(np.linalg.eigvalsh(inner(start, start))[-1]))
        P = transform.apply(start)
        del start
        _, self.T, self.R, _ = orthonormalised(P, self.null, known, rng)

    def _reserve(self, number: Any) -> None:
        """Make room, in columns, beside the vectors that are set aside."""
        n, first = self.null.shape[0], len(self.aside)
        self.V = np.empty((n, first + len(self.H)), number, order="F")
        for j, column in enumerate(self.aside):
            self.V[:, j] = column

    @property
    def basis(self) -> Any:
        """The vectors of the space, (n, size)."""
        first = len(self.aside)
        return self.V[:, first : first + self.size]

    def is_full(self) -> bool:
        """Tell whether there is no room for a further block."""
        b = int(self.T.shape[1])
        return b == 0 or self.size + b > len(self.H)

    def expand(self) -> None:
        """Add the next block."""
        old, self.size = self.size, self.size + self.T.shape[1]
        copy_rows(self.T, self.basis[:, old:])
        P = self.transform.apply(self.T)
        V = self.V[:, : len(self.aside) + self.size]
        C, self.T, self.R, slant = orthonormalised(
            P,
            self.null,
            V,
            self.rng,
            slant=max(self.slants),
            most_slant=self.most_slant,
        )
        self.slants = self.slants[1], slant
        C = C[len(self.aside) :]
        self.H[: self.size, old : self.size] = C
        self.H[old : self.size, : self.size] = C.T

    def ritz(self, m: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the m largest Ritz values, their coordinates and relative errors."""
        heights, Y = eigh(self.H[: self.size, : self.size])
        heights, Y = heights[::-1][:m], Y[:, ::-1][:, :m]
        last = Y[self.size - self.R.shape[1] :]
        return heights, Y, np.linalg.norm(self.R @ last, axis=0) / np.abs(heights)

    def vectors(self, Y: FloatArray, number: Any) -> Any:
        """Return the vectors with these coordinates."""
        X = np.empty((len(self.V), Y.shape[1]), number)
        turn(self.basis, Y, X)
        return X

    def restart(self, heights: FloatArray, Y: FloatArray) -> None:
        """Keep the directions Y only."""
        turn(self.basis, Y, self.basis[:, : len(heights)])
        self._begin_with(np.diag(heights))

    def used_up(self, Y: FloatArray, number: Any) -> Any:
        """Return the vectors with these coordinates in the memory of the space."""
        m = Y.shape[1]
        turn(self.basis, Y, self.V[:, :m])
        V = self.V
        del self.V
        V.resize((len(V), m), refcheck=False)  # the other columns come after these
        return V.astype(number, copy=False)

    def refill(self, X: FloatArray, H: FloatArray) -> None:
        """Begin again with vectors between which the transform is H."""
        self._reserve(self.null.dtype)
        first = len(self.aside)
        self.V[:, first : first + X.shape[1]] = X
        self._begin_with(H)

    def _begin_with(self, H: FloatArray) -> None:
        self.size = len(H)
        self.slants = (self.most_slant, self.most_slant)
        self.H[:] = 0.0
        self.H[: self.size, : self.size] = H


def lowest_pairs(
    A: SparseArray,
    transform: Transform,
    k: int,
    *,
    null: SparseArray,
    aside: Sequence[FloatArray] = (),
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
    null : sparse array of shape (n, c)
        Orthonormal eigenvectors of A that the result must be orthogonal to, with few
        entries.
    aside : sequence of ndarrays of shape (n,)
        Further ones.
    tol : float
        On the residuals.
    rng : numpy.random.Generator
        Draws the starting block.
    block : int, optional
        Vectors in a block; by default a power of 2 near k / 3, 8 to 64.
    restarts : int, default=4
        How often the space may be filled again.
    single : bool, default=False
        Build the space in single precision; the pairs are computed in double, but for
        a tolerance of 0.01 or more.
    work : Work, optional
        What may be spent. Where it is, the pairs are returned as they are, but not
        before the space has room for all of them.

    Returns
    -------
    RitzPairs
        With 10 + k // 10 pairs more than asked for, less exact. The residuals may be
        above the tolerance: callers must check them.

    Notes
    -----
    A Krylov space holds at most as many copies of a repeated eigenvalue as its block
    has vectors: callers must look for others, see `search_outside`.
    """
    n, c = null.shape[0], null.shape[1] + len(aside)
    if block is None:
        block = int(np.clip(2 ** int(np.log2(k / 3 + 1)), BLOCK, WIDEST))
    wanted = min(k + 10 + k // 10, n - c)
    room = min(n - c, max(3 * wanted, wanted + 12 * block))
    width = min(block, n - c)
    space = KrylovSpace(
        transform,
        null,
        aside,
        width,
        room,
        rng,
        single=single,
        most_slant=_SLANT * tol if single else 0.0,
    )
    if single and tol >= SINGLE_PAIRS_FROM:
        A = in_single(A)
    look, ratio = wanted, 0.0
    work = Work() if work is None else work
    least = ROUNDING * float(np.abs(A.diagonal()).max())
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
            residual = largest_residual(A, space.vectors(Y[:, probe], A.dtype))
            hopeful, ratio = residual <= goal, residual / slip if slip > 0 else 0.0
        # Values from the cut on are never told apart, by any number of steps.
        is_lost = transform.value(heights[k - 1]) >= transform.cut
        stop = stop or (space.is_full() and (restarts == 0 or is_lost))
        if hopeful or complete or stop:
            X = space.used_up(Y, A.dtype)
            known = np.stack(aside, axis=1) if len(aside) else X[:, :0]
            remove(X, null.astype(A.dtype, copy=False), known)
            pairs, S = rayleigh_ritz(A, X)
            if pairs.converged(k, tol) or stop or complete or restarts == 0:
                return pairs
            space.refill(pairs.vectors, S.T @ (heights[:, None] * S))
        elif space.is_full():
            keep = min(wanted + space.T.shape[1], space.size - 1)
            heights, Y, _ = space.ritz(keep)
            space.restart(heights, Y)
        else:
            continue
        restarts -= 1
        look = space.size + block


def search_outside(
    transform: Transform,
    null: SparseArray,
    aside: Sequence[FloatArray],
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
    null : sparse array of shape (n, c)
        Orthonormal vectors of the space, with few entries.
    aside : sequence of ndarrays of shape (n,)
        The others.
    level : float
        Below the transform's cut.
    same : float
        Stop once an eigenvalue below `level` - `same` is seen.
    failure : float
        Probability that the returned floor is not one.
    rng : numpy.random.Generator
        Draws the start, which must not depend on the space.
    block : int, default=8
        Vectors in a block.
    steps : int, default=60
        At most this many blocks.
    enough : int, default=12
        After this many, a floor within `resolution` times `level` is enough.
    resolution : float, default=0.01
    single : bool, default=False
        Compute in single precision, whose rounding is far below the resolution.
    work : Work, optional
        What may be spent; where it is, the floor is as low as it is.

    Notes
    -----
    Nothing is asked of the vectors but that they are orthonormal: by Cauchy's
    interlacing theorem the matrix has at most as many eigenvalues below the floor.
    """
    n, c = null.shape[0], null.shape[1] + len(aside)
    if c == n:
        return Search(np.inf, np.inf)
    block = min(block, n - c)
    room = min(n - c, steps * block)
    space = KrylovSpace(transform, null, aside, block, room, rng, single=single)
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
            norm=space.norm,
            block=block,
            failure=failure,
        )
        result = Search(smallest, min(transform.value(most), smallest))
        near = level - resolution * abs(level) if done >= enough else level
        found = smallest < level - same or result.floor >= near
        if found or space.is_full() or work.is_spent:
            return result
