"""Bulk work on the page: the table, the lasso and the review, in a real browser."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from studio_at_hand import answered, labels, rows, small_studio, trained


def table(page: Any) -> None:
    page.click("[data-view=table]")
    page.wait_for_selector("#rows tr")


def agree(page: Any) -> str:
    """Read what is said before the act, and go on by the keyboard."""
    page.wait_for_selector("#dialog[open]")
    said = page.inner_text("#dialog")
    page.focus("#dialog .primary")
    page.keyboard.press("Enter")
    return str(said)


def tab_to(page: Any, selector: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    pytest.fail(f"{selector} is not reached by Tab")


def test_bulk_work_by_keyboard_alone(tmp_path, start, visit) -> None:
    studio = small_studio(tmp_path, rows(60), engine=trained(60))
    page = visit(start(studio))
    tab_to(page, "[data-view=table]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#rows tr")
    tab_to(page, "#words")
    page.keyboard.type("r5")
    page.wait_for_function(
        "() => document.getElementById('table-count').textContent === '11 rows'"
    )
    tab_to(page, "#rows input")
    page.keyboard.press("Space")
    for _ in range(2):
        page.keyboard.press("Shift+ArrowDown")
    assert page.inner_text("#n-chosen") == "3 rows are chosen."
    page.keyboard.press("2")
    assert "3 rows of 3 get a label." in agree(page)
    answered(page, 3)
    assert labels(studio) == {"r5": 1, "r50": 1, "r51": 1}
    page.wait_for_function("() => document.getElementById('bulk').hidden")
    page.focus("#rows input >> nth=0")
    page.keyboard.press("a")
    assert page.inner_text("#n-chosen") == "11 rows are chosen."
    page.keyboard.press("1")
    said = agree(page)
    assert "8 rows of 11 get a label." in said
    assert "3 rows have another label." in said
    answered(page, 11)
    assert sorted(labels(studio).values()) == [0] * 8 + [1] * 3
    page.wait_for_function("() => document.getElementById('bulk').hidden")
    page.focus("#rows input >> nth=0")
    page.keyboard.press("z")
    answered(page, 3)


def test_the_table_opens_with_the_texts_and_takes_keys_at_once(
    tmp_path, start, visit
) -> None:
    frame = rows(30)
    for k in range(6):
        frame[f"number {k}"] = k
    frame["in your words"] = [
        f"The bus comes late, every morning, on line {k}." for k in range(30)
    ]
    page = visit(start(small_studio(tmp_path, frame)))
    table(page)
    heads = page.locator("#heads button").all_inner_texts()
    assert heads[1] == "in your words"
    assert "number 5" not in heads
    assert page.is_hidden("#clear-filters")
    page.keyboard.press("a")  # the focus is on the button that opened the table
    assert page.inner_text("#n-chosen") == "30 rows are chosen."
    page.keyboard.press("/")
    page.keyboard.type("line 7.")
    page.wait_for_function(
        "() => document.getElementById('table-count').textContent === '1 row'"
    )
    page.click("#clear-filters")
    page.wait_for_selector("#clear-filters", state="hidden")
    assert page.inner_text("#table-count") == "30 rows"
    page.click("[data-view=label]")
    page.keyboard.press("z")  # of the question: there is nothing to undo
    page.wait_for_selector("#banner:not([hidden])")
    assert "nothing to undo" in page.inner_text("#banner")


def test_shift_and_click_choose_a_range_and_sorting_reorders(
    tmp_path, start, visit
) -> None:
    frame = pd.DataFrame({"code": list("abcdef"), "size": [3, 1, 2, 6, 5, 4]})
    page = visit(start(small_studio(tmp_path, frame, engine=trained(6))))
    table(page)
    page.click("[data-sort='column:size']")
    page.wait_for_function(
        "() => document.querySelector('#rows .link').textContent === 'b'"
    )
    assert page.get_attribute("th:has([data-sort='column:size'])", "aria-sort") == (
        "ascending"
    )
    page.click("[data-sort='column:size']")
    page.wait_for_function(
        "() => document.querySelector('#rows .link').textContent === 'd'"
    )
    assert page.evaluate("document.activeElement.dataset.sort") == "column:size"
    page.click("#rows input >> nth=1")
    page.click("#rows input >> nth=4", modifiers=["Shift"])
    assert page.inner_text("#n-chosen") == "4 rows are chosen."
    page.click("#rows input >> nth=2")
    assert page.inner_text("#n-chosen") == "3 rows are chosen."


def test_what_the_model_is_sure_of_is_accepted_after_the_numbers(
    tmp_path, start, visit
) -> None:
    studio = small_studio(tmp_path, rows(60), engine=trained(60))
    studio.answer("ann", "t1", 0, 1)  # the model says 0
    page = visit(start(studio))
    table(page)
    page.click("#accept-sure")
    page.wait_for_function(
        "() => document.querySelector('#dialog [role=status]').textContent.includes("
        "'0 rows')"
    )
    page.fill("#threshold", "80")  # all are at 90 %
    page.wait_for_function(
        "() => document.querySelector('#dialog [role=status]').textContent.includes("
        "'59')"
    )
    said = page.inner_text("#dialog")
    assert "59 rows of 59 get a label." in said
    assert "about 5.9 of them will be wrong" in said
    page.keyboard.press("Enter")
    answered(page, 60)
    given = labels(studio)
    assert given.pop("r0") == 1
    assert given == {f"r{k}": k % 2 for k in range(1, 60)}
    page.click("#table-undo")
    answered(page, 60 - 59)


def test_a_lasso_keeps_answers_and_one_undo_takes_it_back(
    tmp_path, start, visit
) -> None:
    n = 6000  # beyond the limit there was
    studio = small_studio(tmp_path, rows(n), engine=trained(n))
    for k in range(3):
        studio.answer("ann", f"t{k}", k, 1)
    page = visit(start(studio))
    page.wait_for_function("n => mercer.map.places.length === 2 * n", arg=n)
    page.evaluate("n => mercer.lassoed([...Array(n).keys()])", n)
    page.select_option("#lassoed select", "0")
    page.click("#lassoed .bulk-acts button >> nth=0")
    page.wait_for_selector("#dialog[open]")
    said = page.inner_text("#dialog")
    assert "5,997 rows of 6,000 get a label." in said
    assert "3 rows have another label." in said
    assert len(labels(studio)) == 3  # the numbers come first
    page.click("#dialog .primary")
    page.wait_for_function("() => mercer.state.labelled === 6000")
    assert sum(labels(studio).values()) == 3
    page.click("#undo")
    answered(page, 3)
    assert labels(studio) == {"r0": 1, "r1": 1, "r2": 1}


def test_a_doubtful_label_is_confirmed_or_changed_in_the_list(
    tmp_path, start, visit
) -> None:
    engine = trained(30)
    doubts = ((2, 1, 0.05), (4, 1, 0.1), (6, 1, 0.2))
    object.__setattr__(engine.snapshot, "suspicious", doubts)
    studio = small_studio(tmp_path, engine=engine)
    for row in (2, 4, 6):
        studio.answer("ann", f"t{row}", row, 0)
    page = visit(start(studio), who="ann")
    page.click("[data-view=review]")
    page.wait_for_selector("#suspicious li[data-row='2']")
    page.click("#suspicious li[data-row='2'] button:has-text('It is right')")
    page.wait_for_function(
        "() => document.querySelectorAll('#suspicious li[data-row]').length === 2"
    )
    # The next one has the focus, so that a list is worked through by Enter.
    assert page.evaluate("document.activeElement.closest('li').dataset.row") == "4"
    page.click("#suspicious li[data-row='4'] button:has-text('Take dog')")
    page.wait_for_function("() => mercer.state.classes[1].count === 1")
    assert labels(studio) == {"r2": 0, "r4": 1, "r6": 0}
    page.click("#suspicious li[data-row='6'] .link")
    page.wait_for_function("() => mercer.view === 'label'")
    page.keyboard.press("2")
    page.wait_for_function("() => mercer.view === 'review'")  # back in the list
    page.wait_for_function("() => mercer.state.classes[1].count === 2")  # and stored
    assert labels(studio)["r6"] == 1


@pytest.mark.parametrize("width", [1280, 390])
def test_long_names_stay_inside_the_table(width, tmp_path, start, visit) -> None:
    frame = pd.DataFrame({"column " + "x" * 100: ["v"] * 3, "t": ["long " * 500] * 3})
    frame["code"] = list("abc")
    studio = small_studio(tmp_path, frame, classes=("class " + "y" * 83, "b"))
    page = visit(start(studio), viewport={"width": width, "height": 860})
    table(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    heights = [page.locator("#rows tr").nth(k).bounding_box()["height"] for k in (0, 1)]
    assert max(heights) < 130
    assert np.ptp(heights) < 2


def test_similar_rows_are_shown_from_the_most_similar_one_on(
    tmp_path, start, visit
) -> None:
    """They came on the page, in the order and with the rows of the look before."""
    page = visit(start(small_studio(tmp_path, rows(200), engine=trained(200))))
    table(page)
    page.click("[data-sort=certainty]")
    for number in (2, 3):
        page.click("#following")
        page.wait_for_function(f"() => mercer.views.table.page === {number - 1}")
    page.click("#rows input >> nth=0")
    page.click("[data-view=label]")
    page.evaluate("mercer.question.open(7)")
    page.wait_for_function("() => mercer.question.shown.row === 7")
    page.keyboard.press("m")
    page.wait_for_selector("#like:visible")
    page.wait_for_function("() => mercer.views.table.total === 100")
    assert page.inner_text("#rows tr >> nth=0").split()[0] == "r7"
    assert page.inner_text("#page") == "1 of 2"
    assert page.inner_text("#n-chosen") == "0 rows are chosen."
