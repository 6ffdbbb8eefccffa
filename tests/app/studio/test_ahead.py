"""The questions that come next are in the page before they are needed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer.app.studio.engine import Snapshot
from mercer.app.studio.queue import ahead
from mercer.app.studio.service import Studio
from studio_at_hand import FixedEngine, labels, rows, serving, small_studio

HAS_MORE = "() => globalThis.mercer.question.ahead.questions.length > 3"


def slow_studio(folder: Path, n: int = 40, **more: Any) -> Studio:
    """Return a studio whose model takes seconds to learn."""
    proba = np.full((n, 2), 0.5)
    snapshot = Snapshot(
        stage="",
        ready=True,
        classes=(0, 1),
        proba=proba,
        questions=np.arange(n),
        n_labels=2,
        seconds=9.0,
    )
    return small_studio(folder, rows(n), engine=FixedEngine(snapshot), **more)


def test_ten_questions_come_ahead_and_one_in_eight_is_random(tmp_path: Path) -> None:
    studio = slow_studio(tmp_path)
    first = studio.next("ann")
    found = ahead(studio, "ann")
    assert found["at_once"]
    coming = found["questions"]
    assert len({q["row"] for q in [first, *coming]}) == 11
    purposes = [q["purpose"] for q in coming]
    assert purposes == ["model"] * 6 + ["check"] + ["model"] * 3  # the eighth in all
    for k, then in enumerate(coming):
        row = studio.next("ann")["row"]
        shown = studio.answer("ann", f"t{k}", row, 0, then["row"])
        assert (shown["row"], shown["purpose"]) == (then["row"], then["purpose"])
    events = [e for e in studio.store.ledger.events if e.kind == "answer"]
    assert [e.purpose for e in events] == ["model"] * 7 + ["check"] + ["model"] * 2


@pytest.mark.parametrize(("seconds", "at_once"), [(0.2, False), (0.21, True)])
def test_a_model_that_learns_quickly_is_waited_for(
    seconds: float, at_once: bool, tmp_path: Path
) -> None:
    studio = slow_studio(tmp_path)
    fields = {**vars(studio.snapshot), "seconds": seconds}
    studio.engine.snapshot = Snapshot(**fields)
    assert ahead(studio, "ann")["at_once"] is at_once


def test_a_row_that_somebody_took_is_not_asked_twice(tmp_path: Path) -> None:
    studio = slow_studio(tmp_path)
    first = studio.next("ann")
    then = ahead(studio, "ann")["questions"][0]["row"]
    studio.answer("ben", "b1", then, 1)
    shown = studio.answer("ann", "t1", first["row"], 0, then)
    assert shown["row"] not in {first["row"], then}
    with serving(studio) as client:
        data = studio.items.fingerprint
        said = {"who": "ann", "token": "t2", "data": data, "row": shown["row"]}
        bad = client.post("/api/answer", json={**said, "label": 0, "then": 99})
        assert bad.status_code == 400


def test_the_next_row_is_shown_before_the_answer_is_kept(
    tmp_path, start, visit
) -> None:
    studio = slow_studio(tmp_path)
    page = visit(start(studio))
    page.wait_for_function(
        "() => globalThis.mercer.question.ahead.questions.length > 3"
    )
    held = []
    page.route("**/api/answer", lambda route: held.append(route))
    first = page.inner_text("#reason")
    for _ in range(2):  # two keys, and not one answer has arrived
        before = page.inner_text("#reason")
        page.keyboard.press("1")
        page.wait_for_function(
            "b => document.getElementById('reason').textContent !== b", arg=before
        )
    assert labels(studio) == {}
    page.wait_for_timeout(100)
    assert len(held) == 1  # they go one after the other
    held[0].continue_()
    page.wait_for_timeout(500)
    # Nor does a row that is shown come again while its own answer is on its way.
    coming = page.evaluate("mercer.question.ahead.questions.map((one) => one.row)")
    assert page.evaluate("mercer.question.shown.row") not in coming
    held[1].continue_()
    page.wait_for_function(
        "() => document.getElementById('n-labelled').textContent === '2'"
    )
    assert first.split()[1] in labels(studio)
    assert len(labels(studio)) == 2


def test_an_answer_that_was_not_kept_brings_its_row_back(
    tmp_path, start, visit
) -> None:
    studio = slow_studio(tmp_path)
    page = visit(start(studio))
    page.wait_for_function(
        "() => globalThis.mercer.question.ahead.questions.length > 3"
    )
    first = page.inner_text("#reason")
    full = {"status": 507, "body": '{"error": "not saved: the disk is full."}'}
    page.route("**/api/answer", lambda route: route.fulfill(**full))
    page.keyboard.press("1")
    page.wait_for_function(
        "() => document.getElementById('said').textContent.includes('disk is full')"
    )
    assert page.inner_text("#reason") == first
    assert labels(studio) == {}
