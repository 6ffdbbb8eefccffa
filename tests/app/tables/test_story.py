"""The story of a report agrees with the result it tells."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from mercer.app.report.story import Story
from mercer.app.tables.alike import same_columns
from mercer.app.tables.learning import learn
from mercer.app.tables.row_text import (
    cells_of,
    columns_of,
    in_short,
)
from mercer.app.tables.story import story_of
from mercer.app.tables.table import as_table
from tables_at_hand import two_groups


@pytest.fixture(scope="module")
def told() -> tuple[Any, Story]:
    frame = two_groups(n_labels=16)
    result = learn(frame, id="code")
    return result, story_of(result, rng=np.random.default_rng(0))


def test_numbers_add_up(told: tuple[Any, Story]) -> None:
    _, story = told
    assert (story.n_rows, story.n_labeled) == (40, 16)
    assert story.n_predicted.sum() == 40
    assert story.n_sure == 40  # the groups are clear
    assert story.classes == ("big", "small")
    assert sum(share for _, share in story.choices) <= 1 + 1e-9
    assert len(story.values) == len(story.weights)
    assert (np.diff(story.values) >= 0).all()


def test_the_map_and_the_picture_show_the_predictions(told: tuple[Any, Story]) -> None:
    result, story = told
    assert len(story.map.xy) == len(story.map.tips) == 40
    assert story.map.labeled.sum() == 16
    np.testing.assert_array_equal(story.map.codes, result.proba.argmax(axis=1))
    assert (np.diff(story.picture.codes) >= 0).all()
    np.testing.assert_allclose(np.diag(story.picture.K), 1)
    within = story.picture.codes[:, None] == story.picture.codes
    assert story.picture.K[within].mean() > story.picture.K[~within].mean()


def test_rows_are_named_as_the_person_names_them(told: tuple[Any, Story]) -> None:
    result, story = told
    assert [row.id for row in story.next_rows] == [
        result.ids[i] for i in result.next_rows
    ]
    assert all(row.given == "" for row in story.next_rows)
    names = [name for name, _ in story.next_rows[0].cells]
    assert names == ["size", "weight", "colour"]


@pytest.mark.parametrize("kind", ["bytes", "floats", "colours"])
def test_rows_of_an_array_of_pictures_are_shown_as_pictures(kind: str) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["dark", "light"], 20)
    shape = (40, 8, 9, 3) if kind == "colours" else (40, 8, 9)
    pixels = rng.integers(0, 100, shape) + 150 * (y == "light").reshape(
        (-1,) + (1,) * (len(shape) - 1)
    )
    pixels = pixels.astype(np.uint8) if kind == "bytes" else pixels / 10
    given = np.where(np.arange(40) % 4 == 0, y, "")
    result = learn({"pixels": pixels, "label": given})
    story = story_of(result, rng=rng)
    for i, row in zip(result.next_rows, story.next_rows, strict=True):
        assert row.picture is not None
        assert row.picture.shape == (8, 9, 3 if kind == "colours" else 1)
        top = 255 if kind == "bytes" else pixels[i].max()
        np.testing.assert_allclose(row.picture.ravel(), pixels[i].ravel() / top)


def test_wrong_labels_are_named_with_the_share_of_false_alarms() -> None:
    X, truth = make_blobs(200, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    names = np.array(["left", "right", "top"], dtype=object)
    frame = pd.DataFrame(X, columns=["x", "y"])
    frame["label"] = [names[c] if i < 60 else None for i, c in enumerate(truth)]
    assert _quality_of(frame).doubtful == ()
    wrong = [7, 30, 31, 40, 41, 50]
    frame.loc[wrong, "label"] = names[(truth[wrong] + 1) % 3]
    quality = _quality_of(frame)
    assert len(quality.doubtful) >= 3
    for row in quality.doubtful:
        i = int(row.id) - 1  # rows are numbered from 1
        assert i in wrong
        assert (row.given, row.prediction) == (frame["label"][i], names[truth[i]])
        assert row.second == row.given
        assert row.second_probability < row.probability
    assert 0 < quality.false_alarms < 0.4
    # The ranking goes on to ten labels, with the odds of each.
    ranked = (*quality.doubtful, *quality.first)
    odds = [row.wrong for row in ranked]
    assert len(ranked) == 10
    assert odds == sorted(odds, reverse=True)
    assert all(odd >= 0.4 for odd in odds[: len(quality.doubtful)])
    assert odds[len(quality.doubtful)] < 0.4


def _quality_of(frame: pd.DataFrame) -> Any:
    return story_of(learn(frame), rng=np.random.default_rng(0)).quality


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([1.0, 2.0], "scaled"),
        ([1.0, None], "scaled; 50% of the cells are empty"),
        (["a", ""], "scaled; 50% of the cells are empty"),
        ([None] + [1.0] * 199, "scaled; less than 1% of the cells are empty"),
    ],
)
def test_empty_cells_of_a_column_are_told(cells: list[Any], said: str) -> None:
    table = as_table(pd.DataFrame({"x": cells}))
    assert columns_of([("x", "number", "scaled", 1)], table)[0][2] == said


def test_of_very_many_columns_the_first_are_named_and_the_others_counted() -> None:
    table = as_table({f"x{k}": [1.0] for k in range(103)})
    cells = cells_of(table, 0, {"x1", None})
    assert [name for name, _ in cells[:2]] == ["x0", "x2"]
    assert len(cells) == 101
    assert cells[-1] == ("more", "2 columns, in the sheet to fill in")
    assert in_short(table, np.array([0]), {"x1"})[0].count("x") == 6
    notes = [(f"x{k}", "number", "scaled", 1) for k in range(1005)]
    notes[-1] = ("copy", "left out", "repeats the target", 0)
    notes[-2] = ("words", "text", "TF-IDF", 30)
    told = columns_of(notes, table)
    assert tuple(c[:4] for c in told[1000:]) == (
        ("copy", "left out", "repeats the target", 0),
        ("3 more columns", "number", "as those above", 3),
        ("1 more column", "text", "as those above", 30),
    )


def test_every_part_has_its_certificate(told: tuple[Any, Story]) -> None:
    parts = {fact.part.split(" ")[0] for fact in told[1].facts}
    assert parts == {"directions", "kernel", "classifier"}
    assert all(fact.meaning for fact in told[1].facts)


def test_bins_hold_every_tested_row(told: tuple[Any, Story]) -> None:
    result, story = told
    assert story.quality is not None
    assert sum(b.n for b in story.quality.bins) == len(result.check.rows)


def test_the_evidence_is_that_of_the_kernels_that_were_mixed(
    told: tuple[Any, Story],
) -> None:
    result, story = told
    found = result.session.model.learner_.certificate_
    shares = {e.kind: e.share for e in story.evidence}
    for kind, names in (
        ("graphs", ("graph",)),
        ("direct", ("linear",)),
        ("density", ("density",)),
    ):
        weights = [
            w
            for w, name in zip(found.weights, found.names, strict=True)
            if name.startswith(names)
        ]
        assert shares[kind] == pytest.approx(sum(weights))
    assert sum(e.usual for e in story.evidence) == pytest.approx(1)
    assert story.n_weighed == 16


def test_without_a_second_label_the_usual_evidence_decides() -> None:
    frame = two_groups(n_labels=16)
    frame.loc[frame["label"].duplicated(), "label"] = None
    story = story_of(learn(frame, id="code"), rng=np.random.default_rng(0))
    assert story.n_weighed == 0
    for e in story.evidence:
        assert e.share == pytest.approx(e.usual)


def test_rows_above_a_confidence_are_those_without_a_label(
    told: tuple[Any, Story],
) -> None:
    result, story = told
    assert story.quality is not None
    check, open_rows = result.check, result.labels.codes < 0
    assert story.quality.taken[0].confidence == 0.5
    for taken in story.quality.taken:
        above = check.proba.max(axis=1) >= taken.confidence
        right = check.proba.argmax(axis=1)[above] == check.codes[above]
        assert (taken.n_tested, taken.share) == (above.sum(), right.mean())
        assert taken.n_tested >= 5
        rows = result.proba[open_rows].max(axis=1) >= taken.confidence
        assert taken.n_rows == rows.sum()
        assert taken.low <= taken.share <= taken.high + 1e-9


def test_the_list_of_predictions_shows_what_rows_hold(told: tuple[Any, Story]) -> None:
    result, story = told
    first = story.predictions[0]
    row = result.table.frame.iloc[int(first.id)]  # ids are 000, 001, ...
    assert first.contents.startswith(f"size: {row['size']:.4g} · weight: ")


def test_columns_of_numbers_that_rise_together_are_found() -> None:
    rng = np.random.default_rng(0)
    base = rng.standard_normal(200)
    frame = pd.DataFrame(
        {
            "base": base,
            "close": base + 0.35 * rng.standard_normal(200),  # 0.93
            "loose": base + 0.7 * rng.standard_normal(200),  # 0.79
            "steep": -np.exp(3 * base),
            "same": 1.0,
            "few": np.where(np.arange(200) < 19, base, np.nan),
            "id": base,
        }
    )
    found = same_columns(as_table(frame), {"id"})
    assert [pair[:2] for pair in found] == [
        ("base", "steep"),
        *(("base", "close"), ("close", "steep")),
    ]
    assert found[0][2] == pytest.approx(-1)
    frame["few"] = np.where(np.arange(200) < 20, base, np.nan)
    assert len(same_columns(as_table(frame), {"id"})) > 3


def test_dropped_columns_do_not_tell_rows_apart() -> None:
    frame = pd.DataFrame({"size": [1, 2, 1, 2, 8, 9, 8, 9] * 2, "label": None})
    frame["day"] = [f"visit of day {k} in spring" for k in range(16)]
    frame.loc[:7, "label"] = ["small"] * 4 + ["big"] * 4
    found = [
        story_of(learn(frame, drop=drop), rng=np.random.default_rng(0)).n_repeating
        for drop in ((), ("day",))
    ]
    assert found == [0, 12]
