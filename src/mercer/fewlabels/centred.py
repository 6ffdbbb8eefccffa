"""From a few labels to scores of all points: centred and calibrated."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from mercer._typing import BoolArray, FloatArray, IntArray
from mercer.fewlabels.ridge import calibrate, held_out_loss, solve_loo_ridge
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.sizes import mean_squares
from mercer.spectrum.features import Features


@dataclass(frozen=True, slots=True, eq=False)
class CentredFit:
    """Scores with mean 0 over all points, and offsets."""

    coef: FloatArray  # (r, C) of features, rows centred
    dual: FloatArray  # (l, C) the same, of labelled points
    offset: FloatArray  # (C,)
    scores: FloatArray  # (l, C) held out
    counted: BoolArray  # (l,)
    losses: FloatArray
    ridge_weights: FloatArray


def fit_centred(
    Phi: Features,
    rows: IntArray,
    codes: IntArray,
    n_classes: int,
    *,
    rule: Rule = DEFAULT,
) -> CentredFit:
    r"""Fit scores with mean 0 over all points, and calibrated offsets.

    A label of class c weighs :math:`\frac{n_c + 5}{l + 5C} \cdot \frac{l}{n_c}`, which
    divides its ridge: among few labels a class that has two of them where others have
    one is no larger for it, among many the shares of the labels are believed.

    Parameters
    ----------
    Phi : Features
        Of all points, columns centred, total variance 1.
    rows, codes : int ndarray of shape (l,)
        Labelled points and their classes, 0 to C - 1; every class has one.
    n_classes : int
        C.
    rule : Rule, optional
        Ridges, and how labels are weighed and calibrated.
    """
    Y, labeled = np.equal.outer(codes, np.arange(n_classes)) * 1.0, Phi.rows(rows)
    counts = Y.sum(axis=0)
    counted = counts[codes] > 1
    shares = log_shares(counts, rule)
    K = labeled @ labeled.T
    even = rule.even_labels
    evened = (counts + even) / (len(rows) + even * n_classes)
    weight = (evened * len(rows) / counts)[codes]
    fits = [solve_loo_ridge(K, Y, ridge=ridge / weight) for ridge in rule.ridges]
    coefs = labeled.T @ np.hstack([fit.alpha for fit in fits])
    squares = mean_squares(Phi.scores(coefs, np.zeros(coefs.shape[1])))
    losses = np.empty(len(fits))
    duals, scores = [], []
    for i, (fit, square) in enumerate(
        zip(fits, np.split(squares, len(fits)), strict=True)
    ):
        scale = max(float(np.sqrt(square.mean())), 1e-12)
        held = (fit.held_out - fit.held_out_offset) / scale
        losses[i], slope = held_out_loss(held, codes, counted, shares, rule=rule)
        duals.append(slope * fit.alpha / scale)
        scores.append(slope * held)
    weights = softmax(-losses)
    dual, held = (np.tensordot(weights, parts, axes=1) for parts in (duals, scores))
    offset = shares.copy()
    # Classes without a second label are never right when one is left out: how large
    # they are is not for the held-out labels to say.
    seen = np.flatnonzero((counts > 1) | ~counted.any())
    line = calibrate(
        held[counted][:, seen],
        np.searchsorted(seen, codes[counted]),
        offset[seen],
        rule=rule,
    )
    offset[seen] = line.offset
    dual = line.slope * (dual - dual.mean(axis=1, keepdims=True))
    return CentredFit(
        labeled.T @ dual,
        dual,
        offset - offset.mean(),
        line.slope * held + offset,
        counted,
        losses,
        weights,
    )


def log_shares(counts: FloatArray, rule: Rule = DEFAULT) -> FloatArray:
    """Return the logarithms of the label shares, smoothed, with mean 0.

    Examples
    --------
    >>> log_shares(np.array([1.0, 3.0])).round(3)
    array([-0.347,  0.347])
    """
    more = counts + rule.added_label
    shares = np.log(more / more.sum())
    centred: FloatArray = shares - shares.mean()
    return centred
