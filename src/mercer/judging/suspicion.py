"""Labels most likely wrong."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from mercer._html import Shown
from mercer._typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SuspiciousLabels(Shown):
    """Given labels, the least supported first."""

    ids: NDArray[Any]
    given: NDArray[Any]
    suggested: NDArray[Any]  # the class the other labels speak for
    support: FloatArray  # probability of the given label without it, ascending
    best: FloatArray  # probability of the suggested one


def rank_labels(
    held_out: FloatArray, codes: IntArray, ids: NDArray[Any], classes: NDArray[Any]
) -> SuspiciousLabels:
    """Rank labels by the probability a model trained without them gives them.

    Parameters
    ----------
    held_out : ndarray of shape (l, n_classes)
        Log-probabilities but for a constant, the point's own label left out.
    codes : ndarray of shape (l,)
        Given classes, positions in `classes`.
    ids : ndarray of shape (l,)
        Row ids.
    classes : ndarray of shape (n_classes,)

    Examples
    --------
    >>> scores = np.log([[0.9, 0.1], [0.8, 0.2]])
    >>> codes, ids, classes = np.array([0, 1]), np.array([7, 8]), np.array(["a", "b"])
    >>> rank_labels(scores, codes, ids, classes).ids
    array([8, 7])
    """
    logs = log_softmax(held_out, axis=1)
    support = np.exp(logs[np.arange(len(codes)), codes])
    order = np.argsort(support, kind="stable")
    return SuspiciousLabels(
        ids[order],
        classes[codes[order]],
        classes[logs.argmax(axis=1)[order]],
        support[order],
        np.exp(logs.max(axis=1))[order],
    )


def is_doubtful(ranked: SuspiciousLabels) -> BoolArray:
    """Tell which labels look wrong: another class is at least four times as likely.

    Examples
    --------
    >>> ranked = SuspiciousLabels(*np.array([[1, 2], [0, 0], [1, 0]]),
    ...                           np.array([0.1, 0.9]), np.array([0.9, 0.9]))
    >>> is_doubtful(ranked)
    array([ True, False])
    """
    doubtful: BoolArray = ranked.best >= np.maximum(0.5, 4 * ranked.support)
    return doubtful
