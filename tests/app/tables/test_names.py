"""Columns of names and codes count as much as the labels say."""

import numpy as np
import pandas as pd
import pytest

from mercer import persist
from mercer.app.tables import names_weight
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.learning import learn
from mercer.app.tables.names import codes_among
from mercer.app.tables.names_weight import weight_of_names
from mercer.app.tables.session import Session
from mercer.app.tables.story import story_of
from mercer.app.tables.table import as_table
from mercer.app.tables.views import rule_of, views_of

pytest.importorskip("skrub")
ROWS = 200


def named(*, help: bool) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table whose names tell the class, or only distract from the numbers."""
    rng = np.random.default_rng(0)
    truth = rng.choice(["cat", "dog"], ROWS)
    frame = pd.DataFrame()
    for column in ("name", "street", "town"):
        start = rng.choice(["whisker", "barkley", "ottoman", "zebra"], ROWS)
        if help:
            start = np.where(truth == "cat", "whisker", "barkley")
        numbers = rng.integers(0, 60, ROWS)
        frame[column] = [f"{a}{b}" for a, b in zip(start, numbers, strict=True)]
    size = 0.0 if help else 3.0 * (truth == "cat")
    frame["size"] = size + rng.standard_normal(ROWS)
    frame["label"] = np.where(np.arange(ROWS) < 40, truth, None)
    return frame, truth


def test_names_that_do_not_help_are_given_little_weight_and_it_is_said() -> None:
    frame, truth = named(help=False)
    result = learn(frame)
    said = (
        "Columns 'name', 'street', 'town' were given little weight: they did not help "
        "to predict hidden labels."
    )
    assert said in result.warnings
    assert (result.predictions["prediction"] == truth)[40:].mean() > 0.9
    views = {v.kind: v for v in story_of(result, rng=np.random.default_rng(0)).views}
    usual = {
        "all columns": 0.6,
        "all but name": 1 / 15,
        "all but street": 1 / 15,
        "all but town": 1 / 15,
        "all but name, street, town": 0.2,
    }
    assert {kind: v.usual for kind, v in views.items()} == pytest.approx(usual)
    share = views["all but name, street, town"].share
    assert share == pytest.approx(0.59, abs=0.03)


def test_columns_of_names_are_weighed_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One tells the class, the other one is another for every row."""
    rng = np.random.default_rng(1)
    truth = rng.choice(["cat", "dog"], ROWS)
    frame = pd.DataFrame({"size": rng.standard_normal(ROWS)})
    start = np.where(truth == "cat", "whisker", "barkley")
    frame["kind"] = np.char.add(start, rng.integers(60, size=ROWS).astype(str))
    frame["owner"] = ["".join(rng.choice([*"abcdefghij"], 9)) for _ in range(ROWS)]
    frame["label"] = np.where(np.arange(ROWS) < 40, truth, None)
    session = Session.open(frame).fit()
    shares = names_weight.shares_of_views(session)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["all but owner"] > 0.2  # before labels one tenth
    assert shares["all but kind"] < 0.01
    assert (session.predictions == truth)[40:].mean() > 0.9
    for least, said in ((0.4, ["owner"]), (0.401, [])):
        views = {"all columns": least, "all but owner": 1 - least}
        monkeypatch.setattr(names_weight, "shares_of_views", lambda _, v=views: v)
        assert weight_of_names(session) == [
            f"Column {name!r} was given little weight: it did not help to predict "
            "hidden labels."
            for name in said
        ]


@pytest.mark.parametrize(
    ("rows", "names", "views"),
    [(6_666, 4, 6), (6_667, 4, 2), (20_000, 4, 2), (20_001, 4, 0), (400, 1, 2)],
)
def test_a_large_table_is_not_compared_in_many_ways(
    rows: int, names: int, views: int
) -> None:
    words = np.array([f"w{k}" for k in range(60)])
    columns = {f"n{k}": np.roll(np.tile(words, 2), k) for k in range(names)}
    encoder = TableEncoder()
    encoder.fit(as_table(pd.DataFrame({**columns, "size": np.arange(120.0)})))
    encoder.n_rows_ = rows
    assert len(views_of(encoder) or ()) == views
    for n, graphs in ((5_000, (3, 20)), (5_001, (10,))):
        encoder.n_rows_ = n
        rule = rule_of(encoder)
        assert rule is not None
        assert rule.view_graphs == graphs


def test_names_that_tell_the_class_keep_their_weight(tmp_path) -> None:
    frame, truth = named(help=True)
    session = Session.open(frame).fit()
    assert weight_of_names(session) == []
    assert (session.predictions == truth)[40:].mean() > 0.9
    # The views are saved, and new rows are compared in both ways.
    persist.save(session.to_model(), tmp_path / "model.skops")
    model = persist.load(tmp_path / "model.skops")
    new = model.predict(frame.drop(columns="label"))
    assert np.mean(new == session.predictions) > 0.97


def test_numbers_that_are_codes_are_told_from_amounts() -> None:
    rng = np.random.default_rng(0)
    schools = rng.choice(10**13, ROWS) + 10**13
    frame = pd.DataFrame(
        {
            "cds": schools,
            "zip": np.where(np.arange(ROWS) % 2, 90210, 10001),  # few differ
            "income": 1000 * rng.integers(10, 99, ROWS),  # round
            "people": rng.integers(1, 99_999, ROWS),  # not of one length
            "share": rng.random(ROWS) + 20_000,
        }
    )
    assert codes_among(frame, list(frame.columns)) == ["cds"]
    frame["size"] = 5.0 * (np.arange(ROWS) % 2) + rng.standard_normal(ROWS)
    labels = np.where(np.arange(ROWS) % 2, "a", "b")
    frame["label"] = np.where(np.arange(ROWS) < 40, labels, None)
    session = Session.open(frame[["cds", "size", "label"]]).fit()
    notes = {note.column: note for note in session.rows.notes}
    assert notes["cds"].kind == "codes"
    assert notes["cds"].done == "scaled to variance 1"
    assert [view.name for view in session.model.views] == ["all columns", "all but cds"]
    assert (session.predictions == labels)[40:].mean() > 0.95


@pytest.mark.parametrize(("n_names", "n_views"), [(6, 8), (7, 2)])
def test_many_columns_of_names_are_left_out_together(n_names: int, n_views: int):
    """25 of them took 43 CPU seconds at 500 rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.standard_normal(ROWS)})
    for k in range(n_names):
        some = rng.integers(16**5, size=150)  # a column without repeats identifies rows
        frame[f"name {k}"] = [f"{a:05x}" for a in rng.choice(some, ROWS)]
    frame["label"] = np.where(np.arange(ROWS) < 20, frame["size"] > 0, None)
    session = Session.open(frame, "label").fit()
    assert len([v for v in session.model.views if v.kernels]) == n_views
