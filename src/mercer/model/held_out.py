"""What a learned kernel says of labelled rows without their own labels."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from mercer._base.typing import BoolArray, FloatArray, IntArray, Points
from mercer.evidence.labels import Labels
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.opinion import held_out_opinion
from mercer.fewlabels.ridge import calibrate
from mercer.fewlabels.rule import Rule
from mercer.model.parts import Learned


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutScores:
    """Log-probabilities of labelled rows, each from a machine without its label."""

    rows: IntArray  # (l,) positions
    scores: FloatArray  # (l, n_classes) but for a constant
    counted: BoolArray  # (l,) rows whose class has another label

    @property
    def proba(self) -> FloatArray:
        """Probabilities, (l, n_classes); even where nothing could be held out."""
        level = np.where(self.counted[:, None], self.scores, 0.0)
        return np.asarray(softmax(level, axis=1))


def held_out_scores(
    learned: Learned,
    labels: Labels,
    rule: Rule,
    points: Points | None = None,
    rows: IntArray | None = None,
) -> HeldOutScores:
    """Leave every label out once, in closed form, and a tenth at a time for trees.

    Parameters
    ----------
    learned : Learned
    labels : Labels
        Of all points.
    rule : Rule
    points : array, optional
        Where the learner has no basis.
    rows : int ndarray, optional
        Positions of the rows that the machine saw; all by default.
    """
    kernel = learned.learner.kernel_
    # What the kernel says without a label; trees are asked apart.
    judge = LeaveOneOutRLS(kernel, class_sizes=None, rule=replace(rule, trees=0))
    if learned.features is None:
        judge.fit(points, labels)
    elif rows is None:
        judge.solve(kernel, labels, features=learned.features)
    else:
        judge.solve(kernel, labels.take(rows), features=learned.features, rows=rows)
    held_out, labeled = judge.certificate_, labels.labeled
    scores, counted = held_out.scores, held_out.counted
    votes = labels.weight()[:, None] * labels.one_hot()
    opinion = held_out_opinion(kernel, labeled, votes, rule)
    if opinion is not None:
        scores = scores + opinion
        level = np.zeros(len(labels.classes))
        scores *= calibrate(scores[counted], votes[counted], level, rule=rule).slope
    return HeldOutScores(labeled, scores, counted)
