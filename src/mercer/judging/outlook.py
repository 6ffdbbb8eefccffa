"""What more labels would bring, from a learning curve of the present labels."""

import warnings
from typing import NamedTuple

import numpy as np

from mercer._base.typing import BoolArray, FloatArray
from mercer.evidence.labels import Labels
from mercer.judging.hiding import Check, Judged
from mercer.judging.intervals import effective_number
from mercer.model_selection import SemiSupervisedKFold

# With more labels the curve is flat, and its points are costly.
MOST_LABELS = 1000
# Fewer tested rows give no curve.
FEWEST_ROWS = 12
_DRAWS = 2000
_REPEATS = 2  # how often folds are dealt


class Outlook(NamedTuple):
    """Expected accuracy with more labels.

    See Also
    --------
    expected_gain : Returns it.

    Examples
    --------
    >>> print(Outlook(20, now=0.80, then=0.84, low=0.81, high=0.87))
    20 more labels: +4.0% (+1.0% to +7.0%)
    """

    n_more: int  # further labels
    now: float  # with the present labels
    then: float  # with n_more further ones
    low: float  # 95% interval of `then`, given `now`
    high: float  # its upper end

    @property
    def gain(self) -> float:
        """Expected gain of the further labels."""
        return self.then - self.now

    @property
    def most_gain(self) -> float:
        """Upper end of its 95% interval."""
        return self.high - self.now

    def _repr_html_(self) -> str:
        return f"<div>{self}</div>"

    def __str__(self) -> str:
        return (
            f"{self.n_more} more labels: {self.gain:+.1%} "
            f"({self.low - self.now:+.1%} to {self.most_gain:+.1%})"
        )


def look_ahead(
    model: Judged,
    labels: Labels,
    check: Check,
    *,
    rng: np.random.Generator,
    n_more: int = 20,
) -> Outlook | None:
    r"""Return what further labels would bring.

    Hidden labels are predicted once from four fifths of the labels (`check`) and once
    from half of them. Between the two the error is taken to fall as

    .. math:: e(n) = a n^{-b}, \qquad 0 \le b \le 1,

    which is followed to all labels and to `n_more` further ones. The uncertainty is
    that of the four outcomes of a tested row (right from both, from one, from none).

    Parameters
    ----------
    model : Judged
        Fitted to these labels.
    labels : Labels
    check : Check
        The result of `check_by_hiding`.
    rng : numpy.random.Generator
    n_more : int, default=20

    Returns
    -------
    Outlook or None
        None with too few labels, or with so many that the curve is flat.
    """
    labeled = labels.labeled
    if len(check.rows) < FEWEST_ROWS or len(labeled) > MOST_LABELS:
        return None
    right, times = _hidden_right(model, labels, 2, rng)
    tested = np.isin(labeled, check.rows) & (times > 0)
    if tested.sum() < FEWEST_ROWS:
        return None
    half = right[tested] / times[tested]
    place = np.searchsorted(check.rows, labeled[tested])
    most = check.proba.argmax(axis=1)[place] == check.codes[place]
    now, weights = check.scores[0].accuracy, check.weights[place]
    return curve(half, most, len(labeled), now, n_more, rng, weights=weights)


