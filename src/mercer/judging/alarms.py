"""A set of labels to check, with the share of it that is expected to be right."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from mercer._html import Shown
from mercer._typing import FloatArray, IntArray

_SLOPES = np.exp(np.linspace(np.log(0.5), np.log(8.0), 9))
_NOISES = np.array(
    [0.0005, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3]
)


@dataclass(frozen=True)
class NoisePrior:
    """What is believed of wrong labels before any is looked at.

    Parameters
    ----------
    a, b : float
        Beta distribution of the share of wrong labels; the default has the mean 13 %.
    slope : float
        Held-out scores were calibrated on labels some of which are wrong, which makes
        them too flat; with the right labels they would be steeper by this.
    spread : float
        Standard deviation of the logarithm of that factor.
    """

    a: float = 3.0
    b: float = 20.0
    slope: float = 2.0
    spread: float = 0.35


@dataclass(frozen=True, eq=False)
class SuspiciousSet(Shown):
    """Labels to look at again, the most suspicious first."""

    ids: NDArray[Any]
    given: NDArray[Any]
    suggested: NDArray[Any]  # the class the other labels speak for
    chance_right: FloatArray  # probability that the given label is right, ascending
    false_alarms: float  # expected share of the set that is right; 0 of an empty set
    wrong: float  # expected number of wrong labels among all that were judged


def chance_right(
    held_out: FloatArray, codes: IntArray, *, prior: NoisePrior | None = None
) -> FloatArray:
    r"""Return the probability that each given label is right, (l,).

    With r the class probabilities of a point and :math:`\epsilon` the share of wrong
    labels, a label y is given with the probability

    .. math:: m = (1 - \epsilon)\, r_y + \epsilon\, (1 - r_y) / (C - 1),

    and is right with the probability :math:`(1 - \epsilon)\, r_y / m`. Averaged over
    the posterior of :math:`\epsilon` and of the slope of r. A label that a model
    without it finds unlikely is not wrong for that: where the model misses many
    labels, it is the model.

    Parameters
    ----------
    held_out : ndarray of shape (l, n_classes)
        Log-probabilities but for a constant, the point's own label left out.
    codes : int ndarray of shape (l,)
        Given classes.
    prior : NoisePrior, optional
        Of the share of wrong labels and of the slope.
    """
    prior = NoisePrior() if prior is None else prior
    C, own = held_out.shape[1], np.arange(len(codes))
    noises = _NOISES[_NOISES < 0.9 * (C - 1) / C]
    evidence, chances = [], []
    for slope in _SLOPES:
        r = np.exp(log_softmax(prior.slope * slope * held_out, axis=1))[own, codes]
        r = r * (1 - 1e-6) + 1e-6 / C  # no label is impossible
        doubt = np.log(slope) ** 2 / (2 * prior.spread**2)
        for noise in noises:
            m = (1 - noise) * r + noise * (1 - r) / (C - 1)
            believed = (prior.a - 1) * np.log(noise) + (prior.b - 1) * np.log1p(-noise)
            evidence.append(float(np.log(m).sum()) + believed - doubt)
            chances.append((1 - noise) * r / m)
    weights = softmax(np.array(evidence))
    return np.asarray(np.tensordot(weights, np.array(chances), axes=1))


def suspicious_set(
    held_out: FloatArray,
    codes: IntArray,
    ids: NDArray[Any],
    classes: NDArray[Any],
    *,
    false_alarms: float = 0.2,
    prior: NoisePrior | None = None,
) -> SuspiciousSet:
    """Return the largest set of labels with at most this expected share of right ones.

    Each label of the set is more likely wrong than right.

    Parameters
    ----------
    held_out, codes : ndarray of shape (l, n_classes) and (l,)
        As in `chance_right`.
    ids : ndarray of shape (l,)
        Row ids.
    classes : ndarray of shape (n_classes,)
    false_alarms : float, default=0.2
        Share of the set that may be right, as expected.
    prior : NoisePrior, optional

    Examples
    --------
    >>> held_out = np.repeat([[8.0, 0.0], [0.0, 8.0]], 20, axis=0)
    >>> codes = np.repeat([0, 1], 20)
    >>> codes[3] = 1
    >>> found = suspicious_set(held_out, codes, np.arange(40), np.array(["a", "b"]))
    >>> found.ids, found.suggested
    (array([3]), array(['a'], dtype='<U1'))
    """
    if not 0 < false_alarms < 1:
        msg = f"false_alarms must be a share between 0 and 1, got {false_alarms}."
        raise ValueError(msg)
    chance = chance_right(held_out, codes, prior=prior)
    order = np.argsort(chance, kind="stable")
    # Both grow along the order.
    mean = np.cumsum(chance[order]) / np.arange(1, len(order) + 1)
    is_likely = chance[order] < 0.5
    chosen = order[: int(((mean <= false_alarms) & is_likely).sum())]
    return SuspiciousSet(
        ids[chosen],
        classes[codes[chosen]],
        classes[held_out.argmax(axis=1)[chosen]],
        chance[chosen],
        float(mean[len(chosen) - 1]) if len(chosen) else 0.0,
        float((1 - chance).sum()),
    )
