"""Weights of the kernels of a pool, from held-out labels."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.utils import check_scalar

from mercer._base.html import Shown
from mercer._base.typing import ArrayLike, FloatArray
from mercer.evidence.labels import Labels
from mercer.fewlabels.centred import log_shares
from mercer.fewlabels.pools.base import Block
from mercer.fewlabels.ridge import held_out_loss, held_out_votes, loo_ridges
from mercer.fewlabels.rule import DEFAULT, Rule


@dataclass(frozen=True, slots=True, eq=False)
class PoolEvidence(Shown):
    """What the labels say about each kernel of the pool."""

    names: tuple[str, ...]
    losses: FloatArray  # (m,) log-loss of held-out labels, averaged over ridges
    weights: FloatArray  # (m,) sum to 1
    n_held_out: int  # labels that could be left out

    def _facts(self) -> dict[str, Any]:
        first = np.argsort(-self.weights, kind="stable")
        return {
            "kernel": np.array(self.names)[first],
            "loss of held-out labels": self.losses[first],
            "weight": self.weights[first],
        }


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One kernel of the pool: weights of the columns of one block."""

    name: str
    block: Block
    core: FloatArray  # (r,) scaled so that the kernel has unit variance
    prior: float


def pool_members(
    blocks: tuple[Block, ...], n_classes: int, rule: Rule = DEFAULT
) -> list[Member]:
    """Return the kernels of a pool for a number of classes.

    A graph has as many directions as there are classes, and one for each further part.
    Blocks without variance (all points equal) are left out.
    """
    members = []
    for block in blocks:
        prior, cores = rule.flat_prior, {block.name: np.ones(1)}
        if block.kind == "laplacian":
            n_null = int((block.values <= 1e-10).sum())
            rank = n_classes + max(n_null - 1, 0)
            prior = 1.0
            cores = {block.name: steep(block.values, rank=rank, power=rule.steepness)}
        elif block.kind == "kernel":
            relative = block.values / block.values[0]
            cores = {f"{block.name}, power {p:g}": relative**p for p in rule.powers}
        prior *= block.prior / len(cores)
        for name, core in cores.items():
            variance = float(core @ np.diag(block.covariance))
            if variance > 0:
                members.append(Member(name, block, core / variance, prior))
    return members


def weigh_pool(
    labeled: FloatArray,
    labels: Labels,
    blocks: tuple[Block, ...],
    *,
    rule: Rule = DEFAULT,
) -> tuple[FloatArray, PoolEvidence]:
    """Weigh the kernels of a pool by the labels.

    Parameters
    ----------
    labeled : ndarray of shape (l, r)
        Rows of the pool at the labelled points.
    labels : Labels
        Classes of the points.
    blocks : tuple of Block
        Which columns belong together.
    rule : Rule, optional
        Members of the pool, their priors, and the ridges.

    Returns
    -------
    core : ndarray of shape (r,)
        Weights of the columns.
    evidence : PoolEvidence
    """
    Y, given = labels.one_hot(), labels.weight()
    counts = given @ Y
    votes = held_out_votes(Y, given)
    shares = log_shares(counts, rule) if votes.any() else counts
    labeled = labeled.astype(np.float64, copy=False)
    members = pool_members(blocks, max(len(counts), 2), rule)
    evidence, losses = np.empty(len(members)), np.zeros(len(members))
    for i, member in enumerate(members):
        if not votes.any():
            evidence[i] = np.log(member.prior)
            continue
        U = labeled[:, member.block.columns]
        fits = loo_ridges(U, member.core, Y, [r / given for r in rule.ridges])
        at = []
        for fit in fits:
            coef = member.core[:, None] * (U.T @ fit.alpha)
            variance = np.sum(coef * (member.block.covariance @ coef))
            scale = max(np.sqrt(max(variance, 0.0) / len(counts)), 1e-12)
            scores = (fit.held_out - fit.held_out_offset) / scale
            loss, _ = held_out_loss(scores, votes, shares, rule=rule)
            at.append(loss)
        losses[i] = float(np.mean(at))
        evidence[i] = np.log(member.prior) + float(np.logaddexp.reduce(-np.array(at)))
    weights = softmax(evidence)
    core = np.zeros(labeled.shape[1])
    for weight, member in zip(weights, members, strict=True):
        core[member.block.columns] += weight * member.core
    names = tuple(member.name for member in members)
    return core, PoolEvidence(names, losses, weights, int(votes.any(axis=1).sum()))


def steep(values: ArrayLike, *, rank: float, power: float = 5.0) -> FloatArray:
    r"""Weights :math:`\mu_j = (\tau / (\gamma_j + \tau))^q` of given effective rank.

    :math:`\tau` solves :math:`\sum_j \mu_j = \rho`. Null directions have weight 1
    whatever :math:`\tau` is, so a graph in several parts does no harm: ask for as many
    more as there are parts.

    Parameters
    ----------
    values : array-like of shape (r,)
        Eigenvalues >= 0 of a Laplacian.
    rank : float
        Effective rank :math:`\rho > 0`. At or below the number of null directions,
        these alone are kept; at r or above, all directions alike.
    power : float, default=5.0
        Steepness q.

    Returns
    -------
    ndarray of shape (r,)

    Examples
    --------
    >>> steep([0.0, 0.1, 0.2, 1.0], rank=2.0).round(3)
    array([1.   , 0.599, 0.376, 0.026])
    """
    check_scalar(rank, "rank", Real, min_val=0, include_boundaries="neither")
    gamma = np.maximum(np.asarray(values, dtype=np.float64), 0.0)
    gamma[gamma <= 1e-10 * gamma.max(initial=0.0)] = 0.0
    null = gamma == 0
    if rank >= len(gamma) or null.all():
        return np.ones(len(gamma))
    if rank <= null.sum():
        return np.where(null, 1.0, 0.0)

    def weights(log_tau: float) -> FloatArray:
        tau = np.exp(log_tau)
        result: FloatArray = (tau / (gamma + tau)) ** power
        return result

    low = np.log(gamma[~null].min()) - 20.0
    high = np.log(gamma.max()) + 20.0
    log_tau = brentq(lambda t: weights(t).sum() - rank, low, high, xtol=1e-12)
    return weights(log_tau)
