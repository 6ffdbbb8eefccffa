"""What one needs for an afternoon of labelling, in a real browser."""

from typing import Any

import pandas as pd
import pytest
from PIL import Image

from mercer.app.studio.engine import Snapshot
from mercer.app.studio.items import Items
from mercer.app.studio.service import Studio
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.reading import read_table
from mercer.app.tables.task import Task
from studio_at_hand import FixedEngine, answered, labels, rows, small_studio, trained


def reason(page: Any) -> str:
    return page.inner_text("#reason").split(" · ")[0].removeprefix("Row ")


def comes(page: Any, row: str) -> None:
    page.wait_for_function(
        "r => document.getElementById('reason').textContent.startsWith(r)",
        arg=f"Row {row} ",
    )


def test_a_long_text_says_that_it_is_cut_and_shows_the_rest(
    tmp_path, start, visit
) -> None:
    text = "word " * 10_000 + "the end"
    frame = pd.DataFrame({"code": ["a"], "text": [text], "short": ["fine"]})
    page = visit(start(small_studio(tmp_path, frame)))
    assert "The first 20,000 of 50,007 characters." in page.inner_text("#item")
    assert page.locator("#item .cut").count() == 1
    page.click("#item .cut button")
    page.wait_for_function(
        "() => document.getElementById('item').innerText.includes('the end')"
    )


@pytest.mark.parametrize("n", [9, 10, 77])
def test_many_classes_are_found_by_name(n, tmp_path, start, visit) -> None:
    classes = (*(f"class {k}" for k in range(n - 1)), "a blue class 1")
    studio = small_studio(tmp_path, classes=classes)
    page = visit(start(studio), viewport={"width": 390, "height": 844})
    assert page.is_visible("#find-class") == (n >= 10)
    if n < 10:
        return
    first = reason(page)
    page.keyboard.press("/")
    page.keyboard.type("CLASS 1")
    # A name that begins with the words comes before one that holds them.
    assert page.inner_text("#classes .first .name") == "class 1"
    page.keyboard.press("Enter")
    answered(page, 1)
    assert labels(studio) == {first: 1}
    page.keyboard.type("blue")  # the field is ready for the next row
    shown = page.locator("#classes button:not([hidden]) .name").all_inner_texts()
    assert shown == ["a blue class 1"]
    page.keyboard.press("Enter")
    answered(page, 2)
    page.keyboard.type("nothing like it")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.wait_for_function("() => mercer.state.skipped === 1")
    assert sorted(labels(studio).values()) == [1, n - 1]


TOPS = """[...document.querySelectorAll("#classes button, .acts button")].map(
  (button) => button.offsetTop)"""


@pytest.mark.parametrize("width", [1280, 390])
def test_fifteen_classes_have_keys_and_stay_where_they_are(
    width, tmp_path, start, visit
) -> None:
    """Names were broken anew with each prediction, and "why" moved all buttons."""
    kinds = ("price-sensitive", "time-pressed", "delivery damaged", "praise", "refund")
    classes = tuple(f"{kind}{k}" for k in ("", " 2", " 3") for kind in kinds)
    studio = small_studio(tmp_path, engine=trained(30), classes=classes)
    page = visit(start(studio), viewport={"width": width, "height": 860})
    first = reason(page)
    said = page.locator("#classes button .percent").all_inner_texts()
    assert sum(bool(percent) for percent in said) == 2
    before = page.evaluate(TOPS)
    page.evaluate(
        "mercer.question.shown.purpose = 'check'; mercer.question.drawClasses()"
    )
    said = page.locator("#classes button .percent").all_inner_texts()
    assert not any(said)
    assert page.evaluate(TOPS) == before
    page.keyboard.press("w")
    page.wait_for_selector("#reasons:not([hidden])")
    assert page.evaluate(TOPS) == before
    keys = page.locator("#classes kbd").all_text_contents()
    assert "".join(keys) == "1234567890QERUI"
    page.keyboard.press("i")
    answered(page, 1)
    assert labels(studio) == {first: 14}


