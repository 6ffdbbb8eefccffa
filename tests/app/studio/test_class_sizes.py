"""Class sizes in the studio: told at the start or on the page, used by its model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from mercer import Session, persist
from mercer.app.cli.main import main
from mercer.app.studio.classes import rename_class, set_sizes
from mercer.app.studio.engine import wait_until
from mercer.app.studio.learned_files import learned_file
from mercer.app.studio.service import Studio
from mercer.app.studio.serving import Running
from mercer.app.studio.state import notices_of
from mercer.app.tables.table import TableError
from studio_at_hand import acting, label_rows, rows, serving, small_studio
from tables_at_hand import uneven

SIZES = {"yes": 10.0, "no": 90.0}


def share_of_yes(studio: Studio) -> float:
    """Return the share of rows that the model predicts to say yes."""
    snapshot = studio.snapshot
    assert snapshot.proba is not None
    yes = {n: c for c, n in studio.store.ledger.classes.items()}["yes"]
    column = snapshot.classes.index(yes)
    return float(np.mean(snapshot.proba.argmax(axis=1) == column))


def predicted(folder: Path, **told: Any) -> Studio:
    """Return a studio whose model has learned the labels in the file."""
    folder.mkdir()
    frame, _ = uneven()
    studio = small_studio(folder, frame, engine=None, classes=(), **told)
    studio.engine.start()
    assert wait_until(lambda: studio.snapshot.proba is not None, 120)
    return studio


def test_the_model_of_the_page_and_its_export_use_the_sizes(tmp_path: Path) -> None:
    plain = predicted(tmp_path / "plain")
    plain.engine.stop()
    assert share_of_yes(plain) > 0.15
    studio = predicted(tmp_path / "told", class_sizes=SIZES)
    assert share_of_yes(studio) == pytest.approx(0.1, abs=0.02)
    sizes = {one["name"]: one["size"] for one in studio.state()["classes"]}
    assert sizes == pytest.approx({"yes": 0.1, "no": 0.9})
    assert notices_of(studio) == list(studio.snapshot.notes)
    (tmp_path / "model.skops").write_bytes(learned_file(studio, "model"))
    machine = persist.load(tmp_path / "model.skops").model.machine
    assert machine.class_sizes == pytest.approx({"no": 0.9, "yes": 0.1})
    assert b"Class sizes as you gave them" in learned_file(studio, "report")
    # A further class has no size: its model estimates them, and the page says so.
    new = studio.add_class("ann", "t1", "maybe")
    row = int(np.flatnonzero(studio.labels()[0] < 0)[0])
    n_labels = studio.snapshot.n_labels
    studio.answer("ann", "t2", row, new)
    assert wait_until(lambda: studio.snapshot.n_labels == n_labels + 1, 60)
    assert "No size was given for 'maybe'" in notices_of(studio)[0]
    assert {one["size"] for one in studio.state()["classes"]} == {None}
    assert studio.snapshot.error == ""
    assert len(studio.snapshot.classes) == 3
    studio.engine.stop()


def test_classes_with_sizes_are_offered_before_they_have_labels(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, classes=(), class_sizes=SIZES)
    assert list(studio.store.ledger.classes.values()) == ["yes", "no"]
    assert notices_of(studio) == []


def test_sizes_are_checked_before_anything_is_written(tmp_path: Path) -> None:
    frame = rows(4).assign(label=["yes", "no", None, None])
    with pytest.raises(TableError, match="lack a number for 'yes'"):
        small_studio(tmp_path, frame, classes=(), class_sizes={"yse": 1.0, "no": 9.0})
    again = small_studio(tmp_path, frame, classes=())
    assert sorted(again.store.ledger.classes.values()) == ["no", "yes"]


def test_a_session_brings_its_sizes_to_the_page(tmp_path: Path) -> None:
    frame, truth = uneven()
    empty = frame.assign(label=None)
    session = Session.open(empty, id="code", class_sizes=SIZES)
    with pytest.raises(ValueError, match="its own target, id, columns and class size"):
        session.label(store=tmp_path / "a.db", class_sizes=SIZES)
    with session.label(store=tmp_path / "b.db") as page:
        assert list(page.studio.store.ledger.classes.values()) == ["yes", "no"]
        assert page.wait()
        known = np.flatnonzero([v is not None for v in frame["label"]])
        for row in known[truth[known] == "no"]:
            session.tell([row], ["no"])  # one class, then both
        for row in known[truth[known] == "yes"]:
            session.tell([row], ["yes"])
        assert page.wait()
        assert np.mean(session.predictions == "yes") == pytest.approx(0.1, abs=0.02)


def test_the_command_takes_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Running] = []

    def serve(self: Running, ready: Any) -> None:
        found.append(self)
        self.studio.store.close()
        self.socket.close()

    monkeypatch.setattr(Running, "serve", serve)
    rows(4).to_csv(tmp_path / "t.csv", index=False)
    words = ["label", str(tmp_path / "t.csv"), "--id", "code", "--no-open"]
    done = CliRunner().invoke(main, [*words, "--class-sizes", "yes=10,no=90"])
    assert done.exit_code == 0, done.output
    assert found[0].studio.class_sizes == pytest.approx({0: 0.1, 1: 0.9})
    done = CliRunner().invoke(main, [*words, "--class-sizes", "yes=10,no"])
    assert done.exit_code == 2
    assert "must be such as yes=10,no=90" in done.output


def test_sizes_from_the_page_are_learned_from_and_kept(tmp_path: Path) -> None:
    studio = predicted(tmp_path / "told")
    assert share_of_yes(studio) > 0.15
    yes = {n: c for c, n in studio.store.ledger.classes.items()}["yes"]
    set_sizes(studio, "ann", "t1", {yes: "10 %"})  # the other class gets the rest
    assert studio.class_sizes == pytest.approx({yes: 0.1, 1 - yes: 0.9})
    assert wait_until(
        lambda: studio.snapshot.learned_from == studio.told().digest(), 60
    )
    assert share_of_yes(studio) == pytest.approx(0.1, abs=0.02)
    assert b"Class sizes as you gave them" in learned_file(studio, "report")
    set_sizes(studio, "ben", "t2", {})
    assert wait_until(
        lambda: studio.snapshot.learned_from == studio.told().digest(), 60
    )
    assert share_of_yes(studio) > 0.15
    set_sizes(studio, "ann", "t3", {yes: "12,5"})
    studio.engine.stop()
    frame, _ = uneven()
    again = small_studio(tmp_path / "told", frame, classes=())
    assert again.store.ledger.sizes == {yes: 12.5}
    said = {
        one["label"]: (one["said"], one["size"]) for one in again.state()["classes"]
    }
    assert said == {yes: (12.5, 0.125), 1 - yes: (None, 0.875)}


@pytest.mark.parametrize(
    ("said", "label", "words"),
    [
        ({0: "ten"}, 0, "'ten' is not a valid size. Write a percentage above 0"),
        ({1: "0"}, 1, "'0' is not a valid size"),
        ({1: "-5"}, 1, "'-5' is not a valid size"),
        ({1: "101"}, 1, "'101' is not a valid size"),
        ({0: "nan"}, 0, "'nan' is not a valid size"),
        ({0: "1e1"}, 0, "'1e1' is not a valid size"),
        ({0: "60", 1: "60"}, None, "add up to 120%, more than 100%"),
        ({0: "10", 1: "20", 2: "30"}, None, "60% and every class has one"),
        ({0: "40", 1: "60"}, None, "nothing is left for 'bird'"),
        ({0: "5"}, 0, "5% is about 2 of 30 rows, and 4 are labelled so already"),
        ({7: "5"}, None, "there is no class number 7"),
    ],
)
def test_wrong_sizes_are_refused_at_their_field(
    tmp_path: Path, said: dict[int, str], label: int | None, words: str
) -> None:
    studio = small_studio(tmp_path, classes=("cat", "dog", "bird"))
    label_rows(studio, "ann", "t", [0, 1, 2, 3], 0)
    studio.answer("ann", "u", 4, 2)
    with serving(studio) as client:
        refused = acting(client)("sizes", sizes={str(c): s for c, s in said.items()})
        assert refused.status_code == 400
        assert words in refused.json()["error"]
        assert refused.json()["label"] == label
    assert studio.store.ledger.sizes == {}


@pytest.mark.parametrize("body", [None, [], {"x": "1"}, {"0": 5}, {"0": "1" * 999}])
def test_a_body_that_is_no_mapping_of_texts_is_refused(
    tmp_path: Path, body: Any
) -> None:
    with serving(small_studio(tmp_path)) as client:
        refused = acting(client)("sizes", sizes=body)
        assert refused.status_code == 400
        assert "sizes must hold a text" in refused.json()["error"]


def test_rounded_sizes_are_taken(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, classes=("a", "b", "c"))
    set_sizes(studio, "ann", "t1", dict.fromkeys(range(3), "33.3"))
    assert studio.store.ledger.sizes == dict.fromkeys(range(3), 33.3)
    set_sizes(studio, "ann", "t1", {})  # the same act once more
    assert studio.store.ledger.sizes == dict.fromkeys(range(3), 33.3)


def test_the_rest_goes_to_classes_with_labels(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, classes=("a", "b", "c"))
    set_sizes(studio, "ann", "t1", {0: "10"})
    assert studio.class_sizes == pytest.approx({0: 0.1})
    studio.answer("ann", "t2", 0, 1)
    assert studio.class_sizes == pytest.approx({0: 0.1, 1: 0.9})
    studio.answer("ann", "t3", 1, 2)
    assert studio.class_sizes == pytest.approx({0: 0.1, 1: 0.45, 2: 0.45})
    rename_class(studio, "ann", "t4", 0, "rare")
    assert studio.class_sizes[0] == 0.1


def test_the_same_start_leaves_what_the_page_said(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, class_sizes={"cat": 1.0, "dog": 3.0})
    assert studio.store.ledger.sizes == {0: 25.0, 1: 75.0}
    set_sizes(studio, "ann", "t1", {0: "40", 1: "60"})
    studio.add_class("ann", "t2", "bird")
    same = small_studio(tmp_path, class_sizes={"dog": 3.0, "cat": 1.0})
    assert same.store.ledger.sizes == {0: 40.0, 1: 60.0}
    none = small_studio(tmp_path)
    assert none.store.ledger.sizes == {0: 40.0, 1: 60.0}
    others = {"cat": 1.0, "dog": 8.0, "bird": 1.0}
    other = small_studio(tmp_path, class_sizes=others)
    assert other.store.ledger.sizes == {0: 10.0, 1: 80.0, 2: 10.0}


def test_a_start_with_sizes_after_a_class_of_the_file_was_renamed(
    tmp_path: Path,
) -> None:
    frame = rows(8).assign(label=["cat", "dog"] + [None] * 6)
    studio = small_studio(tmp_path, frame, classes=())
    cat = {n: c for c, n in studio.store.ledger.classes.items()}["cat"]
    rename_class(studio, "ann", "t1", cat, "lion")
    for name, size in (("lion", 1.0), ("cat", 3.0)):  # either name will do
        sizes = {name: size, "dog": 1.0}
        again = small_studio(tmp_path, frame, classes=(), class_sizes=sizes)
        share = 100 * size / (size + 1)
        assert again.store.ledger.sizes == {cat: share, 1 - cat: 100 - share}
    both = {"lion": 1.0, "cat": 1.0, "dog": 1.0}
    with pytest.raises(TableError, match="'cat' is called 'lion' now"):
        small_studio(tmp_path, frame, classes=(), class_sizes=both)


def test_a_session_learns_the_sizes_of_its_page(tmp_path: Path) -> None:
    frame, _ = uneven()
    session = Session.open(frame, id="code")
    with session.label(store=tmp_path / "a.db") as page:
        yes = {n: c for c, n in page.studio.store.ledger.classes.items()}["yes"]
        set_sizes(page.studio, "ann", "t1", {yes: "10"})
        assert page.wait()
        assert session.class_sizes == pytest.approx({"yes": 0.1, "no": 0.9})
        assert np.mean(session.predictions == "yes") == pytest.approx(0.1, abs=0.02)
        row = int(np.flatnonzero([v is None for v in session.y])[0])
        session.tell([row], ["maybe"])  # a further class takes part in the rest
        assert page.wait()
        assert session.class_sizes == pytest.approx(
            {"yes": 0.1, "no": 0.45, "maybe": 0.45}
        )
