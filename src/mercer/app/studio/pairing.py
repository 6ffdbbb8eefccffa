"""Two rows at a time: "same" or "different", and the labels that follow."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array

from mercer._base.typing import IntArray
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


def implied_labels(
    codes: IntArray, pairs: Iterable[tuple[int, int, bool]], n_classes: int
) -> IntArray:
    """Return the labels and what pairs add to them.

    Rows joined by "same" share the label of any of them. Where there are two classes, a
    row that is "different" from a labelled one has the other label. A group whose
    labels contradict each other adds nothing. A code of -1 is none; pairs are (row,
    row, same).

    Examples
    --------
    >>> implied_labels(np.array([0, -1, -1, 1]), [(0, 1, True), (2, 3, True)], 3)
    array([0, 0, 1, 1])
    >>> implied_labels(np.array([0, -1, -1]), [(0, 1, False), (1, 2, True)], 2)
    array([0, 1, 1])
    """
    pairs = list(pairs)
    if not pairs:
        return codes
    from scipy.sparse.csgraph import connected_components  # loads linear algebra

    ends = np.array([(a, b) for a, b, _ in pairs], dtype=np.intp)
    same = np.array([s for _, _, s in pairs], dtype=bool)
    rows, places = np.unique(ends, return_inverse=True)
    places = places.reshape(ends.shape)
    joined = coo_array(
        (np.ones(same.sum()), (places[same, 0], places[same, 1])),
        shape=(len(rows), len(rows)),
    )
    n_groups, group = connected_components(joined, directed=False)
    known: list[set[int]] = [set() for _ in range(n_groups)]
    for row, g in zip(rows, group, strict=True):
        if codes[row] >= 0:
            known[g].add(int(codes[row]))
    if n_classes == 2:
        _take_the_other(known, group[places[~same]])
    full = codes.copy()
    for row, g in zip(rows, group, strict=True):
        if full[row] < 0 and len(known[g]) == 1:
            full[row] = next(iter(known[g]))
    return full


def _take_the_other(known: list[set[int]], apart: IntArray) -> None:
    """Fill in groups that are different from a group with a known label."""
    todo = True
    while todo:
        todo = False
        for a, b in [*apart, *apart[:, ::-1]]:
            if len(known[a]) == 1 and not known[b]:
                known[b] = {1 - next(iter(known[a]))}
                todo = True
