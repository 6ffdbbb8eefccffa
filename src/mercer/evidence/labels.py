"""Labels of partly labelled points: read once, then handed on in one form."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mercer._base.checks import check_finite, check_same_length
from mercer._base.typing import ArrayLike, FloatArray, IntArray
from mercer.evidence.reading import (
    UNLABELED,
    are_shares,
    check_classes,
    of_one_kind,
    read_column,
    read_shares,
    warn_of_names,
)
from mercer.evidence.row_names import check_answers

_NO_Y = (
    "learning from labels requires y to be passed, but the target y is None; mark "
    "unlabelled points by -1."
)

LabelsDrawn: TypeAlias = Literal["at random", "per class"]  # the rows that have one
# Words for a share, and what they leave open.
SIZE_WORDS = {
    "nearly all": (0.9, 1.0),
    "most": (0.5, 1.0),
    "about half": (0.4, 0.6),
    "few": (0.0, 0.2),
    "rare": (0.0, 0.05),
}


# Limit of precision: the weight of a class in whose regression nothing is lost.
_MOST_WEIGHT = 1e9


@dataclass(frozen=True, eq=False)
class Labels:
    """Class codes of partly labelled points.

    Examples
    --------
    >>> Labels.read(["cat", None, "dog", "cat"]).codes
    array([ 0, -1,  1,  0])
    """

    codes: IntArray  # (n,) position in `classes`, or UNLABELED; the likeliest class
    classes: NDArray[Any]  # (n_classes,) sorted
    shares: FloatArray | None = None  # (n, n_classes) label distributions
    weights: FloatArray | None = None  # (n,) how many labels each one counts for

    @classmethod
    def read(
        cls,
        y: "Labels | ArrayLike | None",
        *,
        n: int | None = None,
        weights: ArrayLike | None = None,
        min_classes: int = 0,
    ) -> "Labels":
        """Return whatever a person passes as y in the form that the library uses.

        Parameters
        ----------
        y : Labels or array-like of shape (n,) or (n, n_classes)
            Numbers or strings; -1, None and NaN mark unlabelled points. With two
            columns or more, the shares of the classes in each row, a row of zeros or
            NaN where there is no label; the names of the classes are those of the
            columns of a data frame, else 0, 1, ... `Labels` are taken as they are.
        n : int, optional
            The number of points that y has to have.
        weights : array-like of shape (n,), optional
            Weights >= 0; a label of weight 0 is none. Those of unlabelled points are
            not read.
        min_classes : int, default=0
            Fewer distinct labels than this are an error; 0 admits no label at all.
        """
        if y is None:
            raise ValueError(_NO_Y)
        labels = y if isinstance(y, Labels) else _coded(y, min_classes)
        if n is not None:
            check_same_length(n, labels.codes, "X", "y")
        return labels if weights is None else labels._weighted(weights)

    @property
    def labeled(self) -> IntArray:
        """Rows that carry a label, in order."""
        return np.flatnonzero(self.codes != UNLABELED)

    def one_hot(self) -> FloatArray:
        """Return label distributions of the labelled rows, (n_labeled, n_classes)."""
        if self.shares is not None:
            return self.shares[self.labeled]
        codes = self.codes[self.labeled]
        hot: FloatArray = np.equal.outer(codes, np.arange(len(self.classes))) * 1.0
        return hot

    def counts(self) -> IntArray:
        """Return the number of labels of each class, (n_classes,)."""
        return np.bincount(self.codes[self.labeled], minlength=len(self.classes))

    def given(self) -> NDArray[Any]:
        """Return the labels, (n,), None where there is none."""
        given = np.full(len(self.codes), None, dtype=object)
        given[self.labeled] = self.classes[self.codes[self.labeled]]
        return given

    def weight(self) -> FloatArray:
        """Return the weights of the labelled rows, (n_labeled,)."""
        rows = self.labeled
        return np.ones(len(rows)) if self.weights is None else self.weights[rows]

    def prior(self) -> FloatArray:
        """Return the share of each class among the labelled points, (n_classes,)."""
        total = self.weight() @ self.one_hot()
        shares: FloatArray = total / total.sum()
        return shares

    def votes(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return labels as rows of one class each: place, class and share of each.

        The place is that among the labelled rows; a distribution over k classes gives
        k votes.
        """
        hot = self.one_hot()
        place, codes = np.nonzero(hot)
        return place, codes, hot[place, codes]

    def take(self, rows: IntArray) -> "Labels":
        """Return the labels of some rows; the classes stay."""
        shares, weights = (
            None if array is None else array[rows]
            for array in (self.shares, self.weights)
        )
        return Labels(self.codes[rows], self.classes, shares, weights)

    def padded(self, m: int) -> "Labels":
        """Return the labels with m unlabelled rows at the end."""
        codes = np.concatenate([self.codes, np.full(m, UNLABELED)])
        shares, weights = self.shares, self.weights
        if shares is not None:
            shares = np.vstack([shares, np.zeros((m, shares.shape[1]))])
        if weights is not None:
            weights = np.concatenate([weights, np.zeros(m)])
        return Labels(codes, self.classes, shares, weights)

    def without(self, rows: IntArray) -> "Labels":
        """Return the labels with some rows unlabelled, and the classes that remain."""
        codes, shares = self.codes.copy(), self.shares
        codes[rows] = UNLABELED
        known = codes != UNLABELED
        if shares is None:
            remaining = np.unique(codes[known])
        else:
            remaining = np.flatnonzero(shares[known].sum(axis=0) > 0)
            shares = np.where(known[:, None], shares, 0.0)[:, remaining]
        codes[known] = np.searchsorted(remaining, codes[known])
        return Labels(codes, self.classes[remaining], shares, self.weights)

    def told(self, rows: IntArray, answers: "Labels | ArrayLike | None") -> "Labels":
        """Return the labels with answers in place of those of some rows.

        Parameters
        ----------
        rows : int ndarray of shape (m,)
            Positions, none of them twice.
        answers : Labels, array-like of shape (m,) or (m, n_classes), or one label
            New classes are allowed; -1, None and NaN take a label back. A class without
            a label is dropped. An answer counts once, but for the weights of `Labels`.

        Examples
        --------
        >>> labels = Labels.read([0, 1, -1]).told(np.array([0, 2]), [None, 5])
        >>> labels.codes, labels.classes
        (array([-1,  0,  1]), array([1, 5]))
        """
        # The caller has said that -1 means unlabelled: one class, named 1, is fine.
        if not isinstance(answers, Labels):
            is_one = answers is None or not np.ndim(answers)
            answers = _coded([answers] if is_one else answers, None)
        new = answers
        check_answers(len(rows), len(new.codes))
        old = self.without(rows)
        classes, of_old, of_new = _joined(old.classes, new.classes)
        kept, at = old.labeled, rows[new.labeled]
        codes = np.full(len(self.codes), UNLABELED)
        codes[kept] = of_old[old.codes[kept]]
        codes[at] = of_new[new.codes[new.labeled]]
        shares = weights = None
        if old.shares is not None or new.shares is not None:
            shares = np.zeros((len(codes), len(classes)))
            shares[np.ix_(kept, of_old)] = old.one_hot()
            shares[np.ix_(at, of_new)] = new.one_hot()
        if old.weights is not None or new.weights is not None:
            weights = np.zeros(len(codes))
            weights[kept], weights[at] = old.weight(), new.weight()
        return Labels(codes, classes, shares, weights)

    def warn_of_weights(self) -> None:
        """Warn if labels count as more, or far fewer, labels than they are.

        Not for class shares, whose weights are numbers of answers.
        """
        if self.shares is not None:
            return
        mean = float(self.weight().mean()) if len(self.labeled) else 1.0
        if not 0.1 <= mean <= 1.01:
            sure = "surer" if mean > 1 else "less sure"
            msg = (
                f"the labelled rows have a mean sample_weight of {mean:.3g}. A label "
                f"of weight w counts as w labels, which makes the model {sure}. If the "
                "weights are relative, as those of a survey, give sample_weight / "
                "sample_weight[labelled].mean()."
            )
            warnings.warn(msg, UserWarning, stacklevel=3)

    def _weighted(self, sample_weight: ArrayLike) -> "Labels":
        """Return the labels with these weights; a label of weight 0 is none."""
        given = np.array(sample_weight, dtype=np.float64)
        if given.ndim != 1:
            msg = f"sample_weight must be one number per point, got {given.ndim}D."
            raise ValueError(msg)
        check_same_length(given, self.codes, "sample_weight", "y")
        rows = self.labeled
        check_finite(given[rows], "sample_weight")
        sums = given[rows] @ self.one_hot()
        if sums.max(initial=0.0) > _MOST_WEIGHT:
            msg = (
                f"sample_weight sums to {sums.max():.3g} in a class; a label of weight "
                "w counts as w labels. Divide the weights by their mean."
            )
            raise ValueError(msg)
        if (given[rows] < 0).any() or (sums <= 0).any():
            msg = (
                "sample_weight must be >= 0, and no class may have weight zero; the "
                "weights of the classes sum to "
                f"{dict(zip(self.classes.tolist(), sums.tolist(), strict=True))}."
            )
            raise ValueError(msg)
        given[self.codes == UNLABELED] = 0.0
        if self.weights is not None:
            given = given * self.weights
        codes = np.where(given > 0, self.codes, UNLABELED)
        return Labels(codes, self.classes, self.shares, given)


