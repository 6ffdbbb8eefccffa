"""Support vector machines on a Gram matrix, one for each column of signs."""

from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

from mercer._base.html import Shown
from mercer._base.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class SVM(Shown):
    """Optimum of `solve_svm`; objective and gap are summed over the machines.

    Parameters
    ----------
    dual_coef : ndarray of shape (l, q)
        Multipliers times labels, alpha_i y_i.
    intercept : ndarray of shape (q,)
        Offsets of the machines.
    objective : float
        Primal value.
    gap : float
        Primal minus dual value; 0 is optimal.
    """

    dual_coef: FloatArray
    intercept: FloatArray
    objective: float
    gap: float


def solve_svm(
    K: FloatArray,
    signs: FloatArray,
    *,
    C: float | FloatArray,
    tol: float = 1e-6,
) -> SVM:
    r"""Minimise :math:`\frac12\beta^\top K\beta + C\sum_i (1 - y_i(K\beta + b)_i)_+`.

    Parameters
    ----------
    K : ndarray of shape (l, l)
        Gram matrix.
    signs : ndarray of shape (l, q)
        +1 / -1, one column for each machine, both signs in each.
    C : float or ndarray of shape (l,)
        Weight of the hinge loss, > 0, of each point if there are several.
    tol : float, default=1e-6
        LIBSVM's bound on the violation of the optimality conditions.

    Notes
    -----
    scikit-learn's `SVC` does the work; the gap is measured here, from the function
    that it returns.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([[1.0], [-1.0]])
    >>> solve_svm(np.eye(2), y, C=10.0).dual_coef.T
    array([[ 1., -1.]])
    """
    beta, b = np.zeros_like(signs), np.zeros(signs.shape[1])
    weights = np.full(len(K), C, dtype=np.float64)
    for u, y in enumerate(signs.T):
        machine = SVC(C=1.0, kernel="precomputed", tol=tol).fit(K, y, weights)
        beta[machine.support_, u] = machine.dual_coef_[0]
        b[u] = machine.intercept_[0]
    image = K @ beta
    norm = float((beta * image).sum())
    slack = np.maximum(0.0, 1 - signs * (image + b)).sum(axis=1)
    primal = norm / 2 + float(weights @ slack)
    return SVM(beta, b, primal, primal - float(np.abs(beta).sum()) + norm / 2)
