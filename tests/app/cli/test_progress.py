"""Time that is left."""

import pytest

from mercer.app.cli.progress import COSTS, Clock, in_words


def test_time_left_is_right_if_stages_take_what_they_usually_take() -> None:
    clock = Clock(list(COSTS), now=0.0)
    now, total = 0.0, float(sum(COSTS.values()))
    for name, cost in COSTS.items():
        clock.begin(name, now)
        if now:
            assert clock.left(now) == pytest.approx(total - now)
            assert clock.left(now + cost / 2) == pytest.approx(total - now - cost / 2)
        now += cost


def test_a_stage_that_takes_long_does_not_end_by_itself() -> None:
    clock = Clock(["reading", "predictions"], now=0.0)
    clock.begin("reading", 0.0)
    clock.begin("predictions", 1.0)
    assert clock.share(100.0) < 1
    clock.reported = 0.5
    assert clock.share(100.0) == pytest.approx(0.8)


def test_nothing_is_claimed_at_the_start() -> None:
    clock = Clock(list(COSTS), now=0.0)
    clock.begin("reading", 0.0)
    assert clock.left(5.0) is None
    assert in_words(None) == ""
