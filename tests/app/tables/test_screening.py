"""What is found in a table before anything is learned."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.app.tables.leakage import in_a_range
from mercer.app.tables.learning import learn
from mercer.app.tables.reading import read_table
from mercer.app.tables.screening import screen
from mercer.app.tables.session import Session
from mercer.app.tables.table import TableError, as_table
from mercer.app.tables.target import look_at_target
from mercer.app.tables.task import Task
from tables_at_hand import two_groups

Column = Callable[[pd.DataFrame], object]


def names(labels: object) -> list[object]:
    target = look_at_target(as_table(pd.DataFrame({"label": labels})), "label")
    return target.labels.tolist()


@pytest.mark.parametrize(
    "word",
    [
        *("NA", "?", "unknown", "N/A", "-", "nan", "null", "none", " Unknown "),
        *("Not sure", "don't know", "to do"),
    ],
)
def test_placeholders_are_no_labels(word: str) -> None:
    cells = ["yes", "no", "yes", "no", word, word]
    table = as_table(pd.DataFrame({"label": cells}))
    found = look_at_target(table, "label")
    assert found.labels.tolist() == ["yes", "no", "yes", "no", None, None]
    assert f"read as no label: {word.strip()!r} (2 rows)" in found.notes[0]
    kept = look_at_target(table, "label", as_written=True)
    assert kept.labels.tolist()[4] == word.strip()
    assert kept.notes == ()


def test_placeholders_that_are_not_named_are_counted() -> None:
    words = ["NA", "?", "tbd", "-", "none", "unknown", "unknown", "null"]
    table = as_table(pd.DataFrame({"label": ["yes", "no", "yes", "no", *words]}))
    note = look_at_target(table, "label").notes[0]
    assert "'none' (1 row) and 2 more." in note


def test_words_of_your_own_for_no_label() -> None:
    table = as_table(pd.DataFrame({"label": ["yes", "no", "yes", "no", "later"]}))
    found = look_at_target(table, "label", missing=("later",), as_written=True)
    assert found.labels.tolist()[4] is None


def test_spellings_of_one_class_are_one_class() -> None:
    cells = ["yes", "YES", "yes", "no", " No", "no", "New  York", "new york"]
    table = as_table(pd.DataFrame({"label": cells}))
    found = look_at_target(table, "label")
    assert found.labels.tolist() == ["yes"] * 3 + ["no"] * 3 + ["New York"] * 2
    assert "read as 'yes' (2): 'YES' (1)" in " ".join(found.notes)
    kept = look_at_target(table, "label", as_written=True)
    assert len(set(kept.labels)) == 6


def test_capitals_within_a_word_are_meant() -> None:
    cells = ["hid", "hId", "had", "hAd"] * 2
    assert names(cells) == cells


def test_whole_numbers_are_numbers_however_they_are_written() -> None:
    assert names(["1", "2", "1", "2", ""]) == [1, 2, 1, 2, None]
    assert names(["1.0", "2.0", "1.0", "2.0", None]) == [1, 2, 1, 2, None]
    assert names([1.0, 2.0, 1.0, 2.0, -1.0]) == [1, 2, 1, 2, None]
    assert names(["007", "7", "007", "7"]) == ["007", "7", "007", "7"]


def leaky() -> pd.DataFrame:
    """Forty labelled rows of four hundred, and nothing wrong."""
    return two_groups(400, 40).drop(columns="code")


def left_out(frame: pd.DataFrame, **options: object) -> dict[str, str]:
    return dict(screen(as_table(frame), Task("label", **options)).left_out)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (lambda f: f["label"], "repeats the target"),
        (lambda f: f["label"].fillna("big").str.upper(), "repeats the target"),
        (
            lambda f: (f["label"] == "big").astype(float).where(f["label"].notna()),
            "filled in for labelled rows",
        ),
        (
            lambda f: np.where(f["label"].notna(), f["label"] == "big", -1),
            "tells labelled rows",
        ),
        (
            lambda f: np.where(f["label"].notna(), 2.0 * (f["label"] == "big") - 1, 0),
            "tells labelled rows",
        ),
        (lambda f: np.where(f["label"].notna(), "gold", "crowd"), "tells labelled"),
        (lambda f: range(len(f)), "names the rows"),
        (lambda f: [f"P{k * 7:05}" for k in range(len(f))], "names the rows"),
    ],
)
def test_misleading_columns_are_left_out(column: Column, reason: str) -> None:
    frame = leaky().assign(odd=column)
    found = left_out(frame)
    assert list(found) == ["odd"]
    assert reason in found["odd"]
    assert left_out(frame, keep=("odd",)) == {}
    assert left_out(frame, drop=("odd",)) == {}


def test_ids_that_repeat_are_not_said_to_differ_in_every_row() -> None:
    codes = np.arange(400) * 7919
    said = left_out(leaky().assign(code=codes))
    assert said == {"code": "names the rows: every cell differs"}
    codes[200:280] = codes[:80]
    said = left_out(leaky().assign(code=codes))
    assert said == {"code": "names the rows: most cells differ"}


def coded(n_labels: int, code: Column) -> pd.DataFrame:
    """Noise, and a code of the class that is right where the label is known."""
    rng = np.random.default_rng(0)
    frame = leaky()[["size", "weight"]]
    kinds = np.arange(len(frame)) % 2
    known = np.arange(len(frame)) < n_labels
    frame["label"] = np.where(known, np.where(kinds == 1, "big", "small"), None)
    frame["code"] = np.where(known, kinds, rng.integers(0, 2, len(frame)))
    return frame.assign(code=code)


@pytest.mark.parametrize(
    "code",
    [
        lambda f: f["code"],
        lambda f: f["code"] == 1,
        lambda f: f["code"] + 0.5,
        lambda f: np.where(f["code"] == 1, "B", "S"),
    ],
)
def test_a_code_of_the_class_is_left_out_or_asked_about(code: Column) -> None:
    """The model claimed 100% where 33% were right."""
    assert "one value per class in all 50 labelled" in left_out(coded(50, code))["code"]
    for n_labels, asked in ((48, True), (20, True), (18, False)):
        screened = screen(as_table(coded(n_labels, code)), Task("label"))
        assert screened.left_out == ()
        said = " ".join(screened.notes)
        assert ("leave it out: --drop 'code'" in said) == asked
    kept = screen(as_table(coded(48, code)), Task("label", keep=("code",)))
    assert kept.notes == ()


@pytest.mark.parametrize("odd", [1, None])
def test_one_exception_and_it_is_no_code_of_the_class(odd: object) -> None:
    frame = coded(60, lambda f: f["code"].astype("Int64"))
    frame.loc[58, "code"] = odd  # of the class whose code is 0
    assert left_out(frame) == {}


def test_two_classes_with_one_value_are_no_code() -> None:
    frame = coded(60, lambda f: f["code"])
    frame.loc[0:39:4, "label"] = "tiny"  # coded as "small" is
    assert left_out(frame) == {}


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize(("n", "n_labels"), [(178, 40), (160, 75)])
def test_a_range_of_labelled_rows_is_found_whatever_the_bins(
    n: int, n_labels: int, around: bool
) -> None:
    rng = np.random.default_rng(0)
    frame = two_groups(n, n_labels)[["size", "label"]]
    shift = 20.0 * np.where(frame["label"].notna(), 0, -1 if around else 1)
    shift[::2] = np.abs(shift[::2])
    frame["when"] = rng.standard_normal(n) + shift
    assert "tells labelled rows" in left_out(frame)["when"]


def test_a_flag_that_is_a_little_more_frequent_among_labelled_rows_is_kept() -> None:
    """Bins of one value were counted as often as there were bins."""
    frame = leaky()
    every = np.where(frame["label"].notna(), 2, 3)
    frame["flag"] = (np.arange(len(frame)) % every > 0).astype(int)
    assert left_out(frame) == {}


def test_rows_of_one_value_are_in_one_range() -> None:
    known = np.arange(30) < 10
    Z = np.stack([np.zeros(30), known & (np.arange(30) > 4)], axis=1).astype(float)
    np.testing.assert_allclose(in_a_range(Z, known), [0.0, 0.5], atol=1e-12)


def test_a_value_that_nine_of_ten_others_lack_tells_too_little() -> None:
    frame = leaky()
    frame["flag"] = np.where(frame["label"].notna(), 0, np.arange(len(frame)) % 10 > 0)
    assert left_out(frame) == {}


@pytest.mark.parametrize("as_text", [True, False])
def test_labels_of_the_first_months_are_told_by_the_date(as_text: bool) -> None:
    days = pd.date_range("2024-01-01", periods=400, freq="D").to_series()
    frame = leaky().assign(day=days.astype(str).array if as_text else days.array)
    assert "tells labelled rows" in left_out(frame)["day"]
    frame["day"] = frame["day"].sample(frac=1, random_state=0).array
    assert left_out(frame) == {}


def test_columns_that_are_all_right_are_kept() -> None:
    rng = np.random.default_rng(0)
    frame = leaky()
    n = len(frame)
    frame["money"] = rng.integers(10_000, 10_000_000, n)  # all different
    frame["name"] = [f"{a} {b}" for a, b in zip("xyzw" * 100, range(n), strict=True)]
    frame["sparse"] = np.where(rng.random(n) < 0.05, 1.0, np.nan)
    frame["rare"] = np.where(rng.random(n) < 0.02, "odd", "usual")
    frame["shifted"] = rng.standard_normal(n) + 2 * frame["label"].notna()
    assert left_out(frame) == {}


def test_an_id_that_repeats_is_told_by_its_name() -> None:
    rng = np.random.default_rng(0)
    frame = leaky().assign(patient_id=rng.integers(0, 10**6, 400) // 2 * 2)
    assert list(left_out(frame)) == ["patient_id"]


def test_whole_numbers_with_gaps_are_no_ids() -> None:
    frame = leaky()
    order = np.random.default_rng(0).permutation(np.arange(1, len(frame)))
    frame["nr"] = pd.array([None, *order.tolist()], dtype="Int64")
    assert left_out(frame) == {}


def test_few_rows_say_nothing_about_a_column() -> None:
    frame = two_groups(40, 4).drop(columns="code")
    frame["odd"] = np.where(frame["label"].notna(), 1, 0)
    assert left_out(frame) == {}


def test_the_only_column_is_kept() -> None:
    frame = pd.DataFrame({"day": range(30), "label": ["a", "b"] * 5 + [None] * 20})
    screened = screen(as_table(frame), Task("label"))
    assert screened.table.columns == ["day"]
    assert "All columns look misleading" in screened.notes[0]


def test_the_result_says_what_was_left_out() -> None:
    frame = two_groups().assign(copy=two_groups()["label"])
    result = learn(frame)
    kinds = {note.column: note.kind for note in result.session.rows.notes}
    assert kinds["copy"] == kinds["code"] == "left out"
    said = " ".join(result.warnings)
    assert "Column 'copy' was left out: it repeats the target" in said
    assert "pass --keep 'copy'" in said
    assert (result.predictions["prediction"] == ["small", "big"] * 20).all()


def test_a_column_to_keep_must_be_there() -> None:
    with pytest.raises(TableError, match="no column 'nothing'"):
        screen(as_table(two_groups()), Task("label", keep=("nothing",)))


def test_answers_do_not_bring_a_leak_back() -> None:
    frame = two_groups(n=60, n_labels=20)
    frame["note"] = ["seen" if k < 20 else None for k in range(60)]
    frame.loc[20:24, "label"] = ["small", "big", "small", "big", "small"]
    found = Session.open(frame, id="code")
    assert any("'note' was left out" in note for note in found.rows.screened.notes)
    frame.loc[40:, "note"] = "seen"  # filled in elsewhere, too
    found = Session.open(frame, id="code")
    assert not any("'note'" in note for note in found.rows.screened.notes)


def test_without_any_label_no_column_repeats_the_target() -> None:
    table = as_table({"colour": ["red", "blue"] * 10, "row": np.arange(20)})
    nothing = np.full(20, None, dtype=object)
    screened = screen(table, Task("kind"), labels=nothing)  # there is no such column
    assert [c.column for c in screened.left_out] == ["row"]
    assert screened.table.columns == ["colour"]


def test_plus_and_minus_are_two_classes() -> None:
    frame = pd.DataFrame({"a": range(6), "y": ["+", "-", "+", "-", None, "?"]})
    found = look_at_target(as_table(frame), "y")
    assert names(found.labels) == ["+", "-", "+", "-", None, None]
    frame["y"] = ["x", "-", "x", "-", None, "?"]
    with pytest.raises(TableError, match=r"one class only, 'x'.*read as no label: '-'"):
        look_at_target(as_table(frame), "y")


@pytest.mark.parametrize("word", ["pending", "0"])
def test_a_word_that_fills_every_open_row_is_asked_about(word: str) -> None:
    frame = pd.DataFrame({"a": range(20), "y": ["1", "2", "3"] * 3 + [word] * 11})
    (note,) = look_at_target(as_table(frame), "y").notes
    assert note.startswith("Every row has a label in 'y'.")
    assert f"If {word!r} (55% of the rows) stands for “no label yet”" in note
    frame["y"] = ["1", "2", "3"] * 3 + ["1"] + [word] * 10
    assert "(50% of the rows)" in look_at_target(as_table(frame), "y").notes[0]
    frame["y"] = ["1", "2", "3"] * 3 + ["1", "2"] + [word] * 9
    assert look_at_target(as_table(frame), "y").notes == ()
    frame.loc[0, "y"] = None
    assert look_at_target(as_table(frame), "y").notes == ()


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%m/%d/%y", "%b %d %Y"])
def test_dates_are_not_classes(form: str) -> None:
    days = pd.date_range("2024-01-14", periods=6, freq="40D").strftime(form)
    frame = pd.DataFrame({"a": range(12), "y": [*days, *days]})
    with pytest.raises(TableError, match=r"holds 6 dates, such as .*such as years"):
        look_at_target(as_table(frame), "y")
    few = frame[frame["y"] != days[0]]
    assert len(set(look_at_target(as_table(few), "y").labels)) == 5


def test_the_target_cannot_be_dropped() -> None:
    frame = two_groups()
    with pytest.raises(TableError, match="'label' names the target"):
        Session.open(frame, drop=["label"])


def test_nested_json_is_told_how_it_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"data": [{"a": 1, "label": "x"}]}')
    with pytest.raises(TableError) as caught:
        read_table(tmp_path / "t.json").check_column("label", "--target")
    assert "'data' holds nested values" in str(caught.value)
    assert "one record per line, or a list of records" in str(caught.value)
    assert "its columns are ." not in str(caught.value)


@pytest.mark.parametrize("nothing", [None, np.nan, ""])
def test_new_rows_need_no_column_that_was_empty(nothing: object) -> None:
    frame = two_groups(n=40, n_labels=10)
    frame["later"] = nothing
    result = learn(frame, id="code")
    said = {note.column: note.done for note in result.session.rows.notes}
    assert said["later"] == "empty in every row"
    expected = result.model.predict(frame)
    assert result.model.predict(frame.drop(columns="later")).tolist() == list(expected)
    frame["later"] = 3.0  # filled in since
    assert result.model.predict(frame).tolist() == list(expected)


def test_a_table_of_empty_columns_alone_is_refused_as_such() -> None:
    table = pd.DataFrame({"a": [None] * 6, "label": ["x", "y"] * 3})
    with pytest.raises(TableError, match="one value in all rows"):
        learn(table)