def test_a_class_with_a_key_of_its_own_takes_it_from_no_other(
    tmp_path, start, visit
) -> None:
    studio = small_studio(tmp_path, classes=("cat", "dog", "bird"))
    with studio.writing() as transaction:
        look = '{"key": "1", "colour": null, "place": null, "about": ""}'
        transaction.append("ann", "look", "t", label=2, text=look)
    page = visit(start(studio))
    shown = page.locator("#classes button").all_inner_texts()
    assert [text.split()[-1] for text in shown] == ["cat", "2", "1"]
    first = reason(page)
    page.keyboard.press("1")
    answered(page, 1)
    assert labels(studio) == {first: 2}


def test_history_goes_back_and_forward_across_a_reload(tmp_path, start, visit) -> None:
    page = visit(start(small_studio(tmp_path)))
    given = []
    for key in ("1", "2", "1"):
        given.append(reason(page))
        page.keyboard.press(key)
        answered(page, len(given))
    page.wait_for_function("() => mercer.history.rows.length === 3")
    open_one = reason(page)
    page.reload()
    page.wait_for_function("() => mercer.history.rows.length === 3")
    listed = page.locator("#history .link").all_inner_texts()
    assert listed == [f"Row {row}" for row in given[::-1]]
    for row in given[::-1]:
        page.keyboard.press("b")
        comes(page, row)
    assert page.is_disabled("#back")
    page.keyboard.press("f")
    comes(page, given[1])
    page.keyboard.press("f")
    comes(page, given[2])
    page.keyboard.press("f")
    comes(page, open_one)
    assert page.is_disabled("#forward")


def test_eight_tabs_of_one_browser_all_work(tmp_path, start, visit) -> None:
    """Browsers allow six connections to one address; a stream per tab took one each."""
    studio = small_studio(tmp_path)
    running = start(studio)
    pages = [visit(running)]
    for _ in range(7):
        page = pages[0].context.new_page()
        page.set_default_timeout(30_000)
        page.goto(running.url)
        page.wait_for_selector("#item .one")
        pages.append(page)
    pages[-1].keyboard.press("1")
    for page in (pages[-1], pages[0]):
        answered(page, 1)  # all are told


def test_an_open_page_recovers_after_a_restart(tmp_path, start, visit) -> None:
    running = start(small_studio(tmp_path))
    page = visit(running)
    running.stop()
    page.wait_for_function(
        "() => document.getElementById('banner').textContent.includes('not answer')"
    )
    again = small_studio(tmp_path)
    again.answer("ben", "t1", 5, 0)
    start(again, port=running.port, token=running.token)
    page.wait_for_selector("#banner", state="hidden")
    answered(page, 1)


def test_a_page_with_an_old_link_says_which_one_to_open(tmp_path, start, visit) -> None:
    running = start(small_studio(tmp_path))
    page = visit(running)
    running.stop()
    start(small_studio(tmp_path), port=running.port, token="another one")
    page.wait_for_function(
        "() => document.getElementById('banner').textContent.includes('Open the link')"
    )


def test_the_map_is_worked_by_keys(tmp_path, start, visit) -> None:
    page = visit(start(small_studio(tmp_path, rows(60), engine=trained(60))))
    page.wait_for_function("() => mercer.map.places.length === 120")
    page.focus("#map")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    middle = page.evaluate("mercer.map.middle")
    assert middle[0] > 0.4
    zoom = page.evaluate("mercer.map.zoom")
    page.keyboard.press("+")
    assert page.evaluate("mercer.map.zoom") > 1.2 * zoom
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => document.getElementById('reason').textContent.includes('chosen')"
    )
    row = int(reason(page)[1:])
    assert row % 2 == 1  # the group on the right
    x, _ = page.evaluate("r => [...mercer.map.places.slice(2 * r, 2 * r + 2)]", row)
    assert abs(x - page.evaluate("mercer.map.middle[0]")) < 0.4


