"""Labels most likely wrong."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from mercer._base.html import Shown
from mercer._base.typing import BoolArray, FloatArray, IntArray

# Labels are named if some label is wrong with at least the first probability, which is
# more than the two thirds believed beforehand, and, if so, this one with at least the
# second: on the data sets of choice more than four of five named ones are wrong, and
# nothing is named in 97% of the tables of right labels.
SOME_WRONG, DOUBT = 0.7, 0.42
# How many labels to look at first where none is likely to be wrong.
FIRST = 10
# Logarithms of the factors by which held-out scores may be too flat.
_STEEPER = np.linspace(-1.4, 2.2, 13)
# Limit of work: rounds in which the pattern of the errors is estimated.
_ROUNDS = 8


@dataclass(frozen=True)
class NoisePrior:
    """What is believed of labels before any is looked at.

    Chosen on 25 data sets, with no labels or a tenth of them changed, at random or by a
    pattern (docs/evidence/trust.md).

    Parameters
    ----------
    shares : tuple of float
        Shares of wrong labels that are thought equally possible. The first one stands
        for none.
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
        Share of rows that look like any class, with the right label.
    misleading : float
        Of the missed labels that the share of wrong ones does not explain, the part
        whose rows look clearly like another class although the label is right. Without
        it half of the labels named among 26 letters were right.
    evenness : float
        Errors that are added for each class, spread evenly over the other classes,
        before it is estimated which class is taken for which.

    See Also
    --------
    rank_labels : Takes it.

    Examples
    --------
    >>> NoisePrior().shares[0]  # there may be no wrong label at all
    0.0001
    >>> NoisePrior(shares=(0.2, 0.3)).odd_rows  # where many are known to be wrong
    0.003
    """

    shares: tuple[float, ...] = (1e-4, 0.05, 0.1)
    steeper: float = 4.5
    spread: float = 0.2
    spread_per_share: float = 0.6
    any_slope: float = 0.1
    odd_rows: float = 0.003
    misleading: float = 0.05
    evenness: float = 6.0


@dataclass(frozen=True, eq=False)
class SuspiciousLabels(Shown):
    """Given labels, the least supported first.

    See Also
    --------
    rank_labels : Returns them.

    Examples
    --------
    >>> ids, given, suggested = np.array([7, 2]), np.array([1, 0]), np.array([0, 0])
    >>> support, best, wrong = np.array([0.1, 0.9]), np.array([0.9, 0.9]), [0.8, 0.01]
    >>> of_labels = support, best, np.array(wrong)
    >>> labels = SuspiciousLabels(ids, given, suggested, *of_labels, all_right=0.1)
    >>> labels.ids[labels.looks_wrong]
    array([7])
    """

    ids: NDArray[Any]  # row ids, the least supported label first
    given: NDArray[Any]  # their labels
    suggested: NDArray[Any]  # the class that the other labels support
    support: FloatArray  # probability of the given label without it, ascending
    best: FloatArray  # probability of the suggested one
    wrong: FloatArray  # probability that the given label is wrong
    all_right: float  # probability that no label is wrong

    def _title(self) -> str:
        n = int(np.count_nonzero(self.looks_wrong))
        if n == 0:
            first = f"the {len(self.first)} to look at first"
            return f"No label of {len(self.ids):,} is likely to be wrong; {first}"
        return f"{n} of {len(self.ids):,} labels look{'s' * (n == 1)} wrong"

    def _facts(self) -> dict[str, Any]:
        first = self.first_places
        order = np.r_[first, np.delete(np.arange(len(self.ids)), first)]
        return {
            "row": self.ids[order].astype(str),
            "given label": self.given[order],
            "suggested label": self.suggested[order],
            "its probability": _percent(self.best[order]),
            "probability that the given one is wrong": _percent(self.wrong[order]),
        }

    @property
    def looks_wrong(self) -> BoolArray:
        """Which labels to look at again.

        None, unless some label is wrong with a probability of at least 0.7; then those
        that are wrong with one of at least 0.42, if any is.
        """
        if 1 - self.all_right < SOME_WRONG:
            return np.zeros(len(self.wrong), dtype=bool)
        doubtful: BoolArray = self.wrong >= DOUBT * (1 - self.all_right)
        return doubtful

    @property
    def first(self) -> NDArray[Any]:
        """Row ids to look at first: those that look wrong, or the ten likeliest."""
        return self.ids[self.first_places]

    @property
    def first_places(self) -> IntArray:
        """Places in the list of those to look at first, for all who show it."""
        found = np.flatnonzero(self.looks_wrong)
        if len(found):
            return found
        return np.argsort(-self.wrong, kind="stable")[:FIRST]

    @property
    def false_alarms(self) -> float:
        """Share of the labels that look wrong that is right, if any label is wrong."""
        named = self.wrong[self.looks_wrong] / (1 - self.all_right)
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
        Names of the classes.
    prior : NoisePrior, optional
        What is assumed of label errors.

    See Also
    --------
    UnifiedKernelMachine.suspicious_labels : The list of a fitted model.
    NoisePrior : What is assumed of label errors.

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
    found = believe_errors(logs, codes, prior=prior)
    return SuspiciousLabels(
        ids[order],
        classes[codes[order]],
        classes[logs.argmax(axis=1)[order]],
        support[order],
        np.exp(logs.max(axis=1))[order],
        found.wrong[order],
        found.all_right,
    )


@dataclass(frozen=True, slots=True, eq=False)
class BelievedErrors:
    """What `believe_errors` found."""

    wrong: FloatArray  # (l,) probability that each label is wrong
    all_right: float  # that none is


def believe_errors(
    logs: FloatArray, codes: IntArray, *, prior: NoisePrior | None = None
) -> BelievedErrors:
    r"""Return the probability that each given label is wrong, and that none is.

    A contradicted label is wrong, or classes overlap, or the row is odd. All labels
    together tell these apart: with a share :math:`\varepsilon` of wrong labels and
    scores steeper by a factor s, a label c has the likelihood

    .. math:: (1 - \varepsilon - o)\, q_c
        + (\varepsilon + o) \sum_{t \ne c} q_t N_{tc}, \qquad
        q = 0.997\, \mathrm{softmax}(s \log p) + 0.003 / C.

    N tells which class is taken for which, and o is the share of rows that mislead: a
    twentieth of the missed labels that :math:`\varepsilon` leaves. Of the second part,
    :math:`\varepsilon / (\varepsilon + o)` is that of a wrong label. Errors are even,
    :math:`N_{tc} = 1 / (C - 1)`, or have a pattern, and N is estimated from the other
    labels (`_patterned`). The answer is the mean over :math:`\varepsilon`, s and both
    kinds of errors.

    The scores are calibrated on the given labels, so s is about 1 if all of these are
    right, and grows with :math:`\varepsilon`: :math:`\log s` is normal about
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

    Notes
    -----
    A transition matrix of wrong labels is that of Natarajan et al. (NIPS 2013) and of
    confident learning (Northcutt, Jiang and Chuang, JAIR 2021). Even errors alone
    cannot explain ten rows of class 3 that are all called 8: the share of 8 among
    them is then larger than any even share, and overlap explains it better.

    Examples
    --------
    >>> codes = np.repeat([0, 1], 20)
    >>> said = codes.copy()
    >>> said[[7, 11, 19]] = 1
    >>> sure, unsure = np.log([[0.99, 0.01], [0.7, 0.3]])
    >>> for p in sure, unsure:
    ...     logs = np.stack([p, p[::-1]])[said]
    ...     wrong = believe_errors(logs, codes).wrong
    ...     print(wrong[7].round(2), wrong[8].round(2))
    0.82 0.0
    0.49 0.01
    """
    prior = NoisePrior() if prior is None else prior
    n, C = logs.shape
    rows = np.arange(n)
    q = softmax(np.exp(_STEEPER)[:, None, None] * logs, axis=2)  # (slopes, l, C)
    q = (1 - prior.odd_rows) * q + prior.odd_rows / C
    own = q[:, rows, codes]
    q[:, rows, codes] = 0.0  # from here on the other classes
    missed = (np.count_nonzero(logs.argmax(axis=1) != codes) + 0.5) / (n + 1)
    evidence, chances = [], []
    for share in prior.shares:
        away = np.log1p(prior.steeper * share)
        spread = prior.spread + prior.spread_per_share * share
        believed = softmax(-(((_STEEPER - away) / spread) ** 2) / 2)
        believed = (1 - prior.any_slope) * believed + prior.any_slope / len(believed)
        strange = share + prior.misleading * max(0.0, missed - share)
        right = (1 - strange) * own
        for others in (
            q.sum(axis=2) / (C - 1),
            _patterned(q, right, codes, strange, prior.evenness),
        ):
            second = strange * others
            evidence.append(np.log(right + second).sum(axis=1) + np.log(believed))
            chances.append(share / strange * second / (right + second))
    weights = softmax(np.array(evidence))  # (shares and kinds, slopes)
    wrong = np.einsum("es,esl->l", weights, np.array(chances))
    return BelievedErrors(wrong, float(weights[:2].sum()))


def _patterned(
    q: FloatArray,  # (slopes, l, C) of the classes that were not given, else 0
    right: FloatArray,  # (slopes, l)
    codes: IntArray,
    strange: float,
    evenness: float,
) -> FloatArray:
    r"""Return :math:`\sum_t q_t N_{tc}` with the pattern N of the other labels.

    Expectation and maximisation: a row counts as t taken for c by its share of the
    likelihood, and N is the counts of all other rows, with `evenness` even ones added.
    """
    C = q.shape[2]
    given = np.eye(C)[codes]
    N = np.full_like(q, 1 / (C - 1))
    for _ in range(_ROUNDS if C > 2 else 0):
        chance = strange * q * N
        chance /= (right + chance.sum(axis=2))[:, :, None]
        counts = chance.transpose(0, 2, 1) @ given  # (slopes, C, C), t taken for c
        N = counts.transpose(0, 2, 1)[:, codes] - chance + evenness / (C - 1)
        N /= counts.sum(axis=2)[:, None] - chance + evenness
    total: FloatArray = (q * N).sum(axis=2)
    return total
