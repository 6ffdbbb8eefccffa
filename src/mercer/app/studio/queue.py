"""Which rows a person is asked about next: one, and those that come after it."""

import itertools
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._base.typing import BoolArray
from mercer.app.studio.parsing import check_text
from mercer.app.studio.store import Transaction

if TYPE_CHECKING:
    from mercer.app.studio.service import Studio

AHEAD = 10  # rows that a page has before they are needed
Claims = Sequence[tuple[str, str, str]]  # item, person, purpose


def claim(
    studio: "Studio",
    transaction: Transaction,
    who: str,
    *,
    keep: bool,
    done: str = "",
    then: int | None = None,
) -> dict[str, Any] | None:
    """Choose an item for a person and note that it is theirs.

    With `keep` the question on the screen stays. The item with the key `done` was
    answered just now. The page shows the row `then` already, which is taken if it is
    still open.
    """
    row_of, ledger = studio.items.row_of, studio.store.ledger
    claims, written = transaction.claims(), transaction.written
    for item, person, purpose in claims:
        is_open = item in row_of and who not in ledger.answers.get(item, {})
        if keep and person == who and is_open:
            return studio.question(row_of[item], purpose)
    is_checked = any(event.purpose == "check" for event in written)
    number = number_of(studio, claims, who) + len(written)
    is_check = is_check_due(studio, claims, who, number, is_checked=is_checked)
    first = [(then, p) for row, p in studio.planned.get(who, {}).items() if row == then]
    rows = open_rows(studio, claims, who, {done}, is_check=is_check, first=first)
    row, purpose = next(rows, (None, ""))
    if row is None:
        transaction.release(who)
        return None
    transaction.claim(studio.items.keys[row], who, purpose)
    return studio.question(row, purpose)


def number_of(studio: "Studio", claims: Claims, who: str) -> int:
    """Return which question is next, counted over all people from 1."""
    others = {item for item, person, _ in claims if person != who}
    return studio.store.ledger.n_answers + len(others) + 1


def is_check_due(
    studio: "Studio", claims: Claims, who: str, number: int, *, is_checked: bool = False
) -> bool:
    """Tell whether a question should be drawn at random.

    The first one is late where the model came after it was due.
    """
    if studio.snapshot.proba is None:
        return False
    is_checked |= studio.store.ledger.is_checked
    is_checked |= any(p == "check" and person != who for _, person, p in claims)
    is_late = not is_checked and number > studio.check_every
    return is_late or number % studio.check_every == 0 or who in studio.measuring


def open_rows(
    studio: "Studio",
    claims: Claims,
    who: str,
    done: Collection[str],
    *,
    is_check: bool,
    first: Iterable[tuple[int, str]] = (),
) -> Iterator[tuple[int, str]]:
    """Yield rows that a person can be asked about, and why, the best ones first."""
    row_of, ledger = studio.items.row_of, studio.store.ledger
    taken: dict[str, set[str]] = {}
    for item, person, _ in claims:
        if person != who:
            taken.setdefault(item, set()).add(person)
    codes, _ = studio.labels()
    known = codes >= 0
    known[[row_of[item] for item in (*taken, *done) if item in row_of]] = True
    assigned = ledger.assigned
    own = {row_of[i] for i, p in assigned.items() if p == who and i in row_of}
    own -= set(np.flatnonzero(known).tolist()) if own else set()
    candidates = _others_first(studio, _candidates(studio, is_check), known, own)
    for row, purpose in itertools.chain(first, candidates):
        key = studio.items.keys[row]
        people = taken.get(key, set()) | ledger.answers.get(key, {}).keys()
        if key in done or key in ledger.skips or who in people:
            continue
        if assigned.get(key, who) != who:
            continue
        if len(people) < studio.overlap and (codes[row] < 0 or people):
            yield row, purpose


def _others_first(
    studio: "Studio",
    candidates: Iterator[tuple[int, str]],
    known: BoolArray,
    own: Collection[int],
) -> Iterator[tuple[int, str]]:
    """Put rows last that teach nothing new, or are not a person's own.

    Rows equal to one that is known teach nothing. `own` are open rows that were
    assigned to the person; where there are none, all rows are the person's.
    """
    alike, later = studio.items.first_alike, list[tuple[int, str]]()
    has_known = np.zeros(len(alike), dtype=bool)
    has_known[alike[known]] = True
    is_copy = has_known[alike]
    for row, purpose in candidates:
        is_new = purpose == "second" or known[row] or not is_copy[row]
        if row in own or (is_new and not own):
            yield row, purpose
        else:
            later.append((row, purpose))
    yield from later


def _candidates(studio: "Studio", is_check: bool) -> Iterator[tuple[int, str]]:
    """Yield rows in the order in which they should be asked about."""
    ledger, snapshot = studio.store.ledger, studio.snapshot
    if studio.overlap > 1:  # first what others have answered
        for item, answers in ledger.answers.items():
            if len(answers) < studio.overlap and item in studio.items.row_of:
                yield studio.items.row_of[item], "second"
    if is_check:
        rng = np.random.default_rng([ledger.seq, time.time_ns()])
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


def ahead(studio: "Studio", who: str) -> dict[str, Any]:
    """Return the next questions of a person, and whether they can be shown at once.

    They cannot where the model learns quickly: the next question waits for it, and is
    the better for it. A question that the page shows is claimed with the answer before
    it (`then`).
    """
    check_text(who, "who")
    with studio.locked:
        claims = studio.store.claims()
        own = {item for item, person, _ in claims if person == who}
        checks = open_rows(studio, claims, who, own, is_check=True)
        others = open_rows(studio, claims, who, own, is_check=False)
        first = number_of(studio, claims, who) + len(own)
        plan: dict[int, str] = {}
        for number in range(first, first + AHEAD):
            is_check = is_check_due(studio, claims, who, number, is_checked=True)
            found = (r for r in (checks if is_check else others) if r[0] not in plan)
            plan.update(itertools.islice(found, 1))
        # Those that were sent before may be on the page.
        sent = {**studio.planned.get(who, {}), **plan}
        studio.planned[who] = dict([*sent.items()][-4 * AHEAD :])
    snapshot = studio.snapshot
    is_slow = snapshot.proba is None or snapshot.seconds > studio.patience
    return {
        "questions": [studio.question(row, plan[row]) for row in plan],
        "at_once": is_slow,
    }