def test_a_group_on_the_map_is_chosen_and_labelled_by_keys(
    tmp_path, start, visit
) -> None:
    studio = small_studio(tmp_path, rows(60), engine=trained(60))
    page = visit(start(studio))
    page.wait_for_function("() => mercer.map.places.length === 120")
    page.focus("#map")
    page.keyboard.press("l")
    for key, n in (("ArrowUp", 9), ("ArrowRight", 9), ("ArrowDown", 18)):
        for _ in range(n):
            page.keyboard.press(key)
        page.keyboard.press("Space")
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    # Corners stay where they are on the map while it moves.
    assert page.evaluate("mercer.map.line.length") == 4
    page.keyboard.press("Enter")
    page.wait_for_selector("#lassoed:not([hidden])")
    x = page.evaluate("Array.from(mercer.map.places)")[::2]
    n_right = sum(one > 0 for one in x)
    assert page.inner_text("#lassoed p") == f"{n_right} rows are inside."
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    page.select_option("#lassoed select", "1")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#dialog[open]")
    page.keyboard.press("Enter")
    answered(page, n_right)
    assert set(labels(studio).values()) == {1}
    page.focus("#map")
    page.keyboard.press("l")
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    assert page.evaluate("[mercer.map.lassoing, mercer.map.line]") == [False, None]


def test_a_question_mark_lists_the_keys(tmp_path, start, visit) -> None:
    page = visit(start(small_studio(tmp_path)))
    page.keyboard.press("?")
    page.wait_for_selector("#dialog[open] dl")
    assert "why this one?" in page.inner_text("#dialog")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.type("what?")  # text inside a field
    assert not page.is_visible("#dialog")


def test_two_rows_are_compared_column_by_column(tmp_path, start, visit) -> None:
    """The columns stood one below the other, each pair of values apart."""
    frame = rows(8).assign(line=["night", "day"] * 4, fare="full")
    frame["in your words"] = [
        f"It was late again, for the {k}th time this week" for k in range(8)
    ]
    page = visit(start(small_studio(tmp_path, frame, engine=trained(8))))
    page.click("#pairs")
    page.wait_for_selector("#item .pair")
    assert page.locator("#item .both .text").count() == 2
    box = page.locator("#item")  # as high as the window allows, not as one row is
    assert box.bounding_box()["height"] == pytest.approx(0.46 * 860, abs=2)
    left, right = (page.locator("#item .text").nth(k).bounding_box() for k in (0, 1))
    assert left["width"] == pytest.approx(right["width"], abs=2)
    assert page.locator("#item dt").count() == 0
    heads = page.locator(".pair th[scope=col]").all_inner_texts()[1:]
    pair = frame.set_index("code").loc[[head.split()[1] for head in heads]]
    names = page.locator(".pair th[scope=row]").all_inner_texts()
    assert names == ["size", "line", "fare"]
    shown = page.locator(".pair td").all_inner_texts()
    assert shown == [str(v) for name in names for v in pair[name]]
    # Columns with equal values step back.
    soft = page.locator(".pair tr.soft th").all_inner_texts()
    assert soft == [name for name in names if pair[name].nunique() == 1]
    page.keyboard.press("2")
    page.wait_for_function("() => mercer.state.seq > 0")


def test_classes_get_keys_names_and_an_order_and_are_merged(
    tmp_path, start, visit
) -> None:
    studio = small_studio(tmp_path, classes=("cat", "dog", "puppy"))
    page = visit(start(studio))
    page.click("#edit-classes")
    one = "[data-label='{}'] ".format
    usual = [page.get_attribute(f"{one(k)}.one-key", "placeholder") for k in range(3)]
    assert usual == ["1", "2", "3"]
    page.fill(f"{one(0)}.one-key", "k")
    page.fill(f"{one(1)}.one-key", "s")
    page.fill(f"{one(0)}label:has-text('Description') input", "whiskers")
    page.click("[aria-label='cat: down']")
    page.keyboard.press("Enter")  # the focus stays on the button
    page.click("#dialog .primary")
    page.wait_for_selector(f"{one(1)}.field-error:not([hidden])")
    assert "does something else" in page.inner_text(f"{one(1)}.field-error")
    page.fill(f"{one(1)}.one-key", "")
    page.click("#dialog .primary")
    page.wait_for_function("() => !document.getElementById('dialog').open")
    page.wait_for_function("() => mercer.state.classes[2].name === 'cat'")
    names = page.locator("#classes .name").all_inner_texts()
    assert names == ["dog", "puppy", "cat\nwhiskers"]
    first = reason(page)
    page.keyboard.press("k")
    answered(page, 1)
    second = reason(page)
    page.keyboard.press("2")
    answered(page, 2)
    assert labels(studio) == {first: 0, second: 2}
    page.click("#edit-classes")
    page.select_option(f"{one(2)}label:has-text('What to do') select", "1")
    page.click("#dialog .primary")
    page.wait_for_function("() => mercer.state.classes.length === 2")
    assert labels(studio) == {first: 0, second: 1}


