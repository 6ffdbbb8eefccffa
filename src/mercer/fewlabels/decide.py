"""The rule for few labels: each step takes a decision and returns a better one.

decision = regress(features, labels)
decision = with_trees(decision, opinion)
decision = with_shares(decision, labels)
decision = with_sizes(decision, features, labels)
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from mercer._base.html import Shown
from mercer._base.typing import BoolArray, FloatArray
from mercer.evidence.labels import Labels, LabelsDrawn
from mercer.fewlabels.centred import CentredFit, fit_centred
from mercer.fewlabels.opinion import Opinion
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.shift import shift_of_classes
from mercer.fewlabels.spreading import spread_decision
from mercer.machines._sizes import ToldSizes
from mercer.spectrum.features import Features
from mercer.spectrum.scores import Scores


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


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """Scores of points: a product with their features, and what trees add."""

    fit: CentredFit  # the regression, and its held-out labels
    coef: FloatArray  # (r, C) of the features
    offset: FloatArray  # (C,)
    scores: Scores  # (n, C) offset included
    sizes: FloatArray  # (C,) class shares that it was made to have
    share: float = 0.0  # weight of the trees in the first scores
    slope: float = 1.0  # what these were multiplied by
    unexplained: float | None = None  # share that the kernel does not explain

    def held_out(self, labels: Labels) -> HeldOut:
        """Return what the labelled points say."""
        fit, codes = self.fit, labels.codes[labels.labeled]
        missed = fit.counted & (fit.scores.argmax(axis=1) != codes)
        return HeldOut(
            fit.scores,
            fit.counted,
            int(missed.sum()),
            fit.losses,
            fit.ridge_weights,
            self.sizes,
            self.unexplained,
        )


def regress(Phi: Features, labels: Labels, rule: Rule = DEFAULT) -> Decision:
    """Decide by ridge regression with calibrated offsets (`fit_centred`).

    Parameters
    ----------
    Phi : Features
        Of all points, columns centred, total variance 1.
    labels : Labels
        Of the points; every class has one.
    rule : Rule, optional
    """
    fit = fit_centred(Phi, labels, rule)
    scores = fit.points.moved(fit.offset)
    return Decision(fit, fit.coef, fit.offset, scores, softmax(fit.offset))


def with_trees(decision: Decision, opinion: Opinion | None) -> Decision:
    """Return a weighted mean of the decision and what trees say (`ask_trees`)."""
    if opinion is None:
        return decision
    share = opinion.share
    offset = (1 - share) * decision.offset
    mixed = decision.fit.points.combined(1 - share, opinion.scores, share)
    return replace(
        decision,
        coef=(1 - share) * decision.coef,
        offset=offset,
        scores=mixed.moved(offset),
        sizes=softmax(offset),
        share=share,
    )


def with_shares(
    decision: Decision,
    labels: Labels,
    labels_drawn: LabelsDrawn | None = None,
    rule: Rule = DEFAULT,
) -> Decision:
    """Return the decision at the likeliest class shares (`shift_of_classes`)."""
    weights = labels.weight()
    shift = shift_of_classes(
        decision.fit,
        weights @ labels.one_hot(),
        float(weights[decision.fit.counted].sum()),
        labels_drawn,
        rule,
    )
    scores = decision.scores.moved(shift) if shift.any() else decision.scores
    return replace(decision, offset=decision.offset + shift, scores=scores)


def with_sizes(
    decision: Decision,
    Phi: Features,
    labels: Labels,
    sizes: ToldSizes | None = None,
    labels_drawn: LabelsDrawn | None = None,
    *,
    n_points: int | None = None,
    rule: Rule = DEFAULT,
) -> Decision:
    """Return the decision, spread so that classes have their sizes (`spread_decision`).

    Parameters
    ----------
    decision : Decision
    Phi, labels, rule
        As in `regress`.
    sizes : ToldSizes, optional
        What is known of the shares of the classes; estimated where left out.
    labels_drawn : {"at random", "per class"}, optional
        How rows were chosen for labels, if that is known.
    n_points : int, optional
        How many points these stand for; by default there are no others.
    """
    rows, weights, fit = labels.labeled, labels.weight(), decision.fit
    codes = labels.codes[rows]
    missed = fit.counted & (fit.scores.argmax(axis=1) != codes)
    spread = spread_decision(
        Phi,
        decision.coef,
        decision.offset,
        rows,
        codes,
        scores=decision.scores,
        sizes=sizes,
        labels_drawn=labels_drawn,
        n_points=n_points,
        weights=weights,
        n_errors=float(weights[missed].sum()),
        n_held_out=float(weights[fit.counted].sum()),
        rule=rule,
    )
    return replace(
        decision,
        coef=spread.coef,
        offset=spread.offset,
        scores=spread.scores,
        sizes=spread.sizes,
        slope=spread.slope,
        unexplained=spread.unexplained,
    )
