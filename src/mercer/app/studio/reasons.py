"""Why a row is asked about: the rows that pull it, and the words they share."""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.app.studio.service import Studio

PULLS = 6
MOST_WORDS = 12
MOST_CELL = 300
_SAMPLE = 300  # rows by which common words are known
_COMMON = 0.2  # a word in more of these rows says nothing
_WORD = re.compile(r"[^\W\d_]{3,}")


def why(studio: "Studio", row: int) -> dict[str, Any]:
    """Return the labelled rows that say most about a row, and words to be marked.

    The words are those that the row shares with these rows and few others have.
    """
    pulls = studio.engine.why(row, PULLS)
    return {
        "pulls": [
            {
                "row": i,
                "id": studio.items.ids[i],
                "label": label,
                "amount": amount,
                "cells": studio.items.cells(i, MOST_CELL),
            }
            for i, label, amount in pulls
        ],
        "words": shared_words(studio, row, [i for i, _, _ in pulls]),
    }


def shared_words(studio: "Studio", row: int, others: list[int]) -> list[str]:
    """Return words of the texts of a row that others have and few rows of the table."""

    def words_of(one: int) -> set[str]:
        texts = (studio.items.cell(one, name) for name in studio.items.texts)
        return {w for text in texts for w in _WORD.findall(text.casefold())}

    if not studio.items.texts or not others:
        return []
    shared = words_of(row) & set().union(*map(words_of, others))
    sample = [words_of(int(one)) for one in studio.order[:_SAMPLE]]
    known = {word: sum(word in some for some in sample) for word in shared}
    rare = [word for word in shared if known[word] <= _COMMON * len(sample)]
    return sorted(rare, key=lambda word: (known[word], word))[:MOST_WORDS]
