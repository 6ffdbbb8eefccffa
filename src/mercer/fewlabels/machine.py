"""Ridge regression whose settings are chosen by leaving labels out."""

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from mercer._base.checks import check_choice
from mercer._base.proba import lead
from mercer._base.typing import ArrayLike, FloatArray, IntArray
from mercer.evidence.labels import Labels, LabelsDrawn
from mercer.fewlabels.decide import (
    HeldOut,
    regress,
    with_shares,
    with_sizes,
    with_trees,
)
from mercer.fewlabels.opinion import ask_trees
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.sizes import seen_points
from mercer.machines._maps import GramMap, KernelMap
from mercer.machines._sizes import ToldSizes, is_estimated, read_sizes
from mercer.machines.base import KernelMachine, Solution
from mercer.spectrum.features import DenseFeatures, Features, Standardised

_LEVEL = 1e-6  # lead in log-probability that rounding may have made


class LeaveOneOutRLS(KernelMachine):
    r"""Regularised least squares for very few labels; nothing to tune.

    1. Ridge regression with a free offset (`solve_loo_ridge`, left-out labels in closed
       form).
    2. Scores are centred over *all* points, as in Poisson learning, and a softmax with
       slope and offsets is fitted to the held-out ones; the offsets start from the
       logarithms of the label shares.
    3. Where the kernel's basis knows the columns of its points (`KernelPool.columns`),
       random trees are grown on the labelled ones; the scores are a weighted mean of
       both opinions (`ask_trees`).
    4. Class sizes: equal numbers of labels per class say nothing of them, so the scores
       are moved to the shares that make all points likeliest (`shift_of_classes`), the
       more the more labels there are. The decision is then spread over all points under
       offsets that give every class its share: :math:`F = F_0 + g\, R V`, V the present
       decision with given labels kept, R ridge regression on the features of the
       kernel, until it converges. Pairs of clear clusters that it confuses are split
       again (`spread_decision`).

    Parameters
    ----------
    kernel : Kernel, learner, str, callable or "precomputed", default="rbf"
        A learner is cloned and fitted on all points first.
    class_sizes : "estimate", None, dict, array-like or str, default="estimate"
        Shares or counts of the classes among all points, if known: ``{class: share}``,
        a Series with the classes as index, or in the order of `classes_`. Or what is
        known of them: some shares, ``{"a": 0.9}``; the least and the most,
        ``{"a": (0.8, 0.95)}``; a word, ``{"a": "most", "b": "rare"}`` ("nearly all",
        "most", "about half", "few" and "rare" are 90 to 100%, 50 to 100%, 40 to 60%,
        up to 20% and up to 5%); or an order, ``"a > b"``. The predicted sizes are then
        moved no further than that.
        "estimate" moves the scores to the likeliest shares, as step 4 says, and takes
        the predicted ones, unless the classes are very clear clusters that shares
        nearer to those of the labels, or to even ones, explain better; these move at
        most 8% of the points to other classes. None leaves out step 4.
    labels_drawn : {"at random", "per class"} or None, default=None
        How rows were chosen for labels, if that is known. At random, the numbers of
        labels tell the sizes of the classes and are used; per class, they tell nothing,
        and the predicted sizes are kept. Left out, sizes nearer to the shares of the
        labels, or to even ones, may be taken as well. Used where sizes are estimated.
    unreached : "prior", dict or array-like, default="prior"
        As in `RLSClassifier`.
    rule : Rule, optional
        The constants of all steps.

    Attributes
    ----------
    classes_, class_prior_, labeled_, kernel_, learner_, transduction_
        As in `RLSClassifier`.
    dual_coef_ : ndarray of shape (n_labeled, n_columns)
        Coefficients of the labelled points in the kernel's part of the scores; with
        ``class_sizes=None`` and ``Rule(trees=0)`` they and `intercept_` are the whole
        decision.
    intercept_ : ndarray of shape (n_columns,)
    certificate_ : HeldOut

    See Also
    --------
    AutoKernel : The kernel made for it.
    RLSClassifier : Least squares with a ridge of your own.
    KernelLogisticRegression : The same loss as logistic regression.

    Notes
    -----
    The gain g (`spreading_gain`) is 4 among many points of clear clusters, falls to 0
    when held-out labels might as well be guessed (where the kernel does not know the
    classes, nothing is spread), and is smaller among few points and with many labels.

    Weighted labels count as if they were given that often, and a label distribution
    as if each class were given with its share; a point is left out whole. Step 4 keeps
    the likeliest class of a point.

    Step 4 is discriminative clustering (Bach and Harchaoui, NIPS 2007) with seeds and
    sizes; with K in place of R it is kernel k-means, with the walk of a graph it is
    PoissonMBO (Calder, Cook, Thorpe and Slepcev, ICML 2020). Step 2 with infinite ridge
    is Poisson learning.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.1]]
    >>> machine = LeaveOneOutRLS().fit(X, ["low", None, "high", None])
    >>> machine.transduction_
    array(['low', 'low', 'high', 'high'], dtype='<U4')
    """

    certificate_: HeldOut

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        class_sizes: str | Mapping[Any, float] | ArrayLike | None = "estimate",
        labels_drawn: LabelsDrawn | None = None,
        unreached: Any = "prior",
        rule: Rule | None = None,
    ) -> None:
        self.kernel = kernel
        self.class_sizes = class_sizes
        self.labels_drawn = labels_drawn
        self.unreached = unreached
        self.rule = rule

    def _check_parameters(self) -> None:
        super()._check_parameters()
        ways = (*get_args(LabelsDrawn), None)
        check_choice(self.labels_drawn, "labels_drawn", ways)

    def _solve_all(
        self,
        labels: Labels,
        weights: FloatArray,
        features: Features,
        rows: IntArray | None,
    ) -> Solution:
        rule = DEFAULT if self.rule is None else self.rule
        sizes = self._sizes(labels)
        to_features = _labelled_span(self._map)
        if to_features is not None:
            values = features.rows(np.arange(features.shape[0]))
            features = DenseFeatures(values, to_features)
        kept, r = slice(None), features.shape[1]
        if isinstance(features, DenseFeatures):
            features, kept = features.narrowed()
        Phi, n = Standardised.of(features), features.shape[0]
        seen = seen_points(n, labels.labeled, rule)
        if len(seen) < n:
            Phi, labels = Phi.take(seen), labels.take(seen)
            rows = seen if rows is None else rows[seen]
        opinion = ask_trees(self._map, rows, labels, rule)
        decision = with_trees(regress(Phi, labels, rule), opinion)
        if self.class_sizes is not None and _names_every_class(labels):
            drawn = self.labels_drawn
            if sizes is None or sizes.exact is None:
                decision = with_shares(decision, labels, drawn, rule)
            decision = with_sizes(
                decision, Phi, labels, sizes, drawn, n_points=n, rule=rule
            )
        self.certificate_ = decision.held_out(labels)
        if opinion is not None:
            self._map = opinion.map
        coef = np.zeros((r, len(labels.classes)))
        coef[kept] = decision.coef / Phi.scale
        intercept = decision.offset - Phi.mean @ coef[kept]
        dual = (1 - decision.share) * decision.fit.dual / Phi.scale**2
        if to_features is not None:
            dual = to_features @ coef
        if opinion is not None:
            share = decision.slope * decision.share
            coef = np.vstack([coef, share * np.eye(len(labels.classes))])
        return Solution(lead(coef), lead(dual), lead(intercept))

    def _codes_of(self, scores: FloatArray) -> IntArray:
        """Return positions in `classes_`; the first of those that are level."""
        if scores.shape[1] == 1:
            return (scores[:, 0] > _LEVEL).astype(np.intp)
        columns = np.ascontiguousarray(scores.T)  # long axes are compared faster
        level, first = columns.max(axis=0) - _LEVEL, np.zeros(len(scores), np.intp)
        for c in reversed(range(len(columns))):
            first[columns[c] >= level] = c
        return first

    def _sizes(self, labels: Labels) -> ToldSizes | None:
        if self.class_sizes is None or is_estimated(self.class_sizes):
            return None
        return read_sizes(self.class_sizes, labels.classes)

    def _wanted_sizes(self, labels: Labels) -> None:
        """Return nothing: sizes are part of the decision."""

    def _prior_scores(self) -> FloatArray:
        return lead(np.log(np.maximum(self._reach_shares, 1e-12)))


def _names_every_class(labels: Labels) -> bool:
    """Tell whether each class is the likeliest one of a labelled point.

    Another one holds no point that could be kept.
    """
    return len(np.unique(labels.codes[labels.labeled])) == len(labels.classes)


def _labelled_span(kernel_map: KernelMap) -> FloatArray | None:
    """Return what turns kernel values with labelled points into features, (l, r)."""
    if not isinstance(kernel_map, GramMap):
        return None
    L = kernel_map.labeled
    span: FloatArray = L / np.einsum("ij,ij->j", L, L)
    return span
