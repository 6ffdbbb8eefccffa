"""Labels that follow from pairs, and pairs in the studio."""

from pathlib import Path

import numpy as np
import pytest

from mercer.app.studio.pairing import answer_pair, implied_labels, next_pair
from mercer.app.studio.refused import RefusedError
from studio_at_hand import rows, small_studio


def test_same_carries_a_label_along_a_chain() -> None:
    codes = np.array([2, -1, -1, -1, -1])
    pairs = [(0, 1, True), (2, 1, True), (3, 4, True)]
    assert implied_labels(codes, pairs, 3).tolist() == [2, 2, 2, -1, -1]


def test_contradictions_add_nothing() -> None:
    codes = np.array([0, 1, -1])
    pairs = [(0, 2, True), (1, 2, True)]
    assert implied_labels(codes, pairs, 2).tolist() == [0, 1, -1]


def test_different_is_the_other_class_of_two_only() -> None:
    codes = np.array([0, -1, -1])
    pairs = [(0, 1, False), (1, 2, False)]
    assert implied_labels(codes, pairs, 2).tolist() == [0, 1, 0]
    assert implied_labels(codes, pairs, 3).tolist() == [0, -1, -1]


def test_no_pairs_change_nothing() -> None:
    codes = np.array([0, -1])
    assert implied_labels(codes, [], 2) is codes


def test_pairs_label_rows_are_not_repeated_and_can_be_undone(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(6))
    studio.answer("ann", "t0", 0, 1)
    pair = next_pair(studio, "ann")
    first, second = pair["first"]["row"], pair["second"]["row"]
    assert second == 0  # a labelled row tells most
    following = answer_pair(studio, "ann", "t1", first, second, True)
    assert studio.labels()[0][first] == 1
    assert following["first"]["row"] not in {0, first}
    answer_pair(studio, "ann", "t1", first, second, True)  # sent twice, kept once
    assert len([e for e in studio.store.ledger.events if e.kind == "pair"]) == 1
    studio.undo("ann", "t2")
    assert studio.labels()[0][first] == -1
    with pytest.raises(RefusedError, match="itself"):
        answer_pair(studio, "ann", "t3", 2, 2, True)


def test_different_asks_about_the_same_row_with_another_one(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(6), classes=("a", "b", "c"))
    studio.answer("ann", "t0", 0, 0)
    studio.answer("ann", "t1", 1, 1)
    pair = next_pair(studio, "ann")
    row, other = pair["first"]["row"], pair["second"]["row"]
    following = answer_pair(studio, "ann", "t2", row, other, False)
    assert studio.labels()[0][row] == -1
    if following["first"]["row"] == row:
        assert following["second"]["row"] != other