def expected_gain(
    model: Judged,
    labels: Labels,
    *,
    rng: np.random.Generator,
    n_more: int = 10,
) -> Outlook | None:
    """Return what further labels would bring, for a loop that may stop.

    As `look_ahead`, with the labels hidden here: in five folds and in halves.

    Parameters
    ----------
    model : Judged
        Fitted to these labels.
    labels : Labels
        The labels that it was fitted to.
    rng : numpy.random.Generator
        Deals the folds.
    n_more : int, default=10
        Number of further labels.

    Returns
    -------
    Outlook or None
        None with too few labels.

    See Also
    --------
    check_by_hiding : How good the model is now.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import UnifiedKernelMachine
    >>> X, truth = load_iris(return_X_y=True)
    >>> y = np.where(np.arange(150) % 5 == 0, truth, -1)
    >>> model = UnifiedKernelMachine(random_state=0).fit(X, y)
    >>> rng = np.random.default_rng(0)
    >>> found = expected_gain(model, model.labels_, rng=rng)
    >>> bool(found.then >= found.now)
    True
    """
    n = len(labels.labeled)
    if n < FEWEST_ROWS:
        return None
    most, times = _hidden_right(model, labels, 5, rng)
    half, halved = _hidden_right(model, labels, 2, rng)
    tested = (times > 0) & (halved > 0)
    if tested.sum() < FEWEST_ROWS:
        return None
    most, half = most[tested] / times[tested], half[tested] / halved[tested]
    return curve(half, most, n, float(most.mean()), n_more, rng)


def _hidden_right(
    model: Judged,
    labels: Labels,
    n_splits: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return how often each label was predicted right when hidden, and how often hid.

    A label alone in its class is never hidden.
    """
    labeled = labels.labeled
    codes = labels.codes[labeled]
    right, times = np.zeros(len(labeled)), np.zeros(len(labeled))
    if labels.counts().max(initial=0) < 2:
        return right, times
    folds = SemiSupervisedKFold(
        n_splits, n_repeats=_REPEATS, random_state=int(rng.integers(2**31))
    )
    for _, test in folds.split(codes, codes):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the final fit says what there is to say
            proba = model.held_out_proba(labeled[test])
        right[test] += proba.argmax(axis=1) == codes[test]
        times[test] += 1
    return right, times


def curve(
    half: FloatArray,
    most: BoolArray | FloatArray,
    n: int,
    now: float,
    n_more: int,
    rng: np.random.Generator,
    *,
    weights: FloatArray | None = None,
) -> Outlook:
    """Return the outlook of a curve through two points.

    Parameters
    ----------
    half : ndarray of shape (t,)
        How often each row was predicted right from half of the labels.
    most : ndarray of shape (t,)
        From four fifths of them.
    n : int
        All labels.
    now : float
        Accuracy that is stated.
    n_more : int
    rng : numpy.random.Generator
    weights : ndarray of shape (t,), optional
        How much each row counts; all alike by default.

    Examples
    --------
    >>> rows = np.repeat([1.0, 0.0], [50, 50])
    >>> better = np.repeat([1.0, 0.0], [80, 20])
    >>> o = curve(rows, better, 40, 0.8, 40, np.random.default_rng(0))
    >>> flat = curve(rows, rows, 40, 0.8, 40, np.random.default_rng(0))
    >>> round(o.then, 2), round(flat.then, 2)
    (0.88, 0.8)
    """
    most = np.asarray(most, dtype=float)
    outcomes = np.array(  # right from both, from most only, from half only, from none
        [half * most, (1 - half) * most, half * (1 - most), (1 - half) * (1 - most)]
    )
    if weights is None:
        weights = np.ones(len(most))
    outcomes = outcomes @ weights * (effective_number(weights) / weights.sum())
    # Half a row more of each, as in `paired_interval`: what was not seen may happen.
    drawn = rng.dirichlet(outcomes + 0.5, size=_DRAWS)
    gains = _gain(drawn[:, 2] + drawn[:, 3], drawn[:, 1] + drawn[:, 3], n, n_more)
    low, high = np.quantile(gains, [0.025, 0.975])
    changes = (float(gains.mean()), float(low), float(high))
    then, least, best = (float(np.clip(now + g, 0, 1)) for g in changes)
    return Outlook(n_more, now, then, least, best)


def _gain(e_most: FloatArray, e_half: FloatArray, n: int, n_more: int) -> FloatArray:
    """Return the error at n labels minus that at n + n_more, of each draw."""
    b = np.clip(np.log(e_half / e_most) / np.log(0.8 / 0.5), 0.0, 1.0)
    e_now = e_most * 0.8**b
    return np.asarray(e_now * (1 - (n / (n + n_more)) ** b))
