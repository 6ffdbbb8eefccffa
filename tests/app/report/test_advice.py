"""What the report says to do, about this very table."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.app.report.advice import always, beside_always, is_worse, surest, todo
from mercer.app.report.markup import by_kind, notes
from mercer.app.report.page import render
from mercer.app.report.story import Influence, Story, Taken
from mercer.judging.outlook import Outlook
from story_at_hand import story


def _told(accuracy: float, low: float, labels: tuple[int, int]) -> Story:
    plain = story()
    assert plain.quality is not None
    ours, rival = plain.quality.contestants
    ours = replace(ours, accuracy=accuracy, low=low)
    quality = replace(plain.quality, contestants=(ours, rival), doubtful=())
    return replace(plain, n_given=np.array(labels), quality=quality)


@pytest.mark.parametrize(
    ("accuracy", "low", "words"),
    [
        (0.61, 0.5, "so these predictions are not better.</b> Do not decide about"),
        (0.65, 0.6, "so these predictions are not better.</b> Do not decide about"),
        (0.66, 0.6, "the predictions are better, though that may be chance"),
        (0.66, 0.65, "the predictions are better, though that may be chance"),
        (0.70, 0.66, "would get about 65% right: the predictions are better."),
    ],
)
def test_the_largest_class_is_in_the_verdict(
    accuracy: float, low: float, words: str
) -> None:
    told = _told(accuracy, low, (65, 35))
    assert always(told) == ("cat", 0.65)
    assert "lways answering “cat” would get about 65% right" in beside_always(told)
    assert words in beside_always(told)
    assert beside_always(told) in render(told)
    assert is_worse(told) == (accuracy <= 0.65)
    assert ("as a guess of where the rarer classes are" in todo(told)) == is_worse(told)


def test_sizes_that_were_told_count_and_equal_numbers_of_labels_do_not() -> None:
    told = _told(0.7, 0.6, (10, 10))
    assert always(replace(told, class_sizes=(0.2, 0.8))) == ("dog", 0.8)
    alike = replace(told, counts_alike=True)
    assert always(alike) is None
    assert beside_always(alike) == ""
    assert "--class-sizes cat=NUMBER,dog=NUMBER" in todo(alike)
    assert "--class-sizes" not in todo(told)


def test_rows_to_take_as_they_are_have_a_confidence_and_a_number() -> None:
    told = _told(0.9, 0.8, (20, 20))
    assert told.quality is not None
    rows = (
        Taken(0.5, 0.90, 0.85, 0.95, 40, 60),
        Taken(0.6, 0.949, 0.9, 0.97, 39, 58),
        Taken(0.7, 0.95, 0.74, 0.99, 30, 50),
        Taken(0.8, 0.95, 0.75, 0.99, 25, 41),
        Taken(0.9, 1.0, 0.85, 1.0, 20, 30),
    )
    sure = replace(told, quality=replace(told.quality, taken=rows))
    assert surest(sure.quality) == rows[3]
    said = todo(sure)
    assert "where the probability is at least 80%: 41 rows without a label" in said
    assert "95% are expected to be right (75% to 99%)" in said
    assert "Have a person look at the other 19." in said
    page = render(sure)
    assert "Which rows can you take as they are?" in page
    assert '<td class="num">90% (85% to 95%)</td>' in page
    none = replace(told, quality=replace(told.quality, taken=rows[:3]))
    assert surest(none.quality) is None
    assert "At no probability could 95% right be shown" in todo(none)
    ours, rival = none.quality.contestants
    for accuracy, words in ((0.95, "hidden labels are too few"), (0.949, "At no")):
        both = (replace(ours, accuracy=accuracy), rival)
        found = replace(none, quality=replace(none.quality, contestants=both))
        assert words in todo(found)


def test_classes_that_lack_labels_and_columns_that_mislead_are_named() -> None:
    told = replace(_told(0.9, 0.8, (20, 1)), influences=())
    assert "Label a second row of “dog”" in todo(told)
    assert "second row" not in todo(_told(0.9, 0.8, (20, 2)))
    found = (
        Influence("a b", -0.02, -0.03, -0.01),
        Influence("c", -0.1, -0.2, 0.0),
        Influence("d", -0.019, -0.02, -0.01),
    )
    said = todo(replace(told, influences=found))
    assert "Try without “a b” (<code>--drop &#x27;a b&#x27;</code>)" in said
    assert "“c”" not in said
    assert "“d”" not in said


def test_what_misleads_among_embeddings_is_left_out_by_their_own_word() -> None:
    """`--drop 'body (embedded)'` was advised, and refused: there is no such column."""
    told = _told(0.9, 0.8, (20, 2))
    misled = -0.02, -0.03, -0.01
    made = Influence("body (embedded)", *misled)
    said = todo(replace(told, influences=(made, Influence("body", *misled))))
    assert "Try without “body (embedded)” (leave out <code>--embed &#x27;body" in said
    assert "--drop" not in said  # the words of an embedded text stay with it
    said = todo(replace(told, influences=(made, Influence("n", *misled))))
    assert "(<code>--drop &#x27;n&#x27;</code>; leave out <code>--embed" in said


def test_alike_rows_with_different_labels_are_a_step() -> None:
    told = _told(0.9, 0.8, (20, 2))
    assert "different labels" not in todo(told)
    said = todo(replace(told, n_contradicting=3))
    assert "3 groups of rows that are alike</a> have different labels" in said


def test_more_labels_come_first_where_the_predictions_are_worse() -> None:
    flat = Outlook(20, 0.6, 0.6, 0.6, 0.605)
    for accuracy, first in ((0.7, False), (0.6, True)):
        said = todo(replace(_told(accuracy, 0.5, (65, 35)), outlook=flat))
        labelling, using = said.index("Label these 2 rows"), said.index("<li>Use ")
        assert (labelling < using) == first


def test_notes_of_one_kind_take_one_line_and_come_last() -> None:
    alike = [f"Column 'c{k}': {k + 3} cells are not numbers." for k in range(17)]
    said = [*alike, "In the target 'y', read as no label: '?' (3 rows)."]
    assert by_kind(said) == [[said[-1]], alike]
    shown = notes(said)
    assert shown.index("read as no label") < shown.index("&#x27;c0&#x27;")
    assert "16 more notes of this kind" in shown
    assert shown.count("<li>") == 18
    assert notes(()) == ""


@pytest.mark.parametrize(
    ("then", "high", "first", "words"),
    [
        (0.7099, 0.72, False, "20 more labels would add about 1 point, at most"),
        (0.704, 0.73, False, "would add less than 1 point, at most 3 points."),
        (0.704, 0.7099, False, "more labels are unlikely to change the share"),
        (0.7101, 0.73, True, "about 1 point (0 to 3), from 70% to about 71% right"),
        (0.75, 0.8, True, "about 5 points (0 to 10), from 70% to about 75% right"),
    ],
)
def test_labels_that_bring_less_than_a_point_come_last(
    then: float, high: float, first: bool, words: str
) -> None:
    outlook = Outlook(20, 0.7, then, 0.7, high)
    said = todo(replace(_told(0.9, 0.8, (20, 20)), outlook=outlook))
    assert words in said
    assert (said.index("Label these 2 rows") < said.index("<li>Use ")) == first


def test_options_in_notes_are_code_and_kept_whole() -> None:
    shown = notes(["Give sizes (--class-sizes a=1), not a--b or <--x>."])
    assert '(<code class="whole">--class-sizes</code> a=1)' in shown
    assert "a--b" in shown
    assert "&lt;<code" in shown


def test_the_first_lines_name_the_columns_that_matter() -> None:
    told = _told(0.9, 0.8, (20, 20))
    of = [
        Influence(name, 0.1, low, 0.2)
        for name, low in zip("abcd", [1, 1, 1, 0], strict=True)
    ]
    for n, words in (
        (1, "The column that matters most is “a”."),
        (2, "The columns that matter most are “a” and “b”."),
        (4, "The columns that matter most are “a”, “b” and “c”."),
    ):
        assert words in render(replace(told, influences=tuple(of[:n])))
    assert "matters most" not in render(replace(told, influences=tuple(of[3:])))
