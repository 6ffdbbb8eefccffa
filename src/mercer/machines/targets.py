"""Labels as the targets and votes that losses take."""

import numpy as np

from mercer._base.proba import lead
from mercer._base.typing import FloatArray, IntArray
from mercer.evidence.labels import Labels


def targets_of(labels: Labels) -> FloatArray:
    """Return +1/-1 in one column for two classes, else one-hot 0/1 columns.

    For a distribution, the mean of these.

    Parameters
    ----------
    labels : Labels
        Labels of the points.

    See Also
    --------
    KernelMachine : What the targets are for.

    Examples
    --------
    >>> from mercer.evidence.labels import Labels
    >>> targets_of(Labels.read([1, -1, 0]))
    array([[ 1.],
           [-1.]])
    """
    return lead(labels.one_hot())


def signed_votes(labels: Labels) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return labels as votes for losses that are not linear in the target.

    Returns
    -------
    at : ndarray of shape (v,)
        Places among the labelled rows.
    signs : ndarray of shape (v, q)
        +1 / -1; one column for two classes, else one per class.
    weights : ndarray of shape (v,)
    """
    at, codes, shares = labels.votes()
    C = len(labels.classes)
    signs = 2.0 * np.equal.outer(codes, np.arange(C)) - 1
    return at, signs[:, 1:] if C == 2 else signs, shares * labels.weight()[at]


def summed(dual: FloatArray, at: IntArray, n: int) -> FloatArray:
    """Return the coefficients of n points from those of their votes, (n, q)."""
    total = np.zeros((n, dual.shape[1]))
    np.add.at(total, at, dual)
    return total
