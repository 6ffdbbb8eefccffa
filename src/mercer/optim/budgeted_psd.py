"""The largest tr(AK) over positive semi-definite K in a Frobenius ball."""

from dataclasses import dataclass

import numpy as np

from mercer._base.typing import FloatArray
from mercer.optim.positive_part import positive_eigenpairs


@dataclass(frozen=True, slots=True, eq=False)
class BudgetedPSD:
    """Optimum of `solve_budgeted_psd`, kept in factored form."""

    values: FloatArray  # (r,) eigenvalues of K, all > 0, largest first
    vectors: FloatArray  # (n, r) orthonormal columns
    objective: float  # tr(AK)
    bound: float  # sqrt(B) |A_+|_F, the dual value


def solve_budgeted_psd(A: FloatArray, *, budget: float) -> BudgetedPSD:
    r"""Maximise :math:`\operatorname{tr}(AK)` over a ball of kernels.

    .. math:: \max_K \operatorname{tr}(AK) : K \succeq 0, \operatorname{tr}(KK) \le B
        \qquad\Rightarrow\qquad K = \sqrt{B}\, A_+ / \|A_+\|_F

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric.
    budget : float
        Bound B > 0 on :math:`\operatorname{tr}(KK)`.

    Returns
    -------
    BudgetedPSD
        `objective` is computed from A and the factors, `bound` from the eigenvalues
        alone; their difference is a duality gap.

    Notes
    -----
    Zhuang, Tsang, Hoi (ICML 2009), Proposition 1, eq. (8). The paper leaves out the
    case where A has no positive eigenvalue; the optimum is then K = 0.

    Examples
    --------
    >>> import numpy as np
    >>> best = solve_budgeted_psd(np.diag([3.0, 4.0, -5.0]), budget=25.0)
    >>> best.values, round(best.objective, 9)
    (array([4., 3.]), 25.0)
    """
    if not budget > 0:
        msg = f"budget must be positive, got {budget}."
        raise ValueError(msg)
    values, vectors = positive_eigenpairs(A)
    norm = float(np.linalg.norm(values))
    scale = np.sqrt(budget) / norm if norm > 0 else 0.0
    images = np.einsum("ij,ij->j", A @ vectors, vectors)
    return BudgetedPSD(
        values * scale,
        vectors,
        objective=float(scale * (images @ values)),
        bound=float(np.sqrt(budget) * norm),
    )
