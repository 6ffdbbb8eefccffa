"""Classes and how large they are, as people on the page say it."""

import json
from typing import TYPE_CHECKING

import numpy as np

from mercer.app.studio.refused import RefusedError
from mercer.app.studio.sizes import SizesError, read_percents

if TYPE_CHECKING:
    from mercer.app.studio.service import Studio

MOST_CLASSES = 500
MOST_NAME = 200


def add_class(studio: "Studio", who: str, token: str, name: str) -> int:
    """Make a class and return its number."""
    studio.check_who(who)
    with studio.writing() as transaction:
        ledger = studio.store.ledger
        if token in ledger.by_token:
            return ledger.by_token[token].label or 0
        name = _checked_name(studio, name)
        if len(ledger.classes) >= MOST_CLASSES:
            msg = f"there are {MOST_CLASSES} classes already, which is the limit."
            raise RefusedError(msg)
        label = ledger.next_label
        transaction.append(who, "class", token, label=label, text=name)
    return label


def rename_class(studio: "Studio", who: str, token: str, label: int, name: str) -> None:
    """Give a class another name; its answers stay with it."""
    studio.check_who(who)
    if label not in studio.store.ledger.classes:
        msg = f"there is no class number {label}."
        raise RefusedError(msg)
    if studio.store.ledger.classes[label] != name.strip():
        name = _checked_name(studio, name)
        studio.append(who, "rename", token, label=label, text=name)


def set_sizes(studio: "Studio", who: str, token: str, said: dict[int, str]) -> None:
    """Keep how large classes are, in per cent, in place of what was said before.

    What a person wrote is by the numbers of the classes; without any, sizes are
    estimated again.
    """
    studio.check_who(who)
    names, counts = studio.store.ledger.classes, counts_of(studio)
    for label in sorted(said):
        studio.check_class(label)
    try:
        percents = read_percents(said, names, counts, len(studio.items))
    except SizesError as error:
        raise RefusedError(str(error), label=error.label) from error
    studio.append(who, "sizes", token, text=json.dumps(percents))


def _checked_name(studio: "Studio", name: str) -> str:
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
