"""Answers of several people about the same rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.typing import FloatArray
from mercer.evidence.labels import Labels
from mercer.evidence.reading import UNLABELED


def answer_shares(answers: NDArray[Any]) -> tuple[Labels, FloatArray]:
    """Return what several annotators said of each row, for `fit`.

    Parameters
    ----------
    answers : array-like of shape (n, n_annotators)
        Labels; -1, None and NaN where somebody gave none.

    Returns
    -------
    labels : Labels
        Shares of the classes in each row; given to `fit` as y.
    n_answers : ndarray of shape (n,)
        Given to `fit` as `sample_weight` where five people who agree are to count for
        more than one.

    See Also
    --------
    UnifiedKernelMachine : Takes such shares as y.

    Examples
    --------
    >>> labels, n_answers = answer_shares([["cat", "dog", "cat"], [None, None, "dog"]])
    >>> labels.one_hot().round(2), n_answers
    (array([[0.67, 0.33],
           [0.  , 1.  ]]), array([3., 1.]))
    """
    table = np.asarray(answers, dtype=object)
    if table.ndim != 2:
        msg = f"answers must have one column per annotator, got {table.ndim}D."
        raise ValueError(msg)
    coded = Labels.read(table.ravel())
    codes = coded.codes.reshape(table.shape)
    votes = np.equal.outer(codes, np.arange(len(coded.classes))).sum(axis=1)
    n_answers = votes.sum(axis=1)
    shares = votes / np.maximum(n_answers, 1)[:, None]
    likeliest = np.full(len(table), UNLABELED)
    if shares.shape[1]:
        likeliest = np.where(n_answers > 0, shares.argmax(axis=1), UNLABELED)
    return Labels(likeliest, coded.classes, shares), n_answers.astype(np.float64)