def test_notes_flags_guidelines_and_goal_are_kept(tmp_path, start, visit) -> None:
    studio = small_studio(tmp_path)
    page = visit(start(studio))
    row = reason(page)
    page.keyboard.press("t")
    page.keyboard.type("smudged")
    page.click("#dialog .primary")
    page.wait_for_selector("#noted:not([hidden])")
    assert page.inner_text("#noted") == "Note: smudged"
    page.keyboard.press("g")
    page.wait_for_function("() => mercer.question.shown.flagged === true")
    page.click("#edit-guide")
    page.fill("#dialog-text", "Look twice.")
    page.click("#dialog .primary")
    page.wait_for_selector("#guide:not([hidden])")
    page.click("#set-goal")
    page.fill("#dialog-text", "1")
    page.click("#dialog .primary")
    page.wait_for_function("() => document.getElementById('goal').max === 1")
    assert page.inner_text("#goal-note") == "1 row to the goal of 1"
    page.reload()
    page.wait_for_selector("#noted:not([hidden])")
    assert page.inner_text("#guide") == "Look twice."
    assert page.get_attribute("#flag", "aria-pressed") == "true"
    page.keyboard.press("1")
    answered(page, 1)
    assert "reached" in page.inner_text("#goal-note")
    assert studio.store.ledger.notes == {row: "smudged"}


def test_similar_rows_are_labelled_as_a_group(tmp_path, start, visit) -> None:
    studio = small_studio(tmp_path, rows(60), engine=trained(60))
    page = visit(start(studio))
    row = int(reason(page)[1:])
    page.keyboard.press("m")
    page.wait_for_selector("#like:not([hidden])")
    page.wait_for_selector("#rows tr")
    assert f"similar to row r{row}," in page.inner_text("#like-note")
    assert page.inner_text("#rows .link >> nth=0") == f"r{row}"
    for k in range(3):
        page.check(f"#rows input >> nth={k}")
    # The class to give them is what the model takes the first one for.
    assert page.input_value("#bulk select") == str(row % 2)
    page.keyboard.press("2")
    page.wait_for_selector("#dialog[open]")
    page.click("#dialog .primary")
    answered(page, 3)
    assert set(labels(studio).values()) == {1}
    page.click("#unlike")
    page.wait_for_selector("#like", state="hidden")
    assert page.inner_text("#table-count") == "60 rows"


def test_pictures_open_in_full_and_the_next_ones_are_fetched_ahead(
    tmp_path, start, visit
) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for k in range(6):
        Image.new("RGB", (900, 600), (40 * k, 90, 160)).save(folder / f"{k}.png")
    items = Items(read_table(folder), Task())
    engine = trained(6)
    studio = Studio(
        items, Store(sqlite_url(tmp_path / "l.db")), classes=("a", "b"), engine=engine
    )
    page = visit(start(studio))
    asked = []
    page.on(
        "requestfinished", lambda r: asked.append(r.url) if "image" in r.url else None
    )
    width = "() => document.querySelector('#item img').naturalWidth"
    assert page.evaluate(width) == 512
    look = "() => getComputedStyle(document.querySelector('#item img')).imageRendering"
    assert page.evaluate(look) == "auto"  # a photograph, whose pixels nobody wants
    page.click("#item .zoom")
    page.wait_for_selector("#dialog[open] .whole img")
    page.wait_for_function(
        "() => document.querySelector('#dialog img').naturalWidth === 900"
    )
    page.click("#dialog [aria-pressed]")
    assert page.locator("#dialog img").bounding_box()["width"] == 900
    page.keyboard.press("Escape")
    asked.clear()
    page.reload()
    page.wait_for_selector("#item .one")
    for _ in range(600):
        if len(set(asked)) == 6:
            break
        page.wait_for_timeout(100)
    asked.clear()
    page.keyboard.press("1")
    answered(page, 1)
    assert asked == []  # the next picture was there


