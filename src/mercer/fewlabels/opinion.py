"""The opinion of random trees beside that of the kernel."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.fewlabels.centred import log_shares
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.trees import ArrayColumns, Columns, RandomTrees, grow_trees
from mercer.machines._maps import FeatureMap, KernelMap
from mercer.spectrum.features import Features
from mercer.spectrum.scores import Scores

# Limits of work where labels are hidden: above how many of them fewer trees are grown,
# the fewest, and the points whose mean score is moved to that of the label shares.
_ALL_TREES_UP_TO, _FEWEST_TREES, _CENTRED_ON = 5000, 20, 2000
# Limit of work: parts in which labels are hidden from trees that judge labels.
_FOLDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class TreeScores:
    """What trees say of points, as scores with mean 0 over the classes."""

    trees: RandomTrees
    doubt: float  # labels of no class, as a share of those given
    shift: FloatArray  # (C,) half way to the mean of scores that are centred

    @classmethod
    def fit(
        cls,
        columns: Columns,
        labeled: FloatArray,
        Y: FloatArray,
        rule: Rule = DEFAULT,
    ) -> tuple["TreeScores", Scores]:
        """Grow the trees, and also return the scores of all points.

        With few labels of many columns most points end up in the leaves of one class.
        The logarithms of the votes are therefore moved half way to where their mean
        over all points is that of the label shares.

        Parameters
        ----------
        columns : Columns
            Of all points.
        labeled : ndarray of shape (l, d)
            The labelled ones.
        Y : ndarray of shape (l, C)
            Weights of the classes at each of them.
        rule : Rule, optional
            How many trees, and how far scores are centred.
        """
        others = columns.thinned(_CENTRED_ON)
        told = others.rows(np.arange(len(others))) if len(others) else labeled
        trees = grow_trees(labeled, Y, told, n_trees=rule.trees, tries=rule.tree_tries)
        plain = cls(trees, rule.tree_doubt / float(Y.sum()), np.zeros(Y.shape[1]))
        scores = plain.at(columns)
        level = log_shares(Y.sum(axis=0), rule)
        shift = rule.tree_centring * (level - scores.mean())
        return replace(plain, shift=shift), scores.moved(shift)

    def at(self, columns: Columns) -> Scores:
        r"""Return the scores of points, (m, C).

        Of the share v of the votes of l labels, :math:`\log(v + 2/(lC))` but for a
        constant: as if two more labels were of no class.
        """
        votes = columns.votes(self.trees)
        return votes.log_centred(self.doubt / len(self.shift)).moved(self.shift)


@dataclass(frozen=True, slots=True, eq=False)
class Opinion:
    """What the trees say of all points, and a map that asks them about new ones."""

    map: "WithTrees"
    share: float  # weight of their scores against those of the kernel
    scores: Scores  # (n, C) of all points


def ask_trees(
    kernel_map: KernelMap,
    rows: IntArray | None,
    labels: Labels,
    rule: Rule = DEFAULT,
) -> Opinion | None:
    """Return the opinion of trees, or None where the points have no columns.

    Its share is half of 1 - C / l: with one label per class there is nothing to grow
    trees on.

    Parameters
    ----------
    kernel_map : KernelMap
        Map of a kernel; its basis may hold the columns of its points.
    rows : int ndarray of shape (n,) or None
        Which of these points there are; None for all.
    labels : Labels
        Of these points.
    rule : Rule, optional
    """
    Y = labels.weight()[:, None] * labels.one_hot()
    share = _share(Y, rule)
    if share <= 0 or not isinstance(kernel_map, FeatureMap):
        return None
    columns = _columns(kernel_map.kernel)
    if columns is None:
        return None
    if rows is not None:
        columns = columns.take(rows)
    some = columns.rows(labels.labeled)
    trees, scores = TreeScores.fit(columns, some, Y, rule)
    return Opinion(WithTrees(kernel_map, trees), share, scores)


def held_out_opinion(
    kernel: Any, labeled: IntArray, Y: FloatArray, rule: Rule = DEFAULT
) -> FloatArray | None:
    """Return what trees say of labelled points that they were not grown on, (l, C).

    Scores times their share. Every tenth label is hidden at a time. None where the
    points have no columns. Above 5,000 labels there are fewer trees, down to 20: each
    has more to learn from.

    Parameters
    ----------
    kernel : Kernel
        Its basis may know the columns of its points.
    labeled : int ndarray of shape (l,)
    Y : ndarray of shape (l, C)
        Weights of the classes at each of them.
    rule : Rule, optional
    """
    share = _share(Y, rule)
    columns = None if share <= 0 else _columns(kernel)
    if columns is None:
        return None
    n_trees = round(rule.trees * _ALL_TREES_UP_TO / len(labeled))
    rule = replace(rule, trees=min(rule.trees, max(n_trees, _FEWEST_TREES)))
    centre = columns.thinned(_CENTRED_ON)
    points, scores = columns.rows(labeled), np.empty(Y.shape)
    fold = np.arange(len(labeled)) % _FOLDS
    for k in np.unique(fold):
        is_hidden = fold == k
        trees, _ = TreeScores.fit(centre, points[~is_hidden], Y[~is_hidden], rule)
        hidden = ArrayColumns(points[is_hidden])
        scores[is_hidden] = trees.at(hidden).to_numpy()
    return share * scores


def _share(Y: FloatArray, rule: Rule) -> float:
    """Return the weight of the trees' scores against those of the kernel."""
    if rule.trees == 0:
        return 0.0
    return float(rule.tree_share * (1 - Y.shape[1] / Y.sum()))