def _coded(y: Any, min_classes: int | None) -> Labels:
    """Return the labels in y; with None, any classes and any use of -1 are fine."""
    if are_shares(y):
        shares, classes = read_shares(y)
        if len(classes) < (min_classes or 0):
            msg = (
                f"y has shares of {len(classes)} classes; {min_classes} are needed "
                "at least."
            )
            raise ValueError(msg)
        codes = np.full(len(shares), UNLABELED)
        known = shares.any(axis=1)
        codes[known] = shares[known].argmax(axis=1) if len(classes) else UNLABELED
        return Labels(codes, classes, shares)
    values, known = read_column(y, warn=True)
    codes = np.full(len(values), UNLABELED)
    classes = np.array([])
    if known.any():
        labels = of_one_kind(values[known])
        classes, codes[known] = np.unique(labels, return_inverse=True)
        if known.all():  # None among objects says that the writer knows how
            warn_of_names(labels, classes)
    if min_classes is not None:
        check_classes(values, classes, min_classes)
    return Labels(codes, classes)


def _joined(
    old: NDArray[Any], new: NDArray[Any]
) -> tuple[NDArray[Any], IntArray, IntArray]:
    """Return the classes of both, and where those of each are among them."""
    if old.dtype.kind in "iu" and new.dtype.kind == "f" and not (new % 1).any():
        new = new.astype(np.int64)  # floats because of NaN beside them
    some = [values for values in (old, new) if len(values)] or [old]
    if len({values.dtype.kind == "U" for values in some}) > 1:
        of_one_kind(np.array([*old.tolist(), *new.tolist()], dtype=object))  # raises
    classes = np.unique(np.concatenate(some))
    return classes, np.searchsorted(classes, old), np.searchsorted(classes, new)
