"""Class sizes that a person knows, in whole or in part, and offsets that give them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.isotonic import isotonic_regression

from mercer._base.proba import lead
from mercer._base.typing import BoolArray, ClassShares, FloatArray, IntArray
from mercer.evidence.labels import SIZE_WORDS
from mercer.optim.class_ratio import solve_soft_labels

_HARDNESS = 1e-3  # width of the step from one class to another, over the largest score


def known_shares(
    given: ClassShares, classes: NDArray[Any], name: str, *, allow_zero: bool = False
) -> FloatArray:
    """Return shares of the classes, (n_classes,), summing to 1.

    Parameters
    ----------
    given : mapping or array-like
        ``{class: share}``, a Series with the classes as index, or in their order.
    classes : ndarray of shape (n_classes,)
    name : str
        Of the parameter, for messages.
    allow_zero : bool, default=False
        Whether a class may have the share 0.

    Examples
    --------
    >>> known_shares({"b": 3, "a": 1}, np.array(["a", "b"]), "class_sizes")
    array([0.25, 0.75])
    """
    names = classes.tolist()
    values: Any = given
    if hasattr(values, "keys"):  # a dict, or a Series as of value_counts
        keys = list(values.keys())
        if set(keys) != set(names):
            msg = (
                f"{name} names the classes {keys}, and the labels are of {names}; give "
                "the share of each of these."
            )
            raise ValueError(msg)
        values = [values[key] for key in names]
    sizes = numbers_of(values)
    usable = np.isfinite(sizes) & ((sizes >= 0) if allow_zero else (sizes > 0))
    if sizes.shape != (len(names),) or not usable.all() or not sizes.sum() > 0:
        kind = "shares" if allow_zero else "positive shares"
        msg = (
            f"{name} must be {len(names)} {kind}, one for each of the classes {names}; "
            f"got {given!r}."
        )
        raise ValueError(msg)
    shares: FloatArray = sizes / sizes.sum()
    return shares


def numbers_of(given: ClassShares | list[float]) -> FloatArray:
    """Return an array of numbers; an empty one if some are none."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)


