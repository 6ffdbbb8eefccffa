"""A session: opened with or without labels, told of more, and copied with others."""

from dataclasses import fields
from inspect import signature

import numpy as np
import pandas as pd
import pytest

from mercer import Session, learn
from mercer.app.tables.table import TableError
from mercer.app.tables.task import Task
from mercer.evidence.labels import Labels
from tables_at_hand import two_groups

TRUTH = np.array(["small", "big"] * 20)


@pytest.mark.parametrize("function", [learn, Session.open])
def test_a_person_can_say_all_that_a_task_holds(function) -> None:
    """Fields are taken from the arguments by their names."""
    named = signature(function).parameters
    assert {field.name for field in fields(Task)} <= set(named)
    told = Task.among({"data": [], "target": "kind", "drop": "a", "memory": "2 KiB"})
    assert (told.target, told.drop, told.memory) == ("kind", ("a",), 2048)


@pytest.mark.parametrize("how", ["empty", "absent", "one class"])
def test_a_table_without_labels_of_two_classes_can_be_asked_about(how: str) -> None:
    """`Session.open` raised, though asking is what a session is for."""
    frame = two_groups().assign(label=None)
    if how == "absent":
        frame = frame.drop(columns="label")
    if how == "one class":
        frame.loc[0, "label"] = "small"
    session = Session.open(frame, id="code").fit()
    rows = session.ask(6)
    assert len(set(rows)) == 6
    if how != "one class":
        with pytest.raises(ValueError, match="no row has a label yet"):
            _ = session.predictions
    session.tell(rows, TRUTH[rows])
    assert (session.predictions == TRUTH).all()


def test_a_misspelled_target_is_not_taken_for_a_new_one() -> None:
    with pytest.raises(TableError, match="no column 'lable'"):
        Session.open(two_groups(), "lable", id="code")
    assert len(Session.open(two_groups(), "kind", id="code").labels.classes) == 0


def test_sizes_may_be_given_before_there_are_labels() -> None:
    sizes = {"small": 3, "big": 1}
    frame = two_groups().assign(label=None)
    session = Session.open(frame, id="code", class_sizes=sizes).fit()
    assert session.class_sizes == {"small": 0.75, "big": 0.25}
    session.tell([0, 1], TRUTH[[0, 1]])
    assert session.model.machine_.class_sizes == {"big": 0.25, "small": 0.75}
    with pytest.raises(TableError, match="'huge' is a class without a size"):
        session.tell(2, "huge")
    assert session.y[2] is None  # nothing was taken


def test_memory_is_a_size_in_words_as_on_the_command_line() -> None:
    assert Session.open(two_groups(), memory="4GB").task.memory == 4e9
    with pytest.raises(TableError, match="must be a size such as 4GB"):
        Session.open(two_groups(), memory="4 pounds")


def test_other_labels_share_the_table_and_the_basis() -> None:
    session = Session.open(two_groups(), id="code").fit()
    before, proba = session.labels, session.proba
    flipped = Labels(1 - before.codes.clip(0), before.classes)
    flipped.codes[before.codes < 0] = -1
    other = session.with_labels(flipped)
    assert other.rows is session.rows
    assert other.model.basis_ is session.model.basis_
    np.testing.assert_allclose(other.proba, proba[:, ::-1], atol=1e-6)
    assert session.labels is before
    np.testing.assert_array_equal(session.proba, proba)
    sized = session.with_labels(before, {"small": 0.9, "big": 0.1})
    assert sized.model.machine_.class_sizes == {"big": 0.1, "small": 0.9}
    assert session.model.machine_.class_sizes == "estimate"


def test_labels_of_an_unfitted_session_can_be_others() -> None:
    session = Session.open(two_groups().assign(label=None), id="code")
    other = session.with_labels(Labels.read(np.where(np.arange(40) < 4, TRUTH, None)))
    assert (other.predictions == TRUTH).all()
    with pytest.raises(ValueError, match=r"call fit\(\) first"):
        _ = session.model


def test_a_row_cannot_be_told_twice_at_once() -> None:
    session = Session.open(two_groups(), id="code").fit()
    with pytest.raises(ValueError, match="row 9 appears twice"):
        session.tell([9, 9], ["big", "small"])


def test_a_task_has_columns_by_name() -> None:
    frame = two_groups().rename(columns={"label": 0})
    session = Session.open(frame, 0, id="code")  # type: ignore[arg-type]
    assert session.task.target == "0"
    one = pd.DataFrame({"price": [1, 2, 3, 4], "size": [1, 2, 8, 9]})
    assert Session.open(one, drop="price").rows.screened.table.columns == ["size"]


def test_a_task_is_checked_when_it_is_made() -> None:
    with pytest.raises(TableError, match="leave out --labels-drawn or --class-sizes"):
        Task(labels_drawn="at random", class_sizes={"a": 1})
