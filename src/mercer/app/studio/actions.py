"""What a page may ask the studio to do, from checked JSON to a plain answer."""

from collections.abc import Callable
from typing import Any

from mercer.app.studio import bulk, settings
from mercer.app.studio.classes import MOST_NAME, rename_class, set_sizes
from mercer.app.studio.pairing import answer_pair, next_pair
from mercer.app.studio.parsing import whole
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio

Said = dict[str, Any]
Act = Callable[[Studio, Said], Any]


def check_object(said: Any) -> Said:
    """Return a body if it is an object."""
    if not isinstance(said, dict):
        msg = "the body must be an object."
        raise RefusedError(msg)
    return said


def check_said(said: Any, *, needs_token: bool) -> Said:
    """Return a body if it is an object with a person and, where needed, a token."""
    found = check_object(said)
    for name in ("who", "token") if needs_token else ("who",):
        value = found.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= 64:
            msg = f"{name} must be a text of 1 to 64 characters."
            raise RefusedError(msg)
    return found


def _label(said: Said) -> int:
    label = said.get("label")
    if type(label) is not int:
        msg = "label must be the number of a class."
        raise RefusedError(msg)
    return label


def _name(said: Said) -> str:
    name = said.get("name")
    if not isinstance(name, str):
        msg = "name must be a text."
        raise RefusedError(msg)
    return name


def _next(studio: Studio, said: Said) -> Any:
    return {"question": studio.next(said["who"])}


def _answer(studio: Studio, said: Said) -> Any:
    row, then = _rows(studio, said)
    question = studio.answer(said["who"], said["token"], row, _label(said), then)
    return {"question": question}


def _skip(studio: Studio, said: Said) -> Any:
    row, then = _rows(studio, said)
    return {"question": studio.skip(said["who"], said["token"], row, then)}


def _rows(studio: Studio, said: Said) -> tuple[int, int | None]:
    """Return the row that was answered, and the one that the page shows now, if any."""
    row, then = said.get("row"), said.get("then")
    data = said.get("data")
    shown = None if then is None else studio.check_row(then, data)
    return studio.check_row(row, data), shown


def _undo(studio: Studio, said: Said) -> Any:
    return {"question": studio.undo(said["who"], said["token"])}


def _measure(studio: Studio, said: Said) -> Any:
    n = said.get("n")
    if type(n) is not int:
        msg = "n must be a number of rows."
        raise RefusedError(msg)
    studio.measure(said["who"], n)
    return {"question": studio.next(said["who"])}


def _reask(studio: Studio, said: Said) -> Any:
    studio.reask(said["who"], said["token"])
    return {}


def _class(studio: Studio, said: Said) -> Any:
    return {"label": studio.add_class(said["who"], said["token"], _name(said))}


def _rename(studio: Studio, said: Said) -> Any:
    name = _name(said)
    rename_class(studio, said["who"], said["token"], _label(said), name)
    return {}


def _sizes(studio: Studio, said: Said) -> Any:
    sizes = said.get("sizes")
    if not isinstance(sizes, dict) or not all(
        whole(c) is not None and isinstance(text, str) and len(text) <= MOST_NAME
        for c, text in sizes.items()
    ):
        msg = "sizes must hold a text for each number of a class."
        raise RefusedError(msg)
    by_label = {int(c): text for c, text in sizes.items()}
    set_sizes(studio, said["who"], said["token"], by_label)
    return {}


def _next_pair(studio: Studio, said: Said) -> Any:
    return {"pair": next_pair(studio, said["who"])}


def _pair(studio: Studio, said: Said) -> Any:
    row = studio.check_row(said.get("row"), said.get("data"))
    other = studio.check_row(said.get("other"), said.get("data"))
    same = said.get("same")
    if type(same) is not bool:
        msg = "same must be true or false."
        raise RefusedError(msg)
    pair = answer_pair(studio, said["who"], said["token"], row, other, same)
    return {"pair": pair}


# Those that only look need no token.
ACTS: dict[str, tuple[Act, bool]] = {
    "next": (_next, False),
    "next_pair": (_next_pair, False),
    "answer": (_answer, True),
    "bulk": (bulk.act, True),
    "bulk_look": (bulk.look, False),
    "note": (settings.note, True),
    "flag": (settings.flag, True),
    "guide": (settings.guide, True),
    "goal": (settings.goal, True),
    "look": (settings.look, True),
    "merge": (settings.merge, True),
    "skip": (_skip, True),
    "undo": (_undo, True),
    "measure": (_measure, True),
    "reask": (_reask, True),
    "class": (_class, True),
    "rename": (_rename, True),
    "sizes": (_sizes, True),
    "pair": (_pair, True),
}
