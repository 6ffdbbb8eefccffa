"""Table, review and accuracy."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.app.studio.engine import Snapshot
from mercer.app.studio.exports import EXPORTS, people_frame
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio
from mercer.app.studio.table_view import Where, table_page
from mercer.app.studio.views import accuracy, curve_of, outcomes, review
from mercer.app.studio.written_files import with_accuracy
from mercer.app.tables.learning import learn
from studio_at_hand import FixedEngine, rows, small_studio


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    n = 80
    proba = np.column_stack([np.linspace(0, 1, n), 1 - np.linspace(0, 1, n)])
    snapshot = Snapshot(
        stage="", classes=(0, 1), proba=proba, n_labels=2, suspicious=((3, 0, 0.1),)
    )
    return small_studio(
        tmp_path, rows(n), engine=FixedEngine(snapshot), overlap=2, check_every=2
    )


def shown(page: dict) -> list[int]:
    return [line["row"] for line in page["rows"]]


def found(studio: Studio, **said: str) -> list[int]:
    return shown(table_page(studio, Where.read(said, studio.items.columns)))


def test_pages_search_and_filters(studio: Studio) -> None:
    n = 80
    first = table_page(studio, Where())
    assert (first["total"], first["pages"]) == (n, 2)
    assert shown(table_page(studio, Where(), page=1)) == list(range(50, n))
    assert found(studio, words="R7") == [7, *range(70, 80)]
    assert found(studio, words="(") == []
    half = n // 2
    assert table_page(studio, Where(predicted=0))["total"] == half
    assert table_page(studio, Where(predicted=9))["total"] == 0
    assert set(found(studio, sort="certainty")[:2]) == {half - 1, half}
    assert set(found(studio, sort="certainty", descending="1")[:2]) == {0, n - 1}
    studio.answer("ann", "t1", 3, 1)
    studio.skip("ann", "t2", 4)
    assert found(studio, show="labelled") == [3]
    assert found(studio, label="1") == [3]
    assert found(studio, label="0") == []
    assert found(studio, person="ann") == [3]
    assert found(studio, person="ben") == []
    assert found(studio, show="skipped") == [4]
    assert table_page(studio, Where(show="unlabelled"))["total"] == n - 1
    studio.answer("ben", "t3", 3, 0)
    assert found(studio, show="disputed") == [3]


def test_certainty_bounds_include_their_ends(studio: Studio) -> None:
    sure = studio.snapshot.proba.max(axis=1)
    low = float(np.sort(sure)[-4])
    assert sorted(found(studio, low=repr(low))) == np.flatnonzero(sure >= low).tolist()
    assert (
        len(found(studio, low="0.9", high="0.9999"))
        == ((sure >= 0.9) & (sure <= 0.9999)).sum()
    )


@pytest.mark.parametrize(
    "said",
    [
        {"show": "everything"},
        {"sort": "column:other"},
        {"label": "-1"},
        {"low": "2"},
        {"low": "nan"},
        {"low": "x"},
        {"words": 5},
        [],
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(studio: Studio, said: object) -> None:
    with pytest.raises(RefusedError, match=r"one of|must"):
        Where.read(said, studio.items.columns)


def test_rows_are_sorted_by_a_column_and_those_without_a_value_come_last(
    tmp_path: Path,
) -> None:
    frame = pd.DataFrame(
        {
            "code": ["a", "b", "c", "d"],
            "size": [10.0, 9.0, None, 100.0],
            "word": ["pear", None, "Apple", "fig"],
        }
    )
    studio = small_studio(tmp_path, frame)
    assert found(studio, sort="column:size") == [1, 0, 3, 2]
    assert found(studio, sort="column:size", descending="1") == [3, 0, 1, 2]
    assert found(studio, sort="column:word") == [2, 3, 0, 1]
    studio.answer("ann", "t1", 2, 1)
    studio.answer("ann", "t2", 3, 0)
    assert found(studio, sort="label")[:2] == [3, 2]  # cat, dog
    assert found(studio, sort="person")[0] == 2


def test_the_table_does_not_show_what_is_predicted_of_a_check(studio: Studio) -> None:
    question = studio.next("ann")
    for k in range(30):
        if question["purpose"] == "check":
            break
        question = studio.answer("ann", f"t{k}", question["row"], 0)
    assert question["purpose"] == "check"
    where = Where(words=question["id"])
    (line,) = [
        line
        for line in table_page(studio, where)["rows"]
        if line["row"] == question["row"]
    ]
    assert line["guess"] is None
    studio.answer("ann", "last", question["row"], 0)
    assert table_page(studio, where)["rows"][0]["guess"] is not None


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


def test_measuring_asks_about_random_rows_until_there_are_enough(
    studio: Studio,
) -> None:
    studio.measure("ann", 3)
    question, purposes = studio.next("ann"), []
    for k in range(4):
        purposes.append(question["purpose"])
        question = studio.answer("ann", f"m{k}", question["row"], 0)
    assert purposes[:3] == ["check"] * 3
    assert studio.measuring == {}
    assert accuracy(studio)["checks"] >= 3
    with pytest.raises(RefusedError, match="with 1 to 1,000 rows"):
        studio.measure("ann", 0)


def test_rows_that_a_person_picked_do_not_count(studio: Studio) -> None:
    studio.answer("ann", "p1", 7, 0)
    assert outcomes(studio) == []
    question = studio.next("ann")
    studio.answer("ann", "p2", question["row"], 0)
    assert len(outcomes(studio)) == 1


def test_page_and_exported_report_show_one_accuracy(studio: Studio) -> None:
    """The page said 46%, 11 to 84, and the report 92%, 70 to 100."""
    assert curve_of(studio) is None
    studio.measure("ann", 5)
    question = studio.next("ann")
    for k in range(5):
        best = question["prediction"][0]["label"]
        question = studio.answer("ann", f"c{k}", question["row"], best)
    shown = accuracy(studio)["now"]
    found = curve_of(studio).at(studio.snapshot.n_labels)
    frame = pd.DataFrame({"size": [*range(10), *range(50, 60)], "label": ["a"] * 20})
    frame.loc[10:, "label"] = "b"
    frame.loc[::3, "label"] = None
    result = with_accuracy(learn(frame), found)
    (ours, *_) = result.check.scores
    assert (ours.accuracy, ours.low, ours.high) == tuple(shown.values())
    assert "random questions of the studio" in result.warnings[0]


def test_answers_of_each_person_are_exported_apart(studio: Studio) -> None:
    studio.answer("ann", "t1", 5, 0)
    studio.answer("ben", "t2", 5, 1)
    studio.skip("ben", "t3", 6)
    lines = people_frame(studio).astype(object).fillna("")
    given = lines[["id", "person", "label", "skipped"]].values.tolist()
    first, second = list(studio.store.ledger.classes.values())[:2]
    assert given == [
        [studio.items.ids[5], "ann", first, False],
        [studio.items.ids[5], "ben", second, False],
        [studio.items.ids[6], "ben", "", True],
    ]
    head = EXPORTS["people"][2](studio).decode().splitlines()[0]
    assert head == '"id","person","label","skipped","when","asked"'
