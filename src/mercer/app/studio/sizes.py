"""How large the classes are, as people say it on the page: in per cent."""

import re
from collections.abc import Iterable, Mapping

from mercer.app.tables.class_sizes import has_room

_PERCENT = re.compile(r"(\d+(?:[.,]\d*)?|[.,]\d+)\s*%?")
# Sizes of all classes may miss 100 by this much, in points: people round.
_ROUNDING = 1.0
_NOTHING = 1e-6  # a rest that comes from rounding alone


class SizesError(ValueError):
    """Impossible sizes, and the class whose number is wrong, if it is one."""

    def __init__(self, message: str, label: int | None = None) -> None:
        super().__init__(message)
        self.label = label


def read_percents(
    said: Mapping[int, str],
    names: Mapping[int, str],
    counts: Mapping[int, int],
    n_rows: int,
) -> dict[int, float]:
    """Return the sizes in per cent that fields of the page hold.

    What is `said` is empty where a class has no size; `counts` are the labels of each
    class that has some.

    Examples
    --------
    >>> read_percents({0: "10", 1: "", 2: "12,5 %"}, {0: "a", 1: "b", 2: "c"}, {}, 99)
    {0: 10.0, 2: 12.5}
    """
    percents = {c: _percent(text, c) for c, text in said.items() if text.strip()}
    _check_sum(percents, names, counts)
    for c, percent in percents.items():
        n = counts.get(c, 0)
        if not has_room(percent / 100, n, n_rows):
            msg = (
                f"{percent:g}% is about {percent / 100 * n_rows:,.0f} of {n_rows:,} "
                f"rows, and {n:,} are labelled so already; give a larger size."
            )
            raise SizesError(msg, c)
    return percents


def _percent(text: str, label: int) -> float:
    found = _PERCENT.fullmatch(text.strip())
    percent = float(found[1].replace(",", ".")) if found else 0.0
    if not 0 < percent <= 100:
        msg = (
            f"{text.strip()!r} is not a valid size. Write a percentage above 0 and up "
            "to 100, such as 12.5, or leave it empty."
        )
        raise SizesError(msg, label)
    return percent


def _check_sum(
    percents: Mapping[int, float], names: Mapping[int, str], counts: Mapping[int, int]
) -> None:
    """Raise if the sizes do not add up."""
    total = sum(percents.values())
    if not percents or (len(percents) == len(names) and abs(total - 100) <= _ROUNDING):
        return
    if total > 100 + _ROUNDING:
        msg = f"The sizes add up to {total:g}%, more than 100%. Make some smaller."
        raise SizesError(msg)
    if len(percents) == len(names):
        msg = (
            f"The sizes add up to {total:g}% and every class has one, so they must "
            "add up to 100%. A field that you leave empty gets the rest."
        )
        raise SizesError(msg)
    lacking = [c for c in counts if c not in percents]
    if lacking and total >= 100 - _NOTHING:
        said = " and ".join(repr(names[c]) for c in sorted(lacking))
        msg = (
            f"The sizes add up to {total:g}%, so nothing is left for {said}. Make the "
            "others smaller."
        )
        raise SizesError(msg)


def shares_of(
    percents: Mapping[int, float], labelled: Iterable[int]
) -> dict[int, float]:
    """Return the share of each class: as it was said, or an even part of the rest.

    Only classes that are `labelled` get a part of the rest, since the model knows of no
    others.

    Examples
    --------
    >>> shares_of({0: 10.0}, [0, 1, 2])
    {0: 0.1, 1: 0.45, 2: 0.45}
    >>> shares_of({0: 25.0, 1: 75.0}, [1, 2])  # nothing is left for class 2
    {0: 0.25, 1: 0.75}
    """
    shares = {c: percent / 100 for c, percent in percents.items()}
    rest = 100 - sum(percents.values())
    lacking = [c for c in labelled if c not in percents]
    if percents and rest > _NOTHING:
        shares |= {c: rest / 100 / len(lacking) for c in lacking}
    return shares
