"""What sources say of all rows, by how reliable they are."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from mercer._base.typing import FloatArray, IntArray
from mercer.evidence.sources import Sources
from mercer.optim.copies import Copies, count_once
from mercer.optim.sources import Reliability, solve_sources

# Limit of work: reliability is estimated on at most this many rows.
SOME_ROWS = 20_000
# A model is never surer than this, whatever it says.
_DOUBT = 1e-4


@dataclass(frozen=True, eq=False)
class Weighed:
    """Sources with their reliabilities, and what they say together."""

    sources: Sources
    beliefs: FloatArray  # (n, n_classes)
    reliability: Reliability
    copies: Copies
    counts: FloatArray  # (m,) what a vote counts, but for copies

    def at(
        self, votes: Sources, codes: IntArray, log_prior: FloatArray | None = None
    ) -> FloatArray:
        """Return the beliefs of other rows, by the same reliabilities, (n, n_classes).

        Parameters
        ----------
        votes : Sources
        codes : int ndarray of shape (n,)
            True classes, -1 where there is none.
        log_prior : ndarray of shape (n, n_classes), optional
        """
        found = self.reliability
        prior = np.log(found.shares)[None] if log_prior is None else log_prior
        beliefs: FloatArray = softmax(prior + found.evidence(votes.votes), axis=1)
        known = np.flatnonzero(codes >= 0)
        beliefs[known] = np.equal.outer(codes[known], np.arange(beliefs.shape[1]))
        return beliefs


def weigh_sources(
    sources: Sources,
    codes: IntArray,
    *,
    log_prior: FloatArray | None = None,
    copies: Copies | None = None,
    counts: FloatArray | None = None,
) -> Weighed:
    """Estimate how reliable sources are and what they say together.

    Parameters
    ----------
    sources : Sources
        Their classes are all classes that there are.
    codes : int ndarray of shape (n,)
        True classes, positions among these, -1 where there is none.
    log_prior : ndarray of shape (n, n_classes), optional
        Log-probabilities of the classes by what is known besides.
    copies : Copies, optional
        Which sources copy each other; found from the votes where left out.
    counts : ndarray of shape (m,), optional
        What a vote of each source counts besides, 1 by default.

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
    if counts is None:
        counts = np.ones(len(sources.names))
    found = solve_sources(
        *told,
        n_classes=len(sources.classes),
        known=codes[at],
        log_prior=None if log_prior is None else log_prior[at],
        weights=copies.weights * counts,
    )
    weighed = Weighed(sources, found.beliefs, found, copies, counts)
    if rows is None:
        return weighed
    beliefs = weighed.at(sources, codes, log_prior)
    return replace(weighed, beliefs=beliefs)


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
