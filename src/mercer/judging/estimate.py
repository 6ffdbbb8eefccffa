"""How good the model is, from answers to questions that were drawn at random."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from mercer._base.typing import ArrayLike, FloatArray

# Of the logarithm of the odds: before any check 5% to 95% are all possible; per
# factor e of labels they rise by half, give or take as much.
_PRIOR_SPREAD, _RISE, _RISE_SPREAD = 2.0, 0.5, 0.5
_LEVEL = logit(np.linspace(0.001, 0.999, 200))
_SLOPES = np.linspace(-1.0, 2.0, 31)


@dataclass(frozen=True, slots=True)
class Interval:
    """A share with the interval that holds it with 95% probability."""

    mean: float
    low: float
    high: float


class LearningCurve:
    r"""Accuracy as a function of the number of labels, from single outcomes.

    .. math:: \operatorname{logit} P(\text{right} \mid n)
        = a + b \log\frac{n + 1}{n_0 + 1}

    with :math:`n_0` the labels now, so that a is the accuracy now. The posterior of
    a and b under a normal prior is summed on a grid: nothing is approximated when
    there are only a handful of outcomes, or when all of them are right.

    Parameters
    ----------
    n_labels : array-like of shape (k,)
        Labels that the model had when it predicted.
    right : array-like of shape (k,)
        Whether the answer of a person was the predicted one. The items must have been
        drawn at random: items that the model chose because it was uncertain would
        make it look worse than it is.
    now : int
        Labels that the model has now.

    Examples
    --------
    >>> curve = LearningCurve([10, 20, 30, 40], [1, 0, 1, 1], now=40)
    >>> curve.at(40).low < 0.75 < curve.at(40).high
    True
    """

    def __init__(self, n_labels: ArrayLike, right: ArrayLike, *, now: int) -> None:
        x = np.log((np.asarray(n_labels, dtype=float) + 1) / (now + 1))
        hit = np.asarray(right, dtype=bool)
        self.now = now
        log_weight = -0.5 * (_LEVEL / _PRIOR_SPREAD) ** 2
        log_weight = log_weight[:, None] - 0.5 * ((_SLOPES - _RISE) / _RISE_SPREAD) ** 2
        # The grid is even in the accuracy, not in its logarithm of odds.
        p = expit(_LEVEL)
        log_weight = log_weight - np.log(p * (1 - p))[:, None]
        for xi, is_right in zip(x, hit, strict=True):
            score = _LEVEL[:, None] + _SLOPES * xi
            log_weight += -np.logaddexp(0, -score if is_right else score)
        weight = np.exp(log_weight - log_weight.max())
        self._weight: FloatArray = weight / weight.sum()

    def at(self, n: float) -> Interval:
        """Return the accuracy with n labels."""
        return self._interval(self._accuracy(n))

    def gain(self, more: int) -> Interval:
        """Return what further labels would add to the accuracy."""
        return self._interval(self._accuracy(self.now + more) - expit(_LEVEL)[:, None])

    def _accuracy(self, n: float) -> FloatArray:
        x = np.log((n + 1) / (self.now + 1))
        accuracy: FloatArray = expit(_LEVEL[:, None] + _SLOPES * x)
        return accuracy

    def _interval(self, values: FloatArray) -> Interval:
        values = np.broadcast_to(values, self._weight.shape)
        order = np.argsort(values, axis=None)
        below = np.cumsum(self._weight.ravel()[order])
        low, high = np.searchsorted(below, [0.025, 0.975])
        flat = values.ravel()[order]
        mean = float((values * self._weight).sum())
        return Interval(mean, float(flat[low]), float(flat[min(high, len(flat) - 1)]))
