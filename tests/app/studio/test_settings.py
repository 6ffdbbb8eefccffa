"""Notes, flags, guidelines, and what can be done with classes besides naming them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer.app.studio import settings
from mercer.app.studio.ledger import Ledger
from mercer.app.studio.parts import similar_rows
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio
from mercer.app.studio.table_view import Where, rows_where
from mercer.app.studio.views import history
from studio_at_hand import label_rows, rows, small_studio


def said(studio: Studio, token: str, **more: Any) -> dict[str, Any]:
    return {"who": "ann", "token": token, "data": studio.items.fingerprint, **more}


def again(studio: Studio) -> Ledger:
    """Fold the history again from its beginning."""
    ledger = Ledger()
    for event in studio.store.ledger.events:
        ledger.add(event)
    return ledger


def test_notes_flags_guidelines_and_goal_last(tmp_path: Path) -> None:
    studio = small_studio(tmp_path)
    settings.note(studio, said(studio, "a", row=3, text=" torn page "))
    settings.note(studio, said(studio, "b", row=4, text="x"))
    settings.note(studio, said(studio, "c", row=4, text=""))
    settings.flag(studio, said(studio, "d", row=5, on=True))
    settings.flag(studio, said(studio, "e", row=6, on=True))
    settings.flag(studio, said(studio, "f", row=6, on=False))
    settings.guide(studio, said(studio, "g", text="a cat is a cat"))
    settings.goal(studio, said(studio, "h", rows=20))
    for one in (studio, small_studio(tmp_path)):
        assert one.question(3, "picked")["note"] == "torn page"
        assert one.question(5, "picked")["flagged"]
        assert one.store.ledger.notes == {"r3": "torn page"}
        assert one.store.ledger.flags == {"r5"}
        assert one.state()["guide"] == "a cat is a cat"
        assert one.state()["goal"] == 20
        assert rows_where(one, Where(show="flagged")).tolist() == [5]
        assert rows_where(one, Where(show="noted")).tolist() == [3]
    assert studio.labels()[1].tolist() == []  # no answer came of it


def test_classes_have_keys_colours_and_an_order(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, classes=("cat", "dog", "bird"))
    look = {"key": "C", "colour": 7, "about": "has whiskers", "place": 2}
    settings.look(studio, said(studio, "a", label=0, **look))
    shown = studio.state()["classes"]
    assert [one["name"] for one in shown] == ["dog", "cat", "bird"]
    cat = shown[1]
    assert (cat["key"], cat["colour"], cat["about"]) == ("c", 7, "has whiskers")
    for wrong, words in [
        ({"label": 1, "key": "c"}, "belongs to another"),
        ({"label": 1, "key": "s"}, "does something else"),
        ({"label": 1, "key": "A"}, "does something else"),  # it chooses all rows
        ({"label": 1, "key": "cc"}, "one letter or digit"),
        ({"label": 1, "key": "?"}, "one letter or digit"),
        ({"label": 1, "colour": 10}, "below 10"),
        ({"label": 1, "about": 5}, "must be a text"),
        ({"label": 9}, "no class number 9"),
    ]:
        with pytest.raises(RefusedError, match=words):
            settings.look(studio, said(studio, "b", **wrong))
    settings.look(studio, said(studio, "c", label=0, key="c"))  # its own key stays


def test_a_class_is_merged_in_one_act_for_each_person(tmp_path: Path) -> None:
    frame = rows(6).assign(label=["cat", None, None, None, None, None])
    studio = small_studio(tmp_path, frame, classes=("cat", "dog", "puppy"), overlap=2)
    studio.answer("ann", "t1", 1, 0)
    studio.answer("ben", "t2", 1, 0)
    studio.answer("ann", "t3", 2, 1)
    with pytest.raises(RefusedError, match="2 rows have this label"):
        settings.merge(studio, said(studio, "m0", label=0))
    with pytest.raises(RefusedError, match="into itself"):
        settings.merge(studio, said(studio, "m0", label=0, into=0))
    settings.merge(studio, said(studio, "m", label=0, into=1))
    settings.merge(studio, said(studio, "m", label=0, into=1) | {"label": 1, "into": 2})
    assert studio.labels()[0].tolist() == [1, 1, 1, -1, -1, -1]
    assert studio.store.ledger.classes == {1: "dog", 2: "puppy"}
    answers = studio.store.ledger.answers["r1"]
    assert {who: e.label for who, e in answers.items()} == {"ann": 1, "ben": 1}
    assert studio.add_class("ann", "t4", "cat") == 3  # no number comes twice
    studio.undo("ann", "u1")
    assert studio.labels()[0].tolist() == [0, 0, 1, -1, -1, -1]
    assert studio.store.ledger.classes == {0: "cat", 1: "dog", 2: "puppy", 3: "cat"}
    assert again(studio).classes == studio.store.ledger.classes


def test_a_class_without_rows_is_removed_and_comes_back(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, classes=("cat", "dog", "bird"))
    studio.answer("ann", "t1", 1, 0)
    settings.merge(studio, said(studio, "m", label=2))
    assert studio.store.ledger.classes == {0: "cat", 1: "dog"}
    reopened = small_studio(tmp_path, classes=("cat", "dog", "bird"))
    assert reopened.store.ledger.classes == {0: "cat", 1: "dog"}
    studio.undo("ann", "u1")
    assert studio.store.ledger.classes[2] == "bird"
    assert studio.labels()[0][1] == 0


def test_history_names_each_row_once_and_of_one_person(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(39))
    studio.answer("ann", "t1", 1, 0)
    studio.answer("ben", "t2", 2, 0)
    studio.skip("ann", "t3", 3)
    studio.answer("ann", "t4", 1, 1)
    studio.answer("ann", "t5", 4, 1)
    studio.undo("ann", "u")
    shown = [(one["row"], one["label"]) for one in history(studio, "ann")]
    assert shown == [(1, 1), (3, None)]
    label_rows(studio, "ann", "t6", list(range(39)), 0)
    assert len(history(studio, "ann")) == 30


def test_similar_rows_have_the_largest_cosine() -> None:
    rng = np.random.default_rng(0)
    F = rng.standard_normal((50, 4)) * rng.uniform(0.1, 9, (50, 1))
    F[7] = 0
    cosines = F @ F[3] / np.maximum(np.linalg.norm(F, axis=1), 1e-300)
    expected = np.argsort(-cosines)[:5]
    assert similar_rows(lambda rows: F[rows], 50, 3, 5) == expected.tolist()
    assert expected[0] == 3


def test_rows_like_one_come_with_the_most_similar_first(tmp_path: Path) -> None:
    from studio_at_hand import trained

    studio = small_studio(tmp_path, rows(20), engine=trained(20))
    assert rows_where(studio, Where(like=5)).tolist()[:3] == [5, 4, 6]
    some = rows_where(studio, Where(like=5, words="r1")).tolist()
    assert some[:2] == [1, 10]
    with pytest.raises(RefusedError, match="a row from 0 to 19"):
        rows_where(studio, Where(like=20))
