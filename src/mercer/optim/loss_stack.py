"""Kernels as matrices under a loss other than the squared one."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve

from mercer._base.typing import FloatArray, IntArray
from mercer.optim.convex_losses import Loss, curvature, solve_column
from mercer.optim.kernel_stack import DenseStack, KernelStack

_RIDGE = 1e-12  # of the largest kernel value: points on a margin may coincide


def dense_stack(K: FloatArray, noise: FloatArray, loss: Loss) -> KernelStack:
    """Return the kernels with the loss, squared or another.

    Examples
    --------
    >>> type(dense_stack(np.eye(2)[None], np.ones(2), "hinge")).__name__
    'LossStack'
    """
    return DenseStack(K, noise) if loss == "squared" else LossStack(K, noise, loss)


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
    >>> point = stack.factor(np.array([1.0, 0.0])).solve(np.array([[1.0], [-1.0]]))
    >>> round(point.value, 6), point.scores.round(6)
    (1.5, array([0.5, 0. ]))
    """

    def __init__(self, K: FloatArray, noise: FloatArray, loss: Loss) -> None:
        self.K = K
        self.noise = noise
        self.loss: Loss = loss
        self.n_kernels = len(K)

    def factor(self, weights: FloatArray) -> "LossSystem":
        """Add up the kernels."""
        used = np.flatnonzero(weights)
        return LossSystem(self, np.tensordot(weights[used], self.K[used], axes=1))


@dataclass(frozen=True, slots=True, eq=False)
class LossSystem:
    """The weighted sum of the kernels."""

    stack: LossStack
    total: FloatArray  # (n, n)

    def solve(self, targets: FloatArray) -> "LossPoint":
        """Solve for targets of shape (n, m), column by column."""
        stack = self.stack
        found = [
            solve_column(self.total, t, 1 / stack.noise, loss=stack.loss)
            for t in targets.T
        ]
        c = np.column_stack([column for column, _, _ in found])
        images = np.einsum("jik,km->jim", stack.K, c)
        return LossPoint(
            value=sum(value for _, value, _ in found),
            gap=sum(gap for _, _, gap in found),
            scores=np.einsum("jim,im->j", images, c),
            c=c,
            images=images,
            targets=targets,
            system=self,
        )


@dataclass(frozen=True, slots=True, eq=False)
class LossPoint:
    """Solution for one set of targets."""

    value: float
    gap: float
    scores: FloatArray
    c: FloatArray
    images: FloatArray  # (N, n, m) K_j c
    targets: FloatArray
    system: LossSystem

    def coef(self) -> FloatArray:
        """Return c."""
        return self.c

    def fitted(self) -> FloatArray:
        """Return f."""
        f: FloatArray = self.system.total @ self.c
        return f

    def curvature(self, kernels: IntArray) -> FloatArray:
        """Return second derivatives of `value` in the weights of these kernels."""
        stack, total = self.system.stack, self.system.total
        hessian = np.zeros((len(kernels), len(kernels)))
        f = self.fitted()
        for m, c in enumerate(self.c.T):
            rows, ridge = curvature(
                c, f[:, m], self.targets[:, m], 1 / stack.noise, stack.loss
            )
            if len(rows) == 0:
                continue
            moved = self.images[kernels][:, rows, m]
            A = total[np.ix_(rows, rows)] + np.diag(ridge + _RIDGE * total.max())
            hessian += 2 * moved @ solve(A, moved.T, assume_a="pos")
        return hessian
