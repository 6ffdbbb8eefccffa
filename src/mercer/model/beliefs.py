"""Sources and the kernel in turn: each tells the other what it believes of rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import softmax

from mercer._base.typing import BoolArray, FloatArray, IntArray, Points
from mercer.evidence.labels import Labels
from mercer.evidence.sources import Sources
from mercer.evidence.weighing import Weighed, cautious, some_rows, weigh_sources
from mercer.fewlabels.rule import Rule
from mercer.model.clustered import clustered_errors, counts_for
from mercer.model.held_out import held_out_scores
from mercer.model.learned import Learned, proba_of
from mercer.spectrum.features import Features

# Rounds of machine and sources after those of the true labels.
ROUNDS = 2
# Limits of work: rows without a true label that a machine learns from, and rows that
# it sees before the last one.
MOST_TAUGHT, ROWS_SEEN = 2_000, 20_000
# How often rules may be made to count less, and this much less, where true labels that
# are held out are told better without them.
_TRIES, _LESS = 3, 0.1
# Votes and labels with which a class counts half as much as one with many; with twice
# as many it counts for nearly nine tenths.
_HALF = 10.0
# A belief that is worth less than this share of a label is not one.
_LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class Believed:
    """What sources, true labels and the learned kernel say together of all rows."""

    beliefs: FloatArray  # (n, n_classes)
    model: FloatArray  # (n, n_classes) what the kernel says without a row's own votes
    weighed: Weighed
    taught: Labels  # what the machine learned from
    learned: Learned
    change: float  # mean change of a belief in the last round

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
    are estimated with p as what is known of rows besides (`solve_sources`). The first
    machine learns from the true labels alone, and what it says counts as if C more
    labels were of no class: votes that agree with nothing are then known as such. At
    last

    .. math:: q_{ic} \propto p_{ic} \prod_s P(v_{is} \mid y_i = c).

    A row that the machine learned from is left out of what it says of this row, in
    closed form (`held_out_scores`), so that votes do not come back as beliefs.

    Votes of a rule that fires on similar rows err together, and the kernel has seen
    them at the neighbours: they count less (`clustered_errors`, `counts_for`). Votes of
    rules with one answer count a tenth, and then a hundredth, where the true labels,
    each held out, are told better by the machine of the true labels alone (Brier loss).

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
    C, alike = len(labels.classes), np.tile(_alike(labels, part), (len(at), 1))
    # Trees are asked at the end. Scores less sure would be outvoted by weak rules.
    fast = replace(rule, trees=0, sureness=1.0)

    def said(q: FloatArray) -> tuple[Features | None, FloatArray]:
        taught = _taught(labels, at, q, drawn)
        if len(taught.classes) < 2:
            return None, np.exp(alike)
        found = learned(taught, seen, fast)
        return found.features, _said(found, taught, sources, fast, points, at, n)

    first = weigh_sources(part, codes, log_prior=alike)
    is_told = len(np.unique(codes[codes >= 0])) > 1
    features, plain = said(first.beliefs * (not is_told))
    doubt = C / (C + len(labels.labeled)) if is_told else 0.0
    prior = (1 - doubt) * plain + doubt / C
    counts = np.ones(len(sources.names))
    if features is not None:
        few = min(len(at), MOST_TAUGHT)
        some = np.linspace(0, len(at) - 1, few).astype(np.intp)
        q = weigh_sources(part, codes, log_prior=cautious(prior)).beliefs[some]
        Phi = features.rows(some)
        counts = counts_for(clustered_errors(Phi, part.take(some), q))
    is_rule = np.bincount(sources.source, minlength=len(counts)) == 1
    q, without = first.beliefs, _loss(None, part, plain, codes)
    for _ in range(_TRIES):
        p = prior
        for k in range(ROUNDS + 1):
            if k:
                p = said(q)[1]
            found = weigh_sources(
                part, codes, log_prior=cautious(p), copies=first.copies, counts=counts
            )
            before, q = q, found.beliefs
        if not (is_told and is_rule.any()) or _loss(found, part, p, codes) <= without:
            break
        counts = np.where(is_rule, _LESS * counts, counts)
    taught = _taught(labels, at, q, drawn)
    last = learned(taught, None, rule)
    every = np.arange(n)
    p = _said(last, taught, sources, rule, points, every, n)
    beliefs = found.at(sources, labels.codes, cautious(p))
    if labels.shares is not None:
        beliefs[labels.labeled] = labels.one_hot()
    whole = replace(found, sources=sources, beliefs=beliefs)
    change = float(np.abs(q - before).sum(axis=1).mean()) / 2
    return Believed(beliefs, p, whole, taught, last, change)


def _loss(
    found: Weighed | None, sources: Sources, p: FloatArray, codes: IntArray
) -> float:
    """Return the Brier loss of true labels that were held out, with votes or without.

    It is bounded: one label on which a good source errs does not decide.
    """
    own = np.flatnonzero(codes >= 0)
    logs = cautious(p[own])
    if found is not None:
        logs = logs + found.reliability.evidence(sources.take(own).votes)
    truth = np.equal.outer(codes[own], np.arange(p.shape[1]))
    return float(((softmax(logs, axis=1) - truth) ** 2).sum())


def _alike(labels: Labels, sources: Sources) -> FloatArray:
    """Return log-probabilities, even but for classes that few votes name, (C,)."""
    counts = labels.counts() + 1.0
    np.add.at(counts, sources.answer, np.asarray(sources.votes.sum(axis=0)).ravel())
    share = counts**3 / (counts**3 + _HALF**3)
    return np.asarray(np.log(share / share.sum()))


def _drawn(labels: Labels, sources: Sources, rng: np.random.Generator) -> BoolArray:
    """Return which rows may be learned from, (n,)."""
    drawn = labels.codes >= 0
    voted = np.flatnonzero(sources.voted & ~drawn)
    if len(voted) > MOST_TAUGHT:
        voted = rng.choice(voted, MOST_TAUGHT, replace=False)
    drawn[voted] = True
    return drawn


def _taught(labels: Labels, at: IntArray, q: FloatArray, drawn: BoolArray) -> Labels:
    """Return beliefs about the drawn rows as labels of all rows."""
    n, C = len(labels.codes), len(labels.classes)
    top = q.max(axis=1)
    weight = np.where(drawn[at], (C * top - 1) / max(C - 1, 1), 0.0)
    weight[weight < _LEAST] = 0.0
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
    n: int,
) -> FloatArray:
    """Return what the machine says of rows without their own votes, (len(at), C)."""
    C = len(sources.classes)
    columns = np.searchsorted(sources.classes, taught.classes)
    p = np.zeros((len(at), C))
    if len(columns) < 2:
        p[:] = 1 / C
        return p
    if found.features is None:
        p[:, columns] = proba_of(found.machine)(points)
    else:
        p[:, columns] = found.machine.training_proba_
    held = held_out_scores(found, taught, rule, points, None if len(at) == n else at)
    places = np.searchsorted(at, held.rows)
    p[np.ix_(places, columns)] = held.proba
    return p
