"""Intervals of shares and of differences between two models."""

import numpy as np
from scipy.stats import norm, t

from mercer._base.typing import FloatArray

# Variance of a cross-validated share, in units of that of independent cases.
_FOLDS = 1.25
# A shift may be this much of itself too large or too small.
_SHIFT_DOUBT = 0.25


def paired_interval(
    gains: FloatArray, weights: FloatArray | None = None
) -> tuple[float, float, float]:
    """Return the mean difference of two models on the same rows and its 95% interval.

    Agresti and Min (2005): half a row is added to each of the four outcomes, so that
    a few rows without a difference do not pass for certainty.

    Parameters
    ----------
    gains : ndarray of shape (t,)
        Of each row, from -1 to 1.
    weights : ndarray of shape (t,), optional
        Of the rows; by default they count alike.

    See Also
    --------
    wilson_interval : Of one share.

    Examples
    --------
    >>> lead, low, high = paired_interval(np.array([1.0, 1.0, 0.0, -1.0]))
    >>> lead, low < 0 < high
    (0.25, True)
    """
    seen = float(len(gains)) if weights is None else effective_number(weights)
    mean = float(np.average(gains, weights=weights))
    some = float(np.average(np.abs(gains), weights=weights))
    n = seen + 2
    middle = seen * mean / n
    spread = np.sqrt((seen * some + 1) / n - middle**2) / np.sqrt(n)
    half = float(norm.ppf(0.975)) * float(spread)
    return mean, middle - half, middle + half


def effective_number(weights: FloatArray) -> float:
    """Return how many rows of equal weight tell as much as these.

    Examples
    --------
    >>> effective_number(np.ones(5)), effective_number(np.array([1.0, 1.0, 0.0]))
    (5.0, 2.0)
    """
    return float(weights.sum() ** 2 / (weights**2).sum())


def mean_interval(gains: FloatArray) -> tuple[float, float, float]:
    """Return a mean and its 95% interval, by Student's t.

    Examples
    --------
    >>> middle, low, high = mean_interval(np.array([0.1, 0.2, 0.3]))
    >>> round(middle, 3), round(low, 3), round(high, 3)
    (0.2, -0.048, 0.448)
    """
    n = len(gains)
    middle = float(gains.mean())
    if n < 2:
        return middle, -1.0, 1.0
    half = float(t.ppf(0.975, n - 1)) * float(gains.std(ddof=1)) / np.sqrt(n)
    return middle, float(middle - half), float(middle + half)


def wilson_interval(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share seen in n cases.

    Parameters
    ----------
    share : float
        Observed share, between 0 and 1.
    n : float
        Number of independent cases.

    See Also
    --------
    paired_interval : Of the difference of two shares.
    held_out_interval : Of hidden labels, which are not independent cases.

    Examples
    --------
    >>> low, high = wilson_interval(0.9, 20)
    >>> round(low, 3), round(high, 3)
    (0.699, 0.972)
    """
    z = float(norm.ppf(0.975))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)


def held_out_interval(
    share: float,
    n: float,
    *,
    shift: float = 0.0,
    n_untested: float = 0,
    n_rest: float = np.inf,
) -> tuple[float, float, float]:
    r"""Return what to expect of a model on the unlabelled rows, with a 95% interval.

    The share is that of labels predicted by cross-validation. Its variance is larger
    than that of n independent cases: the models of the folds share most of their
    labels, and the model in question is yet another one. The unlabelled rows are
    themselves a finite sample. Wilson's interval is taken with :math:`1.25/n + 1/m` in
    place of :math:`1/n`, for m unlabelled rows.

    Labelled rows need not be like the others: rows that were asked about are harder.
    The shift is by how much more confident the model is about the others than about
    hidden ones. The interval is shifted by this amount and widened by a quarter of it
    on each side.

    Labels that are alone in their class cannot be tested. If such classes exist, other
    classes probably have no label at all and will be missed. The estimate therefore
    counts a matching fraction of the rows as wrong. They may be right after all, which
    widens the interval.

    Parameters
    ----------
    share : float
        Of the tested labels that were predicted right.
    n : float
        Tested labels; fewer where some weigh more than others (`effective_number`).
    shift : float, default=0.0
        Mean confidence about the unlabelled rows, less that about hidden labels.
    n_untested : float, default=0
        Labels that are alone in their class.
    n_rest : float, default=inf
        Unlabelled rows.

    Returns
    -------
    expected, low, high : float

    See Also
    --------
    wilson_interval : Of independent cases.
    check_by_hiding : Where hidden labels come from.

    Notes
    -----
    How often it holds the truth: docs/trust.md. Five folds would ask for 2.25 in place
    of 1.25 by Nadeau and Bengio (2003), which proved too wide: labels are hidden twice.

    Examples
    --------
    >>> [round(v, 2) for v in held_out_interval(0.9, 40)]
    [0.9, 0.75, 0.96]
    >>> [round(v, 2) for v in held_out_interval(0.9, 40, n_untested=4)]
    [0.82, 0.68, 0.97]
    >>> [round(v, 2) for v in held_out_interval(0.7, 40, shift=0.1)]
    [0.8, 0.6, 0.96]
    """
    low, high = wilson_interval(share, 1 / (_FOLDS / n + 1 / n_rest))
    wider = _SHIFT_DOUBT * abs(shift)
    low, high = low + shift - wider, high + shift + wider
    tested = n / (n + n_untested)
    return (
        tested * float(np.clip(share + shift, 0, 1)),
        tested * float(np.clip(low, 0, 1)),
        tested * float(np.clip(high, 0, 1)) + 1 - tested,
    )
