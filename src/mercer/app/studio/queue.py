"""Which row a person is asked about next."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._base.typing import BoolArray
from mercer.app.studio.store import Transaction

if TYPE_CHECKING:
    from mercer.app.studio.service import Studio


def claim(
    studio: "Studio", transaction: Transaction, who: str, *, keep: bool, done: str = ""
) -> dict[str, Any] | None:
    """Choose an item for a person and note that it is theirs.

    Parameters
    ----------
    studio : Studio
    transaction : Transaction
    who : str
    keep : bool
        Whether the question on the screen stays.
    done : str, optional
        Key of an item that was answered just now.
    """
    row_of, ledger = studio.items.row_of, studio.store.ledger
    is_checked = ledger.is_checked or any(
        event.purpose == "check" for event in transaction.written
    )
    taken: dict[str, set[str]] = {}
    for item, person, purpose in transaction.claims():
        is_checked |= purpose == "check" and person != who
        is_open = item in row_of and who not in ledger.answers.get(item, {})
        if keep and person == who and is_open:
            return studio.question(row_of[item], purpose)
        if person != who:
            taken.setdefault(item, set()).add(person)
    codes, _ = studio.labels()
    n_open = len(taken) + len(transaction.written)
    known = codes >= 0
    known[[row_of[item] for item in (*taken, done) if item in row_of]] = True
    is_late = not is_checked and ledger.n_answers + n_open >= studio.check_every
    candidates = _candidates(studio, n_open, who, is_late=is_late)
    for row, purpose in _others_first(studio, candidates, known):
        key = studio.items.keys[row]
        people = taken.get(key, set()) | ledger.answers.get(key, {}).keys()
        if key == done or key in ledger.skips or who in people:
            continue
        if len(people) < studio.overlap and (codes[row] < 0 or people):
            transaction.claim(key, who, purpose)
            return studio.question(row, purpose)
    transaction.release(who)
    return None


def _others_first(
    studio: "Studio", candidates: Iterator[tuple[int, str]], known: BoolArray
) -> Iterator[tuple[int, str]]:
    """Put rows last that are equal to one that is known: they teach nothing new."""
    alike, later = studio.items.first_alike, list[tuple[int, str]]()
    is_copy = np.isin(alike, alike[known])
    for row, purpose in candidates:
        if purpose == "second" or known[row] or not is_copy[row]:
            yield row, purpose
        else:
            later.append((row, purpose))
    yield from later


def _candidates(
    studio: "Studio", n_open: int, who: str, *, is_late: bool
) -> Iterator[tuple[int, str]]:
    """Yield rows in the order in which they should be asked about.

    A check is late where the model came after the first of them was due.
    """
    ledger, snapshot = studio.store.ledger, studio.snapshot
    if studio.overlap > 1:  # first what others have answered
        for item, answers in ledger.answers.items():
            if len(answers) < studio.overlap and item in studio.items.row_of:
                yield studio.items.row_of[item], "second"
    number = ledger.n_answers + n_open + 1
    is_due = number % studio.check_every == 0 or is_late
    is_check = is_due or who in studio.measuring
    if snapshot.proba is not None and is_check:
        rng = np.random.default_rng([number, int(time.time())])
        for row in rng.integers(len(studio.items), size=200):
            yield int(row), "check"
    purpose = "cold" if snapshot.proba is None else "model"
    for row in snapshot.questions:
        yield int(row), purpose
    codes, _ = studio.labels()
    for row in studio.order[(codes < 0)[studio.order]]:
        yield int(row), "random"


def partner_of(studio: "Studio", row: int) -> int | None:
    """Return the row to compare with: labelled and telling, not compared before."""
    compared = {b if a == row else a for a, b, _ in studio.pairs() if row in (a, b)}
    codes, _ = studio.labels()
    telling = [other for other, _, _ in studio.engine.why(row, 50)]
    some = [*telling, *np.flatnonzero(codes >= 0), *studio.snapshot.questions]
    for other in [*some, *studio.order]:
        if other != row and int(other) not in compared:
            return int(other)
    return None
