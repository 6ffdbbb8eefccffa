"""What people set besides answers: notes, flags, looks of classes, a goal."""

import json
from typing import Any

import numpy as np

from mercer.app.studio.classes import MOST_NAME
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio

MOST_NOTE = 2_000
MOST_GUIDE = 20_000
COLOURS = 10
RESERVED = "sbzwpnlfgmta"  # letters that do something else on the page
Said = dict[str, Any]


def note(studio: Studio, said: Said) -> None:
    """Keep a note on a row; an empty one removes it."""
    item = studio.items.keys[studio.check_row(said.get("row"), said.get("data"))]
    text = _text(said, "text", MOST_NOTE)
    studio.append(said["who"], "note", said["token"], item=item, text=text)


def flag(studio: Studio, said: Said) -> None:
    """Flag a row, or take the flag away."""
    item = studio.items.keys[studio.check_row(said.get("row"), said.get("data"))]
    is_on = int(said.get("on") is True)
    studio.append(said["who"], "flag", said["token"], item=item, label=is_on)


def guide(studio: Studio, said: Said) -> None:
    """Keep the guidelines that are shown beside every item."""
    text = _text(said, "text", MOST_GUIDE)
    studio.append(said["who"], "guide", said["token"], text=text)


def goal(studio: Studio, said: Said) -> None:
    """Keep how many rows are to be labelled; 0 for no goal."""
    number = said.get("rows")
    if type(number) is not int or not 0 <= number <= len(studio.items):
        msg = f"a goal is a number of rows from 0 to {len(studio.items)}."
        raise RefusedError(msg)
    studio.append(said["who"], "goal", said["token"], label=number)


def look(studio: Studio, said: Said) -> None:
    """Keep key, colour, description and place of a class."""
    label = studio.check_class(said.get("label"))
    key, colour, place = said.get("key", ""), said.get("colour"), said.get("place")
    if not isinstance(key, str) or len(key) > 1 or (key and not key.isalnum()):
        msg = "the key of a class is one letter or digit."
        raise RefusedError(msg, label=label)
    if key and key.lower() in RESERVED:
        msg = f"the key {key} does something else: choose another one."
        raise RefusedError(msg, label=label)
    for other, has in studio.store.ledger.looks.items():
        if key and other != label and has.get("key") == key.lower():
            msg = f"the key {key} belongs to another class."
            raise RefusedError(msg, 409, label=label)
    for number, most in ((colour, COLOURS), (place, 10_000)):
        if number is not None and not (type(number) is int and 0 <= number < most):
            msg = f"colour and place must be whole numbers below {most}."
            raise RefusedError(msg, label=label)
    about = _text(said, "about", MOST_NAME)
    kept = {"key": key.lower(), "colour": colour, "place": place, "about": about}
    text = json.dumps(kept)
    studio.append(said["who"], "look", said["token"], label=label, text=text)


def merge(studio: Studio, said: Said) -> dict[str, Any]:
    """Give the rows of a class another one and remove it, in one act.

    Each person's answers are changed; rows that the file labels get an answer of who
    merges. Without ``into``, a class that no row has is removed.
    """
    label = studio.check_class(said.get("label"))
    into = said.get("into")
    token, who = said["token"][:40], said["who"]
    with studio.writing() as transaction:
        ledger = studio.store.ledger
        if f"{token}#0" in ledger.by_token:
            return {"changed": 0}
        codes, _ = studio.labels()
        rows = np.flatnonzero(codes == label)
        answers = [
            (studio.items.row_of.get(item), event)
            for item, given in ledger.answers.items()
            for event in given.values()
            if event.label == label
        ]
        if into is None and (len(rows) or answers):
            msg = (
                f"{len(rows):,} rows have this label. Merge the class into another "
                "one, or clear these rows in the table first."
            )
            raise RefusedError(msg, 409, label=label)
        said_of = [(event.who, event.item, event.digest) for _, event in answers]
        if into is not None and studio.check_class(into) == label:
            msg = "a class cannot be merged into itself."
            raise RefusedError(msg, label=label)
        known = {row for row, _ in answers}
        said_of += [
            (who, studio.items.keys[row], studio.items.digests[row])
            for row in rows.tolist()
            if row not in known
        ]
        each = [
            {"kind": "answer", "who": person, "item": item, "digest": digest}
            | {"label": into, "purpose": "merged"}
            for person, item, digest in said_of
        ]
        transaction.append_all(who, "drop", token, [*each, {"label": label}])
    return {"changed": len(each)}


def _text(said: Said, name: str, most: int) -> str:
    text = said.get(name, "")
    if not isinstance(text, str) or len(text) > most:
        msg = f"{name} must be a text of at most {most:,} characters."
        raise RefusedError(msg)
    return text.strip()
