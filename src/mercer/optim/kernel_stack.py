"""Regression on a weighted sum of kernels, for many weights and targets.

A stack holds the kernels: as whole matrices (`DenseStack`), as feature matrices
(`FactoredStack`), or as matrices under another loss than the squared one (`LossStack`).
Its `factor(weights)` returns a function of the targets, which returns what the solvers
above need: the value, one score per kernel, curvature.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve

from mercer._base.typing import FloatArray, IntArray
from mercer.optim.convex_losses import Loss, curvature, solve_column

_RIDGE = 1e-12  # of the largest kernel value: points on a margin may coincide


@dataclass(frozen=True, slots=True, eq=False)
class RidgePoint:
    r"""Solution c of :math:`(K(\lambda) + D) c = t`, or of a problem with another loss.

    What takes a product with all points is computed when it is called for.
    """

    value: float  # tr(tᵀ c)
    scores: FloatArray  # (N,) tr(cᵀ K_j c): minus the slope of `value` in weight j
    coef: Callable[[], FloatArray]  # c, (n, m)
    fitted: Callable[[], FloatArray]  # f = K c, (n, m)
    # second derivatives of `value` in the weights of some kernels
    curvature: Callable[[IntArray], FloatArray]
    gap: float = 0.0  # how far `value` may be above its minimum over c


Solve: TypeAlias = Callable[[FloatArray], RidgePoint]


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
    >>> point = stack.factor(np.array([1.0, 0.0]))(np.array([[2.0], [0.0]]))
    >>> round(point.value, 6), point.scores.round(6)
    (2.0, array([1., 1.]))
    """

    def __init__(self, K: FloatArray, noise: FloatArray) -> None:
        self.K, self.noise = K, noise

    def factor(self, weights: FloatArray) -> Solve:
        """Factorise the weighted sum of the kernels plus D."""
        N, n, _ = self.K.shape
        A = np.zeros((n, n))
        for j in np.flatnonzero(weights):
            A += weights[j] * self.K[j]
        A.flat[:: n + 1] += self.noise
        cholesky = cho_factor(A, lower=True, check_finite=False)

        def at(targets: FloatArray) -> RidgePoint:
            c = cho_solve(cholesky, targets, check_finite=False)
            images = (self.K.reshape(N * n, n) @ c).reshape(N, n, -1)  # K_j c

            def bend(kernels: IntArray) -> FloatArray:
                rows = images[kernels]  # (a, n, m)
                flat = rows.transpose(1, 0, 2).reshape(n, -1)
                solved = cho_solve(cholesky, flat, check_finite=False)
                solved = solved.reshape(n, len(kernels), -1)
                hessian: FloatArray = 2 * np.einsum("anm,nbm->ab", rows, solved)
                return hessian

            return RidgePoint(
                float(np.vdot(targets, c)),
                np.einsum("jim,im->j", images, c),
                lambda: c,
                lambda: targets - self.noise[:, None] * c,
                bend,
            )

        return at


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
    >>> point = stack.factor(np.array([1.0, 0.0]))(np.array([[2.0], [0.0]]))
    >>> round(point.value, 6), point.scores.round(6)
    (2.0, array([1., 1.]))
    """

    def __init__(self, features: list[FloatArray], noise: FloatArray) -> None:
        self.F = np.hstack(features)  # (n, R)
        sizes = [f.shape[1] for f in features]
        self.owner = np.repeat(np.arange(len(features)), sizes)  # (R,)
        self.noise = noise[:, None]
        self.scaled = self.F / self.noise
        self.H = self.F.T @ self.scaled

    def factor(self, weights: FloatArray) -> Solve:
        """Factorise I + S H S over the kernels with positive weight."""
        used = np.flatnonzero(weights[self.owner])
        root = np.sqrt(weights[self.owner[used]])[:, None]
        inner = root * self.H[np.ix_(used, used)] * root.T
        inner.flat[:: len(used) + 1] += 1
        cholesky = cho_factor(inner, lower=True, check_finite=False)

        def project(v: FloatArray) -> FloatArray:
            """Return S (I + S H S)⁻¹ S v on the used features."""
            solved = cho_solve(cholesky, root * v[used], check_finite=False)
            projected: FloatArray = root * solved
            return projected

        def at(targets: FloatArray) -> RidgePoint:
            b = self.scaled.T @ targets
            w = project(b)
            loads = b - self.H[:, used] @ w  # Φᵀ c, (R, m)
            scores = np.zeros(len(weights))
            np.add.at(scores, self.owner, (loads**2).sum(axis=1))

            def fitted() -> FloatArray:
                f: FloatArray = self.F[:, used] @ w
                return f

            def bend(kernels: IntArray) -> FloatArray:
                total = np.zeros((len(kernels), len(kernels)))
                for column in loads.T:
                    V = column[:, None] * (self.owner[:, None] == kernels)
                    HV = self.H @ V
                    total += V.T @ HV - HV[used].T @ project(HV)
                return 2 * total

            scaled_norm = float(np.vdot(targets, targets / self.noise))
            return RidgePoint(
                scaled_norm - float(np.vdot(b[used], w)),
                scores,
                lambda: (targets - fitted()) / self.noise,
                fitted,
                bend,
            )

        return at


class LossStack:
    r"""Kernels K_j and weights of a convex loss, as `DenseStack` has them for squares.

    The value at kernel weights :math:`\lambda` is, summed over columns t of targets,

    .. math::
        \min_c \sum_i \frac1{D_i} \Bigl[\tfrac{1 + t_i}2\ell(f_i)
        + \tfrac{1 - t_i}2\ell(-f_i)\Bigr] + c^\top K(\lambda) c,
        \qquad f = K(\lambda) c,

    whose slope in :math:`\lambda_j` is :math:`-c^\top K_j c`, as with squares.

    Parameters
    ----------
    K : ndarray of shape (N, n, n)
    noise : ndarray of shape (n,)
        D, positive.
    loss : {"logistic", "hinge"}

    Examples
    --------
    >>> stack = LossStack(np.stack([np.eye(2), np.ones((2, 2))]), np.ones(2), "hinge")
    >>> point = stack.factor(np.array([1.0, 0.0]))(np.array([[1.0], [-1.0]]))
    >>> round(point.value, 6), point.scores.round(6)
    (1.5, array([0.5, 0. ]))
    """

    def __init__(self, K: FloatArray, noise: FloatArray, loss: Loss) -> None:
        self.K, self.scale = K, 1 / noise
        self.loss: Loss = loss

    def factor(self, weights: FloatArray) -> Solve:
        """Add up the kernels."""
        used = np.flatnonzero(weights)
        total = np.tensordot(weights[used], self.K[used], axes=1)

        def at(targets: FloatArray) -> RidgePoint:
            found = [
                solve_column(total, t, self.scale, loss=self.loss) for t in targets.T
            ]
            c = np.column_stack([column for column, _, _ in found])
            images = np.einsum("jik,km->jim", self.K, c)  # K_j c

            def bend(kernels: IntArray) -> FloatArray:
                hessian = np.zeros((len(kernels), len(kernels)))
                for m, f in enumerate((total @ c).T):
                    rows, ridge = curvature(
                        c[:, m], f, targets[:, m], self.scale, self.loss
                    )
                    if len(rows):
                        moved = images[kernels][:, rows, m]
                        A = total[np.ix_(rows, rows)]
                        A += np.diag(ridge + _RIDGE * total.max())
                        hessian += 2 * moved @ solve(A, moved.T, assume_a="pos")
                return hessian

            return RidgePoint(
                sum(value for _, value, _ in found),
                np.einsum("jim,im->j", images, c),
                lambda: c,
                lambda: total @ c,
                bend,
                gap=sum(gap for _, _, gap in found),
            )

        return at


KernelStack: TypeAlias = DenseStack | FactoredStack | LossStack


def dense_stack(K: FloatArray, noise: FloatArray, loss: Loss) -> KernelStack:
    """Return the kernels with the loss, squared or another.

    Examples
    --------
    >>> type(dense_stack(np.eye(2)[None], np.ones(2), "hinge")).__name__
    'LossStack'
    """
    return DenseStack(K, noise) if loss == "squared" else LossStack(K, noise, loss)