def size_offsets(scores: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return what to add to decision values so that classes have their shares.

    Parameters
    ----------
    scores : ndarray of shape (n, q)
        Of all points; one column for two classes, else one per class.
    sizes : ndarray of shape (n_classes,)
        Shares, > 0, summing to 1.

    Returns
    -------
    ndarray of shape (q,)

    Examples
    --------
    >>> scores = np.array([[-3.0], [-2.0], [-1.0], [2.0]])
    >>> ((scores + size_offsets(scores, np.array([0.5, 0.5]))) > 0).ravel()
    array([False, False,  True,  True])
    """
    two = scores.shape[1] == 1
    both = np.hstack([np.zeros_like(scores), scores]) if two else scores
    scale = float(np.abs(both).max(initial=0.0)) or 1.0
    offsets = None
    for T in scale * np.geomspace(1.0, _HARDNESS, 8):
        soft = solve_soft_labels(
            -both, temperature=float(T), ratio=sizes, offsets=offsets
        )
        offsets = soft.offsets
    assert offsets is not None
    return lead(offsets)


_KINDS = (
    "a share between 0 and 1, a pair (least, most), or one of the words "
    f"{', '.join(map(repr, SIZE_WORDS))}"
)


@dataclass(frozen=True, slots=True, eq=False)
class ToldSizes:
    """Bounds of the shares of classes, or their order, largest first."""

    low: FloatArray  # (C,)
    high: FloatArray  # (C,)
    order: tuple[int, ...] = ()  # positions of classes

    @property
    def exact(self) -> FloatArray | None:
        """The shares, where nothing is left open: the last class has the rest."""
        least = np.maximum(self.low, 1 - (self.high.sum() - self.high))
        if least.sum() < 1 - 1e-9:
            return None
        return np.where(least > self.low + 1e-12, least, self.low)

    def of(self, left: BoolArray) -> "ToldSizes":
        """Return what is known of the shares of some classes among these alone.

        Examples
        --------
        >>> told = read_sizes({"a": 0.5, "b": 0.3}, np.array(["a", "b", "c"]))
        >>> told.of(np.array([True, True, False])).low
        array([0.625, 0.375])
        """
        low, high = self.low[left], self.high[left]
        most = np.minimum(low + high.sum() - high, 1.0)
        least = high + low.sum() - low
        places = np.cumsum(left) - 1
        order = tuple(int(places[c]) for c in self.order if left[c])
        return ToldSizes(
            np.divide(low, most, out=np.zeros_like(low), where=most > 0),
            np.minimum(
                np.divide(high, least, out=np.ones_like(low), where=least > 0), 1
            ),
            order if len(order) > 1 else (),
        )

    def nearest(self, predicted: FloatArray) -> FloatArray:
        r"""Return the shares that make the predicted ones likeliest, (C,).

        Of all shares s that were told, :math:`\max \sum_c p_c \log s_c`: predicted
        ones that do not contradict what was told stay as they are.

        Parameters
        ----------
        predicted : ndarray of shape (C,)
            Shares > 0, summing to 1.

        Examples
        --------
        >>> told = read_sizes({"a": 0.9}, np.array(["a", "b", "c"]))
        >>> told.nearest(np.array([0.4, 0.2, 0.4])).round(3)
        array([0.9  , 0.033, 0.067])
        >>> told = read_sizes("b > a", np.array(["a", "b", "c"]))
        >>> told.nearest(np.array([0.4, 0.2, 0.4])).round(3)
        array([0.3, 0.3, 0.4])
        """
        if self.order:
            shares, at = predicted.copy(), list(self.order)
            shares[at] = isotonic_regression(predicted[at], increasing=False)
            return shares
        # The shares are p_c t where bounds allow it: their sum rises with t, and is
        # straight between the t at which a class meets a bound.
        knots = np.sort(np.concatenate([self.low, self.high]) / np.tile(predicted, 2))
        sums = np.clip(np.outer(knots, predicted), self.low, self.high).sum(axis=1)
        t = float(np.interp(1.0, sums, knots))
        near = np.maximum(np.clip(t * predicted, self.low, self.high), 1e-12)
        found: FloatArray = near / near.sum()
        return found


def read_sizes(given: Any, classes: NDArray[Any]) -> ToldSizes:
    """Read what a person says of the class sizes.

    Parameters
    ----------
    given : mapping, array-like or str
        Counts or shares of all classes. Or of some of them, each a share, a pair
        ``(least, most)`` or one of `SIZE_WORDS`; the others have the rest. Or an order,
        such as ``"a > b > c"``, which may leave classes out.
    classes : ndarray of shape (n_classes,)
        Those that have labels.

    Examples
    --------
    >>> read_sizes({"a": "most", "b": (0.1, 0.2)}, np.array(["a", "b", "c"])).low
    array([0.5, 0.1, 0. ])
    """
    names = classes.tolist()
    if isinstance(given, ToldSizes):
        return given
    if isinstance(given, str):
        parts = given.split(">")
        order = tuple(_positions(parts, names)) if parts[1:] else ()
        if len(order) < 2 or len(set(order)) < len(order):
            msg = (
                "class_sizes as text is an order of classes, largest first, such as "
                f"{' > '.join(map(str, names[:3]))!r}, each class once; got {given!r}."
            )
            raise ValueError(msg)
        return ToldSizes(np.zeros(len(names)), np.ones(len(names)), order)
    if not hasattr(given, "keys") or not _is_partial(given, names):
        shares = known_shares(given, classes, "class_sizes")
        return ToldSizes(shares, shares)
    return _bounds(given, names)


def _is_partial(given: Mapping[Any, Any], names: list[Any]) -> bool:
    """Tell whether a mapping leaves something open."""
    values = [given[key] for key in given.keys()]  # noqa: SIM118 - or a Series
    is_plain = numbers_of(values).shape == (len(names),)
    return not is_plain or set(given.keys()) != set(names)


def _bounds(given: Mapping[Any, Any], names: list[Any]) -> ToldSizes:
    keys = list(given.keys())
    low, high = np.zeros(len(names)), np.ones(len(names))
    for c, key in zip(_positions(keys, names), keys, strict=True):
        value = given[key]
        pair = numbers_of(
            SIZE_WORDS.get(value, value) if isinstance(value, str) else value
        )
        if pair.shape not in ((), (2,)):
            pair = np.array([np.nan, np.nan])
        low[c], high[c] = pair if pair.shape else (pair, pair)
        if not (0 <= low[c] <= high[c] <= 1 and high[c] > 0):
            msg = (
                f"class_sizes of {key!r} must be {_KINDS}; got {value!r}. Counts are "
                f"given for all classes: {names}."
            )
            raise ValueError(msg)
    least, most = float(low.sum()), float(high.sum())
    is_full = len(keys) < len(names) and least > 1 - 1e-9  # none for the others
    if is_full or least > 1 + 1e-9 or most < 1 - 1e-9:
        msg = (
            "class_sizes leave no share for every class, summing to 1: they sum to "
            f"{least:.4g} at least and {most:.4g} at most; got {given!r}, and "
            f"the labels are of {names}."
        )
        raise ValueError(msg)
    return ToldSizes(low, high)


def _positions(given: list[Any], names: list[Any]) -> list[int]:
    """Return the positions of classes, by their names or by these as text."""
    texts = [str(c) for c in names]
    found = []
    for key in given:
        text = key.strip() if isinstance(key, str) else key
        if text in names:
            found.append(names.index(text))
        elif str(text) in texts:
            found.append(texts.index(str(text)))
        else:
            msg = (
                f"class_sizes names the class {text!r}, and the labels are of {names}."
            )
            raise ValueError(msg)
    return found


def predicted_shares(counts: IntArray) -> FloatArray:
    """Return shares of predicted classes, one row added to each.

    Examples
    --------
    >>> predicted_shares(np.array([3, 0, 4])).round(1)
    array([0.4, 0.1, 0.5])
    """
    more = counts + 1.0
    shares: FloatArray = more / more.sum()
    return shares


def with_classes(machine: Any, classes: NDArray[Any], left: NDArray[Any]) -> Any:
    """Return a machine whose known shares are of the classes that are left.

    Parameters
    ----------
    machine : estimator
        Its `class_sizes` and `unreached`, where it has them, are of all classes.
    classes, left : ndarray
        All classes, and the ones that still have a label.
    """
    if len(left) == len(classes):
        return machine
    is_left = np.isin(classes, left)
    told: dict[str, Any] = {}
    sizes = getattr(machine, "class_sizes", None)
    if sizes is not None and not is_estimated(sizes):
        told["class_sizes"] = read_sizes(sizes, classes).of(is_left)
    given = getattr(machine, "unreached", None)
    if given is not None and not isinstance(given, str):
        shares = known_shares(given, classes, "unreached", allow_zero=True)[is_left]
        told["unreached"] = shares if shares.any() else np.ones(len(left))
    return clone(machine).set_params(**told)


def is_estimated(sizes: Any) -> bool:
    """Tell whether class sizes are left to the machine."""
    return isinstance(sizes, str) and sizes == "estimate"
