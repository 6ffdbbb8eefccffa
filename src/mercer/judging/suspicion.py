"""Labels most likely wrong."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from mercer._base.html import Shown
from mercer._base.typing import BoolArray, FloatArray, IntArray

# A label looks wrong if it is wrong with at least this probability.
DOUBT = 0.6
# Logarithms of the factors by which held-out scores may be too flat.
_STEEPER = np.linspace(-1.4, 2.2, 37)


@dataclass(frozen=True)
class NoisePrior:
    """What is believed of labels before any is looked at.

    Chosen on one half of a collection of data sets, with 0 to 20% of the labels
    changed (docs/trust.md).

    Parameters
    ----------
    shares : tuple of float
        Shares of wrong labels that are thought equally possible.
    steeper : float
        Scores are calibrated on labels some of which are wrong, which makes them too
        flat: with the right labels they are steeper by about 1 + `steeper` times the
        share of wrong ones.
    spread, spread_per_share : float
        Standard deviation of the logarithm of that factor: a constant, and what is
        added per share of wrong labels.
    any_slope : float
        Weight of a factor of any size, from 1/4 to 9: scores that are not calibrated.
    odd_rows : float
        Share of rows that look like another class with the right label.
    """

    shares: tuple[float, ...] = (1e-4, 0.02, 0.05, 0.1, 0.2)
    steeper: float = 4.5
    spread: float = 0.2
    spread_per_share: float = 1.5
    any_slope: float = 0.1
    odd_rows: float = 0.003


@dataclass(frozen=True, eq=False)
class SuspiciousLabels(Shown):
    """Given labels, the least supported first."""

    ids: NDArray[Any]
    given: NDArray[Any]
    suggested: NDArray[Any]  # the class the other labels speak for
    support: FloatArray  # probability of the given label without it, ascending
    best: FloatArray  # probability of the suggested one
    wrong: FloatArray  # probability that the given label is wrong

    def _title(self) -> str:
        n = int(np.count_nonzero(self.looks_wrong))
        verb = "look" if n > 1 else "looks"
        return f"{n or 'None'} of {len(self.ids):,} labels {verb} wrong"

    def _facts(self) -> dict[str, Any]:
        return {
            "row": self.ids.astype(str),
            "given label": self.given,
            "suggested label": self.suggested,
            "its probability": _percent(self.best),
            "probability that the given one is wrong": _percent(self.wrong),
        }

    @property
    def looks_wrong(self) -> BoolArray:
        """Which labels to look at again: wrong with a probability of at least 0.6."""
        doubtful: BoolArray = self.wrong >= DOUBT
        return doubtful

    @property
    def false_alarms(self) -> float:
        """Share of the labels that look wrong which is expected to be right."""
        named = self.wrong[self.looks_wrong]
        return float(1 - named.mean()) if len(named) else 0.0


def _percent(values: FloatArray) -> NDArray[Any]:
    return np.array([f"{value:.0%}" for value in values], dtype=object)


def rank_labels(
    held_out: FloatArray,
    codes: IntArray,
    ids: NDArray[Any],
    classes: NDArray[Any],
    *,
    prior: NoisePrior | None = None,
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
    prior : NoisePrior, optional

    Examples
    --------
    >>> held_out = np.log(np.repeat([[0.99, 0.01], [0.01, 0.99]], 20, axis=0))
    >>> codes = np.repeat([0, 1], 20)
    >>> codes[[7, 19]] = 1
    >>> ranked = rank_labels(held_out, codes, np.arange(40), np.array(["a", "b"]))
    >>> ranked.ids[ranked.looks_wrong], ranked.suggested[ranked.looks_wrong]
    (array([ 7, 19]), array(['a', 'a'], dtype='<U1'))
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
        probability_wrong(logs, codes, prior=prior)[order],
    )


def probability_wrong(
    logs: FloatArray, codes: IntArray, *, prior: NoisePrior | None = None
) -> FloatArray:
    r"""Return the probability that each given label is wrong, (l,).

    A contradicted label is wrong, or classes overlap, or the row is odd. All labels
    together tell these apart: with a share :math:`\varepsilon` of wrong labels, each
    of them any other class, and scores steeper by a factor s, a label c has the
    likelihood

    .. math:: (1 - \varepsilon) q_c + \frac{\varepsilon}{C - 1} (1 - q_c),
        \qquad q = (1 - o)\, \mathrm{softmax}(s \log p) + o / C,

    and its second part is that of a wrong one; o is the share of odd rows. The answer
    is the mean over :math:`\varepsilon` and s. The scores are calibrated on the given
    labels, so s is about 1 if all of these are right, and grows with
    :math:`\varepsilon`: :math:`\log s` is normal about
    :math:`\log(1 + 4.5\, \varepsilon)`, and with a small weight anything. Where
    held-out predictions are missed as often as they are said to be, overlap explains
    it, and nothing is suspected.

    Parameters
    ----------
    logs : ndarray of shape (l, n_classes)
        Logarithms of probabilities, the point's own label left out.
    codes : ndarray of shape (l,)
        Given classes.
    prior : NoisePrior, optional

    Examples
    --------
    >>> codes = np.repeat([0, 1], 20)
    >>> said = codes.copy()
    >>> said[[7, 11, 19]] = 1
    >>> sure, unsure = np.log([[0.99, 0.01], [0.7, 0.3]])
    >>> for p in sure, unsure:
    ...     logs = np.stack([p, p[::-1]])[said]
    ...     wrong = probability_wrong(logs, codes)
    ...     print(wrong[7].round(2), wrong[8].round(2))
    0.81 0.0
    0.47 0.01
    """
    prior = NoisePrior() if prior is None else prior
    n_classes = logs.shape[1]
    own = softmax(np.exp(_STEEPER)[:, None, None] * logs, axis=2)[
        :, np.arange(len(codes)), codes
    ]
    q = (1 - prior.odd_rows) * own + prior.odd_rows / n_classes  # (slopes, l)
    evidence, chances = [], []
    for share in prior.shares:
        right, wrong = (1 - share) * q, share / (n_classes - 1) * (1 - q)
        spread = prior.spread + prior.spread_per_share * share
        away = (_STEEPER - np.log1p(prior.steeper * share)) / spread
        believed = softmax(-(away**2) / 2)
        believed = (1 - prior.any_slope) * believed + prior.any_slope / len(believed)
        evidence.append(np.log(right + wrong).sum(axis=1) + np.log(believed))
        chances.append(wrong / (right + wrong))
    weights = softmax(np.array(evidence))  # (shares, slopes)
    return np.asarray(np.einsum("es,esl->l", weights, np.array(chances)))
