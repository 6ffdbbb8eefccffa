"""Class sizes in the studio: told at the start, used by its model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from mercer import Session, persist
from mercer.cli.main import main
from mercer.studio.engine import wait_until
from mercer.studio.exports import _learned
from mercer.studio.hub import Studio
from mercer.studio.running import Running
from mercer.tables.table import TableError
from studio_at_hand import rows, small_studio
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
    assert studio.notices() == list(studio.snapshot.notes)
    made = _learned(studio)
    (tmp_path / "model.skops").write_bytes(made["model.skops"])
    machine = persist.load(tmp_path / "model.skops").model.machine
    assert machine.class_sizes == pytest.approx({"no": 0.9, "yes": 0.1})
    assert b"Class sizes as you gave them" in made["report.html"]
    # A further class has no size: its model estimates them, and the page says so.
    new = studio.add_class("ann", "t1", "maybe")
    row = int(np.flatnonzero(studio.labels()[0] < 0)[0])
    n_labels = studio.snapshot.n_labels
    studio.answer("ann", "t2", row, new)
    assert wait_until(lambda: studio.snapshot.n_labels == n_labels + 1, 60)
    assert "No size was given for 'maybe'" in studio.notices()[0]
    assert {one["size"] for one in studio.state()["classes"]} == {None}
    assert studio.snapshot.error == ""
    assert len(studio.snapshot.classes) == 3
    studio.engine.stop()


def test_classes_with_sizes_are_offered_before_they_have_labels(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, classes=(), class_sizes=SIZES)
    assert list(studio.store.ledger.classes.values()) == ["yes", "no"]
    assert studio.notices() == []


def test_sizes_are_checked_before_anything_is_written(tmp_path: Path) -> None:
    frame = rows(4).assign(label=["yes", "no", None, None])
    with pytest.raises(TableError, match="lack a number for 'yes'"):
        small_studio(tmp_path, frame, classes=(), class_sizes={"yse": 1.0, "no": 9.0})
    again = small_studio(tmp_path, frame, classes=())
    assert sorted(again.store.ledger.classes.values()) == ["no", "yes"]


def test_a_session_brings_its_sizes_to_the_page(tmp_path: Path) -> None:
    frame, truth = uneven()
    nothing = np.full(len(frame), None, dtype=object)
    session = Session.open(frame, id="code", labels=nothing, class_sizes=SIZES)
    with pytest.raises(ValueError, match="its own class sizes"):
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
