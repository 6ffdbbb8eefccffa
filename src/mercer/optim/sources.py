"""How reliable sources are and which classes rows have, estimated together."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import betaln, digamma, gammaln
from sklearn.exceptions import ConvergenceWarning

from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.optim.row_classes import BETTER, FIRST, RowClasses, divergence

# Votes in each class that it takes for a class to count half by itself.
_TIED = 10.0
# Nobody is warned of a smaller change of a belief in the last round.
_NOTICED = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """What `solve_sources` found."""

    beliefs: FloatArray  # (n, C) probabilities of the classes of each row
    answers: FloatArray  # (n_answers, C) what a vote adds to the log-probabilities
    silence: FloatArray  # (C,) what is added where sources of one answer are silent
    accuracy: FloatArray  # (m,) of the tied model, by which few votes are judged
    shares: FloatArray  # (C,) of the classes
    bounds: FloatArray  # lower bound of the log-evidence, round by round
    residual: float  # largest change of a belief in the last round
    trust: float  # share of rows of which the opinion is believed

    def evidence(self, votes: csr_array) -> FloatArray:
        """Return log P(votes | class) of rows but for a constant, (n, C)."""
        return np.asarray(votes @ self.answers + self.silence)


def solve_sources(
    votes: csr_array,
    source: IntArray,
    answer: IntArray,
    denied: BoolArray,
    *,
    n_classes: int,
    known: IntArray | None = None,
    log_prior: FloatArray | None = None,
    opinion: FloatArray | None = None,
    weights: FloatArray | None = None,
    tied: float = _TIED,
    tol: float = 1e-6,
    max_iter: int = 500,
) -> Reliability:
    r"""Estimate confusion matrices of sources and the classes of rows together.

    Row i has class :math:`y_i`, and source s gives answer k with probability
    :math:`\theta_{s y_i k}`:

    .. math::
        P(y, V, \theta) = \prod_i P(y_i) \prod_{s, k} \theta_{s y_i k}^{w_s V_{isk}}
        \prod_{s, c} \mathrm{Dir}(\theta_{sc} \mid \alpha_{sc}).

    Beliefs :math:`q_i(y_i)` and Dirichlet distributions of :math:`\theta` are updated
    in turn, each to the maximum of the bound

    .. math:: L(q) = E_q \log P(y, V, \theta) - E_q \log q \le \log P(V)

    given the other, so that it never falls. An opinion p from outside is right of an
    unknown share t of the rows:

    .. math:: P(y_i = c) = t\, p_{ic} + (1 - t)\, \pi_{ic}, \quad t \sim
        \mathrm{Beta}.

    Parameters
    ----------
    votes : sparse array of shape (n, n_answers)
        Weights V of the answers.
    source, answer, denied : ndarray of shape (n_answers,)
        Whose answer a column is, its class, and whether it denies this class.
    n_classes : int
    known : int ndarray of shape (n,), optional
        True classes, -1 where there is none.
    log_prior : ndarray of shape (n, C), optional
        Log-probabilities pi of the classes of each row. By default all rows share
        probabilities, which are estimated as well.
    opinion : ndarray of shape (n, C), optional
        Probabilities p by a model that has not seen the votes of a row. It is trusted
        as far as votes and true labels bear it out. Needs `log_prior`.
    weights : ndarray of shape (m,), optional
        How much each source counts (`count_once`).
    tied : float, default=10
        Pseudo-votes per class that a source's overall accuracy is worth.
    tol : float, default=1e-6
        Largest change of a belief. A warning says if it is above 0.001 at the end.
    max_iter : int, default=500

    Notes
    -----
    Dawid and Skene (Applied Statistics 1979), with the prior and the variational
    updates of Kim and Ghahramani (AISTATS 2012). The parameters alpha come from the
    same model with one number per source, its accuracy, and errors spread evenly: few
    votes leave a source at its accuracy in every class. Where this model has the
    higher bound, it is returned: what a single source says of few rows fits any
    exchange of its classes. Trust is estimated in the tied model alone: errors by class
    could make any opinion right. A source that gives one answer
    only says as much by its silence, so its silence is an answer too.
    """
    C = n_classes
    w = np.ones(int(source.max(initial=-1)) + 1) if weights is None else weights
    m = len(w)
    V = csr_array(votes, dtype=np.float64, copy=True)
    V.data = V.data * w[source][V.indices]
    is_right = np.equal.outer(answer, np.arange(C)) != denied[:, None]
    rows = RowClasses(C, known, log_prior, opinion)
    member = np.zeros((m, len(source)))
    member[source, np.arange(len(source))] = 1.0
    first = _tied_fit(V, is_right, denied, member, rows, tol, max_iter)
    alpha = _prior(first.accuracy, source, is_right, denied, tied)
    silent = _silence(V, source, member, first.beliefs, w, alpha)
    found: _Tied | _Confusions = _Confusions(V, member, alpha, silent)
    q, bounds, change = _alternate(found, rows, first.beliefs, tol, max_iter)
    if not len(silent.column) and first.bounds[-1] >= bounds[-1]:
        # As many rows do not tell errors of one class from those of another.
        found, q, bounds, change = (
            first.model,
            first.beliefs,
            first.bounds,
            first.change,
        )
    if change > max(tol, _NOTICED):
        msg = (
            f"solve_sources: beliefs still change by {change:.1e} > tol={tol:.1e} "
            f"after {max_iter} rounds; raise max_iter."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    table, _ = found.update(q)
    added = table * w[source][:, None]
    return Reliability(
        q,
        added,
        found.base,
        first.accuracy,
        rows.shares,
        bounds,
        change,
        rows.trust,
    )


def _alternate(
    model: "_Tied | _Confusions",
    rows: RowClasses,
    q: FloatArray,
    tol: float,
    max_iter: int,
) -> tuple[FloatArray, FloatArray, float]:
    """Update parameters and beliefs in turn; return beliefs, bounds and last change."""
    bounds, change = [], np.inf
    for _ in range(max_iter):
        table, cost = model.update(q)
        prior, more = rows.prior(q)
        new, total = rows.beliefs(prior + model.evidence(table))
        bounds.append(total - cost - more)
        change = float(np.abs(new - q).max(initial=0.0))
        q = new
        if change <= tol:
            break
    return q, np.array(bounds), change


class _Tied:
    """One accuracy for each source.

    Sources that give one answer only never agree on different classes. That they
    contradict each other is explained best by one that is always right and others that
    are always wrong, so their votes are compared with true labels alone.
    """

    def __init__(
        self,
        V: csr_array,
        is_right: BoolArray,
        denied: BoolArray,
        member: FloatArray,
        rows: RowClasses,
    ) -> None:
        self.V, self.member, self.right = V, member, is_right * 1.0
        self.single = _single(member)
        self.told = V[rows.at].T @ rows.hot  # (n_answers, C)
        C = is_right.shape[1]
        # Of C - 1 right denials, or C - 1 wrong classes, one is given.
        self.even = np.where(is_right == denied[:, None], -np.log(max(C - 1, 1)), 0.0)
        better = 1 / C + BETTER * (1 - 1 / C)
        self.base = np.zeros(C)
        self.start = np.array([better, 1 - better])[:, None] * np.full(
            len(member), FIRST
        )
        self.counts = self.start

    def update(self, q: FloatArray) -> tuple[FloatArray, float]:
        given = self.V.T @ q  # (n_answers, C)
        given[self.single] = self.told[self.single]
        right = self.member @ (given * self.right).sum(axis=1)
        wrong = self.member @ (given * (1 - self.right)).sum(axis=1)
        self.counts = self.start + np.stack([right, wrong])
        log = (digamma(self.counts) - digamma(self.counts.sum(axis=0))) @ self.member
        table = np.where(self.right > 0, log[0][:, None], log[1][:, None])
        return table + self.even, divergence(self.counts, self.start)

    def evidence(self, table: FloatArray) -> FloatArray:
        return np.asarray(self.V @ table)


def _single(member: FloatArray) -> IntArray:
    """Return the answers of sources that give no other, (u,)."""
    return np.flatnonzero((member.sum(axis=1) == 1) @ member)


@dataclass(frozen=True, slots=True, eq=False)
class _TiedFit:
    model: _Tied
    beliefs: FloatArray
    bounds: FloatArray
    change: float

    @property
    def accuracy(self) -> FloatArray:
        counts = self.model.counts
        return np.asarray(counts[0] / counts.sum(axis=0))


def _tied_fit(
    V: csr_array,
    is_right: BoolArray,
    denied: BoolArray,
    member: FloatArray,
    rows: RowClasses,
    tol: float,
    max_iter: int,
) -> _TiedFit:
    # To begin with, sources are as good as they are thought to be, or as true labels
    # say. Either may end at a lower bound than the other.
    found = []
    for start in [None] if not len(rows.at) else [None, rows.at]:
        model = _Tied(V, is_right, denied, member, rows)
        q = np.zeros((V.shape[0], rows.C))
        if start is not None:
            q[start] = rows.hot
        table, _ = model.update(q)
        prior, _ = rows.prior(None)
        q, _ = rows.beliefs(prior + model.evidence(table))
        q, bounds, change = _alternate(model, rows, q, tol, max_iter)
        found.append((_TiedFit(model, q, bounds, change), rows.counts))
    best, rows.counts = max(found, key=lambda pair: pair[0].bounds[-1])
    rows.is_settled = True
    return best


def _prior(
    accuracy: FloatArray,
    source: IntArray,
    is_right: BoolArray,
    denied: BoolArray,
    tied: float,
) -> FloatArray:
    """Return Dirichlet parameters of answers, (n_answers, C), worth `tied` votes."""
    C = is_right.shape[1]
    right = accuracy[source][:, None]
    even = np.where(is_right == denied[:, None], 1 / max(C - 1, 1), 1.0)
    return tied * np.where(is_right, right, 1 - right) * even


@dataclass(frozen=True, slots=True, eq=False)
class _Silence:
    """Sources that give one answer only, and how often they give none."""

    column: IntArray  # (u,) their answers
    start: FloatArray  # (u, 2, C) Dirichlet parameters of the answer, and of none
    weight: FloatArray  # (u,) how much each counts


def _silence(
    V: csr_array,
    source: IntArray,
    member: FloatArray,
    q: FloatArray,
    w: FloatArray,
    alpha: FloatArray,
) -> _Silence:
    column = _single(member)
    given = np.asarray(V.sum(axis=0)).ravel()[column]
    weight = w[source[column]]
    shares = np.maximum(q.mean(axis=0), 1e-3)
    # P(answer | class) = P(class | answer) P(answer) / P(class), with what is thought
    # of the source by its accuracy.
    by_class = alpha[column] * shares
    by_class /= by_class.sum(axis=1, keepdims=True)
    rate = (given / np.maximum(weight, 1e-12) / max(V.shape[0], 1))[:, None]
    p = np.clip(by_class * rate / shares, 1e-3, 1 - 1e-3)
    total = alpha[column].sum(axis=1)[:, None] / alpha.shape[1]
    start = np.stack([p, 1 - p], axis=1) * total[:, None]
    return _Silence(column, start, weight)


class _Confusions:
    """A confusion matrix for each source."""

    def __init__(
        self, V: csr_array, member: FloatArray, alpha: FloatArray, silent: _Silence
    ) -> None:
        self.V, self.member, self.alpha, self.silent = V, member, alpha, silent
        self.counts = alpha
        self.several = np.ones(len(alpha), dtype=bool)  # more than one answer
        self.several[silent.column] = False
        self.base = np.zeros(alpha.shape[1])

    def update(self, q: FloatArray) -> tuple[FloatArray, float]:
        given = self.V.T @ q
        self.counts = self.alpha + given
        total = self.member @ self.counts
        log = digamma(self.counts) - self.member.T @ digamma(np.maximum(total, 1e-9))
        cost = 0.0
        many = self.several
        if many.any():
            kept = self.member[:, many]
            kept = kept[kept.any(axis=1)]
            start, now = self.alpha[many], self.counts[many]
            of, before = kept @ now, kept @ start
            cost += float(
                (gammaln(of) - gammaln(before)).sum()
                + (gammaln(start) - gammaln(now)).sum()
                + ((now - start) * log[many]).sum()
            )
        self.base = np.zeros(q.shape[1])
        u = self.silent
        if len(u.column):
            n_rows = q.sum(axis=0)
            none = u.weight[:, None] * n_rows - given[u.column]
            now = u.start + np.stack([given[u.column], np.maximum(none, 0.0)], axis=1)
            logs = digamma(now) - digamma(now.sum(axis=1))[:, None]
            log[u.column] = logs[:, 0] - logs[:, 1]
            self.counts[u.column] = now[:, 0]
            self.base = (u.weight[:, None] * logs[:, 1]).sum(axis=0)
            a, b = now, u.start
            cost += float(
                (betaln(b[:, 0], b[:, 1]) - betaln(a[:, 0], a[:, 1])).sum()
                + ((a - b) * logs).sum()
            )
        return log, cost

    def evidence(self, table: FloatArray) -> FloatArray:
        return np.asarray(self.V @ table + self.base)