def _columns(kernel: Any) -> Columns | None:
    """Return the columns of all points of a kernel, None where there are none."""
    basis = getattr(kernel, "basis", None)
    return None if basis is None else getattr(basis, "columns", lambda: None)()


@dataclass(frozen=True, eq=False)
class WithTrees:
    """A kernel map whose points are represented by features and scores of trees."""

    map: FeatureMap
    trees: TreeScores

    @property
    def kernel(self) -> Any:
        """The kernel, whose basis knows the columns of points."""
        return self.map.kernel

    @property
    def labeled(self) -> FloatArray:
        """Features of the labelled points, without the scores."""
        return self.map.labeled

    @property
    def gram(self) -> FloatArray:
        """Inner products of the labelled features, (l, l)."""
        return self.map.gram

    def with_kernel(self, kernel: Any) -> "WithTrees":
        """Return the map with another kernel of the same features."""
        return replace(self, map=self.map.with_kernel(kernel))

    def represent(self, X: Any) -> FloatArray:
        """Return features and scores of new points, (m, r + C)."""
        return self._joined(self.map.represent(X), self.kernel.basis.columns(X))

    def represent_own(self, features: Features, rows: IntArray) -> FloatArray:
        """Return features and scores of training points, (m, r + C)."""
        own = self.map.represent_own(features, rows)
        return self._joined(own, self.kernel.basis.columns().take(rows))

    def products_of(
        self, features: Features, readout: FloatArray, rows: IntArray | None
    ) -> FloatArray:
        """Return the products of training points with the readout, (n, q)."""
        r, columns = features.shape[1], self.kernel.basis.columns()
        if rows is not None:
            columns = columns.take(rows)
        said = self.trees.at(columns).times(readout[r:]).to_numpy()
        return said + features.times(readout[:r])

    def readout(self, coef: FloatArray, dual: FloatArray) -> FloatArray:
        """Return the weights of both."""
        return coef

    def unreached(self, R: FloatArray) -> BoolArray:
        """Tell which features are orthogonal to all labelled ones."""
        return self.map.unreached(self._features(R))

    def unreached_of(self, features: Features) -> BoolArray:
        """Tell which of all points have features orthogonal to all labelled ones."""
        return self.map.unreached_of(features)

    def similarity(self, R: FloatArray) -> FloatArray:
        """Return the inner products with the labelled features."""
        return self.map.similarity(self._features(R))

    def _joined(self, R: FloatArray, columns: Columns) -> FloatArray:
        return np.hstack([R, self.trees.at(columns).to_numpy()])

    def _features(self, R: FloatArray) -> FloatArray:
        return R[:, : self.map.labeled.shape[1]]
