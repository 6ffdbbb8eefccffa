"""Votes of sources, by enumeration and by the EM of Dawid and Skene."""

from itertools import product

import numpy as np
from scipy.special import betaln, gammaln


def log_evidence(columns, alpha, n_classes):
    """Sum P(classes, votes) over all classes of all rows, parameters integrated out.

    Columns are complete votes of sources, and alpha[s][c] the Dirichlet parameters of
    the answers of source s in class c; class shares are uniform on the simplex.

    Returns the logarithm, and the posterior of each row's class.
    """
    n = len(columns[0])
    logs, every = [], list(product(range(n_classes), repeat=n))
    for classes in every:
        counts = np.bincount(classes, minlength=n_classes)
        total = gammaln(n_classes) - gammaln(n + n_classes) + gammaln(counts + 1).sum()
        for votes, a in zip(columns, alpha, strict=True):
            for c in range(n_classes):
                seen = [v for v, y in zip(votes, classes, strict=True) if y == c]
                k = np.bincount(np.array(seen, int), minlength=len(a[c]))
                total += gammaln(a[c].sum()) - gammaln(a[c].sum() + k.sum())
                total += (gammaln(a[c] + k) - gammaln(a[c])).sum()
        logs.append(total)
    logs = np.array(logs)
    weights = np.exp(logs - logs.max())
    posterior = np.zeros((n, n_classes))
    for weight, classes in zip(weights, every, strict=True):
        posterior[np.arange(n), classes] += weight
    evidence = float(np.log(weights.sum()) + logs.max())
    return evidence, posterior / weights.sum()


def log_evidence_with_opinion(columns, right, base, opinion, start):
    """Sum P(classes, z, votes) over classes of rows and whether the opinion is right.

    One accuracy per source with the Beta parameters right[s], errors even; the opinion
    is right of a share of the rows with Beta parameters `start`.
    """
    n, C = opinion.shape
    logs = []
    for classes in product(range(C), repeat=n):
        total = 0.0
        for votes, (a, b) in zip(columns, right, strict=True):
            k = sum(v == y for v, y in zip(votes, classes, strict=True))
            total += betaln(a + k, b + n - k) - betaln(a, b)
            total -= (n - k) * np.log(C - 1)
        for z in product((0, 1), repeat=n):
            more = betaln(start[0] + sum(z), start[1] + n - sum(z)) - betaln(*start)
            for i, (y, one) in enumerate(zip(classes, z, strict=True)):
                more += np.log(opinion[i, y] if one else base[i, y])
            logs.append(total + more)
    logs = np.array(logs)
    return float(np.log(np.exp(logs - logs.max()).sum()) + logs.max())


def dawid_skene(votes, n_classes, n_iter=200):
    """Maximum likelihood for complete votes, (n, m); from the majority's shares."""
    n, m = votes.shape
    T = np.zeros((n, n_classes))
    for i in range(n):
        for s in range(m):
            T[i, votes[i, s]] += 1 / m
    for _ in range(n_iter):
        p = T.sum(axis=0) / n
        log = np.tile(np.log(p), (n, 1))
        confusion = np.zeros((m, n_classes, n_classes))
        for s in range(m):
            for k in range(n_classes):
                confusion[s, :, k] = T[votes[:, s] == k].sum(axis=0)
            confusion[s] /= confusion[s].sum(axis=1, keepdims=True)
            log += np.log(confusion[s] + 1e-300)[:, votes[:, s]].T
        T = np.exp(log - log.max(axis=1, keepdims=True))
        T /= T.sum(axis=1, keepdims=True)
    return T, confusion
