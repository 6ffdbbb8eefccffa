"""Which rules fire on similar rows, from how well features tell their votes."""

import numpy as np

from mercer._base.typing import FloatArray
from mercer.evidence.sources import Sources
from mercer.fewlabels.ridge import solve_loo_features

# Ridges that are tried, in units of the mean squared length of a row's features.
_RIDGES = (0.1, 1.0, 10.0)
# Similar rows whose votes err together, where they do.
_NEAR = 50.0


def clustered_errors(Phi: FloatArray, sources: Sources, q: FloatArray) -> FloatArray:
    r"""Return how far a rule fires on similar rows, beyond their class, (m,), 0 to 1.

    Whether a rule with one answer fires, less its probability in the class of a row,
    :math:`v_i - \sum_c q_{ic} P(1 \mid c)`, is chance where its votes are independent
    given the class. It is predicted by ridge regression on the features, each row from
    the others; what is explained is returned, as a share of the variance of v. A rule
    that looks at a column of the table fires on similar rows also within a class: one
    of its errors tells the next. Of sources with several answers this cannot be told
    from a class that is wrongly believed; they have 0.

    Parameters
    ----------
    Phi : ndarray of shape (n, r)
        Features of rows.
    sources : Sources
        On these rows.
    q : ndarray of shape (n, n_classes)
        Beliefs about them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal(400), np.arange(400) % 2
    >>> votes = {"rule": np.where(x > 1, 1, -1), "luck": rng.integers(-1, 1, 400)}
    >>> Phi = np.column_stack([np.tanh(x), np.tanh(x - 1), y])
    >>> clustered_errors(Phi, Sources.read(votes), np.eye(2)[y]).round(1)
    array([0.8, 0. ])
    """
    m = len(sources.names)
    answers = np.bincount(sources.source, minlength=m)
    column = np.flatnonzero(answers[sources.source] == 1)
    found = np.zeros(m)
    if not len(column):
        return found
    V = sources.votes[:, column].toarray().astype(np.float64)
    P = (q.T @ V + 0.5) / (q.sum(axis=0)[:, None] + 1.0)
    R = V - q @ P
    Z = Phi - Phi.mean(axis=0)
    length = float((Z**2).sum(axis=1).mean())
    explained = np.zeros(len(column))
    for ridge in _RIDGES if length > 0 else ():
        held_out = solve_loo_features(Z, R, ridge=ridge * length).held_out
        left = ((R - held_out) ** 2).sum(axis=0)
        explained = np.maximum(explained, (R**2).sum(axis=0) - left)
    total = ((V - V.mean(axis=0)) ** 2).sum(axis=0)
    found[sources.source[column]] = explained / np.maximum(total, 1e-12)
    return np.clip(found, 0.0, 1.0)


def counts_for(clustered: FloatArray) -> FloatArray:
    """Return what a vote counts among votes on similar rows that err together.

    k votes of correlation r tell as much as k / (1 + (k - 1) r) independent ones (Kish,
    Survey Sampling, 1965, section 5.4).
    """
    return np.asarray(1 / (1 + (_NEAR - 1) * clustered))
