"""Blocks of long vectors made orthonormal, a few rows at a time and in place."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from scipy.linalg import eigh

from mercer._base.threads import in_blocks
from mercer._base.typing import FloatArray, SparseArray

# Rows of a product: BLAS multiplies matrices of this size as they are, in half the
# time, and copies larger ones first.
_ROWS = 512
# Rows that a thread takes at a time, at least.
_PER_BLOCK = 16 * _ROWS
# Of a unit vector, in the complement: nearly all, or errors grow from step to step.
_KEPT = 0.9
# Directions longer than this share of the longest come from the Gram matrix, exact
# enough for the second projection; shorter ones from Householder's method, slowly.
_EVEN = 1e-4


def _panels(block: slice) -> Iterator[slice]:
    for first in range(block.start, block.stop, _ROWS):
        yield slice(first, min(first + _ROWS, block.stop))


def inner(V: Any, P: Any) -> FloatArray:
    """Return VᵀP; panels are added in double precision, blocks in their order."""
    parts: dict[int, FloatArray] = {}

    def add(block: slice) -> None:
        total = np.zeros((V.shape[1], P.shape[1]))
        for rows in _panels(block):
            total += V[rows].T @ P[rows]
        parts[block.start] = total

    in_blocks(add, len(P), _PER_BLOCK, _ROWS)
    total: FloatArray = np.sum([parts[start] for start in sorted(parts)], axis=0)
    return total


def subtract(P: Any, V: Any, C: FloatArray) -> None:
    """Replace P by P - V C."""
    C = C.astype(P.dtype, copy=False)

    def take_off(block: slice) -> None:
        for rows in _panels(block):
            P[rows] -= V[rows] @ C

    if len(C):
        in_blocks(take_off, len(P), _PER_BLOCK, _ROWS)


def turn(V: Any, Y: FloatArray, out: Any) -> None:
    """Write V Y to `out`, which may be a part of V."""
    Y = Y.astype(V.dtype, copy=False)

    def write(block: slice) -> None:
        for rows in _panels(block):
            out[rows] = V[rows] @ Y

    in_blocks(write, len(V), _PER_BLOCK, _ROWS)


def remove_null(P: Any, null: SparseArray) -> None:
    """Replace P by its projection to the complement of orthonormal sparse vectors."""
    shares = np.zeros((null.shape[1], P.shape[1]))
    _remove(null.indptr, null.indices, null.data, P, shares)


# Compiled, and in one piece: there may be as many null vectors as components, and sums
# over blocks would each be as large as the shares.
@njit(cache=True, nogil=True)
def _remove(indptr: Any, indices: Any, data: Any, P: Any, shares: Any) -> None:
    n, k = P.shape
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            for t in range(k):
                shares[indices[p], t] += data[p] * P[i, t]
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            for t in range(k):
                P[i, t] -= data[p] * shares[indices[p], t]


def remove(P: Any, null: SparseArray, V: Any) -> None:
    """Replace P by its projection to the complement of `null` and V."""
    remove_null(P, null)
    subtract(P, V, inner(V, P))


def orthonormalised(
    P: Any,
    null: SparseArray,
    V: Any,
    rng: np.random.Generator,
    *,
    slant: float = 0.0,
    most_slant: float = 0.0,
) -> tuple[FloatArray, Any, FloatArray, float]:
    """Return C, T, R with P = V C + T R + a part in the span of `null`, and a slant.

    T is orthonormal and orthogonal to V and `null`; P is overwritten. What the first
    projection leaves may be rounding errors; the second, of unit vectors, tells. Where
    it leaves less than it was given the Krylov space is exhausted, and random
    directions follow.

    `slant` bounds the products of V with those of its columns that P is made of. One
    projection leaves them, as many times larger as P is than what is left of it; where
    that is at most `most_slant`, it is enough. That of T is returned.
    """
    remove_null(P, null)
    C = inner(V, P)
    subtract(P, V, C)
    W, R, lengths = _unit(inner(P, P))
    rounding = float(np.finfo(P.dtype).eps)
    if most_slant > 0 and lengths.min(initial=np.inf) > 0:
        longest = max(float(np.linalg.norm(C, 2)), float(lengths.max()))
        after = (slant + rounding) * longest / float(lengths.min())
        if after <= most_slant:
            turn(P, W, P)
            return C, P, R, after
    if P.dtype == np.float64 and (lengths <= _EVEN * lengths.max(initial=0.0)).any():
        P, R = np.linalg.qr(P)
    else:
        turn(P, W, P)
    remove(P, null, V)
    W, again, left = _unit(inner(P, P))
    turn(P, W, P)
    R = again @ R
    m = int(np.count_nonzero(left > _KEPT))
    free = P.shape[0] - null.shape[1] - V.shape[1]
    if m < len(left):
        fresh = rng.standard_normal((len(P), min(len(left), free) - m))
        fresh = fresh.astype(P.dtype, copy=False)
        P = P[:, : m + fresh.shape[1]]
        R = R[: P.shape[1]]
        for _ in range(2):
            remove(fresh, null, V)
            subtract(fresh, P[:, :m], inner(P[:, :m], fresh))
            fresh = np.linalg.qr(fresh)[0]
        P[:, m:], R[m:] = fresh, 0.0
    return C, P, R, rounding


def _unit(gram: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return W and R with P W orthonormal and P W R = P, from the Gram matrix of P.

    And the singular values, descending. Directions shorter than the rounding errors of
    single precision are zero in P W.
    """
    squares, W = eigh(gram)
    lengths, W = np.sqrt(np.maximum(squares[::-1], 0.0)), W[:, ::-1]
    sure = lengths > 1e-6 * lengths.max(initial=0.0)
    scales = np.zeros_like(lengths)
    np.divide(1.0, lengths, out=scales, where=sure)
    return W * scales, lengths[:, None] * W.T, np.where(sure, lengths, 0.0)
