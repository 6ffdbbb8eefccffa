"""How good the model is, from its probabilities and the answers to its questions."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, logsumexp

from mercer._base.typing import ArrayLike, FloatArray

# See benchmarks/studio_interval.py for the sets that these were chosen on. A model is
# about right about itself, but for a shift of the logit, with the tails of Student's t,
# and a stretch of it (mean and spread of its logarithm). With few labels per class it
# is too sure: classes and groups are missing that nobody has shown it. Rows that were
# asked about are predicted right less often than others of their probability; on texts
# hardly so.
_SHIFT, _SHIFT_SPREAD, _SHIFT_TAILS, _CLASSES = 0.2, 0.6, 3, 1.2
_STRETCH, _STRETCH_SPREAD = -0.45, 0.6
_HARDER, _HARDER_SPREAD = 0.9, 0.4
_AGE = 1.5  # power of the share of the labels of today
# Per factor e of labels the logarithm of the odds rises by half, give or take as much.
_RISE, _RISE_SPREAD = 0.5, 0.5
_SHIFTS = np.linspace(-4.0, 3.0, 36)
_STRETCHES = np.linspace(-1.5, 1.25, 12)
_HANDICAPS = np.linspace(-0.1, 1.9, 11)
_SLOPES = np.linspace(-1.0, 2.0, 31)
_SUREST = 1e-3  # probabilities are kept this far from 0 and 1
_DRAWN = 100  # rows that stand for all: quantiles of their probabilities


@dataclass(frozen=True, slots=True)
class Interval:
    """A share with the interval that holds it with 95% probability."""

    mean: float
    low: float
    high: float


class LearningCurve:
    r"""Accuracy on the unlabelled rows, now and with other numbers of labels.

    A model that gives its prediction of row i the probability :math:`p_i` is right with

    .. math:: \operatorname{logit} P(\text{right}_i) = s \operatorname{logit} p_i + d,

    one stretch s and shift d for all rows. Their prior is a product of a lognormal and
    Student's t distribution, whose mean is the lower, the fewer labels there are per
    class. Each question corrects it: was the prediction right more or less often than
    its probability said? A question of long ago was about another model, so it counts
    for :math:`((n + 1)/(n_0 + 1))^{3/2}` of one, with n labels then and :math:`n_0`
    now. Rows that the model asked about are hard for reasons that it does not see: from
    their logit comes off a handicap with a normal prior, which random rows and asked
    ones tell together. The accuracy is the mean of :math:`P(\text{right}_i)` over the
    unlabelled rows. With other numbers of labels its logit changes by
    :math:`b \log\frac{n + 1}{n_0 + 1}`. Both posteriors are summed on grids.

    Parameters
    ----------
    n_labels : array-like of shape (k,)
        Labels that the model had when it predicted.
    right : array-like of shape (k,)
        Whether the answer of a person was the predicted one, for rows that were drawn
        at random or chosen by the model; not those that a person picked.
    sure : array-like of shape (k,)
        Probability of the predicted class, at that time.
    asked : array-like of shape (k,)
        Whether the model chose the row; the others were drawn at random.
    rest : array-like of shape (m,)
        Probability of the predicted class of the unlabelled rows, now.
    now : int
        Labels that the model has now.
    n_classes : int
        Classes among them.

    Examples
    --------
    >>> rest = [0.9, 0.8, 0.95, 0.6]
    >>> curve = LearningCurve([], [], [], [], rest, now=40, n_classes=2)
    >>> found = curve.at(40)
    >>> found.low < 0.81 < found.high
    True
    >>> no = [False] * 20
    >>> wrong = LearningCurve([40] * 20, no, [0.8] * 20, no, rest, now=40, n_classes=2)
    >>> wrong.at(40).high < found.mean
    True
    """

    def __init__(
        self,
        n_labels: ArrayLike,
        right: ArrayLike,
        sure: ArrayLike,
        asked: ArrayLike,
        rest: ArrayLike,
        *,
        now: int,
        n_classes: int,
    ) -> None:
        hit, p = np.asarray(right, dtype=bool), _clipped(sure)
        sign = np.where(hit, 1.0, -1.0)
        # Pairs of a shift and a stretch: (n_pairs, 1) beside rows.
        shift, stretch = (g.reshape(-1, 1) for g in np.meshgrid(_SHIFTS, _STRETCHES))
        usual = _SHIFT - _CLASSES * n_classes / (now + 1)
        off = ((shift - usual) / _SHIFT_SPREAD) ** 2 / _SHIFT_TAILS
        log_weight = -(_SHIFT_TAILS + 1) / 2 * np.log1p(off)
        log_weight -= 0.5 * ((stretch - _STRETCH) / _STRETCH_SPREAD) ** 2
        stretch = np.exp(stretch)
        age = (np.asarray(n_labels, dtype=float) + 1) / (now + 1)
        logits, signs, is_asked, counts = _merged(p, sign, asked, age**_AGE)
        scores = stretch * logits + shift
        by_handicap = [
            log_weight.ravel()
            - 0.5 * ((handicap - _HARDER) / _HARDER_SPREAD) ** 2
            - np.logaddexp(0, -signs * (scores - handicap * is_asked)) @ counts
            for handicap in _HANDICAPS
        ]
        self._weight = _normalised(logsumexp(by_handicap, axis=0))
        every = _clipped(rest)
        q = np.quantile(every, (np.arange(_DRAWN) + 0.5) / _DRAWN)
        each = expit(stretch * logit(q) + shift)
        self._level: FloatArray = logit(each.mean(axis=1).clip(1e-6, 1 - 1e-6))
        # The rows that are left are themselves a sample: (n_pairs,) variances.
        self._noise: FloatArray = (each * (1 - each)).mean(axis=1) / len(every)
        self.now = now
        x = np.log(age)
        level = float(self._weight @ self._level)
        slopes = sign * (level + _SLOPES[:, None] * x)
        log_weight = -0.5 * ((_SLOPES - _RISE) / _RISE_SPREAD) ** 2
        self._slopes = _normalised(log_weight - np.logaddexp(0, -slopes).sum(axis=1))

    def at(self, n: float) -> Interval:
        """Return the accuracy with n labels."""
        return self._interval(self._accuracy(n), float(self._weight @ self._noise))

    def gain(self, more: int) -> Interval:
        """Return what further labels would add to the accuracy."""
        return self._interval(self._accuracy(self.now + more) - expit(self._level), 0.0)

    def _accuracy(self, n: float) -> FloatArray:
        x = np.log((n + 1) / (self.now + 1))
        return np.asarray(expit(self._level + _SLOPES[:, None] * x))

    def _interval(self, values: FloatArray, noise: float) -> Interval:
        weight = np.outer(self._slopes, self._weight).ravel()
        flat = np.broadcast_to(values, (len(_SLOPES), len(self._level))).ravel()
        order = np.argsort(flat)
        below = np.cumsum(weight[order])
        low, high = flat[order][
            np.searchsorted(below, [0.025, 0.975]).clip(0, len(flat) - 1)
        ]
        mean, own = float(flat @ weight), 1.96**2 * noise
        low = mean - np.sqrt((mean - low) ** 2 + own)
        high = mean + np.sqrt((high - mean) ** 2 + own)
        bounds = (0.0, 1.0) if noise else (-1.0, 1.0)
        return Interval(mean, *(float(v) for v in np.clip([low, high], *bounds)))


def _merged(
    p: FloatArray, sign: FloatArray, asked: ArrayLike, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return logits, signs and kinds of like answers, and what these weigh together.

    Logits are rounded to a tenth, so that thousands of answers cost what hundreds do.
    """
    lines = np.stack([logit(p).round(1), sign, np.asarray(asked, dtype=float)])
    unlike, which = np.unique(lines, axis=1, return_inverse=True)
    together = np.zeros(unlike.shape[1])
    np.add.at(together, which.ravel(), weight)
    return unlike[0], unlike[1], unlike[2], together


def _clipped(p: ArrayLike) -> FloatArray:
    clipped: FloatArray = np.clip(np.asarray(p, dtype=float), _SUREST, 1 - _SUREST)
    return clipped


def _normalised(log_weight: FloatArray) -> FloatArray:
    weight = np.exp(log_weight - log_weight.max())
    shares: FloatArray = weight / weight.sum()
    return shares
