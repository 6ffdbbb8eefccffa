"""The default learner: many kernels, weighed by what they say of held-out labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.utils import Tags

from mercer._labels import Labels
from mercer._typing import FloatArray, RandomState
from mercer.learners._base import LabelLearner
from mercer.optim.few_labels import RIDGES
from mercer.optim.loo_ridge import held_out_loss, solve_loo_ridge
from mercer.spectrum.pool import Block, PoolBasis
from mercer.spectrum.steep import steep

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


class AutoKernel(LabelLearner):
    r"""A kernel from a pool, :math:`K = \sum_m w_m K_m`, that needs no tuning.

    The pool holds graph kernels of several sizes and effective ranks, a linear and a
    Gaussian kernel, and the density (see `PoolBasis`). Each is judged by ridge
    regression on the labelled points with one label left out at a time, in closed form:

    .. math:: w_m \propto \pi_m \sum_\lambda \exp(-\ell_m(\lambda)),

    :math:`\ell` the *summed* log-loss of the held-out labels. The sum makes the weights
    nearly those of the prior at ten labels and nearly those of one kernel at a hundred.

    Parameters
    ----------
    basis : PoolBasis or None, default=None
        None is `PoolBasis()`, whose 150 directions a graph serve some 30 classes.
    random_state : int, Generator, RandomState or None, default=None
        For the default basis.

    Attributes
    ----------
    kernel_ : SpectralKernel
        Unit variance over the training points.
    weights_ : ndarray of shape (r,)
        Weights of the columns of the basis.
    basis_ : fitted PoolBasis
    certificate_ : PoolEvidence
        Loss and weight of every kernel of the pool.

    Notes
    -----
    A graph kernel has weights :math:`(\tau/(\gamma_j + \tau))^5` of effective rank 1,
    1.5 or 4 times the number of classes, plus one for each further part of the graph.
    Scores are compared after the mean over *all* points is taken off, with the offset
    that was fitted without the held-out label: a fold that lost a label of a class
    would otherwise speak against that class whatever the kernel. A label alone in its
    class cannot be left out; with one label a class the prior decides.

    New labels cost little: with ``basis=FrozenEstimator(learner.basis_)`` only small
    matrices of the labelled points are factored.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.datasets import make_two_moons
    >>> X, truth = make_two_moons(200, random_state=0)
    >>> y = np.full(200, -1)
    >>> for c in (0, 1):
    ...     y[np.flatnonzero(truth == c)[:3]] = c
    >>> learner = AutoKernel(random_state=0).fit(X, y)
    >>> float(learner.certificate_.weights.sum().round(6))
    1.0
    """

    def __init__(self, basis: Any = None, *, random_state: RandomState = None) -> None:
        self.basis = basis
        self.random_state = random_state

    def _check_parameters(self) -> None:
        basis = getattr(self.basis, "estimator", self.basis)  # of a FrozenEstimator
        if basis is not None and not isinstance(basis, PoolBasis):
            msg = f"AutoKernel weighs the blocks of a PoolBasis; got basis={basis!r}."
            raise TypeError(msg)

    def _default_basis(self, n_labeled: int) -> PoolBasis:
        return PoolBasis(random_state=self.random_state)

    def _learn(self, labels: Labels) -> None:
        self.weights_, self.certificate_ = weigh_pool(
            self.basis_.vectors_[labels.labeled], labels, self.basis_.blocks_
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


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
