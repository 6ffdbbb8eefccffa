"""What a page may ask the studio to do, from checked JSON to a plain answer."""

from collections.abc import Callable
from typing import Any

from mercer.app.studio import bulk, settings
from mercer.app.studio.classes import MOST_NAME, rename_class, set_sizes
from mercer.app.studio.pairing import answer_pair, next_pair
from mercer.app.studio.parsing import check_text, whole
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
        check_text(found.get(name), name)
    return found


def _field(name: str, kind: type, what: str) -> Act:
    """Return what reads a field of a body, and refuses values of other kinds."""

    def read(studio: Studio, said: Said) -> Any:
        value = said.get(name)
        if type(value) is not kind:
            msg = f"{name} must be {what}."
            raise RefusedError(msg)
        return value

    return read


def _row(studio: Studio, said: Said) -> int:
    return studio.check_row(said.get("row"), said.get("data"))


def _other(studio: Studio, said: Said) -> int:
    return studio.check_row(said.get("other"), said.get("data"))


def _then(studio: Studio, said: Said) -> int | None:
    """Return the row that the page shows now, if any."""
    then = said.get("then")
    return None if then is None else studio.check_row(then, said.get("data"))


_label = _field("label", int, "the number of a class")
_name = _field("name", str, "a text")
_same = _field("same", bool, "true or false")
_number = _field("n", int, "a number of rows")


def _sizes(studio: Studio, said: Said) -> dict[int, str]:
    sizes = said.get("sizes")
    if not isinstance(sizes, dict) or not all(
        whole(c) is not None and isinstance(text, str) and len(text) <= MOST_NAME
        for c, text in sizes.items()
    ):
        msg = "sizes must hold a text for each number of a class."
        raise RefusedError(msg)
    return {int(c): text for c, text in sizes.items()}


def _measure(studio: Studio, said: Said) -> Any:
    studio.measure(said["who"], _number(studio, said))
    return {"question": studio.next(said["who"])}


def _act(do: Callable[..., Any], *fields: Act, gives: str = "") -> tuple[Act, bool]:
    """Return what calls a method with person, token and fields of what was said.

    What it returns is named; without a name it is left out.
    """

    def act(studio: Studio, said: Said) -> Any:
        given = [read(studio, said) for read in fields]
        found = do(studio, said["who"], said["token"], *given)
        return {gives: found} if gives else None

    return act, True


# Those that only look need no token.
ACTS: dict[str, tuple[Act, bool]] = {
    "next": (lambda studio, said: {"question": studio.next(said["who"])}, False),
    "next_pair": (lambda studio, said: {"pair": next_pair(studio, said["who"])}, False),
    "answer": _act(Studio.answer, _row, _label, _then, gives="question"),
    "bulk": (bulk.act, True),
    "bulk_look": (bulk.look, False),
    "note": (settings.note, True),
    "flag": (settings.flag, True),
    "guide": (settings.guide, True),
    "goal": (settings.goal, True),
    "look": (settings.look, True),
    "merge": (settings.merge, True),
    "skip": _act(Studio.skip, _row, _then, gives="question"),
    "undo": _act(Studio.undo, gives="question"),
    "measure": (_measure, True),
    "reask": _act(Studio.reask),
    "class": _act(Studio.add_class, _name, gives="label"),
    "rename": _act(rename_class, _label, _name),
    "sizes": _act(set_sizes, _sizes),
    "pair": _act(answer_pair, _row, _other, _same, gives="pair"),
}
