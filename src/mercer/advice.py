"""Do the unlabelled rows help? A plain answer with its uncertainty."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._labels import encode_labels, one_column
from mercer._rows import take_rows
from mercer._typing import ArrayLike, FloatArray, RandomState
from mercer.kernels.parametric import RBF
from mercer.learners.combination import AverageKernel
from mercer.machines.klr import KernelLogisticRegression
from mercer.model_selection import SemiSupervisedKFold
from mercer.unified import UnifiedKernelMachine

SEMI, PLAIN, AVERAGE = "with unlabelled rows", "labelled rows only", "average kernel"


@dataclass(frozen=True)
class Advice:
    """Accuracy on held-out labels, and what follows from it."""

    accuracy: dict[str, float]
    gain: float  # of the unlabelled rows over the better baseline
    error: float  # standard error of the gain, over labelled rows
    n_tested: int

    @property
    def answer(self) -> str:
        """Say "yes", "no" or "cannot tell"; two standard errors decide."""
        if abs(self.gain) <= 2 * self.error:
            return "cannot tell"
        return "yes" if self.gain > 0 else "no"

    def __str__(self) -> str:
        lines = [f"{name}: {value:.1%}" for name, value in self.accuracy.items()]
        lines.append(
            f"Do the unlabelled rows help? {self.answer.capitalize()}: "
            f"{100 * self.gain:+.1f} ± {100 * self.error:.1f} points on "
            f"{self.n_tested} held-out labels."
        )
        return "\n".join(lines)


def does_unlabeled_help(
    X: ArrayLike,
    y: ArrayLike,
    *,
    model: UnifiedKernelMachine | None = None,
    n_splits: int = 5,
    n_repeats: int = 4,
    random_state: RandomState = 0,
) -> Advice:
    """Compare learning with and without the unlabelled rows on held-out labels.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        All points.
    y : array-like of shape (n,)
        Labels; -1, None and NaN mark unlabelled points.
    model : UnifiedKernelMachine, optional
        What uses the unlabelled rows; the default one when left out.
    n_splits, n_repeats : int
        Folds of the labelled rows, and how often they are dealt anew.
    random_state : int, Generator, RandomState or None, default=0
        Deals the folds.

    Returns
    -------
    Advice

    Notes
    -----
    The basis is computed once from all rows: it sees no label, so hiding the labels
    of a fold is enough to test on it. The baselines are kernel logistic regressions on
    the labelled rows of the other folds, with a Gaussian kernel and with the average
    of a linear, a quadratic and a Gaussian kernel. Differences are paired label by
    label and averaged over repeats before their standard error is taken.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> y[30:] = -1
    >>> does_unlabeled_help(X, y, n_splits=2, n_repeats=2).answer
    'yes'
    """
    labels = encode_labels(y)
    if model is None:
        model = UnifiedKernelMachine(random_state=random_state)
    model = model.fit(X, one_column(y))
    points = take_rows(X, labels.labeled)
    place = {int(row): i for i, row in enumerate(labels.labeled)}
    codes = labels.codes[labels.labeled]
    right: dict[str, FloatArray] = {
        name: np.zeros(len(codes)) for name in (SEMI, PLAIN, AVERAGE)
    }
    cv = SemiSupervisedKFold(n_splits, n_repeats=n_repeats, random_state=random_state)
    tests = np.zeros(len(codes))
    for _, test in cv.split(labels.codes, labels.codes):
        hidden = labels.codes.copy()
        hidden[test] = -1
        rows = np.array([place[int(row)] for row in test])
        tests[rows] += 1
        found = model.with_labels(hidden).transduction_[test]
        right[SEMI][rows] += found == codes[rows]
        train = np.setdiff1d(np.arange(len(codes)), rows)
        for name, machine in _baselines().items():
            machine.fit(take_rows(points, train), codes[train])
            right[name][rows] += machine.predict(take_rows(points, rows)) == codes[rows]
    tested = tests > 0
    shares = {name: hits[tested] / tests[tested] for name, hits in right.items()}
    accuracy = {name: float(share.mean()) for name, share in shares.items()}
    best = max((PLAIN, AVERAGE), key=lambda name: accuracy[name])
    difference = shares[SEMI] - shares[best]
    error = float(difference.std(ddof=1) / np.sqrt(len(difference)))
    return Advice(accuracy, float(difference.mean()), error, int(tested.sum()))


def _baselines() -> dict[str, Any]:
    return {
        PLAIN: KernelLogisticRegression(RBF(gamma="mean_distance"), C=10.0),
        AVERAGE: KernelLogisticRegression(AverageKernel(), C=10.0),
    }
