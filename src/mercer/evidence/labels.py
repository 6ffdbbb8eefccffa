"""Partly labelled targets: what counts as a label and how classes are coded."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mercer._base.checks import check_finite, check_same_length, is_empty
from mercer._base.typing import ArrayLike, BoolArray, FloatArray, IntArray
from mercer._base.words import counted
from mercer.exceptions import UnlabeledClassWarning

UNLABELED = -1


@dataclass(frozen=True, eq=False)
class Labels:
    """Class codes of partly labelled points."""

    codes: IntArray  # (n,) position in `classes`, or UNLABELED; the likeliest class
    classes: NDArray[Any]  # (n_classes,) sorted
    shares: FloatArray | None = None  # (n, n_classes) label distributions
    weights: FloatArray | None = None  # (n,) how many labels each one counts for

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
        return Labels(
            self.codes[rows],
            self.classes,
            _rows(self.shares, rows),
            _rows(self.weights, rows),
        )

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
        """Return the labels with some rows unlabelled, and classes that are left."""
        codes, shares = self.codes.copy(), self.shares
        codes[rows] = UNLABELED
        known = codes != UNLABELED
        if shares is None:
            left = np.unique(codes[known])
        else:
            left = np.flatnonzero(shares[known].sum(axis=0) > 0)
            shares = np.where(known[:, None], shares, 0.0)[:, left]
        codes[known] = np.searchsorted(left, codes[known])
        return Labels(codes, self.classes[left], shares, self.weights)

    def weighted(self, sample_weight: ArrayLike | None) -> "Labels":
        """Return the labels with these weights; a label of weight 0 is none.

        Parameters
        ----------
        sample_weight : array-like of shape (n,), optional
            Weights >= 0, of which those of unlabelled rows are not read.
        """
        if sample_weight is None:
            return self
        given = np.array(sample_weight, dtype=np.float64)
        if given.ndim != 1:
            msg = f"sample_weight must be one number per point, got {given.ndim}D."
            raise ValueError(msg)
        check_same_length(given, self.codes, "sample_weight", "y")
        rows = self.labeled
        check_finite(given[rows], "sample_weight")
        left = given[rows] @ self.one_hot()
        if (given[rows] < 0).any() or (left <= 0).any():
            msg = (
                "sample_weight must be >= 0, and no class may have weight zero; the "
                "weights of the classes sum to "
                f"{dict(zip(self.classes.tolist(), left.tolist(), strict=True))}."
            )
            raise ValueError(msg)
        given[self.codes == UNLABELED] = 0.0
        if self.weights is not None:
            given = given * self.weights
        codes = np.where(given > 0, self.codes, UNLABELED)
        return Labels(codes, self.classes, self.shares, given)

    def softened(self, other: "Labels", rows: IntArray) -> "Labels":
        """Return the labels with the distributions and weights of others in some rows.

        Parameters
        ----------
        other : Labels
            Other labels of the same points.
        rows : int ndarray
            Where these hold; elsewhere a label is certain and counts once.
        """
        rows = rows[other.codes[rows] != UNLABELED]
        classes = np.unique(np.concatenate([self.classes, other.classes]))
        codes = np.full(len(self.codes), UNLABELED)
        codes[self.labeled] = np.searchsorted(
            classes, self.classes[self.codes[self.labeled]]
        )
        shares = np.equal.outer(codes, np.arange(len(classes))) * 1.0
        own = np.searchsorted(classes, other.classes)
        shares[rows] = 0.0
        theirs = Labels(other.codes[rows], other.classes, _rows(other.shares, rows))
        shares[np.ix_(rows, own)] = theirs.one_hot()
        codes[rows] = own[other.codes[rows]]
        weights = np.where(codes == UNLABELED, 0.0, 1.0)
        if other.weights is not None:
            weights[rows] = other.weights[rows]
        used = shares.sum(axis=0) > 0
        codes[codes >= 0] = (np.cumsum(used) - 1)[codes[codes >= 0]]
        return Labels(codes, classes[used], shares[:, used], weights)

    def prior(self) -> FloatArray:
        """Share of each class among the labelled points."""
        total = self.weight() @ self.one_hot()
        shares: FloatArray = total / total.sum()
        return shares


def _rows(values: FloatArray | None, rows: IntArray) -> FloatArray | None:
    return None if values is None else values[rows]


def is_labeled(y: NDArray[Any]) -> BoolArray:
    """Tell which entries are labels: -1, None and NaN are not."""
    if y.dtype.kind in "iuf":
        return np.asarray(~np.isnan(y) & (y != UNLABELED))
    if y.dtype.kind == "O":
        found = np.zeros(len(y), dtype=bool)
        # Most entries of a large table are None.
        some = np.flatnonzero([value is not None for value in y])
        found[some] = [not _is_missing(value) for value in y[some]]
        return found
    return np.ones(len(y), dtype=bool)


def as_name(value: Any) -> str:
    """Return a label as a person writes it: whole numbers without decimals.

    Examples
    --------
    >>> as_name(2.0), as_name(2.5), as_name("cat")
    ('2', '2.5', 'cat')
    """
    is_whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value) if is_whole else value)


def _is_missing(value: object) -> bool:
    if is_empty(value):
        return True
    # A string "-1" is a name like any other; the number -1 is not.
    return isinstance(value, int | float | np.number) and value == UNLABELED


def encode_labels(
    y: ArrayLike, *, min_classes: int = 2, may_be_signs: bool = True
) -> Labels:
    """Code partly labelled `y`; -1, None and NaN mark unlabelled points.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, n_classes)
        Numbers or strings. With two columns or more, the shares of the classes in each
        row, a row of zeros or NaN where there is no label; the names of the classes
        are those of the columns of a data frame, else 0, 1, ...
    min_classes : int, default=2
        Fewer distinct labels than this are an error; 0 admits no label at all.
    may_be_signs : bool, default=True
        Whether labels 1 and -1 alone are an error: -1 was probably meant as a class.

    Returns
    -------
    Labels

    Examples
    --------
    >>> encode_labels(["cat", None, "dog", "cat"]).codes
    array([ 0, -1,  1,  0])
    """
    if _are_shares(y):
        return _encode_shares(y, min_classes)
    values = column_or_1d(keep_missing(y), warn=True)
    known = is_labeled(values)
    if not known.any() and min_classes == 0:
        return Labels(np.full(len(values), UNLABELED), np.array([]))
    if not known.any():
        msg = (
            f"y has no label: all {len(values)} entries mean unlabelled "
            "(-1, None or NaN). Label at least one point of each class."
        )
        raise ValueError(msg)
    labels = _of_one_kind(values[known])
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        msg = "y holds infinity; mark unlabelled points with -1, None or NaN."
        raise ValueError(msg)
    if (
        labels.dtype.kind == "f"
    ):  # it warns of few labels per class, which are usual here
        check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if known.all():  # None among objects says that the writer knows how
        _warn_of_names(labels, classes)
    is_trap = may_be_signs and _is_a_trap(values, classes)
    if len(classes) < min_classes or is_trap:
        raise ValueError(_too_few_classes(values, classes, min_classes))
    coded = np.full(len(values), UNLABELED, dtype=np.intp)
    coded[known] = codes
    return Labels(coded, classes)


def coded_labels(
    y: ArrayLike, soft: tuple[Labels, IntArray] | None, *, min_classes: int = 0
) -> Labels:
    """Return coded labels of a model, with distributions and weights where given.

    The model has been told that -1 means unlabelled: one class, named 1, is no mistake.
    """
    labels = encode_labels(y, min_classes=min_classes, may_be_signs=False)
    return labels if soft is None else labels.softened(*soft)


def _are_shares(y: Any) -> bool:
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] > 1


def _encode_shares(y: Any, min_classes: int) -> Labels:
    """Code label distributions, one row per point."""
    shares = np.nan_to_num(np.asarray(y, dtype=np.float64), nan=0.0)
    total = shares.sum(axis=1)
    known = total > 0
    if (shares < 0).any() or np.abs(total[known] - 1).max(initial=0.0) > 1e-6:
        msg = (
            "y has several columns, so each row must hold shares of the classes that "
            "sum to 1, or zeros where there is no label; for numbers of answers divide "
            "by their sum and give the sum as sample_weight."
        )
        raise ValueError(msg)
    names = np.asarray(getattr(y, "columns", np.arange(shares.shape[1])))
    classes, order = np.unique(names, return_index=True)
    shares = shares[:, order]
    used = np.flatnonzero(shares.sum(axis=0) > 0)
    if len(used) < min_classes:
        msg = f"y has shares of {len(used)} classes; {min_classes} are needed at least."
        raise ValueError(msg)
    shares = shares[:, used]
    codes = (
        np.where(known, shares.argmax(axis=1), UNLABELED)
        if len(used)
        else (np.full(len(shares), UNLABELED))
    )
    return Labels(codes, classes[used], shares)


def as_labels(y: "Labels | ArrayLike", *, min_classes: int = 2) -> Labels:
    """Return labels that are coded already as they are, others coded.

    Examples
    --------
    >>> as_labels(["cat", None, "dog"]).codes
    array([ 0, -1,  1])
    """
    return y if isinstance(y, Labels) else encode_labels(y, min_classes=min_classes)


def require_y(y: Any, who: str, X: Any) -> Any:
    """Return the labels y of the points X, or raise if there are none.

    Rows are taken in the order they are in. Where data frames say otherwise, it warns.

    Examples
    --------
    >>> require_y(None, "Machine", [[1.0]])
    Traceback (most recent call last):
    ValueError: Machine requires y to be passed, but the target y is None; mark
    unlabelled points by -1.
    """
    if y is None:
        msg = (
            f"{who} requires y to be passed, but the target y is None; mark "
            "unlabelled points by -1."
        )
        raise ValueError(msg)
    if _are_shuffled(getattr(X, "index", None), getattr(y, "index", None)):
        msg = (
            "X and y have the same row labels in a different order, and are matched "
            "row by row, not by labels. Give y.loc[X.index]; or y.to_numpy(), if the "
            "order is right as it is."
        )
        warnings.warn(msg, UserWarning, stacklevel=3)
    return y


def _are_shuffled(index: Any, other: Any) -> bool:
    """Tell whether two indices of pandas hold the same row labels in another order."""
    homes = {type(i).__module__.partition(".")[0] for i in (index, other)}
    if homes != {"pandas"}:
        return False
    if len(index) != len(other) or index.equals(other) or not index.is_unique:
        return False
    return bool(other.is_unique and other.isin(index).all())


def keep_missing(y: Any) -> Any:
    """Return a list with strings as an array of objects, all else as it is.

    NumPy would make the string "nan" of NaN. Columns of pandas, polars and pyarrow in
    kinds that NumPy does not have become objects, too: whole numbers would be floats
    where one is missing. So do masked arrays, whose hidden labels would be seen.

    Examples
    --------
    >>> keep_missing(["cat", float("nan")])
    array(['cat', nan], dtype=object)
    """
    home = type(y).__module__.partition(".")[0]
    if home == "pyarrow" and not hasattr(y, "columns"):
        return np.array(y.to_pylist(), dtype=object)
    if home in ("pandas", "polars") and len(y.shape) == 1:
        if not isinstance(y.dtype, np.dtype):
            return np.array(list(y), dtype=object)
        return y
    if isinstance(y, np.ma.MaskedArray):
        values = y.data.astype(object)
        values[np.ma.getmaskarray(y)] = None
        return values
    if isinstance(y, np.ndarray) and y.dtype.kind == "T":
        return y.astype(object)
    if isinstance(y, list | tuple) and any(isinstance(value, str) for value in y):
        return np.array(y, dtype=object)
    return y


def known_labels(y: ArrayLike) -> tuple[BoolArray, NDArray[Any]]:
    """Tell which rows have a label, and return these as numbers or strings.

    Of shares of the classes the label is the likeliest class.

    Examples
    --------
    >>> known_labels(np.array([None, 2, 1], dtype=object))
    (array([False,  True,  True]), array([2, 1]))
    """
    if _are_shares(y):
        labels = _encode_shares(y, 0)
        return labels.codes != UNLABELED, labels.classes[labels.codes[labels.labeled]]
    values = column_or_1d(keep_missing(y))
    known = is_labeled(values)
    return known, _of_one_kind(values[known]) if known.any() else values[known]


def one_column(y: Any) -> Any:
    """Return y with one dimension; where it has more `encode_labels` has warned.

    Examples
    --------
    >>> one_column(np.array([[0], [1]]))
    array([0, 1])
    """
    is_column = len(getattr(y, "shape", ())) > 1
    return np.asarray(keep_missing(y)).ravel() if is_column else y


def _of_one_kind(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels of an object array as numbers or strings."""
    if labels.dtype.kind != "O":
        return labels
    kinds = {isinstance(value, str) for value in labels}
    plain = np.array(labels.tolist()) if len(kinds) == 1 else labels
    if plain.dtype.kind not in "biufU" or plain.ndim > 1:
        names = sorted({type(value).__name__ for value in labels})
        msg = f"y holds {' and '.join(names)} labels; use numbers only or strings only."
        raise TypeError(msg)
    return plain


