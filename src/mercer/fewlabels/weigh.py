"""Weights of the kernels of a pool, from held-out labels."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from mercer._labels import Labels
from mercer._typing import FloatArray
from mercer.fewlabels.centred import RIDGES
from mercer.fewlabels.pool import Block
from mercer.fewlabels.ridge import held_out_loss, solve_loo_ridge
from mercer.fewlabels.steep import steep

RANKS = (1.0, 1.5, 4.0)  # effective ranks of the graph kernels, in classes
KERNEL_PRIOR, DENSITY_PRIOR = 0.17, 0.18  # of graphs: graph_prior


@dataclass(frozen=True, slots=True, eq=False)
class PoolEvidence:
    """What the labels say about each kernel of the pool."""

    names: tuple[str, ...]
    losses: FloatArray  # (m,) log-loss of held-out labels, averaged over ridges
    weights: FloatArray  # (m,) sum to 1
    n_held_out: int  # labels that could be left out


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One kernel of the pool: weights of the columns of one block."""

    name: str
    block: Block
    core: FloatArray  # (r,) scaled so that the kernel has unit variance
    prior: float


def pool_members(blocks: tuple[Block, ...], n_classes: int) -> list[Member]:
    """Return the kernels of a pool for so many classes.

    Blocks without variance (all points equal) are left out.
    """
    members = []
    for block in blocks:
        if block.kind == "laplacian":
            n_null = int((block.values <= 1e-10).sum())
            prior = graph_prior(block.n_neighbors)
            filters = [
                (
                    f"{block.name}, rank {R}",
                    steep_rank(block.values, R, n_classes, n_null),
                )
                for R in RANKS
            ]
        elif block.kind == "kernel":
            filters = [(block.name, (block.values / block.values[0]) ** 2)]
            prior = KERNEL_PRIOR
        else:
            filters, prior = [(block.name, np.ones(1))], DENSITY_PRIOR
        for name, h in filters:
            variance = float(h @ np.diag(block.covariance))
            if variance > 0:
                members.append(Member(name, block, h / variance, prior))
    return members


def graph_prior(k: int) -> float:
    """Return the prior weight of a graph of k neighbours: largest at 7."""
    return float((k / 7 + 7 / k) ** -0.6)


def steep_rank(values: FloatArray, R: float, n_classes: int, n_null: int) -> FloatArray:
    """Return steep weights of R directions a class and one a further component."""
    return steep(values, rank=R * n_classes + max(n_null - 1, 0))


def weigh_pool(
    labeled: FloatArray, labels: Labels, blocks: tuple[Block, ...]
) -> tuple[FloatArray, PoolEvidence]:
    """Weigh the kernels of a pool by the labels.

    Parameters
    ----------
    labeled : ndarray of shape (l, r)
        Rows of the basis at the labelled points.
    labels : Labels
        Classes of the points.
    blocks : tuple of Block
        Of the basis.

    Returns
    -------
    core : ndarray of shape (r,)
        Weights of the columns.
    evidence : PoolEvidence
    """
    Y, codes = labels.one_hot(), labels.codes[labels.labeled]
    counts = Y.sum(axis=0)
    counted = counts[codes] > 1
    shares = np.log((counts + 1) / (counts + 1).sum())
    members = pool_members(blocks, len(counts))
    evidence, losses = np.empty(len(members)), np.empty(len(members))
    for i, member in enumerate(members):
        U = labeled[:, member.block.columns]
        K = (U * member.core) @ U.T
        at = []
        for ridge in RIDGES:
            fit = solve_loo_ridge(K, Y, ridge=ridge)
            coef = member.core[:, None] * (U.T @ fit.alpha)
            scale = np.sqrt(
                np.einsum("jc,jk,kc->", coef, member.block.covariance, coef)
            )
            scale = max(scale / np.sqrt(len(counts)), 1e-12)
            scores = (fit.held_out - fit.held_out_offset) / scale
            at.append(held_out_loss(scores, codes, counted, shares - shares.mean())[0])
        losses[i] = float(np.mean(at))
        evidence[i] = np.log(member.prior) + float(logsumexp(-np.array(at)))
    weights = softmax(evidence)
    core = np.zeros(labeled.shape[1])
    for weight, member in zip(weights, members, strict=True):
        core[member.block.columns] += weight * member.core
    names = tuple(member.name for member in members)
    return core, PoolEvidence(names, losses, weights, int(counted.sum()))
