"""Many rows at once: what an act would do, in numbers, and the act itself."""

from typing import Any, NamedTuple

import numpy as np

from mercer._base.typing import IntArray
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio
from mercer.app.studio.table_view import Where, certainty, predictions, rows_where

ACTIONS = ("label", "accept", "confirm", "clear", "assign")
MOST_WHO = 64  # characters of a name
PURPOSES = {"label": "picked", "accept": "accepted", "confirm": "confirmed"}


class Plan(NamedTuple):
    """What an act on many rows would write."""

    rows: IntArray  # that change
    labels: IntArray  # of these rows; empty where answers are cleared
    n_chosen: int
    n_given: int  # chosen rows that have a label, and another one than they would get
    n_lacking: int  # chosen rows that the act cannot change
    errors: float | None  # expected number of wrong labels, where the model gives them


def plan(studio: Studio, said: dict[str, Any]) -> Plan:
    """Read what a page asks for and count, without writing anything.

    ``action`` is one of `ACTIONS`; ``rows`` are row numbers, or ``where`` is a filter
    of the table; ``label`` is the class of "label", ``person`` a name for "assign";
    ``replace`` tells whether labels that exist are replaced.
    """
    action = said.get("action")
    if action not in ACTIONS:
        msg = f"action is one of {', '.join(ACTIONS)}."
        raise RefusedError(msg)
    chosen = _chosen(studio, said)
    codes, _ = studio.labels()
    known = codes[chosen] >= 0
    none = np.empty(0, dtype=np.intp)
    if action == "clear":
        ledger = studio.store.ledger
        keys = [studio.items.keys[row] for row in chosen]
        has = np.array([k in ledger.answers or k in ledger.skips for k in keys], bool)
        return Plan(chosen[has], none, len(chosen), 0, int((~has).sum()), None)
    if action == "assign":
        person, assigned = _person(said), studio.store.ledger.assigned
        keys = [studio.items.keys[row] for row in chosen]
        other = np.array([assigned.get(k, "") != person for k in keys], bool)
        return Plan(chosen[other], none, len(chosen), 0, 0, None)
    if action == "confirm":
        rows = chosen[known]
        return Plan(rows, codes[rows], len(chosen), 0, int((~known).sum()), None)
    if action == "accept":
        wanted = predictions(studio.snapshot, len(codes))[chosen]
    else:
        wanted = np.full(len(chosen), studio.check_class(said.get("label")))
    is_other = known & (codes[chosen] != wanted) & (wanted >= 0)
    changes = (wanted >= 0) & (~known | (is_other & (said.get("replace") is True)))
    errors = None
    if action == "accept":
        sure = certainty(studio.snapshot, len(codes))[chosen[changes]]
        errors = float((1 - sure).sum())
    return Plan(
        chosen[changes],
        wanted[changes],
        len(chosen),
        int(is_other.sum()),
        int((wanted < 0).sum()),
        errors,
    )


def look(studio: Studio, said: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of an act before it is done."""
    found = plan(studio, said)
    labels, counts = np.unique(found.labels, return_counts=True)
    return {
        "chosen": found.n_chosen,
        "changes": len(found.rows),
        "given": found.n_given,
        "lacking": found.n_lacking,
        "errors": found.errors,
        "classes": [
            {"label": int(c), "count": int(n)}
            for c, n in zip(labels, counts, strict=True)
        ],
    }


def act(studio: Studio, said: dict[str, Any]) -> dict[str, int]:
    """Do it: all rows or none, taken back by one undo."""
    token, who = said["token"][:40], said["who"]
    with studio.writing() as transaction:
        if f"{token}#0" in studio.store.ledger.by_token:
            return {"changed": 0}
        found = plan(studio, said)
        fields = studio.fields_of(found.rows)
        if said["action"] == "clear":
            transaction.append_all(who, "clear", token, fields)
        elif said["action"] == "assign":
            person = _person(said)
            each = [{**one, "text": person} for one in fields]
            transaction.append_all(who, "assign", token, each)
        else:
            more = zip(fields, found.labels.tolist(), strict=True)
            purpose = PURPOSES[said["action"]]
            each = [{**one, "label": c, "purpose": purpose} for one, c in more]
            transaction.append_all(who, "answer", token, each)
    return {"changed": len(found.rows)}


def _person(said: dict[str, Any]) -> str:
    """Return who is to be asked about rows; empty for anybody."""
    person = said.get("person")
    if not isinstance(person, str) or len(person) > MOST_WHO:
        msg = f"person must be a name of at most {MOST_WHO} characters, or empty."
        raise RefusedError(msg)
    return person.strip()


def _chosen(studio: Studio, said: dict[str, Any]) -> IntArray:
    """Return the rows that a page chose: by their numbers, or by a filter."""
    if "where" in said:
        return rows_where(studio, Where.read(said["where"], studio.items.columns))
    rows, data = said.get("rows"), said.get("data")
    if not isinstance(rows, list):
        msg = "rows must be a list of row numbers, or where a filter."
        raise RefusedError(msg)
    return np.unique(np.array([studio.check_row(r, data) for r in rows], np.intp))
