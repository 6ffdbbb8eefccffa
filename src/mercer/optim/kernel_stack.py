"""Ridge regression on a weighted sum of kernels, for many weights and targets.

Two ways to hold the kernels, one interface: whole matrices (`DenseStack`) and feature
matrices (`FactoredStack`). `factor(weights)` returns a system that answers for any
target what the solvers above need: the value, one score per kernel, curvature.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mercer._base.typing import FloatArray, IntArray


class RidgePoint(Protocol):
    r"""Solution of :math:`(K(\lambda) + D) c = t`."""

    @property
    def value(self) -> float:
        """Return tr(tᵀ c)."""
        ...

    @property
    def scores(self) -> FloatArray:
        """Return tr(cᵀ K_j c), (N,): minus the slope of `value` in weight j."""
        ...

    def coef(self) -> FloatArray:
        """Return c, (n, m)."""
        ...

    @property
    def gap(self) -> float:
        """Return how far `value` may be above its minimum over c."""
        ...

    def fitted(self) -> FloatArray:
        """Return f = K c, (n, m)."""
        ...

    def curvature(self, kernels: IntArray) -> FloatArray:
        """Return second derivatives of `value` in the weights of these kernels."""
        ...


class RidgeSystem(Protocol):
    """A factorised K(weights) + D."""

    def solve(self, targets: FloatArray) -> RidgePoint:
        """Solve for targets of shape (n, m)."""
        ...


class KernelStack(Protocol):
    """N kernels over the same n points and the diagonal D."""

    n_kernels: int

    def factor(self, weights: FloatArray) -> RidgeSystem:
        """Factorise the weighted sum of the kernels plus D."""
        ...


class DenseStack:
    r"""Kernels as matrices.

    Parameters
    ----------
    K : ndarray of shape (N, n, n)
    noise : ndarray of shape (n,)
        Diagonal of D, positive.

    Examples
    --------
    >>> stack = DenseStack(np.stack([np.eye(2), np.ones((2, 2))]), np.ones(2))
    >>> point = stack.factor(np.array([1.0, 0.0])).solve(np.array([[2.0], [0.0]]))
    >>> round(point.value, 6), point.scores.round(6)
    (2.0, array([1., 1.]))
    """

    def __init__(self, K: FloatArray, noise: FloatArray) -> None:
        self.K = K
        self.noise = noise
        self.n_kernels = len(K)

    def factor(self, weights: FloatArray) -> "DenseSystem":
        """Factorise the weighted sum of the kernels plus D."""
        used = np.flatnonzero(weights)
        n = len(self.noise)
        A = np.zeros((n, n))
        for j in used:
            A += weights[j] * self.K[j]
        A.flat[:: n + 1] += self.noise
        cholesky = cho_factor(A, lower=True, check_finite=False)
        return DenseSystem(self.K, cholesky, self.noise)


@dataclass(frozen=True, slots=True, eq=False)
class DenseSystem:
    """Cholesky factor of K(weights) + D."""

    K: FloatArray
    cholesky: tuple[FloatArray, bool]
    noise: FloatArray

    def solve(self, targets: FloatArray) -> "DensePoint":
        """Solve for targets of shape (n, m)."""
        N, n, _ = self.K.shape
        c = cho_solve(self.cholesky, targets, check_finite=False)
        images = (self.K.reshape(N * n, n) @ c).reshape(N, n, -1)
        scores = np.einsum("jim,im->j", images, c)
        f = targets - self.noise[:, None] * c
        value = float(np.vdot(targets, c))
        return DensePoint(value, scores, c, f, images, self.cholesky)


@dataclass(frozen=True, slots=True, eq=False)
class DensePoint:
    """Solution for one target."""

    value: float
    scores: FloatArray
    c: FloatArray
    f: FloatArray
    images: FloatArray  # (N, n, m) K_j c
    cholesky: tuple[FloatArray, bool]
    gap: float = 0.0

    def coef(self) -> FloatArray:
        """Return c."""
        return self.c

    def fitted(self) -> FloatArray:
        """Return f = K c."""
        return self.f

    def curvature(self, kernels: IntArray) -> FloatArray:
        """Return second derivatives of `value` in the weights of these kernels."""
        rows = self.images[kernels]  # (a, n, m)
        flat = rows.transpose(1, 0, 2).reshape(rows.shape[1], -1)
        solved = cho_solve(self.cholesky, flat, check_finite=False)
        solved = solved.reshape(-1, len(kernels), rows.shape[2])
        hessian: FloatArray = 2 * np.einsum("anm,nbm->ab", rows, solved)
        return hessian


class FactoredStack:
    r"""Kernels as features, :math:`K_j = \Phi_j\Phi_j^\top`; no n x n matrix is made.

    By the Woodbury identity everything happens in the space of all features, of size
    R: after :math:`H = \Phi^\top D^{-1}\Phi` only products of n x R with the target
    involve the points.

    Parameters
    ----------
    features : list of ndarray of shape (n, r_j)
    noise : ndarray of shape (n,)
        Diagonal of D, positive.

    Examples
    --------
    >>> stack = FactoredStack([np.eye(2), np.ones((2, 1))], np.ones(2))
    >>> point = stack.factor(np.array([1.0, 0.0])).solve(np.array([[2.0], [0.0]]))
    >>> round(point.value, 6), point.scores.round(6)
    (2.0, array([1., 1.]))
    """

    def __init__(self, features: list[FloatArray], noise: FloatArray) -> None:
        self.noise = noise
        self.n_kernels = len(features)
        self.F = np.hstack(features)  # (n, R)
        sizes = [f.shape[1] for f in features]
        self.owner = np.repeat(np.arange(len(features)), sizes)  # (R,)
        self.scaled = self.F / noise[:, None]
        self.H = self.F.T @ self.scaled

    def factor(self, weights: FloatArray) -> "FactoredSystem":
        """Factorise the weighted sum of the kernels plus D."""
        used = np.flatnonzero(weights[self.owner])
        root = np.sqrt(weights[self.owner[used]])
        inner = root[:, None] * self.H[np.ix_(used, used)] * root
        inner.flat[:: len(used) + 1] += 1
        cholesky = cho_factor(inner, lower=True, check_finite=False)
        return FactoredSystem(self, used, root, cholesky)


@dataclass(frozen=True, slots=True, eq=False)
class FactoredSystem:
    """Cholesky factor of I + S H S over the kernels with positive weight."""

    stack: FactoredStack
    used: IntArray
    root: FloatArray
    cholesky: tuple[FloatArray, bool]

    def project(self, v: FloatArray) -> FloatArray:
        """Return S (I + S H S)⁻¹ S v on the used features."""
        inner = self.root[:, None] * v[self.used]
        solved = cho_solve(self.cholesky, inner, check_finite=False)
        projected: FloatArray = self.root[:, None] * solved
        return projected

    def solve(self, targets: FloatArray) -> "FactoredPoint":
        """Solve for targets of shape (n, m)."""
        stack = self.stack
        b = stack.scaled.T @ targets
        w = self.project(b)
        loads = b - stack.H[:, self.used] @ w  # Φᵀ c
        squares = (loads**2).sum(axis=1)
        scores = np.zeros(stack.n_kernels)
        np.add.at(scores, stack.owner, squares)
        scaled_norm = float(np.vdot(targets, targets / stack.noise[:, None]))
        value = scaled_norm - float(np.vdot(b[self.used], w))
        return FactoredPoint(value, scores, targets, w, loads, self)


@dataclass(frozen=True, slots=True, eq=False)
class FactoredPoint:
    """Solution for one target."""

    value: float
    scores: FloatArray
    targets: FloatArray
    w: FloatArray
    loads: FloatArray  # (R, m) Φᵀ c
    system: FactoredSystem
    gap: float = 0.0

    def coef(self) -> FloatArray:
        """Return c."""
        c: FloatArray = (self.targets - self.fitted()) / self.system.stack.noise[
            :, None
        ]
        return c

    def fitted(self) -> FloatArray:
        """Return f = K c."""
        f: FloatArray = self.system.stack.F[:, self.system.used] @ self.w
        return f

    def curvature(self, kernels: IntArray) -> FloatArray:
        """Return second derivatives of `value` in the weights of these kernels."""
        stack, used = self.system.stack, self.system.used
        total = np.zeros((len(kernels), len(kernels)))
        for column in self.loads.T:
            V = column[:, None] * (stack.owner[:, None] == kernels)
            HV = stack.H @ V
            total += V.T @ HV - HV[used].T @ self.system.project(HV)
        return 2 * total