def test_the_pixels_of_tiny_pictures_are_squares(tmp_path, start, visit) -> None:
    folder = tmp_path / "digits"
    folder.mkdir()
    for k in range(4):
        Image.new("L", (8, 8), 60 * k).save(folder / f"{k}.png")
    items = Items(read_table(folder), Task())
    store = Store(sqlite_url(tmp_path / "l.db"))
    page = visit(start(Studio(items, store, classes=("a", "b"), engine=trained(4))))
    page.wait_for_selector("#item img.tiny")
    page.click("[data-view=table]")
    page.wait_for_selector("#rows img.tiny")
    look = "() => getComputedStyle(document.querySelector('#rows img')).imageRendering"
    assert page.evaluate(look) == "pixelated"


def test_what_was_read_and_closed_does_not_come_again(tmp_path, start, visit) -> None:
    notes = ("Column 'size' was left out.",)
    engine = FixedEngine(Snapshot(stage="", notes=notes))
    page = visit(start(small_studio(tmp_path, rows(5), engine=engine)))
    assert "was left out" in page.inner_text("#banner")
    page.click("#unsay")
    page.reload()
    page.wait_for_selector("#item .one")
    assert page.is_hidden("#banner")
    page.evaluate("() => localStorage.removeItem('mercer-read')")
    page.reload()
    page.wait_for_selector("#banner:not([hidden])")


def test_a_notice_stands_until_it_is_closed(tmp_path, start, visit) -> None:
    """The first answer that the studio acknowledged took it away unread."""
    studio = small_studio(tmp_path, rows(40), engine=trained(40))
    studio.changes = ["Column 'size' was left out."]
    page = visit(start(studio))
    assert "was left out" in page.inner_text("#banner")
    page.keyboard.press("1")
    answered(page, 1)
    page.keyboard.press("z")
    answered(page, 0)
    page.keyboard.press("z")
    page.wait_for_selector("#said:has-text('nothing to undo')")
    page.click("#unsay")  # what was said goes, the notice is there again
    assert page.inner_text("#said") == "Column 'size' was left out."
    page.click("#unsay")
    assert page.is_hidden("#banner")


def test_each_view_begins_at_its_top(tmp_path, start, visit) -> None:
    page = visit(start(small_studio(tmp_path, rows(60), engine=trained(60))))
    page.click("[data-view=table]")
    page.wait_for_selector("#rows tr >> nth=49")
    page.evaluate("scrollTo(0, 800)")
    page.evaluate("mercer.go('label')")
    page.wait_for_selector("#view-table", state="hidden")
    page.evaluate("document.body.style.minHeight = '3000px'; scrollTo(0, 500)")
    page.keyboard.press("m")
    page.wait_for_selector("#like:visible")
    assert page.evaluate("scrollY") == 0


def test_the_keys_are_shown_wide_and_the_way_out_is_next(
    tmp_path, start, visit
) -> None:
    """News of the dialog before, which came late, made them narrow."""
    page = visit(start(small_studio(tmp_path)))
    page.keyboard.press("?")
    assert page.evaluate("document.activeElement.textContent") == "Close"
    page.evaluate("document.getElementById('dialog').dispatchEvent(new Event('close'))")
    assert page.evaluate("document.getElementById('dialog').className") == "wide"
    page.keyboard.press("Enter")
    page.wait_for_selector("#dialog", state="hidden")
    page.click("#person")  # a dialog that is not wide
    assert page.evaluate("document.getElementById('dialog').className") == ""
