"""Votes split by how sure a source is of them."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer._base.checks import check_same_length
from mercer._base.typing import ArrayLike, BoolArray, FloatArray
from mercer._base.words import some

# Levels at most, the votes that it takes for each, and the fewest of one.
_MOST_LEVELS, _VOTES_PER_LEVEL, _FEWEST = 3, 30, 10


def by_confidence(
    read: dict[str, Any], confidence: Mapping[str, ArrayLike]
) -> dict[str, Any]:
    """Return votes with those of a source split by how sure it is of them.

    Each level is a source of its own. What a source calls 90% may be right for 99% or
    for 60% of its votes: the level says which votes are better, and the votes of others
    and true labels how good they are.

    Parameters
    ----------
    read : dict
        From names to votes, where they are and which deny; or to shares.
    confidence : mapping
        From some of the names to probabilities, NaN where there is none.
    """
    for name in confidence:
        if name not in read or len(read[name]) == 2:
            msg = (
                f"confidence names {name!r}; give it for sources with one vote per "
                f"row: {some([n for n in read if len(read[n]) == 3])}."
            )
            raise ValueError(msg)
    found = {}
    for name, column in read.items():
        if name not in confidence:
            found[name] = column
            continue
        votes, known, denied = column
        sure = np.asarray(confidence[name], dtype=np.float64).ravel()
        check_same_length(known, sure, f"sources[{name!r}]", "its confidence")
        sure = np.round(sure[known], 3)
        given = sure[~np.isnan(sure)]
        low, high = (given.min(), given.max()) if len(given) else (0.0, 1.0)
        if low < 0 or high > 1:
            msg = (
                f"the confidence of {name!r} must lie between 0 and 1, got "
                f"{low:.3g} to {high:.3g}; divide percentages by 100."
            )
            raise ValueError(msg)
        for level, own in _levels(sure).items():
            at = np.zeros(len(known), dtype=bool)
            at[np.flatnonzero(known)[own]] = True
            found[f"{name}{level}"] = (votes[own], at, denied[own])
    return found


def _levels(sure: FloatArray) -> dict[str, BoolArray]:
    """Return which votes are of each level of confidence, by the end of its name."""
    given = ~np.isnan(sure)
    values, counts = np.unique(sure[given], return_counts=True)
    n_levels = int(np.clip(counts.sum() // _VOTES_PER_LEVEL, 1, _MOST_LEVELS))
    starts, held = [0] if len(values) else [], 0
    for k, count in enumerate(counts):
        is_full = held >= _FEWEST and held + count > counts.sum() / n_levels
        if is_full and len(starts) < n_levels:
            starts.append(k)
            held = 0
        held += count
    found = {}
    for first, end in zip(starts, [*starts[1:], len(values)], strict=True):
        low, high = values[first], values[end - 1]
        name = f" at {low:.3g}" if low == high else f" at {low:.3g} to {high:.3g}"
        found[name] = given & (sure >= low) & (sure <= high)
    if not given.all() or not found:
        found[""] = ~given
    return found


def is_level(name: str, source: str) -> bool:
    """Tell whether a name is that of a source, or of one of its levels.

    Examples
    --------
    >>> [is_level(name, "llm") for name in ("llm", "llm at 0.7 to 0.9", "llm at work")]
    [True, True, False]
    """
    level = r"( at [\d.]+( to [\d.]+)?)?"
    return re.fullmatch(re.escape(source) + level, name) is not None
