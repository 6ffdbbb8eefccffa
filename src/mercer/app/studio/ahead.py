"""Rows that come next, so that the page can fetch their pictures before."""

from mercer.app.studio.service import Studio

AHEAD = 10


def ahead(studio: Studio) -> list[int]:
    """Return rows in the order of the model's questions, without those answered."""
    ledger, keys = studio.store.ledger, studio.items.keys
    rows = [int(row) for row in studio.snapshot.questions]
    done = ledger.answers.keys() | ledger.skips.keys()
    return [row for row in rows if keys[row] not in done][:AHEAD]
