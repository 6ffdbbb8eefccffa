"""Sets of classes that hold the right one with a stated probability."""

from numbers import Real

import numpy as np
from sklearn.utils import check_scalar

from mercer._base.typing import BoolArray, FloatArray, IntArray


def prediction_sets(
    proba: FloatArray,
    held_out: FloatArray,
    codes: IntArray,
    *,
    coverage: float = 0.9,
    class_wise: bool = False,
) -> BoolArray:
    r"""Return which classes are in the set of each row, (m, n_classes).

    A class is in the set if its probability is at least the k-th smallest of the
    probabilities that l labelled rows give their own class while their labels are
    hidden, :math:`k = \lfloor (1 - \text{coverage}) (l + 1) \rfloor`; with k = 0 every
    class is. The likeliest class always is.

    Parameters
    ----------
    proba : ndarray of shape (m, n_classes)
        Of the rows that get sets.
    held_out : ndarray of shape (l, n_classes)
        Of labelled rows, by models that did not see their labels. Rows that are alone
        in their class are left out: no model knows the class without them.
    codes : ndarray of shape (l,)
        Their classes.
    coverage : float, default=0.9
        Share of the sets that hold the right class, between 0 and 1.
    class_wise : bool, default=False
        Keep the coverage within every class, from the labels of that class alone. A
        class of less than coverage / (1 - coverage) labels, nine for 0.9, is in every
        set.

    Notes
    -----
    Cross-conformal prediction (Vovk, Annals of Mathematics and Artificial Intelligence
    2015) with the score 1 - p of Sadinle, Lei and Wasserman (JASA 2019). If the
    labelled rows were drawn as the others are, scores of models that do not depend on
    which of these rows has its label hidden cover at least as stated. The model that
    predicts has some labels more than those that were tested, which no theorem covers;
    docs/trust.md has what was measured. The likeliest class is kept even below the
    threshold: where more rows than stated are predicted right, the sets cover more.

    Examples
    --------
    >>> held_out = np.repeat([[0.9, 0.1], [0.3, 0.7]], 10, axis=0)
    >>> proba = np.array([[0.95, 0.05], [0.28, 0.72], [0.6, 0.4]])
    >>> prediction_sets(proba, held_out, np.repeat([0, 1], 10), coverage=0.9)
    array([[ True, False],
           [False,  True],
           [ True, False]])
    """
    check_scalar(
        coverage, "coverage", Real, min_val=0, max_val=1, include_boundaries="neither"
    )
    own = held_out[np.arange(len(codes)), codes]
    n_classes = proba.shape[1]
    least = np.full(n_classes, _least(own, coverage))
    if class_wise:
        least = np.array([_least(own[codes == c], coverage) for c in range(n_classes)])
    sets: BoolArray = proba >= least
    sets[np.arange(len(proba)), proba.argmax(axis=1)] = True
    return sets


def _least(own: FloatArray, coverage: float) -> float:
    """Return the least probability of a class that is in the set."""
    # Rounding: (1 - 0.9) * 20 is a little less than 2.
    k = int((1 - coverage) * (len(own) + 1) + 1e-9)
    return float(np.sort(own)[k - 1]) if k else -np.inf
