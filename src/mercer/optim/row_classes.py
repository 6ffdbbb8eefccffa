"""The classes of rows, as `solve_sources` estimates them: their prior and beliefs."""

import numpy as np
from scipy.special import digamma, expit, gammaln, logsumexp, softmax

from mercer._base.typing import FloatArray, IntArray

# What is believed of a source, and of an opinion, before it is compared with others: it
# is right this far from chance to always, as many votes as `FIRST` tell.
BETTER, FIRST = 0.6, 4.0
# Limit of precision: an opinion rules out no class.
_LEAST = 1e-12


class RowClasses:
    """Prior and beliefs of the classes of rows, and how far an opinion is trusted."""

    def __init__(
        self,
        C: int,
        known: IntArray | None,
        log_prior: FloatArray | None,
        opinion: FloatArray | None,
    ) -> None:
        if opinion is not None and log_prior is None:
            msg = "solve_sources: an opinion needs log_prior, for where it is wrong."
            raise ValueError(msg)
        self.C, self.outside, self.opinion = C, log_prior, opinion
        self.counts = np.ones(2)  # of rows: the opinion is right, and is not
        self.logs = np.zeros(2)  # E log t, E log (1 - t)
        self.is_settled = False  # trust stays as it is
        self.at = np.empty(0, np.intp) if known is None else np.flatnonzero(known >= 0)
        self.hot = np.zeros((len(self.at), C))
        if known is not None:
            self.hot[np.arange(len(self.at)), known[self.at]] = 1.0
        self.shares = np.full(C, 1 / C)

    @property
    def trust(self) -> float:
        """Share of rows of which the opinion is believed; 0 where there is none."""
        return 0.0 if self.opinion is None else float(softmax(self.logs)[0])

    def prior(self, q: FloatArray | None) -> tuple[FloatArray, float]:
        """Return the log-prior of rows, and what its parameters take off the bound."""
        if self.opinion is not None and self.outside is not None:
            return self._with_opinion(q, *_parts(self.outside, self.opinion))
        if self.outside is not None:
            return self.outside, 0.0
        start = np.ones(self.C)
        counts = start if q is None else start + q.sum(axis=0)
        self.shares = counts / counts.sum()
        log = digamma(counts) - digamma(counts.sum())
        return log[None], divergence(counts[:, None], start[:, None])

    def _with_opinion(
        self, q: FloatArray | None, base: FloatArray, opinion: FloatArray
    ) -> tuple[FloatArray, float]:
        start = FIRST * np.array([BETTER, 1 - BETTER])
        if q is None:
            self.counts = start
        elif not self.is_settled:
            own = expit(self.logs[0] + opinion - self.logs[1] - base)
            trusted = float((q * own).sum())
            self.counts = start + np.array([trusted, len(q) - trusted])
        self.logs = digamma(self.counts) - digamma(self.counts.sum())
        log = np.logaddexp(self.logs[0] + opinion, self.logs[1] + base)
        return log, divergence(self.counts[:, None], start[:, None])

    def beliefs(self, logs: FloatArray) -> tuple[FloatArray, float]:
        """Return beliefs of rows, and the sum of the logarithms of their sums."""
        total = logsumexp(logs, axis=1)
        q = np.exp(logs - total[:, None])
        q[self.at] = self.hot
        # A true label leaves one class: its term in place of the sum.
        total[self.at] = (self.hot * logs[self.at]).sum(axis=1)
        return q, float(total.sum())


def mixed(trust: float, log_prior: FloatArray, opinion: FloatArray) -> FloatArray:
    """Return log P(class) of rows by an opinion as far as it is trusted, (n, C)."""
    base, log = _parts(log_prior, opinion)
    with np.errstate(divide="ignore"):
        own, other = np.log([trust, 1 - trust])
    return np.asarray(np.logaddexp(own + log, other + base))


def _parts(log_prior: FloatArray, opinion: FloatArray) -> tuple[FloatArray, FloatArray]:
    base = log_prior - logsumexp(log_prior, axis=1, keepdims=True)
    return base, np.log(np.maximum(opinion, _LEAST))


def divergence(counts: FloatArray, start: FloatArray) -> float:
    """Return the sum over columns of KL(Dir(counts) || Dir(start))."""
    total, before = counts.sum(axis=0), start.sum(axis=0)
    log = digamma(counts) - digamma(total)
    parts = gammaln(total) - gammaln(before) + (gammaln(start) - gammaln(counts)).sum(0)
    return float((parts + ((counts - start) * log).sum(axis=0)).sum())
