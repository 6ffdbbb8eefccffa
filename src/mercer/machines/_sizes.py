"""Shares of the classes that a person knows, and offsets that give them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.proba import lead
from mercer._base.typing import ClassShares, FloatArray
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
