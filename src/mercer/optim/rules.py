"""What rules say of rows: sources that fire on some rows, with one answer."""

import numpy as np
from scipy.sparse import csr_array

from mercer._base.typing import BoolArray, FloatArray, IntArray

# What is believed of a rule before true labels: its answer is right this far from
# chance to always, as many votes as `_FIRST` tell.
_BETTER, _FIRST = 0.6, 16.0
# No rule fires never, or always, in a class.
_LEAST = 1e-3


def rule_evidence(
    votes: csr_array,
    source: IntArray,
    answer: IntArray,
    denied: BoolArray,
    *,
    known: IntArray,
    n_classes: int,
    weights: FloatArray,
) -> FloatArray:
    r"""Return what rules add to the log-probabilities of the classes of rows, (n, C).

    A rule is right with probability a, judged by true labels alone, with errors spread
    evenly. It fires in class c with probability
    :math:`f_c = C\, P(c \mid \text{it fires})\, P(\text{it fires})`, classes of even
    sizes, and its silence says :math:`\log(1 - f_c)`.

    Parameters
    ----------
    votes, source, answer, denied
        As in `solve_sources`; every source with a weight has one answer.
    known : int ndarray of shape (n,)
        True classes, -1 where there is none.
    n_classes : int
    weights : ndarray of shape (m,)
        How much each source counts; 0 for those that are no rules.

    Examples
    --------
    >>> votes = csr_array(np.array([[1.0], [0.0], [0.0], [0.0]]))
    >>> first, no = np.zeros(1, int), np.zeros(1, bool)
    >>> rule = {"known": np.full(4, -1), "n_classes": 2, "weights": np.ones(1)}
    >>> rule_evidence(votes, first, first, no, **rule).round(2)
    array([[-0.92, -2.3 ],
           [-0.51, -0.11],
           [-0.51, -0.11],
           [-0.51, -0.11]])
    """
    n, C = votes.shape[0], n_classes
    kept = np.flatnonzero(weights[source] > 0)
    if not len(kept):
        return np.zeros((n, C))
    V, w = csr_array(votes[:, kept]), weights[source[kept]][:, None]
    is_right = np.equal.outer(answer[kept], np.arange(C)) != denied[kept][:, None]
    own = np.flatnonzero(known >= 0)
    given = V[own].T @ np.equal.outer(known[own], np.arange(C)).astype(float)
    better = 1 / C + _BETTER * (1 - 1 / C)
    right = _FIRST * better + (given * is_right).sum(axis=1)
    rate = np.asarray(V.sum(axis=0)) / max(n, 1)
    # Where it fires on more rows than its classes have, it cannot be right of all.
    among = is_right.sum(axis=1)
    most = among / (C * np.maximum(rate, _LEAST))
    a = np.minimum(right / (_FIRST + given.sum(axis=1)), most)
    each = np.stack([a / np.maximum(among, 1), (1 - a) / np.maximum(C - among, 1)])
    P = np.where(is_right, each[0][:, None], each[1][:, None])
    fires = np.clip(C * P * rate[:, None], _LEAST, 1 - _LEAST)
    silent = np.log1p(-fires)
    return np.asarray(V @ (w * (np.log(fires) - silent)) + (w * silent).sum(axis=0))
