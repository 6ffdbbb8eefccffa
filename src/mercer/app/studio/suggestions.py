"""What sources of labels say about a row, beside what the model predicts."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.app.studio.first_events import numbers_of
from mercer.app.studio.items import names_of

if TYPE_CHECKING:
    from mercer.app.studio.service import Studio

_MOSTLY = 0.5  # share of a vote that counts as the answer


def suggestions(studio: "Studio", row: int) -> list[dict[str, Any]]:
    """Return the vote of each source on a row, and how often people agreed with it.

    Classes are numbers. A vote that is spread over several of them is one for each,
    with its share; those that were removed are left out.
    """
    votes = studio.votes
    if votes is None:
        return []
    numbers, names = numbers_of(studio.store.ledger), names_of(votes.classes)
    label = np.array([numbers.get(name, -1) for name in names])[votes.answer]
    codes = studio.told().codes
    seen = np.flatnonzero(codes >= 0)
    part = votes.votes[seen].tocoo()
    column = part.col[part.data >= _MOSTLY]
    answer = codes[seen][part.row[part.data >= _MOSTLY]]
    is_right = (label[column] == answer) != votes.denied[column]
    source, m = votes.source[column], len(votes.names)
    right, given = np.bincount(source, is_right, m), np.bincount(source, minlength=m)
    start, end = votes.votes.indptr[row : row + 2]
    return [
        {
            "source": votes.names[votes.source[column]],
            "label": int(label[column]),
            "denied": bool(votes.denied[column]),
            "share": round(float(share), 4),
            "right": int(right[votes.source[column]]),
            "given": int(given[votes.source[column]]),
        }
        for column, share in zip(
            votes.votes.indices[start:end], votes.votes.data[start:end], strict=True
        )
        if label[column] >= 0
    ]
