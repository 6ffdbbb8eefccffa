"""Probabilities that a handful of held-out labels can vouch for."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from mercer._typing import FloatArray, IntArray


def tempered(proba: FloatArray, temperature: float) -> FloatArray:
    """Return softmax(log(p) / T).

    Examples
    --------
    >>> tempered(np.array([[0.8, 0.2]]), 2.0).round(2)
    array([[0.67, 0.33]])
    """
    p: FloatArray = softmax(_logs(proba) / temperature, axis=1)
    return p


def cautious_temperature(proba: FloatArray, codes: IntArray, n_rows: int) -> float:
    r"""Return the temperature that suits held-out probabilities best, with caution.

    .. math:: \hat T = \arg\min_T -\sum_i \sum_c t_{ic}
        \log \mathrm{softmax}(\log p_i / T)_c

    with targets t of :math:`1 - \epsilon` for the true class and
    :math:`\epsilon = 1 / (n + 2)` spread over the others, as in Platt's rule: n right
    answers in a row do not make the next one certain.

    Parameters
    ----------
    proba : ndarray of shape (m, n_classes)
        Of models that did not see the labels.
    codes : ndarray of shape (m,)
        True columns.
    n_rows : int
        Number n of different rows behind the m answers.

    Examples
    --------
    >>> sure = np.array([[0.9, 0.1]] * 8)
    >>> T = cautious_temperature(sure, np.zeros(8, dtype=int), 8)
    >>> tempered(sure[:1], T).round(2)  # nine of ten, as eight of eight allow
    array([[0.9, 0.1]])
    """
    logs = _logs(proba)
    q = logs.shape[1]
    doubt = 1.0 / (n_rows + 2)
    targets = np.full(logs.shape, doubt / max(q - 1, 1))
    targets[np.arange(len(codes)), codes] = 1.0 - doubt

    def loss(log_inverse: float) -> float:
        return -float(np.sum(targets * log_softmax(logs * np.exp(log_inverse), axis=1)))

    best = minimize_scalar(loss, bounds=(-5, 5), method="bounded")
    return float(np.exp(-best.x))


def _logs(proba: FloatArray) -> FloatArray:
    logs: FloatArray = np.log(np.maximum(proba, 1e-30))
    return logs
