"""Sources and the kernel in turn: each tells the other what it believes of rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mercer._base.typing import BoolArray, FloatArray, IntArray, Points
from mercer.evidence.labels import Labels
from mercer.evidence.sources import Sources
from mercer.evidence.weighing import (
    Weighed,
    are_rules,
    cautious,
    some_rows,
    weigh_sources,
)
from mercer.fewlabels.rule import Rule
from mercer.model.held_out import held_out_scores
from mercer.model.parts import Learned, proba_of

# Rounds of machine and sources after those of the true labels.
ROUNDS = 2
# Limits of work: rows without a true label that a machine learns from, and rows that
# it sees before the last one.
MOST_TAUGHT, ROWS_SEEN = 2_000, 20_000
# Votes with which a class counts half as much as one with many; with twice
# as many it counts for nearly nine tenths.
_HALF = 10.0
# What rules say of all rows teaches as much as this many true labels: where these
# suffice, ten rules that are wrong together cost up to 9 points.
WORTH = 20.0
# A belief that is worth less than this share of a label is not one.
_LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class Believed:
    """What sources, true labels and the learned kernel say together of all rows."""

    beliefs: FloatArray  # (n, n_classes)
    alike: FloatArray  # (n_classes,) log-probabilities of classes without the kernel
    said: FloatArray  # (n, n_classes) the kernel without a row's votes
    weighed: Weighed
    taught: Labels  # what the machine learned from
    learned: Learned
    change: float  # mean change of a belief in the last round

    @property
    def model(self) -> FloatArray:
        """What the kernel says without a row's votes, as trusted, (n, n_classes)."""
        return np.exp(self.weighed.prior(self.alike[None], self.said))

    @property
    def classes(self) -> Any:
        """All classes, of labels and of votes."""
        return self.weighed.sources.classes

    @property
    def transduction_(self) -> Any:
        """The likeliest class of each row, (n,)."""
        return self.classes[self.beliefs.argmax(axis=1)]


def joined_classes(labels: Labels, sources: Sources) -> tuple[Labels, Sources]:
    """Return labels and sources with the classes of both, that have a label or vote."""
    sources = _without_empty(sources)
    if not len(sources.classes):
        return labels, sources.with_classes(labels.classes)
    if not len(labels.classes):
        classes = sources.classes
    else:
        kinds = {
            values.dtype.kind == "U" for values in (labels.classes, sources.classes)
        }
        if len(kinds) > 1:
            msg = (
                f"y has classes like {labels.classes.tolist()[0]!r}, the sources like "
                f"{sources.classes.tolist()[0]!r}; name them in the same way."
            )
            raise TypeError(msg)
        classes = np.unique(np.concatenate([labels.classes, sources.classes]))
    codes, shares = np.full(len(labels.codes), -1), labels.shares
    at = labels.labeled
    place = np.searchsorted(classes, labels.classes)
    if len(at):
        codes[at] = place[labels.codes[at]]
    if shares is not None:
        wide = np.zeros((len(codes), len(classes)))
        wide[:, place] = shares
        shares = wide
    joined = Labels(codes, classes, shares, labels.weights)
    return joined, sources.with_classes(classes)


def _without_empty(sources: Sources) -> Sources:
    """Return the same votes without the classes that no vote is for any more."""
    used = np.unique(sources.votes.indices)
    classes, answer = np.unique(sources.answer[used], return_inverse=True)
    return replace(
        sources,
        votes=csr_array(sources.votes[:, used]),
        source=sources.source[used],
        answer=answer.astype(np.intp),
        denied=sources.denied[used],
        classes=sources.classes[classes],
    )


