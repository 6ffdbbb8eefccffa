"""Classes and how large they are, as people on the page say it."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from mercer.app.studio.refused import RefusedError
from mercer.app.tables.class_sizes import has_room

if TYPE_CHECKING:
    from mercer.app.studio.service import Studio

MOST_CLASSES = 500
MOST_NAME = 200
_PERCENT = re.compile(r"(\d+(?:[.,]\d*)?|[.,]\d+)\s*%?")
# Sizes of all classes may miss 100 by this much, in points: people round.
_ROUNDING = 1.0
_NOTHING = 1e-6  # a rest that comes from rounding alone


def rename_class(studio: "Studio", who: str, token: str, label: int, name: str) -> None:
    """Give a class another name; its answers stay with it."""
    if studio.store.ledger.classes[studio.check_class(label)] != name.strip():
        name = checked_name(studio, name)
        studio.append(who, "rename", token, label=label, text=name)


def set_sizes(studio: "Studio", who: str, token: str, said: dict[int, str]) -> None:
    """Keep how large classes are, in percent, in place of what was said before.

    What a person wrote is by the numbers of the classes; without any, sizes are
    estimated again.
    """
    names, counts = studio.store.ledger.classes, counts_of(studio)
    for label in sorted(said):
        studio.check_class(label)
    percents = read_percents(said, names, counts, len(studio.items))
    studio.append(who, "sizes", token, text=json.dumps(percents))


def checked_name(studio: "Studio", name: str) -> str:
    """Return a name that a class can have: not empty, and not that of another one."""
    name = name.strip()
    if not name or len(name) > MOST_NAME:
        msg = f"a class needs a name of 1 to {MOST_NAME} characters."
        raise RefusedError(msg)
    if name in studio.store.ledger.classes.values():
        msg = f"the class {name!r} exists already."
        raise RefusedError(msg, 409)
    return name


def counts_of(studio: "Studio") -> dict[int, int]:
    """Return the number of labels of each class that has some."""
    codes, _ = studio.labels()
    labels, counts = np.unique(codes[codes >= 0], return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))


def without_sizes(studio: "Studio") -> list[str]:
    """Say so if class sizes are not used, as a class has none."""
    sizes = studio.class_sizes
    lacking = counts_of(studio).keys() - sizes.keys()
    if not sizes or not lacking:
        return []
    names = studio.store.ledger.classes
    said = ", ".join(repr(names[c]) for c in sorted(lacking))
    return [
        f"No size was given for {said}, and the others add up to 100%, so class "
        'sizes are estimated. Change them under "Class sizes".'
    ]


def read_percents(
    said: Mapping[int, str],
    names: Mapping[int, str],
    counts: Mapping[int, int],
    n_rows: int,
) -> dict[int, float]:
    """Return the sizes in percent that fields of the page hold.

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
            raise RefusedError(msg, label=c)
    return percents


def _percent(text: str, label: int) -> float:
    found = _PERCENT.fullmatch(text.strip())
    percent = float(found[1].replace(",", ".")) if found else 0.0
    if not 0 < percent <= 100:
        msg = (
            f"{text.strip()!r} is not a valid size. Write a percentage above 0 and up "
            "to 100, such as 12.5, or leave it empty."
        )
        raise RefusedError(msg, label=label)
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
        raise RefusedError(msg)
    if len(percents) == len(names):
        msg = (
            f"The sizes add up to {total:g}% and every class has one, so they must "
            "add up to 100%. A field that you leave empty gets the rest."
        )
        raise RefusedError(msg)
    lacking = [c for c in counts if c not in percents]
    if lacking and total >= 100 - _NOTHING:
        said = " and ".join(repr(names[c]) for c in sorted(lacking))
        msg = (
            f"The sizes add up to {total:g}%, so nothing is left for {said}. Make the "
            "others smaller."
        )
        raise RefusedError(msg)


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
