"""Labels most likely wrong."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from mercer._html import Shown
from mercer._typing import BoolArray, FloatArray, IntArray

# Shares of wrong labels that are thought possible: none, few, many.
_NOISE = np.array([1e-4, 0.02, 0.1])
# Held-out scores may be too flat or too steep by these factors.
_SLOPES = np.geomspace(0.5, 8.0, 9)
# Rows that look like another class although their label is right.
_ODD_ROWS = 0.01
# A label looks wrong if it is wrong with at least this probability.
DOUBT = 0.6


@dataclass(frozen=True, eq=False)
class SuspiciousLabels(Shown):
    """Given labels, the least supported first."""

    ids: NDArray[Any]
    given: NDArray[Any]
    suggested: NDArray[Any]  # the class the other labels speak for
    support: FloatArray  # probability of the given label without it, ascending
    best: FloatArray  # probability of the suggested one
    wrong: FloatArray  # probability that the given label is wrong


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
        probability_wrong(logs, codes)[order],
    )


def probability_wrong(
    logs: FloatArray, codes: IntArray, *, odd_rows: float = _ODD_ROWS
) -> FloatArray:
    r"""Return the probability that each given label is wrong, (l,).

    A contradicted label is wrong, or classes overlap, or the row is odd. All labels
    together tell these apart: with a share :math:`\varepsilon` of wrong labels, each
    of them any other class, and scores steeper by a factor s, a label c has the
    likelihood

    .. math:: (1 - \varepsilon) q_c + \frac{\varepsilon}{C - 1} (1 - q_c),
        \qquad q = 0.99\, \mathrm{softmax}(s \log p) + 0.01 / C,

    and its second part is that of a wrong one. The answer is the mean over
    :math:`\varepsilon` (none, 1 in 50, 1 in 10) and s (1/2 to 8). Where held-out
    predictions are often unsure or missed, overlap explains a contradiction, and
    nothing is suspected. A single contradicted label among many that agree is an odd
    row as likely as a wrong label.

    Parameters
    ----------
    logs : ndarray of shape (l, n_classes)
        Logarithms of probabilities, the point's own label left out.
    codes : ndarray of shape (l,)
        Given classes.
    odd_rows : float, default=0.01
        Share of rows that look like another class with the right label.

    Examples
    --------
    >>> codes = np.repeat([0, 1], 20)
    >>> said = codes.copy()
    >>> said[[7, 11, 19]] = 1
    >>> sure, unsure = np.log([[0.95, 0.05], [0.6, 0.4]])
    >>> for p in sure, unsure:
    ...     logs = np.stack([p, p[::-1]])[said]
    ...     wrong = probability_wrong(logs, codes)
    ...     print(wrong[7].round(2), wrong[8].round(2))
    0.6 0.0
    0.21 0.0
    """
    n_classes = logs.shape[1]
    steeper = softmax(_SLOPES[:, None, None] * logs, axis=2)
    q = (1 - odd_rows) * steeper[:, np.arange(len(codes)), codes] + odd_rows / n_classes
    noise = _NOISE[:, None]
    right, wrong = (1 - noise) * q[:, None], noise / (n_classes - 1) * (1 - q[:, None])
    total = np.log(right + wrong).sum(axis=2)  # (slopes, noise)
    chance: FloatArray = np.einsum("se,sel->l", softmax(total), wrong / (right + wrong))
    return chance


def is_doubtful(ranked: SuspiciousLabels, *, at_least: float = DOUBT) -> BoolArray:
    """Tell which labels look wrong.

    Parameters
    ----------
    ranked : SuspiciousLabels
    at_least : float, default=0.6
        Probability of being wrong. How many of those are: docs/trust.md.

    Examples
    --------
    >>> held_out = np.log(np.repeat([[0.99, 0.01], [0.01, 0.99]], 20, axis=0))
    >>> codes = np.repeat([0, 1], 20)
    >>> codes[[7, 19]] = 1
    >>> ranked = rank_labels(held_out, codes, np.arange(40), np.array(["a", "b"]))
    >>> ranked.ids[is_doubtful(ranked)]
    array([ 7, 19])
    """
    doubtful: BoolArray = ranked.wrong >= at_least
    return doubtful


def false_alarms(ranked: SuspiciousLabels) -> float:
    """Return the share of the labels that look wrong which is expected to be right.

    0 where no label looks wrong.
    """
    doubtful = is_doubtful(ranked)
    return float(1 - ranked.wrong[doubtful].mean()) if doubtful.any() else 0.0
