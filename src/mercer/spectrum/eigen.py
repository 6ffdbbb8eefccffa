"""Smallest eigenpairs of a symmetric matrix, with evidence that none is missing."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from mercer._typing import FloatArray, SparseArray
from mercer.exceptions import EigenpairError


@dataclass(frozen=True, slots=True, eq=False)
class Eigenpairs:
    """The r smallest eigenpairs of a symmetric matrix A."""

    values: FloatArray  # (r,) ascending
    vectors: FloatArray  # (n, r) orthonormal columns
    next_value: float  # the (r + 1)-th smallest eigenvalue; inf when r = n
    residual: float  # largest |A u - value u|
    method: str


DENSE_UP_TO = 1200


def smallest_eigenpairs(
    A: SparseArray,
    r: int,
    *,
    upper: float,
    null: FloatArray,
    rng: np.random.Generator,
    tol: float = 1e-8,
) -> Eigenpairs:
    """Compute the r smallest eigenpairs."""
    n = A.shape[0]
    c = null.shape[1]
    if c >= r:
        next_value = 0.0 if c > r else _next_value(A, null, upper, rng)
        vectors, values = null[:, :r], np.zeros(r)
        residual = _residual(A, values, vectors)
        return Eigenpairs(values, vectors, next_value, residual, "components")
    k = min(r - c + 1, n - c)
    if n <= DENSE_UP_TO or k > n // 4:
        dense = A.toarray() + (2 * upper) * (null @ null.T)
        found, vectors = eigh(dense, subset_by_index=[0, k - 1])
        method = "dense"
    else:
        operator = LinearOperator(
            (n, n),
            matvec=lambda x: upper * x - A @ x - 2 * upper * (null @ (null.T @ x)),
            dtype=np.float64,
        )
        found, vectors = eigsh(
            operator, k, which="LA", tol=tol, v0=rng.standard_normal(n)
        )
        order = np.argsort(-found)
        found, vectors = upper - found[order], vectors[:, order]
        method = "lanczos"
    next_value = float(found[r - c]) if k > r - c else np.inf
    values = np.concatenate([np.zeros(c), np.maximum(found[: r - c], 0.0)])
    vectors = np.hstack([null, vectors[:, : r - c]])
    residual = _residual(A, values, vectors)
    if residual > 1e-6 * upper:
        msg = f"smallest_eigenpairs: residual {residual:.1e}."
        raise EigenpairError(msg)
    return Eigenpairs(values, vectors, next_value, residual, method)


def _next_value(
    A: SparseArray, null: FloatArray, upper: float, rng: np.random.Generator
) -> float:
    if null.shape[1] == A.shape[0]:
        return float("inf")
    more = smallest_eigenpairs(
        A, null.shape[1] + 1, upper=upper, null=null, rng=rng, tol=1e-4
    )
    return float(more.values[-1])


def _residual(A: SparseArray, values: FloatArray, vectors: FloatArray) -> float:
    difference = A @ vectors - vectors * values
    return float(np.linalg.norm(difference, axis=0).max(initial=0.0))
