"""What sources say of all rows, by how reliable they are."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.evidence.sources import Sources
from mercer.optim.copies import Copies, count_once
from mercer.optim.row_classes import mixed
from mercer.optim.rules import rule_evidence
from mercer.optim.sources import Reliability, solve_sources

# Limit of work: reliability is estimated on at most this many rows.
SOME_ROWS = 20_000
# A model is never surer than this, whatever it says.
_DOUBT = 1e-4
# A source that gives one answer only is a rule if it gives it this often.
_OFTEN = 10


@dataclass(frozen=True, eq=False)
class Weighed:
    """Sources with their reliabilities, and what they say together."""

    sources: Sources
    beliefs: FloatArray  # (n, n_classes)
    reliability: Reliability
    copies: Copies

    def at(self, votes: Sources, codes: IntArray, log_prior: FloatArray) -> FloatArray:
        """Return beliefs by the same reliabilities and no rules, (n, n_classes).

        Parameters
        ----------
        votes : Sources
        codes : int ndarray of shape (n,)
            True classes, -1 where there is none.
        log_prior : ndarray of shape (n, n_classes)
            May hold what rules say.
        """
        evidence = self.reliability.evidence(votes.votes)
        beliefs: FloatArray = softmax(log_prior + evidence, axis=1)
        known = np.flatnonzero(codes >= 0)
        beliefs[known] = np.equal.outer(codes[known], np.arange(beliefs.shape[1]))
        return beliefs

    def prior(
        self, log_prior: FloatArray | None, opinion: FloatArray | None = None
    ) -> FloatArray:
        """Return log P(class), by an opinion as far as it is trusted, (n, n_classes).

        That of all rows, (1, n_classes), where nothing is known of them.
        """
        if log_prior is None:
            return np.asarray(np.log(self.reliability.shares)[None])
        if opinion is None:
            return log_prior
        return mixed(self.reliability.trust, log_prior, opinion)


def are_rules(sources: Sources) -> BoolArray:
    """Return which sources give one answer only, and give it often, (m,)."""
    m = len(sources.names)
    answers = np.bincount(sources.source, minlength=m)
    given = np.bincount(sources.source[sources.votes.indices], minlength=m)
    return np.asarray((answers == 1) & (given >= _OFTEN))


def weigh_sources(
    sources: Sources,
    codes: IntArray,
    *,
    log_prior: FloatArray | None = None,
    opinion: FloatArray | None = None,
    copies: Copies | None = None,
) -> Weighed:
    """Estimate how reliable sources are and what they say together.

    Rules are judged by true labels alone (`rule_evidence`): they err on the same rows
    as other rules and as a model of the rows, and agreement would be taken for truth.

    Parameters
    ----------
    sources : Sources
        Their classes are all classes that there are.
    codes : int ndarray of shape (n,)
        True classes, positions among these, -1 where there is none.
    log_prior, opinion : ndarray of shape (n, n_classes), optional
        As in `solve_sources`.
    copies : Copies, optional
        Which sources copy each other; found from the votes where left out.

    Examples
    --------
    >>> votes = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 0], "c": [0, 0, 1, 1]}
    >>> weighed = weigh_sources(Sources.read(votes), np.full(4, -1))
    >>> weighed.beliefs.argmax(axis=1)
    array([0, 0, 1, 1])
    """
    n = sources.shape[0]
    rows = some_rows(n, codes, SOME_ROWS)
    part = sources if rows is None else sources.take(rows)
    at = slice(None) if rows is None else rows
    told = (part.votes, part.source, part.answer, part.denied)
    if copies is None:
        copies = count_once(*told, n_sources=len(sources.names))
    is_rule, C = are_rules(sources), len(sources.classes)
    found = solve_sources(
        *told,
        n_classes=C,
        known=codes[at],
        log_prior=None if log_prior is None else log_prior[at],
        opinion=None if opinion is None else opinion[at],
        weights=np.where(is_rule, 0.0, copies.weights),
    )
    weighed = Weighed(sources, found.beliefs, found, copies)
    if rows is None and not is_rule.any():
        return weighed
    prior = weighed.prior(log_prior, opinion) + rule_evidence(
        sources.votes,
        sources.source,
        sources.answer,
        sources.denied,
        known=codes,
        n_classes=C,
        weights=np.where(is_rule, copies.weights, 0.0),
    )
    return replace(weighed, beliefs=weighed.at(sources, codes, prior))


def some_rows(n: int, codes: IntArray, most: int) -> IntArray | None:
    """Return evenly spaced rows and those with a true label; None for all."""
    if n <= most:
        return None
    spaced = np.linspace(0, n - 1, most).astype(np.intp)
    return np.union1d(spaced, np.flatnonzero(codes >= 0))


def cautious(proba: FloatArray) -> FloatArray:
    """Return log-probabilities of a model as a prior: none is ruled out."""
    C = proba.shape[1]
    return np.asarray(np.log((1 - _DOUBT) * proba + _DOUBT / C))
