"""Two rows at a time: "same" or "different"."""

from typing import TYPE_CHECKING, Any

from mercer.app.studio.ledger import Ledger
from mercer.app.studio.queue import partner_of
from mercer.app.studio.refused import RefusedError

if TYPE_CHECKING:
    from mercer.app.studio.service import Studio


def next_pair(studio: "Studio", who: str) -> dict[str, Any] | None:
    """Return two rows to compare: the next question, and the most telling row."""
    question = studio.next(who)
    if question is None:
        return None
    other = partner_of(studio, question["row"])
    if other is None:
        return None
    return {"first": question, "second": studio.question(other, "labelled")}


def answer_pair(
    studio: "Studio", who: str, token: str, row: int, other: int, same: bool
) -> dict[str, Any] | None:
    """Keep whether two rows belong together and return the next two."""
    studio.check_who(who)
    if row == other:
        msg = "a row cannot be compared with itself."
        raise RefusedError(msg)
    with studio.writing() as transaction:
        if token not in studio.store.ledger.by_token:
            fields = {"label": int(same), "other": studio.items.keys[other]}
            studio.write(transaction, who, token, row, "pair", fields)
        transaction.release(who)
    return next_pair(studio, who)


def agreed(ledger: Ledger, row_of: dict[str, int]) -> list[tuple[int, int, bool]]:
    """Return the pairs that people agree on."""
    said = []
    for (item, other), answers in ledger.pairs.items():
        votes = {event.label for event in answers.values()}
        if len(votes) == 1 and item in row_of and other in row_of:
            said.append((row_of[item], row_of[other], votes == {1}))
    return said
