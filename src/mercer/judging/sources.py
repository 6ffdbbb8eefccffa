"""How reliable sources are: what a person reads."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import softmax

from mercer._base.html import Shown
from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer._base.words import counted, some
from mercer.evidence.sources import Sources
from mercer.evidence.weighing import Weighed, are_rules, cautious, weigh_sources
from mercer.judging.intervals import wilson_interval

__all__ = ["SourceJudged", "SourceReport", "report_sources", "weigh_sources"]

# The kernel learned from votes, and not from what is true: how sure it should be is
# known to about a factor of two.
_SURENESS = (0.5, 1.0, 2.0)
# Beliefs are wrong of similar rows together: their variance counts twice, and they
# tell no more than this many votes do; of a rule less, since it taught them. Chosen on
# the sets of choice in benchmarks/sources.py.
_TOGETHER, _MOST, _OF_A_RULE = 2.0, 2000.0, 16.0
# Votes by which a source is known beforehand, times their variance.
_BEFORE = 0.64
# Share of what is missing that is known at least.
_LEFT = 0.1
# Sources that copy at least this share of their votes are named.
_COPIES = 0.3


@dataclass(frozen=True)
class SourceJudged:
    """What is known of one source.

    See Also
    --------
    SourceReport : Has one for each source; docs/guides/sources.md has an example.
    """

    name: str  # of the source
    accuracy: float  # share of its votes that are right
    low: float  # 95% interval
    high: float  # its upper end
    n_votes: int  # rows that it votes on
    coverage: float  # share of the rows that it votes on
    conflicts: float  # share of its votes that contradict the other sources
    n_checked: int  # votes on rows with a true label
    decided: int  # rows that have another class without it
    chance: float  # accuracy of guessing
    copies: tuple[str, ...]  # sources that it agrees with more than it should

    @property
    def is_worse_than_chance(self) -> bool:
        """Whether guessing would be better, beyond doubt."""
        return self.n_votes > 0 and self.high < self.chance


@dataclass(frozen=True, eq=False)
class SourceReport(Shown):
    """What is known about all sources, and from which labels and votes.

    See Also
    --------
    UnifiedKernelMachine.source_report : docs/guides/sources.md has an example.
    """

    sources: tuple[SourceJudged, ...]  # one entry for each
    n_true: int  # true labels
    n_rows: int  # rows of the table
    disputed: IntArray  # rows on which sources contradict each other, worst first

    def _title(self) -> str:
        return f"{counted(len(self.sources), 'source')}; {self.rests_on}"

    @property
    def rests_on(self) -> str:
        """Say what the accuracies were judged by."""
        if self.n_true:
            return f"judged by {counted(self.n_true, 'true label')} and by each other"
        return (
            "judged by each other and by similar rows alone: without a true label, "
            "what most good sources say is taken for true"
        )

    @property
    def warnings(self) -> list[str]:
        """Say which sources are worse than chance, or copies."""
        found = [
            f"{s.name} is worse than chance: {s.accuracy:.0%} of its votes are right "
            f"({s.low:.0%} to {s.high:.0%}), where guessing has {s.chance:.0%}."
            for s in self.sources
            if s.is_worse_than_chance
        ]
        named = set()
        for s in self.sources:
            group = frozenset((s.name, *s.copies))
            if s.copies and group not in named:
                named.add(group)
                found.append(
                    f"{s.name} agrees with {some(s.copies)} more than independent "
                    "sources would; together they count less than they are."
                )
        return found

    def _facts(self) -> dict[str, Any]:
        every = self.sources

        def column(texts: list[str]) -> NDArray[Any]:
            return np.array(texts, dtype=object)

        facts: dict[str, Any] = {
            "source": column([s.name for s in every]),
            "accuracy": column([f"{s.accuracy:.0%}" for s in every]),
            "95% interval": column([f"{s.low:.0%} to {s.high:.0%}" for s in every]),
            "votes on": column([f"{s.coverage:.0%}" for s in every]),
            "contradicts others": column([f"{s.conflicts:.0%}" for s in every]),
            "rows it decides": column([f"{s.decided:,}" for s in every]),
        }
        return facts


def report_sources(
    weighed: Weighed,
    codes: IntArray,
    *,
    log_prior: FloatArray | None = None,
    opinion: FloatArray | None = None,
) -> SourceReport:
    r"""Return what is known of sources.

    The accuracy of a source is the share of its votes that are right: known where
    there is a true label, else the mean belief r in its votes. Its interval is Wilson's
    with the variance

    .. math:: \frac{2}{n^2} \frac{b}{1 - b / (n a (1 - a))} + \operatorname{var} a
        + \frac{a (1 - a)}{2000}, \qquad b = \sum_i r_i (1 - r_i).

    The reliability itself is estimated from beliefs, of which the share
    b / (n a (1 - a)) is missing. The kernel learned from votes, right or wrong, and its
    accuracy cannot be told from theirs: beliefs are formed as if it should be half as
    sure, as it is, and twice as sure. a is the mean of the three, and the variance has
    what they differ by. The rest is for errors of similar rows together. Beliefs about
    a rule, which taught the kernel, tell no more than 16 votes.

    Parameters
    ----------
    weighed : Weighed
        Sources with their estimated reliabilities and the beliefs about rows.
    codes : int ndarray of shape (n,)
        True classes, -1 where there is none.
    log_prior, opinion : ndarray of shape (n, n_classes), optional
        What was known of rows besides the votes, as in `weigh_sources`.

    See Also
    --------
    UnifiedKernelMachine.source_report : docs/guides/sources.md has an example.

    Notes
    -----
    The first term is the missing information of EM (Louis 1982) for one number.
    """
    sources = weighed.sources
    logs = cautious(softmax(weighed.prior(log_prior, opinion), axis=1))
    logs = logs + weighed.reliability.evidence(sources.votes)
    views = _views(weighed, codes, log_prior, opinion)
    names = np.array(sources.names, dtype=object)
    clash = _clashes(sources, weighed.beliefs)
    rules = are_rules(sources)
    judged = []
    for k, name in enumerate(sources.names):
        near = names[weighed.copies.dependence[k] >= _COPIES]
        judged.append(_judged(k, name, tuple(near), weighed, views, codes, logs, rules))
    worst = np.argsort(-clash, kind="stable")
    worst = worst[(clash[worst] > 0) & (codes[worst] < 0)]
    n_true = int(np.count_nonzero(codes >= 0))
    return SourceReport(tuple(judged), n_true, len(codes), worst)


def _views(
    weighed: Weighed,
    codes: IntArray,
    log_prior: FloatArray | None,
    opinion: FloatArray | None,
) -> list[FloatArray]:
    """Return beliefs as they are and by an opinion that is more or less sure."""
    found = []
    for slope in _SURENESS if opinion is not None else (1.0,):
        if opinion is None or slope == 1.0:
            found.append(weighed.beliefs)
            continue
        p = softmax(slope * cautious(opinion), axis=1)
        other = weigh_sources(
            weighed.sources,
            codes,
            log_prior=log_prior,
            opinion=p,
            copies=weighed.copies,
        )
        prior = cautious(np.exp(other.prior(log_prior, p)))
        found.append(other.at(weighed.sources, codes, prior))
    return found


def _clashes(sources: Sources, q: FloatArray) -> FloatArray:
    """Return how evenly the votes on each row are divided, 0 where they agree, (n,)."""
    hard = ~sources.denied
    C = len(sources.classes)
    hot = np.eye(C)[sources.answer] * hard[:, None]
    counts = np.asarray(sources.votes @ hot)
    total = counts.sum(axis=1)
    top = counts.max(axis=1, initial=0.0)
    uneven = np.divide(top, total, out=np.ones(len(total)), where=total > 0)
    unsure = 1 - q.max(axis=1, initial=0.0)
    return np.asarray((1 - uneven) * unsure)


def _judged(
    k: int,
    name: str,
    near: tuple[str, ...],
    weighed: Weighed,
    views: list[FloatArray],
    codes: IntArray,
    logs: FloatArray,
    rules: BoolArray,
) -> SourceJudged:
    sources, q = weighed.sources, weighed.beliefs
    columns = np.flatnonzero(sources.source == k)
    V = sources.votes[:, columns]
    rows = np.flatnonzero(np.diff(V.indptr) > 0)
    n, C = q.shape
    if not len(rows):
        return SourceJudged(name, 0.5, 0.0, 1.0, 0, 0.0, 0.0, 0, 0, 1 / C, near)
    V = V[rows]
    is_right = np.equal.outer(sources.answer[columns], np.arange(C))
    is_right = is_right != sources.denied[columns][:, None]
    right_if = _first_choice(V) @ (is_right * 1.0)  # (votes, C)
    right = np.stack([(right_if * view[rows]).sum(axis=1) for view in views])
    checked = codes[rows] >= 0
    own = np.asarray(V @ weighed.reliability.answers[columns])
    rest = softmax(logs[rows] - own, axis=1)
    low, high = _interval(right, checked, is_rule=bool(rules[k]))
    decided = (rest.argmax(axis=1) != q[rows].argmax(axis=1)) & ~checked
    contradicted = (right_if * rest).sum(axis=1) < 0.5
    return SourceJudged(
        name,
        float(right.mean()),
        low,
        high,
        len(rows),
        len(rows) / n,
        float(contradicted.mean()),
        int(checked.sum()),
        int(decided.sum()),
        float(right_if.mean()),
        near,
    )


def _first_choice(votes: csr_array) -> csr_array:
    """Return the likeliest answer of each vote that is spread, shared among equals."""
    first = votes.copy()
    row_of = np.repeat(np.arange(votes.shape[0]), np.diff(votes.indptr))
    most = votes.max(axis=1).toarray().ravel()
    first.data = (votes.data >= most[row_of]) * 1.0
    return csr_array(first.multiply(1 / first.sum(axis=1)[:, None]))


def _interval(
    right: FloatArray, checked: BoolArray, *, is_rule: bool
) -> tuple[float, float]:
    """Return the 95% interval of the share of votes that are right, of (views, n)."""
    r, n = right[:, ~checked], right.shape[1]
    m = r.shape[1]
    low = high = 0.0
    if m:
        each = r.mean(axis=1)
        doubt = (r * (1 - r)).sum(axis=1)
        if not is_rule:
            # What is not known of its votes is not known of the source either.
            doubt /= np.maximum(1 - doubt / (m * each * (1 - each) + _BEFORE), _LEFT)
        mean = float(each.mean())
        even = max(mean * (1 - mean), 1e-12)
        variance = _TOGETHER * float(doubt.mean()) / m**2 + float(each.var())
        most = _OF_A_RULE if is_rule else _MOST
        low, high = wilson_interval(mean, 1 / (variance / even + 1 / most))
    base = float(right[0, checked].sum())
    low, high = (base + m * low) / n, (base + m * high) / n
    # In percent, as they are read, rounded outwards.
    return float(np.floor(100 * low)) / 100, float(np.ceil(100 * high)) / 100
