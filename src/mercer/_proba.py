"""Probabilities of the classes from decision values."""

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches

from mercer._typing import FloatArray

_AT_A_TIME = 2**16  # numbers, which stay in the cache


def probabilities(scores: FloatArray) -> FloatArray:
    """Return the logistic function of decision values, (m, n_classes).

    Parameters
    ----------
    scores : ndarray of shape (m,), (m, 1) or (m, n_classes)
        One column is of two classes, above 0 for the second.

    Examples
    --------
    >>> probabilities(np.array([0.0, 2.0])).round(2)
    array([[0.5 , 0.5 ],
           [0.12, 0.88]])
    """
    if scores.ndim == 1:
        scores = scores[:, None]
    if scores.shape[1] == 1:
        return np.hstack([expit(-scores), expit(scores)])
    proba = np.empty(scores.shape)
    for rows in gen_batches(len(scores), max(1, _AT_A_TIME // scores.shape[1])):
        columns = np.array(scores[rows].T, order="C")  # long axes are summed faster
        columns -= columns.max(axis=0)
        np.exp(columns, out=columns)
        columns /= columns.sum(axis=0)
        proba[rows] = columns.T
    return proba


def log_of(proba: FloatArray) -> FloatArray:
    """Return the logarithm; that of 0 is minus infinity, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(proba)