def _warn_of_names(values: NDArray[Any], classes: NDArray[Any]) -> None:
    """Warn if a class is called as NumPy calls -1, None or NaN among strings."""
    if values.dtype.kind != "U" or set(classes) <= {"-1", "0", "1", "+1"}:
        return
    for name in ("-1", "-1.0", "nan", "None", ""):
        n = int(np.count_nonzero(values == name))
        if n:
            msg = (
                f"{counted(n, 'label is', 'labels are')} the string {name!r}, which "
                "counts as a class. If it "
                "means unlabelled, give objects with None: y = y.astype(object); "
                f"y[y == {name!r}] = None."
            )
            warnings.warn(msg, UnlabeledClassWarning, stacklevel=3)


def _is_a_trap(values: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Tell whether -1 was probably meant as a class."""
    return classes.tolist() == [1] and bool(np.any(values == UNLABELED))


def _too_few_classes(
    values: NDArray[Any], classes: NDArray[Any], min_classes: int
) -> str:
    if _is_a_trap(values, classes):
        return (
            "y holds only -1 and 1, and -1 means unlabelled: one class is left. "
            "Recode, e.g. (y > 0).astype(int)."
        )
    return (
        f"y has {len(classes)} class ({classes.tolist()[0]!r}) among its labels; "
        f"at least {min_classes} classes are needed."
    )
