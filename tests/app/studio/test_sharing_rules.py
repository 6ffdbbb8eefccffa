"""Rules of sharing work: how long a row is reserved, and pairs people differ on."""

from pathlib import Path

import pytest

from mercer.app.studio import store
from mercer.app.studio.pairing import answer_pair, next_pair
from studio_at_hand import rows, small_studio


@pytest.mark.parametrize(("seconds", "comes"), [(599, False), (601, True)])
def test_a_row_is_reserved_for_ten_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, comes: bool
) -> None:
    studio = small_studio(tmp_path, rows(2))
    now = 1_000_000.0
    monkeypatch.setattr(store.time, "time", lambda: now)
    first = studio.next("ann")["row"]
    other = studio.next("ben")["row"]
    assert other != first
    now += seconds
    assert (studio.next("cid") is not None) == comes


def test_a_pair_that_people_disagree_on_does_not_count(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(6))
    studio.answer("ann", "t0", 0, 1)
    first = next_pair(studio, "ann")["first"]["row"]
    answer_pair(studio, "ann", "t1", first, 0, True)
    assert studio.pairs() == [(first, 0, True)]
    assert studio.labels()[0][first] == 1
    answer_pair(studio, "ben", "t2", first, 0, False)
    assert studio.pairs() == []
    assert studio.labels()[0][first] == -1
