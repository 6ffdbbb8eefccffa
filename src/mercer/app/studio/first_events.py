"""What a start of the studio tells the store: classes, and how large they are."""

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.typing import IntArray
from mercer.app.studio.items import names_of
from mercer.app.studio.ledger import START, Ledger
from mercer.app.studio.store import Store
from mercer.app.tables.class_sizes import sizes_by_class
from mercer.app.tables.sizes_in_part import whole
from mercer.app.tables.table import TableError
from mercer.app.tables.task import Task

if TYPE_CHECKING:
    from mercer.app.tables.session import Session


def start(
    store: Store,
    given: NDArray[Any],
    classes: tuple[str, ...],
    class_sizes: dict[str, float] | None,
) -> IntArray:
    """Make classes and sizes known, and return the labels in the file as numbers.

    The classes that have a label in the file (`given`, None where there is none), those
    in the store, `classes`, and those that have a size are offered.
    """
    ledger, sizes, digest = store.ledger, dict[str, float](), ""
    if class_sizes is not None:
        digest = _digest(repr(sorted(class_sizes.items())))
        first = ledger.first_sizes
        # Where the last start had the same ones, somebody may have set others on the
        # page since, or may have made a class.
        if first is None or first.digest != digest:
            numbers = _first_names(ledger)
            now = [ledger.classes[numbers[n]] if n in numbers else n for n in given]
            known = {*ledger.classes.values(), *now} - {None}
            sizes = sizes_by_class(
                _renamed(class_sizes, ledger),
                sorted(known),
                as_written=True,
                may_come_later=True,
            )
    names = sorted({name for name in given if name is not None})
    _name_classes(store, dict.fromkeys([*classes, *sizes, *names]))
    if sizes:
        named = ledger.classes.items()
        text = json.dumps({c: 100 * sizes[n] for c, n in named if n in sizes})
        with store.writing() as transaction:
            token = f"sizes:{ledger.seq}:{digest}"
            transaction.append(START, "sizes", token, text=text, digest=digest)
    numbers = _first_names(ledger)
    return np.array([numbers.get(n, -1) for n in given], dtype=np.intp)


def given_sizes(task: Task, session: "Session | None") -> dict[str, float] | None:
    """Return the class sizes of a session, or of a task, by the names of classes."""
    sizes: Any = task.class_sizes
    if session is not None:
        told = session.told
        sizes = session.class_sizes or told.known_sizes
        if sizes is None and told.in_part is not None:
            sizes = told.in_part.given
    if sizes is None:
        return None
    shares = whole(sizes)
    return dict(zip(names_of(shares), shares.values(), strict=True))


def numbers_of(ledger: Ledger) -> dict[str, int]:
    """Return the numbers of the classes that are offered, by their first names."""
    known = _first_names(ledger).items()
    return {name: number for name, number in known if number in ledger.classes}


def _first_names(ledger: Ledger) -> dict[str, int]:
    """Return the numbers of the classes by the names they were made with."""
    made = [e for e in ledger.events if e.kind == "class"]
    return {e.text: e.label for e in made if e.text and e.label is not None}


def _renamed(class_sizes: dict[str, float], ledger: Ledger) -> dict[str, float]:
    """Return sizes by the present names of classes that have a new one."""
    numbers, sizes = _first_names(ledger), dict[str, float]()
    for given, size in class_sizes.items():
        is_old = given in numbers and given not in ledger.classes.values()
        name = ledger.classes[numbers[given]] if is_old else given
        if is_old and name in {*sizes, *class_sizes}:
            msg = (
                f"class sizes name one class twice: {given!r} is called {name!r} now. "
                "Name it once."
            )
            raise TableError(msg)
        sizes[name] = size
    return sizes


def _name_classes(store: Store, names: Iterable[str]) -> None:
    ledger = store.ledger
    with store.writing() as transaction:
        known = set(ledger.classes.values())
        number = ledger.next_label - 1
        for name in names:
            # Also known by its first name, after somebody renamed it.
            token = token_of(name)
            if name not in known and token not in ledger.by_token:
                number += 1
                transaction.append("(file)", "class", token, label=number, text=name)


def token_of(said: str) -> str:
    """Return the token of an event that must not happen twice."""
    return f"class:{_digest(said)}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
