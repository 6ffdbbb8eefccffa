"""What more labels would bring, from a learning curve of the labels at hand."""

import warnings
from typing import NamedTuple

import numpy as np

from mercer._labels import Labels
from mercer._typing import BoolArray, FloatArray, IntArray
from mercer.judging.hiding import Check, Judged
from mercer.model_selection import SemiSupervisedKFold

# With more labels the curve is flat, and its points are costly.
MOST_LABELS = 1000
# Fewer tested rows give no curve.
FEWEST_ROWS = 12
_DRAWS = 2000


class Outlook(NamedTuple):
    """Expected accuracy with more labels."""

    n_more: int
    now: float  # with the labels at hand
    then: float  # with n_more further ones
    low: float  # 95 % interval of `then`, given `now`
    high: float


def look_ahead(
    model: Judged,
    labels: Labels,
    check: Check,
    *,
    rng: np.random.Generator,
    n_more: int = 20,
    n_repeats: int = 2,
) -> Outlook | None:
    r"""Return what further labels would bring.

    Hidden labels are predicted once from four fifths of the labels (`check`) and once
    from half of them. Between the two the error is taken to fall as

    .. math:: e(n) = a n^{-b}, \qquad 0 \le b \le 1,

    which is followed to all labels and to `n_more` further ones. The uncertainty is
    that of the tested rows, drawn again with replacement.

    Parameters
    ----------
    model : Judged
        Fitted to these labels.
    labels : Labels
    check : Check
        Of `check_by_hiding`.
    rng : numpy.random.Generator
    n_more : int, default=20
    n_repeats : int, default=2
        How often the labels are halved.

    Returns
    -------
    Outlook or None
        None with too few labels, or with so many that the curve is flat.
    """
    labeled = labels.labeled
    if len(check.rows) < FEWEST_ROWS or len(labeled) > MOST_LABELS:
        return None
    codes = labels.codes[labeled]
    right = np.zeros(len(labeled))
    times = np.zeros(len(labeled))
    folds = SemiSupervisedKFold(
        2, n_repeats=n_repeats, random_state=int(rng.integers(2**31))
    )
    for _, test in folds.split(codes, codes):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            proba = model.held_out_proba(labeled[test])
        right[test] += proba.argmax(axis=1) == codes[test]
        times[test] += 1
    tested = np.isin(labeled, check.rows) & (times > 0)
    if tested.sum() < FEWEST_ROWS:
        return None
    half = right[tested] / times[tested]
    place = np.searchsorted(check.rows, labeled[tested])
    most = check.proba.argmax(axis=1)[place] == check.codes[place]
    return curve(half, most, len(labeled), check.scores[0].accuracy, n_more, rng)


def curve(
    half: FloatArray,
    most: BoolArray | FloatArray,
    n: int,
    now: float,
    n_more: int,
    rng: np.random.Generator,
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

    Examples
    --------
    >>> rows = np.repeat([1.0, 0.0], [50, 50])
    >>> better = np.repeat([1.0, 0.0], [80, 20])
    >>> o = curve(rows, better, 40, 0.8, 40, np.random.default_rng(0))
    >>> o.then > o.now, curve(rows, rows, 40, 0.5, 40, np.random.default_rng(0)).then
    (True, 0.5)
    """
    t = len(half)
    drawn: IntArray = rng.integers(t, size=(_DRAWS, t))
    gains = _gain(half[drawn], np.asarray(most, dtype=float)[drawn], n, n_more)
    gain = float(_gain(half[None], np.asarray(most, dtype=float)[None], n, n_more)[0])
    low, high = np.quantile(gains, [0.025, 0.975])
    then, low, high = (float(np.clip(now + g, 0, 1)) for g in (gain, low, high))
    return Outlook(n_more, now, then, min(low, then), max(high, then))


def _gain(half: FloatArray, most: FloatArray, n: int, n_more: int) -> FloatArray:
    """Return the error at n labels minus that at n + n_more, of each draw of rows."""
    t = half.shape[1]
    # Half an error more, so that none at all does not mean never.
    e_half = 1 - half.mean(axis=1) + 0.5 / t
    e_most = 1 - most.mean(axis=1) + 0.5 / t
    b = np.clip(np.log(e_half / e_most) / np.log(0.8 / 0.5), 0.0, 1.0)
    e_now = e_most * 0.8**b
    return np.asarray(e_now * (1 - (n / (n + n_more)) ** b))