def believe(
    learned: Callable[[Labels, IntArray | None, Rule], Learned],
    labels: Labels,
    sources: Sources,
    *,
    rule: Rule,
    points: Points | None,
    seed: int,
) -> Believed:
    r"""Learn from true labels and sources.

    In turn, a few times: the machine learns from the beliefs q of rows as class
    shares, each of the weight :math:`(C \max_c q_c - 1) / (C - 1)`, and says of every
    row what it believes without its votes, p; then the reliabilities of the sources
    are estimated, and how far p is to be trusted (`solve_sources`). The first machine
    learns from the true labels alone: votes that agree with nothing are then known as
    such. At last

    .. math:: q_{ic} \propto (t p_{ic} + (1 - t) \pi_c) \prod_s P(v_{is} \mid y_i = c).

    A row that the machine learned from is left out of what it says of this row, in
    closed form (`held_out_scores`), so that votes do not come back as beliefs. Rules
    (`rule_evidence`) tell the machine what rows are, and it tells the rest: they fire
    on similar rows, and so their votes are in p already. Where all sources are rules,
    what they say of all rows together has the weight of 20 true labels at most.

    Parameters
    ----------
    learned : callable
        Takes `Labels`, rows or None and a `Rule`, and returns a fitted `Learned`.
    labels, sources
        Of the same classes (`joined_classes`).
    rule : Rule
    points : array or None
        The points, where the learner has no basis.
    seed : int
        Draws the rows to learn from.
    """
    n = sources.shape[0]
    rng = np.random.default_rng([seed, 38])
    drawn = _drawn(labels, sources, rng)
    seen = some_rows(n, np.where(drawn, 0, -1), ROWS_SEEN)
    if points is not None:
        seen = None  # a learner without a basis looks at all points
    at = np.arange(n) if seen is None else seen
    part, codes = sources.take(at), labels.codes[at]
    # Without labels classes are alike: shares of so few votes run away.
    even = _alike(labels, part)
    alike = np.tile(even, (len(at), 1))
    # Trees are asked at the end. Scores are taken as sure as when this was measured.
    fast = replace(rule, trees=0, sureness=1.0)

    are_all = bool(are_rules(sources).all())
    most = WORTH if are_all and len(labels.labeled) else np.inf

    def said(q: FloatArray) -> FloatArray:
        taught = _taught(labels, at, q, drawn, most)
        if len(taught.classes) < 2:
            return np.exp(alike)
        found = learned(taught, seen, fast)
        return _said(found, taught, sources, fast, points, at, np.exp(even))

    found = first = weigh_sources(part, codes, log_prior=alike)
    is_told = len(np.unique(codes[codes >= 0])) > 1
    q, before = first.beliefs * (not is_told), first.beliefs
    for _ in range(2 if are_all else ROUNDS + 1):
        p, before = said(q), first.beliefs if found is first else q
        found = weigh_sources(
            part, codes, log_prior=alike, opinion=p, copies=first.copies
        )
        q = found.beliefs
    taught = _taught(labels, at, q, drawn, most)
    last = learned(taught, None, rule)
    every = np.arange(n)
    p = _said(last, taught, sources, rule, points, every, np.exp(even))
    trusted = cautious(np.exp(found.prior(even[None], p)))
    beliefs = found.at(sources, labels.codes, trusted)
    if labels.shares is not None:
        beliefs[labels.labeled] = labels.one_hot()
    whole = replace(found, sources=sources, beliefs=beliefs)
    change = float(np.abs(q - before).sum(axis=1).mean()) / 2
    return Believed(beliefs, even, p, whole, taught, last, change)


def _alike(labels: Labels, sources: Sources) -> FloatArray:
    """Return log-probabilities, even but for classes that only few votes name, (C,)."""
    counts = np.ones(len(labels.classes))
    np.add.at(counts, sources.answer, np.asarray(sources.votes.sum(axis=0)).ravel())
    share = counts**3 / (counts**3 + _HALF**3)
    share[labels.counts() > 0] = 1.0
    return np.asarray(np.log(share / share.sum()))


def _drawn(labels: Labels, sources: Sources, rng: np.random.Generator) -> BoolArray:
    """Return which rows may be learned from, (n,)."""
    drawn = labels.codes >= 0
    voted = np.flatnonzero(sources.voted & ~drawn)
    if len(voted) > MOST_TAUGHT:
        voted = rng.choice(voted, MOST_TAUGHT, replace=False)
    drawn[voted] = True
    return drawn


def _taught(
    labels: Labels, at: IntArray, q: FloatArray, drawn: BoolArray, most: float
) -> Labels:
    """Return beliefs about the drawn rows as labels of all rows, worth `most` at most.

    True labels count for themselves.
    """
    n, C = len(labels.codes), len(labels.classes)
    top = q.max(axis=1)
    weight = np.where(drawn[at], (C * top - 1) / max(C - 1, 1), 0.0)
    weight[weight < _LEAST] = 0.0
    weight *= min(1.0, most / max(weight[labels.codes[at] < 0].sum(), _LEAST))
    codes, shares, weights = np.full(n, -1), np.zeros((n, C)), np.zeros(n)
    used = weight > 0
    rows = at[used]
    codes[rows], shares[rows] = q[used].argmax(axis=1), q[used]
    weights[rows] = weight[used]
    own = labels.labeled
    codes[own], shares[own] = labels.codes[own], labels.one_hot()
    weights[own] = labels.weight()
    # A class that is nowhere the likeliest cannot be learned.
    kept = np.unique(codes[codes >= 0])
    total = shares[:, kept].sum(axis=1, keepdims=True)
    shares = np.divide(shares[:, kept], total, out=shares[:, kept] * 0, where=total > 0)
    codes[codes >= 0] = np.searchsorted(kept, codes[codes >= 0])
    return Labels(codes, labels.classes[kept], shares, weights)


def _said(
    found: Learned,
    taught: Labels,
    sources: Sources,
    rule: Rule,
    points: Points | None,
    at: IntArray,
    share: FloatArray,
) -> FloatArray:
    """Return what the machine says of rows without their own votes, (len(at), C).

    Classes that it was not taught keep their shares.
    """
    n, columns = sources.shape[0], np.searchsorted(sources.classes, taught.classes)
    p = np.tile(share, (len(at), 1))
    if len(columns) < 2:
        return p
    if found.features is None:
        p[:, columns] = proba_of(found.machine)(points)
    else:
        p[:, columns] = found.machine.training_proba_
    held = held_out_scores(found, taught, rule, points, None if len(at) == n else at)
    places = np.searchsorted(at, held.rows)
    p[np.ix_(places, columns)] = held.proba
    p[:, columns] *= share[columns].sum()
    return p
