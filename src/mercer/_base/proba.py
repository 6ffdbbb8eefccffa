"""Classes and their probabilities from decision values."""

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches

from mercer._base.typing import FloatArray, IntArray

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


def lead(columns: FloatArray) -> FloatArray:
    """Return one number per class; for two classes the lead of the second, (..., q).

    Examples
    --------
    >>> lead(np.array([0.25, 0.75])), lead(np.array([0.5, 0.25, 0.25]))
    (array([0.5]), array([0.5 , 0.25, 0.25]))
    """
    return columns[..., 1:] - columns[..., :1] if columns.shape[-1] == 2 else columns


def codes_of(scores: FloatArray) -> IntArray:
    """Return the predicted class of each row of decision values, (m, q).

    Examples
    --------
    >>> codes_of(np.array([[-1.0], [2.0]])), codes_of(np.array([[0.0, 3.0, 1.0]]))
    (array([0, 1]), array([1]))
    """
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    best: IntArray = scores.argmax(axis=1)
    return best


def log_of(proba: FloatArray) -> FloatArray:
    """Return the logarithm; that of 0 is minus infinity, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(proba)
