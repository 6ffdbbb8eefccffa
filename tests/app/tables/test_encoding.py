"""From cells to coordinates."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from skrub import StringEncoder, TableVectorizer

from mercer import persist
from mercer.app.tables.columns import origins_of
from mercer.app.tables.dates import date_format
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.screening import screen
from mercer.app.tables.table import TableError, as_table
from mercer.app.tables.task import Task


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 120
    words = ["red", "blue", "green", "dog", "cat", "sun"]
    frame = pd.DataFrame(
        {
            "number": 1000 + 50 * rng.standard_normal(n),
            "flag": (rng.random(n) < 0.05).astype(int),
            "category": rng.choice(["x", "y", "z"], n),
            "many": [f"name{k}" for k in rng.integers(0, 80, n)],
            "day": pd.date_range("2020-01-01", periods=n, freq="5D").astype(str),
            "text": [" ".join(rng.choice(words, 8)) + f" {k}" for k in range(n)],
            "same": 1.0,
            "empty": None,
        }
    )
    frame.loc[3, "number"] = np.nan
    return frame


def test_every_column_is_accounted_for(frame: pd.DataFrame) -> None:
    encoder = TableEncoder()
    X = encoder.fit_transform(as_table(frame))
    kinds = {note.column: note.kind for note in encoder.notes_}
    assert kinds == {
        "number": "number",
        "flag": "number",
        "category": "category",
        "many": "many categories",
        "day": "date",
        "text": "text",
        "same": "no information",
        "empty": "no information",
    }
    assert sum(note.n_coordinates for note in encoder.notes_) == X.shape[1]
    done = {note.column: note.done for note in encoder.notes_}
    assert "1 empty cells set to the mean, filled or empty as 0/1" in done["number"]
    assert done["flag"] == "kept as 0/1"


def test_coordinates_are_those_of_skrub_scaled(frame: pd.DataFrame) -> None:
    plain = frame[["number", "flag", "category", "day", "many"]]
    X = TableEncoder().fit_transform(as_table(plain))
    Z = TableVectorizer(high_cardinality=StringEncoder(random_state=0)).fit_transform(
        plain
    )
    Z = Z.loc[:, Z.std() > 0]
    assert X.shape[1] == Z.shape[1] + 1  # one tells where "number" is empty
    number = Z["number"].fillna(Z["number"].mean())
    np.testing.assert_allclose(
        X[:, 0], (number - number.mean()) / Z["number"].std(ddof=0), atol=1e-3
    )
    groups = {
        name: [k for k, c in enumerate(Z) if c.startswith(name)] for name in plain
    }
    variance = {name: X[:, places].var(axis=0).sum() for name, places in groups.items()}
    assert variance["day"] == pytest.approx(1, abs=1e-3)
    assert variance["many"] == pytest.approx(1, abs=1e-3)
    share = plain["flag"].mean()
    assert variance["flag"] == pytest.approx(share * (1 - share), abs=1e-6)
    for place in groups["category"]:
        assert np.ptp(X[:, place]) == pytest.approx(1, abs=1e-6)


def test_empty_cells_are_told_apart() -> None:
    numbers = np.arange(20.0)
    numbers[::4] = np.nan
    frame = pd.DataFrame(
        {
            "some": numbers,
            "same rows": numbers**2,
            "ticked": np.where(np.arange(20) < 5, 1.0, np.nan),
            "all": np.arange(20.0),
            "day": pd.date_range("2020-01-01", periods=20).astype(str),
        }
    )
    frame.loc[7, "day"] = None
    encoder = TableEncoder()
    X = encoder.fit_transform(as_table(frame))
    kinds = {note.column: note.kind for note in encoder.notes_}
    assert kinds["ticked"] == "number"
    assert sum(note.n_coordinates for note in encoder.notes_) == X.shape[1]
    places = encoder.places()
    shared = np.intersect1d(places["some"], places["same rows"])
    for column, name in ((shared, "some"), (places["ticked"], "ticked")):
        empty = frame[name].isna().to_numpy()
        np.testing.assert_allclose(X[:, column].ravel(), empty - empty.mean(), 1e-5)
    assert len(places["all"]) == 1
    told = X[:, places["day"][-1]]
    assert np.flatnonzero(told > 0).tolist() == [7]
    np.testing.assert_array_equal(encoder.transform(as_table(frame)), X)
    # A column that has become empty is at its mean.
    later = encoder.transform(as_table(frame.assign(all=np.nan)))
    assert not later[:, places["all"]].any()


@pytest.mark.parametrize(
    ("origin", "spread"), [(10**9, 100), (-(10**12), 100), (17 * 10**17, 10**8)]
)
def test_small_differences_of_large_numbers_are_kept(origin: int, spread: int) -> None:
    times = np.random.default_rng(0).integers(0, spread, 50)
    near = pd.DataFrame({"at": times, "flag": times % 2})
    far = pd.DataFrame({"at": times + origin, "flag": times % 2})
    near, far = near.astype({"at": "Int64"}), far.astype({"at": "Int64"})
    far.loc[3, "at"] = near.loc[3, "at"] = None
    encoder = TableEncoder()
    X = TableEncoder().fit_transform(as_table(near))
    got = encoder.fit_transform(as_table(far))
    np.testing.assert_allclose(got, X, atol=1e-4)
    np.testing.assert_array_equal(encoder.transform(as_table(far)), got)
    np.testing.assert_array_equal(encoder.transform(as_table(far[:5])), got[:5])


def test_rounding_is_no_information() -> None:
    same = np.full(50, 0.1) + 1e-17 * np.arange(50)
    assert np.ptp(same) > 0
    encoder = TableEncoder()
    encoder.fit(as_table(pd.DataFrame({"same": same, "other": np.arange(50)})))
    assert encoder.notes_[0].kind == "no information"


def test_text_weighs_as_much_as_the_rest(frame: pd.DataFrame) -> None:
    encoder = TableEncoder()
    X = encoder.fit_transform(as_table(frame[["number", "day", "text"]]))
    text = encoder.places()["text"]
    assert X[:, text].var(axis=0).sum() == pytest.approx(2, abs=0.01)
    others = np.delete(X, text, axis=1)
    # A little is that of the coordinate that tells where "number" is empty.
    assert others.var(axis=0).sum() == pytest.approx(2, abs=0.02)


def test_new_rows_get_the_same_coordinates_after_saving(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    encoder = TableEncoder()
    X = encoder.fit_transform(as_table(frame))
    persist.save(encoder, tmp_path / "encoder.skops")
    loaded = persist.load(tmp_path / "encoder.skops")
    np.testing.assert_allclose(loaded.transform(as_table(frame)), X, atol=1e-6)
    some = as_table(frame.iloc[[7, 3]])
    np.testing.assert_allclose(loaded.transform(some), X[[7, 3]], atol=1e-6)


def test_values_never_seen_are_told_by_column(frame: pd.DataFrame) -> None:
    encoder = TableEncoder().fit(as_table(frame))
    new = frame.head(2).assign(category="w")
    with pytest.warns(UserWarning, match="column 'category' holds values"):
        X = encoder.transform(as_table(new))
    assert np.isfinite(X).all()


def test_one_column_of_texts_becomes_tfidf() -> None:
    texts = ["the sea and the ship", "a ship on the sea", "moss under the old tree"]
    encoder = TableEncoder()
    X = encoder.fit_transform(as_table(pd.DataFrame({"text": texts})))
    cosines = (X @ X.T).toarray()
    np.testing.assert_allclose(np.diag(cosines), 1)
    assert cosines[0, 1] > cosines[0, 2]
    assert encoder.notes_[0].done.startswith("TF-IDF")


def test_vectors_in_like_units_are_not_touched() -> None:
    X = np.random.default_rng(0).standard_normal((10, 4)).astype(np.float32)
    Z = TableEncoder().fit_transform(as_table({"X": X}))
    assert np.shares_memory(Z, X)
    assert Z.dtype == np.float32


def test_arrays_in_unlike_units_are_scaled_and_flags_kept() -> None:
    rng = np.random.default_rng(0)
    X = np.c_[
        1000 * rng.standard_normal(50), rng.standard_normal((50, 2)), np.arange(50) == 3
    ]
    Z = TableEncoder().fit_transform(as_table({"X": X}))
    np.testing.assert_allclose(Z[:, :3].std(axis=0), 1)
    np.testing.assert_allclose(np.ptp(Z[:, 3]), 1)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], "row 1, 'v', holds NaN"),
        ([[1j, 2j], [1j, 3j]], "not numbers"),
        ([[1.0, 1.0], [1.0, 1.0]], "are equal"),
    ],
)
def test_bad_vectors(column: object, said: str) -> None:
    with pytest.raises(TableError, match=said):
        TableEncoder().fit(as_table(pd.DataFrame({"v": column})))


def test_wrong_size_of_vectors_at_prediction() -> None:
    encoder = TableEncoder().fit(as_table({"X": np.eye(3)}))
    with pytest.raises(
        TableError, match="have 2 numbers; the model was trained with 3"
    ):
        encoder.transform(as_table({"X": np.eye(2)}))


def test_infinite_numbers_are_named() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, np.inf], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(TableError, match="row 3, column 'a', is infinite"):
        TableEncoder().fit(as_table(frame))


def test_functions_of_skrub_are_not_loaded_from_files(tmp_path: Path) -> None:
    vectorizer = TableVectorizer().fit(pd.DataFrame({"a": [1.0, 2.0]}))
    persist.save(vectorizer, tmp_path / "foreign.skops")
    with pytest.raises(ValueError, match=r"not trusted: .*is_numeric"):
        persist.load(tmp_path / "foreign.skops")


def test_numbers_are_moved_where_single_precision_would_lose_them() -> None:
    """Ten thousand deviations from 0 is where it begins."""
    steps = np.arange(100.0) / np.arange(100.0).std()
    frame = pd.DataFrame({"near": 9e3 + steps, "far": 2e4 + steps})
    near, far = origins_of(frame, ["near", "far"])
    assert near == 0
    assert far == np.median(frame["far"])


@pytest.mark.parametrize(
    "form", ["%b %d %Y", "%m/%d/%y", "%d.%m.%Y", "%d-%b-%y", "%B %d, %Y", "%Y-%m-%d"]
)
def test_dates_as_people_write_them_are_dates(tmp_path: Path, form: str) -> None:
    days = pd.Series(pd.date_range("1998-06-01", periods=60, freq="17D"))
    written = days.dt.strftime(form).astype(object)
    written[3] = None
    table = as_table(pd.DataFrame({"when": written, "size": np.arange(60) % 7}))
    encoder = TableEncoder()
    X = encoder.fit_transform(table)
    kinds = {note.column: note.kind for note in encoder.notes_}
    assert kinds["when"] == "date"
    days[3] = pd.NaT
    plain = as_table(pd.DataFrame({"when": days, "size": np.arange(60) % 7}))
    np.testing.assert_allclose(X, TableEncoder().fit_transform(plain), atol=1e-5)
    persist.save(encoder, tmp_path / "encoder.skops")
    again = persist.load(tmp_path / "encoder.skops").transform(table)
    np.testing.assert_allclose(again, X, atol=1e-6)


@pytest.mark.parametrize("odd", ["soon", "3/14", "13/13/13", "v1.2.3"])
def test_a_column_with_anything_else_is_not_of_dates(odd: str) -> None:
    cells = pd.Series([f"3/{k}/24" for k in range(1, 20)] + [odd])
    assert date_format(cells[:-1]) == "%m/%d/%y"
    assert date_format(cells) == ""


def test_dates_without_repeats_are_kept_and_are_not_names_of_rows() -> None:
    days = pd.date_range("2024-01-01", periods=20).strftime("%m/%d/%y")
    frame = pd.DataFrame({"when": days, "y": ["a", "b", *[None] * 18]})
    assert screen(as_table(frame), Task("y")).left_out == ()
