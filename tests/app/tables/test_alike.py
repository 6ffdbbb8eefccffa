"""What the report says of the cells: values of columns, rows that repeat others."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from mercer.app.report.page import render
from mercer.app.tables.alike import repeated_rows
from mercer.app.tables.column_values import values_of
from mercer.app.tables.learning import learn
from mercer.app.tables.story import story_of
from mercer.app.tables.table import as_table


def test_rows_that_repeat_others_are_found() -> None:
    frame = pd.DataFrame(
        {
            "code": ["a", "b", "c", "d", "e", "f"],
            "name": ["Ann  Lee", "ann lee", "Bo", "Bo", "Cy", "Cy"],
            "size": [12341.0, 12341.4, np.nan, np.nan, 0.0123, 0.0124],
        }
    )
    labels = np.array([None, "x", "x", "y", None, None], dtype=object)
    found = repeated_rows(as_table(frame), labels, {"code"})
    # Other labels come first; 0.0123 and 0.0124 differ; empty cells are alike.
    assert found is not None
    assert found == (2, ((2, 3), (0, 1)), 1)
    assert repeated_rows(as_table(frame), labels, set()) is None  # codes differ


def test_days_and_lists_are_compared_as_they_are_written() -> None:
    """A CSV file with days made the report fail."""
    days = [date(2020, 1, 1), date(2020, 1, 1), None, date(2021, 1, 1)]
    odd = pd.DataFrame({"day": days, "flag": [True, True, False, True]})
    none = np.full(4, None, dtype=object)
    found = repeated_rows(as_table(odd), none, set())
    assert found is not None
    assert found.groups == ((0, 1),)
    for kind in ("date", "number", "text", "category"):
        assert values_of(odd["day"], kind)[0] != ""
        assert values_of(pd.Series([pd.Timestamp("2020-01-01")] * 3), kind)[0] != ""


@pytest.mark.parametrize(
    ("cells", "kind", "words"),
    [
        ([1, 1, 1], "number", "always 1"),
        (["Jun 12 1998", "Feb 1 1990"], "date", "1990-02-01 to 1998-06-12"),
        (["2020-03-01", "2021-01-31"], "date", "2020-03-01 to 2021-01-31"),
        (["a b c", "a b c d e", "f g h i"], "text", "half of them longer than 4 words"),
        (
            [f"u{k % 99}" for k in range(100)],
            "many categories",
            "99 different values, such as u0",
        ),
        (["a"] * 4 + list("bbcde"), "category", "a 44%, b 22%, c 11%, 2 others"),
        ([None, None], "no information", ""),
    ],
)
def test_the_values_of_a_column_in_words(cells: list, kind: str, words: str) -> None:
    assert values_of(pd.Series(cells), kind)[0] == words


def test_an_outlier_does_not_flatten_the_histogram() -> None:
    numbers = np.append(np.repeat(np.arange(12.0), 50), 1e9)
    bars = values_of(pd.Series(numbers))[1]
    assert len(bars) == 12
    assert sum(bars) == pytest.approx(1, abs=1e-3)
    assert max(bars) < 0.1


def test_the_report_shows_values_and_repeats() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    frame = pd.DataFrame(
        {
            "size": (5.0 * truth + rng.standard_normal(60)).round(3),
            "colour": np.where(truth == 1, "red", "blue"),
            "label": [None] * 60,
        }
    )
    frame["label"] = np.where(np.arange(60) < 16, np.where(truth == 1, "a", "b"), None)
    frame.loc[1, ["size", "colour"]] = frame.loc[0, ["size", "colour"]].to_numpy()
    story = story_of(learn(frame), rng=np.random.default_rng(0))
    assert (story.n_repeating, story.n_contradicting) == (1, 1)
    assert story.repeated == ((("1", "2"), 2, ("a", "b")),)
    page = render(story)
    assert "In 1 group of such rows you gave its rows different labels" in page
    (size,) = (c for c in story.columns if c.name == "size")
    assert size.values.startswith(f"{frame['size'].min():.4g} to ")
    assert "histogram of size" in page
    colour = next(c for c in story.columns if c.name == "colour")
    assert colour.values in ("blue 52%, red 48%", "red 52%, blue 48%")
