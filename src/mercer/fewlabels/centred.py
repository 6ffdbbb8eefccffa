"""From a few labels to scores of all points: centred and calibrated."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from mercer._base.typing import BoolArray, FloatArray
from mercer.evidence.labels import Labels
from mercer.fewlabels.ridge import (
    calibrate,
    held_out_loss,
    held_out_votes,
    loo_ridges,
)
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.sizes import label_shares
from mercer.spectrum.features import Features
from mercer.spectrum.scores import Scores


@dataclass(frozen=True, slots=True, eq=False)
class CentredFit:
    """Scores with mean 0 over all points, and offsets."""

    coef: FloatArray  # (r, C) of features, rows centred
    points: Scores  # (n, C) of all points, without the offset
    dual: FloatArray  # (l, C) the same, of labelled points
    offset: FloatArray  # (C,)
    scores: FloatArray  # (l, C) held out
    counted: BoolArray  # (l,)
    losses: FloatArray
    ridge_weights: FloatArray


def fit_centred(Phi: Features, labels: Labels, rule: Rule = DEFAULT) -> CentredFit:
    r"""Fit scores with mean 0 over all points, and calibrated offsets.

    Parameters
    ----------
    Phi : Features
        Of all points, columns centred, total variance 1.
    labels : Labels
        Of the points; every class has one. A point is left out whole.
    rule : Rule, optional
        Ridges, and how scores are calibrated.
    """
    rows, n_classes = labels.labeled, len(labels.classes)
    Y, labeled, given = labels.one_hot(), Phi.rows(rows), labels.weight()
    counts = given @ Y
    votes = held_out_votes(Y, given)
    counted = votes[np.arange(len(rows)), labels.codes[rows]] > 0
    prior = log_shares(counts, rule)
    fits = loo_ridges(labeled, 1.0, Y, [ridge / given for ridge in rule.ridges])
    coefs = labeled.T @ np.hstack([fit.alpha for fit in fits])
    points = Phi.scores(coefs, np.zeros(coefs.shape[1]))
    squares = points.mean_squares()
    losses, slopes = np.empty(len(fits)), np.empty(len(fits))
    scores = []
    for i, (fit, square) in enumerate(
        zip(fits, np.split(squares, len(fits)), strict=True)
    ):
        scale = max(float(np.sqrt(square.mean())), 1e-12)
        held = (fit.held_out - fit.held_out_offset) / scale
        losses[i], slope = held_out_loss(held, votes, prior, rule=rule)
        slopes[i] = slope / scale
        scores.append(slope * held)
    ridge_weights = softmax(-losses)
    held = np.tensordot(ridge_weights, scores, axes=1)
    offset = prior.copy()
    # Classes without a second label are never right when one is left out: how large
    # they are is not for the held-out labels to say.
    seen = np.flatnonzero(votes.any(axis=0) | ~votes.any())
    tested = votes.any(axis=1)
    line = calibrate(
        held[tested][:, seen], votes[tested][:, seen], offset[seen], rule=rule
    )
    offset[seen] = line.offset
    # What is taken of each ridge and class for each class: a mean, rows centred.
    taken = np.kron(
        (line.slope * ridge_weights * slopes)[:, None],
        np.eye(n_classes) - 1 / n_classes,
    )
    dual = np.hstack([fit.alpha for fit in fits]) @ taken
    return CentredFit(
        labeled.T @ dual,
        points.times(taken),
        dual,
        offset - offset.mean(),
        line.slope * held + offset,
        counted,
        losses,
        ridge_weights,
    )


def log_shares(counts: FloatArray, rule: Rule = DEFAULT) -> FloatArray:
    """Return the logarithms of the label shares, smoothed, with mean 0.

    Examples
    --------
    >>> log_shares(np.array([1.0, 3.0])).round(3)
    array([-0.347,  0.347])
    """
    shares = np.log(label_shares(counts, rule))
    centred: FloatArray = shares - shares.mean()
    return centred
