"""Table, review and accuracy."""

from pathlib import Path

import numpy as np
import pytest

from mercer.app.studio.engine import Snapshot
from mercer.app.studio.service import RefusedError, Studio
from mercer.app.studio.views import PAGE, accuracy, review, table_page
from studio_at_hand import FixedEngine, rows, small_studio


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    n = PAGE + 30
    proba = np.column_stack([np.linspace(0, 1, n), 1 - np.linspace(0, 1, n)])
    snapshot = Snapshot(
        stage="", classes=(0, 1), proba=proba, n_labels=2, suspicious=((3, 0, 0.1),)
    )
    return small_studio(
        tmp_path, rows(n), engine=FixedEngine(snapshot), overlap=2, check_every=2
    )


def shown(page: dict) -> list[int]:
    return [line["row"] for line in page["rows"]]


def test_pages_search_and_filters(studio: Studio) -> None:
    first = table_page(studio)
    assert (first["total"], first["pages"]) == (PAGE + 30, 2)
    assert shown(table_page(studio, page=1)) == list(range(PAGE, PAGE + 30))
    assert shown(table_page(studio, words="R7")) == [7, *range(70, 80)]
    assert shown(table_page(studio, words="(")) == []
    half = (PAGE + 30) // 2
    assert table_page(studio, predicted=0)["total"] == half
    assert table_page(studio, predicted=9)["total"] == 0
    middle = shown(table_page(studio, order="uncertain"))[:2]
    assert set(middle) == {half - 1, half}
    assert set(shown(table_page(studio, order="certain"))[:2]) == {0, PAGE + 29}
    studio.answer("ann", "t1", 3, 1)
    studio.skip("ann", "t2", 4)
    assert shown(table_page(studio, show="labelled")) == [3]
    assert shown(table_page(studio, show="skipped")) == [4]
    assert table_page(studio, show="unlabelled")["total"] == PAGE + 29
    studio.answer("ben", "t3", 3, 0)
    assert shown(table_page(studio, show="disputed")) == [3]
    with pytest.raises(RefusedError, match="one of"):
        table_page(studio, show="everything")


def test_review_lists_doubts_disputes_and_agreement(studio: Studio) -> None:
    for who, token, row, label in [
        ("ann", "t1", 3, 1),
        ("ann", "t2", 5, 0),
        ("ben", "t3", 5, 1),
        ("ann", "t4", 6, 0),
        ("ben", "t5", 6, 0),
    ]:
        studio.answer(who, token, row, label)
    studio.skip("ann", "t6", 8)
    found = review(studio)
    assert [(d["row"], d["likely"]) for d in found["suspicious"]] == [(3, 0)]
    assert [(d["row"], d["answers"]) for d in found["disputed"]] == [
        (5, {"ann": 0, "ben": 1})
    ]
    assert shown({"rows": found["skipped"]}) == [8]
    (both,) = found["agreement"]
    assert (both["n_items"], both["share"]) == (2, 0.5)
    assert found["people"] == {"ann": 3, "ben": 2}


def test_only_random_questions_are_counted_and_undo_takes_them_back(
    studio: Studio,
) -> None:
    assert "now" not in accuracy(studio)
    question = studio.next("ann")
    n_checks = 0
    for k in range(12):
        n_checks += question["purpose"] == "check"
        best = question["prediction"][0]["label"]
        question = studio.answer("ann", f"t{k}", question["row"], best)
    found = accuracy(studio)
    assert found["checks"] == found["right"] == n_checks > 0
    assert found["now"]["low"] < found["now"]["mean"] < found["now"]["high"]
    for k in range(12):
        studio.undo("ann", f"u{k}")
    assert accuracy(studio)["checks"] == 0
