"""Ridge regression whose settings are chosen by leaving labels out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from scipy.special import softmax

from mercer._base.checks import check_choice
from mercer._base.html import Shown
from mercer._base.proba import lead
from mercer._base.typing import ArrayLike, BoolArray, FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.fewlabels.centred import fit_centred
from mercer.fewlabels.opinion import ask_trees
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.shift import shift_of_classes
from mercer.fewlabels.sizes import LabelsDrawn, offset_like, on_host
from mercer.fewlabels.spreading import spread_decision
from mercer.machines._maps import GramMap, KernelMap
from mercer.machines._sizes import known_shares
from mercer.machines.base import KernelMachine, Solution
from mercer.spectrum.features import DenseFeatures, Features, Standardised

_LEVEL = 1e-6  # lead in log-probability that rounding may have made


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut(Shown):
    """What the labelled points say of a machine trained without them."""

    scores: FloatArray  # (l, C) log-probabilities but for a constant, point left out
    counted: BoolArray  # (l,) points whose class has another label
    n_errors: int  # among these
    losses: FloatArray  # (n_ridges,) summed log-loss at each ridge
    ridge_weights: FloatArray  # (n_ridges,)
    sizes: FloatArray  # (C,) class shares the decision was made to have
    unexplained: float | None  # share of the decision, where it was spread

    def _facts(self) -> dict[str, Any]:
        return {
            "labels that could be held out": int(np.count_nonzero(self.counted)),
            "predicted wrong": self.n_errors,
            "class shares of the decision": ", ".join(f"{s:.0%}" for s in self.sizes),
            "share of the decision that the kernel does not explain": self.unexplained,
        }


class LeaveOneOutRLS(KernelMachine):
    r"""Regularised least squares for very few labels; nothing to tune.

    1. Ridge regression with a free offset (`solve_loo_ridge`, left-out labels in closed
       form). Classes with few labels count nearly alike, however these are divided
       (`fit_centred`).
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
    class_sizes : "estimate", None, dict or array-like, default="estimate"
        Shares of the classes among all points, if known: ``{class: share}``, a Series
        with the classes as index, or in the order of `classes_`.
        "estimate" moves the scores to the likeliest shares, as step 4 says, and takes
        the predicted ones, unless the classes are clear clusters that the shares of the
        labels, or even ones, explain better. None leaves out step 4.
    labels_drawn : {"at random", "per class"} or None, default=None
        How rows were chosen for labels, if that is known. At random, the numbers of
        labels tell the sizes of the classes and are used; per class, they tell nothing.
        Left out, equal numbers are taken for labels drawn per class. Used where sizes
        are estimated.
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
        if isinstance(self.class_sizes, str) and self.class_sizes != "estimate":
            msg = (
                "class_sizes must be 'estimate', None or the shares of the classes, "
                f"got {self.class_sizes!r}."
            )
            raise ValueError(msg)
        ways = (*get_args(LabelsDrawn), None)
        check_choice(self.labels_drawn, "labels_drawn", ways)

    def _solve_all(
        self,
        labels: Labels,
        weights: FloatArray,
        features: Features,
        rows: IntArray | None,
    ) -> Solution:
        to_features = _labelled_span(self._map)
        if to_features is not None:
            values = features.rows(np.arange(features.shape[0]))
            features = DenseFeatures(values, to_features)
        kept, r = slice(None), features.shape[1]
        if isinstance(features, DenseFeatures):
            features, kept = features.narrowed()
        Phi = Standardised.of(features)
        rule = DEFAULT if self.rule is None else self.rule
        labeled, codes = labels.labeled, labels.codes[labels.labeled]
        Y = labels.one_hot()
        start = fit_centred(
            Phi,
            labeled,
            codes,
            len(labels.classes),
            shares=Y,
            weights=weights,
            rule=rule,
        )
        votes = weights[:, None] * Y
        opinion = ask_trees(self._map, rows, labeled, votes, rule)
        share = 0.0 if opinion is None else opinion.share
        coef, offset, slope = (1 - share) * start.coef, (1 - share) * start.offset, 1.0
        # In place: new arrays of this size take longer than the steps themselves.
        scores = (1 - share) * start.points
        if opinion is not None:
            more = opinion.scores
            more *= share
            scores += more
        n_held_out = float(weights[start.counted].sum())
        is_missed = (start.scores.argmax(axis=1) != codes) & start.counted
        sizes, left = softmax(offset), None
        known = self._sizes(labels)
        # A class that is likeliest nowhere holds no point that could be kept.
        is_held = len(np.unique(codes)) == len(labels.classes)
        spreads = self.class_sizes is not None and is_held
        if spreads and known is None:
            offset = offset + shift_of_classes(
                start, votes.sum(axis=0), n_held_out, self.labels_drawn, rule
            )
        scores += offset_like(offset, scores)
        if spreads:
            spread = spread_decision(
                Phi,
                coef,
                offset,
                labeled,
                codes,
                scores=scores,
                sizes=known,
                labels_drawn=self.labels_drawn,
                weights=weights,
                n_errors=float(weights[is_missed].sum()),
                n_held_out=n_held_out,
                rule=rule,
            )
            coef, offset, slope = spread.coef, spread.offset, spread.slope
            scores = spread.scores
            sizes, left = spread.sizes, spread.unexplained
        self.certificate_ = HeldOut(
            start.scores,
            start.counted,
            int(is_missed.sum()),
            start.losses,
            start.ridge_weights,
            sizes,
            left,
        )
        coef, dual = coef / Phi.scale, (1 - share) * start.dual / Phi.scale**2
        intercept, scores = offset - Phi.mean @ coef, on_host(scores)
        every = np.zeros((r, len(offset)))
        every[kept] = coef
        coef = every
        if opinion is not None:
            self._map = opinion.map
            coef = np.vstack([coef, slope * share * np.eye(len(offset))])
        coef = lead(coef)
        dual = lead(dual) if to_features is None else to_features @ coef
        return Solution(coef, dual, lead(intercept), lead(scores))

    def _codes_of(self, scores: FloatArray) -> IntArray:
        """Return positions in `classes_`; the first of those that are level."""
        if scores.shape[1] == 1:
            return (scores[:, 0] > _LEVEL).astype(np.intp)
        columns = np.ascontiguousarray(scores.T)  # long axes are compared faster
        level, first = columns.max(axis=0) - _LEVEL, np.zeros(len(scores), np.intp)
        for c in reversed(range(len(columns))):
            first[columns[c] >= level] = c
        return first

    def _sizes(self, labels: Labels) -> FloatArray | None:
        if isinstance(self.class_sizes, str) or self.class_sizes is None:
            return None
        return known_shares(self.class_sizes, labels.classes, "class_sizes")

    def _wanted_sizes(self, labels: Labels) -> None:
        """Return nothing: sizes are part of the decision."""

    def _prior_scores(self) -> FloatArray:
        return lead(np.log(np.maximum(self._reach_shares, 1e-12)))


def _labelled_span(kernel_map: KernelMap) -> FloatArray | None:
    """Return what turns kernel values with labelled points into features, (l, r)."""
    if not isinstance(kernel_map, GramMap):
        return None
    L = kernel_map.labeled
    span: FloatArray = L / np.einsum("ij,ij->j", L, L)
    return span
