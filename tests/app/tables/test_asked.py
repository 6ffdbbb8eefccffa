"""Trees get the columns of a table, and not the coordinates that distances need."""

import numpy as np
import pandas as pd
import pytest

from mercer.app.embedding.wanted import read_embed
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.session import Session
from mercer.app.tables.table import as_table

pytest.importorskip("skrub")


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    words = np.array(["red", "blue", "green", "dog", "cat", "sun", "moon", "fish"])
    n = 150
    return pd.DataFrame(
        {
            "size": np.where(np.arange(n) % 5 == 0, np.nan, 1e6 + rng.normal(size=n)),
            "kind": rng.choice(["x", "y", "z"], n),
            "day": pd.date_range("2020-01-01", periods=n, freq="9h").astype(str),
            "text": [" ".join(rng.choice(words, 8)) + f" {k}" for k in range(n)],
            "name": [f"name{k}" for k in rng.integers(0, 90, n)],
            "same": 1.0,
        }
    )


def test_trees_see_the_cells(frame: pd.DataFrame) -> None:
    encoder = TableEncoder(for_trees=True)
    points = encoder.fit_transform(as_table(frame))
    seen = {name: points[:, at] for name, at in encoder.asked_.items()}
    # A text and a column of names have three directions each, of 30 and more.
    assert {k: v.shape[1] for k, v in seen.items()} == {
        "size": 1, "kind": 1, "day": 5, "text": 3, "name": 3,
    }  # fmt: skip
    is_empty = frame["size"].isna().to_numpy()
    size = seen["size"][:, 0]
    assert size[is_empty].max() < size[~is_empty].min()
    assert np.corrcoef(size[~is_empty], frame["size"][~is_empty])[0, 1] > 0.999
    codes = dict(zip(seen["kind"][:, 0], frame["kind"], strict=True))
    assert codes == {1: "x", 2: "y", 3: "z"}
    # Coordinates are the same with these columns as without.
    plain = TableEncoder().fit_transform(as_table(frame))
    assert np.array_equal(plain, points[:, : encoder.n_coordinates_])
    assert np.array_equal(encoder.transform(as_table(frame)), points)


def test_nodes_try_all_columns_of_a_table(frame: pd.DataFrame) -> None:
    labels = np.where(np.arange(150) < 20, np.where(np.arange(150) % 2, "a", "b"), None)
    session = Session.open(frame.assign(label=labels)).fit()
    assert session.model.rule.tree_tries == 1.0
    session.tell([50], ["a"])  # and after an answer
    assert session.model.machine_.rule.tree_tries == 1.0
    numbers = pd.DataFrame({"x": np.arange(150.0), "label": labels})
    assert Session.open(numbers).fit().model.rule is None


def test_numbers_without_gaps_need_no_columns_for_trees(frame: pd.DataFrame) -> None:
    encoder = TableEncoder(for_trees=True)
    points = encoder.fit_transform(as_table(frame[["size"]].fillna(0).assign(b=1.5)))
    assert (encoder.below_, points.shape[1]) == (None, 1)


def test_a_text_does_not_hide_a_number_from_trees(frame: pd.DataFrame) -> None:
    """Fifty directions of a text that says nothing, and a number that decides."""
    rng = np.random.default_rng(1)
    inside = rng.random(150) < 0.5
    far = rng.choice([-1, 1], 150) * rng.uniform(2, 3, 150)
    frame["size"] = np.where(inside, rng.uniform(-1, 1, 150), far)
    truth = np.where(inside, "in", "out")
    labels = np.where(np.arange(150) < 40, truth, None)
    table = frame.drop(columns="same").assign(label=labels)
    session = Session.open(table).fit()
    right = (session.predictions == truth)[40:].mean()
    assert right > 0.9


def test_trees_see_ten_directions_of_an_embedding() -> None:
    """Three of its words were drawn as often as all of the embedding."""
    rng = np.random.default_rng(0)
    made = rng.normal(size=(60, 40)) * np.linspace(2, 0.2, 40)
    texts = [f"{k} " + " ".join(rng.choice(list("abcdefgh"), 6)) for k in range(60)]
    numbers = {"x": rng.normal(size=60)}
    embed = read_embed({"text": lambda cells: made[[int(c.split()[0]) for c in cells]]})
    for columns, sizes in (
        ({}, {"text": 3, "text (embedded)": 10}),
        (numbers, {"x": 1, "text": 3, "text (embedded)": 10}),
    ):
        encoder = TableEncoder(for_trees=True)
        table = as_table(pd.DataFrame({"text": texts, **columns}))
        points = encoder.fit_transform(table, embed)
        assert {k: len(at) for k, at in encoder.asked_.items()} == sizes
        seen = points[:, encoder.asked_["text (embedded)"]]
        unit = made / np.linalg.norm(made, axis=1, keepdims=True)
        best = np.linalg.svd(unit - unit.mean(axis=0))[1][:10]
        np.testing.assert_allclose(seen.std(axis=0) * 60**0.5, best, rtol=1e-4)
        assert np.allclose(encoder.transform(table), points)


@pytest.mark.parametrize("columns", [{}, {"x": np.arange(30.0)}])
def test_trees_see_directions_of_images_too(columns: dict) -> None:
    colours = [(8 * k, 5, 250 - 7 * k) for k in range(30)]
    images = np.array(colours)[:, None, None].repeat(8, 1).repeat(8, 2)
    table = as_table({"image": images / 255, **columns})
    embed = read_embed({"image": lambda of: [np.asarray(i)[0, 0] + 1.0 for i in of]})
    encoder = TableEncoder(for_trees=True)
    points = encoder.fit_transform(table, embed)
    (asked,) = (at for name, at in encoder.asked_.items() if "embedded" in name)
    assert len(asked) == 3  # no more than it has
    assert points.shape[1] == encoder.n_coordinates_ + 3 + len(columns)
    assert np.allclose(encoder.transform(table), points)
