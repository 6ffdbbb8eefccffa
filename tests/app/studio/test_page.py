"""The page in a real browser: Debian's Chromium, driven by Playwright."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from mercer.app.studio.serving import Running
from studio_at_hand import FixedEngine, answered, labels, rows, small_studio, trained

EVIL = '<img src=x onerror="window.hurt = 1"><script>window.hurt = 1</script>'


def shown(page: Any) -> str:
    return page.inner_text("#reason").split(" · ")[0].removeprefix("Row ")


def answer_with(page: Any, key: str) -> str:
    """Press a key and wait for another item; return the one that was answered."""
    before = shown(page)
    page.keyboard.press(key)
    page.wait_for_function(
        "b => !document.getElementById('reason').textContent.startsWith(b + ' ')",
        arg=f"Row {before}",
    )
    return before


def test_cold_start_new_class_and_undo_by_mouse(tmp_path, start, visit) -> None:
    studio = small_studio(tmp_path, classes=())
    page = visit(start(studio))
    assert "token" not in page.url
    assert page.locator("#classes button").count() == 0
    page.fill("#new-name", "cat")
    page.click("#new-class button[type=submit]")
    page.wait_for_selector("#classes button")
    first = shown(page)
    page.click("#classes button")
    answered(page, 1)
    assert labels(studio) == {first: 0}
    page.click("#undo")
    answered(page, 0)
    assert shown(page) == first
    assert labels(studio) == {}
    page.fill("#new-name", "cat")
    page.click("#new-class button[type=submit]")
    page.wait_for_function("() => !document.getElementById('banner').hidden")
    assert "already" in page.inner_text("#banner")


def test_keyboard_alone(tmp_path, start, visit) -> None:
    studio = small_studio(tmp_path)
    page = visit(start(studio))
    first = answer_with(page, "2")
    skipped = answer_with(page, "s")
    answered(page, 1)
    assert labels(studio) == {first: 1}
    assert set(studio.store.ledger.skips) == {skipped}
    page.keyboard.press("n")
    page.keyboard.type("3 birds")  # keys are text inside a field
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => document.querySelectorAll('#classes button').length === 3"
    )
    third = answer_with(page, "3")
    answered(page, 2)
    assert labels(studio) == {first: 1, third: 2}
    answer_with(page, "z")
    answered(page, 1)
    reached = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"person", "skip", "undo", "why", "lasso", "item"} <= reached


def test_two_people_reload_and_restart(tmp_path, start, visit) -> None:
    studio = small_studio(tmp_path)
    running = start(studio)
    ann, ben = visit(running), visit(running)
    assert shown(ann) != shown(ben)
    row = shown(ann)
    ann.reload()
    ann.wait_for_selector("#item .one")
    assert shown(ann) == row
    answer_with(ann, "1")
    answer_with(ben, "2")
    answered(ann, 2)
    answered(ben, 2)  # each sees the answers of the other
    assert len(studio.store.ledger.people()) == 2
    before = shown(ann)
    running.stop()
    again = small_studio(tmp_path)
    start(again, port=running.port, token=running.token)
    answer_with(ann, "1")  # the page that was open goes on
    answered(ann, 3)
    assert before in labels(again)


def test_script_in_a_cell_stays_text(tmp_path, start, visit) -> None:
    frame = pd.DataFrame({"code": [EVIL, "b"], "said": [EVIL, EVIL + " "]})
    studio = small_studio(tmp_path, frame, classes=(EVIL,), engine=trained(2))
    page = visit(start(studio))
    assert EVIL.strip() in page.inner_text("#item")
    page.click("[data-view=table]")
    page.wait_for_selector("#rows tr")
    page.click("[data-view=review]")
    page.click("[data-view=label]")
    assert page.evaluate("window.hurt") is None
    assert page.locator("#main img, #main script").count() == 0


# Drawing by software starves beside other work and then misses its clicks.
@pytest.mark.slow
def test_map_click_lasso_pairs_why_and_table(tmp_path, start, visit) -> None:
    engine, rare = trained(60), 1000  # no question is drawn at random
    studio = small_studio(tmp_path, rows(60), engine=engine, check_every=rare)
    page = visit(start(studio))
    page.wait_for_function("() => globalThis.mercer.map.places.length === 120")
    x, y = page.evaluate("globalThis.mercer.map.toScreen(11)")
    box = page.locator("#map").bounding_box()
    page.mouse.click(box["x"] + x, box["y"] + y)
    page.wait_for_function(
        "() => document.getElementById('reason').textContent.includes('chosen')"
    )
    nearest = page.evaluate("([x, y]) => globalThis.mercer.map.nearest(x, y)", [x, y])
    assert shown(page) == f"r{nearest}"
    page.click("#lasso")
    left, right = box["x"] + 2, box["x"] + box["width"] / 2
    corners = [(left, 2), (right, 2), (right, -2), (left, -2)]
    for k, (cx, cy) in enumerate(corners):
        at = box["y"] + (cy if cy > 0 else box["height"] + cy)
        page.mouse.move(cx, at, steps=4)
        if k == 0:
            page.mouse.down()
    page.mouse.up()
    page.wait_for_selector("#lassoed:not([hidden])")
    inside = page.evaluate("document.querySelector('#lassoed p').textContent")
    n = int("".join(c for c in inside if c.isdigit()))
    assert 20 < n < 40
    page.click("#lassoed .bulk-acts button >> nth=0")
    page.click("#dialog .primary")
    answered(page, n)
    assert set(labels(studio).values()) == {0}
    page.wait_for_function("() => mercer.question.shown.purpose !== 'picked'")
    page.keyboard.press("w")
    page.wait_for_selector("#reasons:not([hidden])")
    assert "dog" in page.inner_text("#reasons")
    page.click("#pairs")
    page.wait_for_selector("#item .both")
    page.keyboard.press("1")
    page.wait_for_function("n => mercer.state.labelled === n", arg=n + 1)
    page.click("[data-view=table]")
    page.fill("#words", "r5")
    page.wait_for_function(
        "() => document.getElementById('table-count').textContent[0] === '1'"
    )
    assert page.inner_text("#table-count") == "11 rows"
    page.click("[data-view=review]")
    page.wait_for_function(
        "() => document.getElementById('suspicious').children.length > 0"
    )


def test_a_moving_map_draws_fewer_points_and_a_resting_one_all(
    tmp_path, start, visit
) -> None:
    n = 3000
    studio = small_studio(tmp_path, rows(n), engine=trained(n))
    page = visit(start(studio))
    page.wait_for_function("n => mercer.map.drawn === n", arg=n)
    page.evaluate("() => { mercer.map.looks[7] = 255; mercer.map.upload(); }")
    assert page.evaluate("mercer.map.rows.at(-1)") == 3  # labelled, so on top
    assert page.evaluate("mercer.map.unlabelled") == n - 1
    # Frames that take a second each, then a quick one.
    page.evaluate("() => { for (let k = 0; k < 9; k++) mercer.map.adapt(1000); }")
    page.evaluate("() => { mercer.map.painted = -Infinity; mercer.map.move(); }")
    page.wait_for_function("() => mercer.map.drawn === 1001")  # the labelled one always
    page.wait_for_function("n => mercer.map.drawn === n", arg=n)
    page.evaluate("() => { for (let k = 0; k < 9; k++) mercer.map.adapt(10); }")
    assert page.evaluate("mercer.map.quick") >= n - 1
    drawn = page.evaluate("Array.from(mercer.map.rows).sort((a, b) => a - b)")
    assert drawn == list(range(n))
    first = page.evaluate("Array.from(mercer.map.rows.subarray(0, 300))")
    assert 1300 < np.mean(first) < 1700  # they stand for all, whatever their order


def test_an_answer_moves_the_ring_and_draws_no_point_again(
    tmp_path, start, visit
) -> None:
    """All points were drawn again: with 100,000 the next row came late."""
    studio = small_studio(tmp_path, rows(60), engine=trained(60), check_every=1000)
    page = visit(start(studio))
    page.wait_for_function("() => mercer.map.drawn === 60")
    page.wait_for_timeout(300)
    frames, ring = page.evaluate("[mercer.map.frames, mercer.map.current]")
    answer_with(page, "1")
    answered(page, 1)
    page.wait_for_timeout(300)
    now = page.evaluate("[mercer.map.frames, mercer.map.current]")
    assert now[0] == frames
    assert now[1] not in {ring, None}


def test_files_are_downloaded(tmp_path, start, visit) -> None:
    page = visit(start(small_studio(tmp_path)))
    page.click("[data-view=export]")
    with page.expect_download() as download:
        page.click("#exports button >> nth=0")
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert text.splitlines()[0].startswith('"code","size","label"')


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_no_violation_of_accessibility_and_nothing_sticks_out(
    tmp_path, start, visit, scheme: str, width: int
) -> None:
    axe = pytest.importorskip("axe_core_python")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    studio = small_studio(tmp_path, rows(60), engine=trained(60))
    studio.answer("ann", "t1", 0, 1)
    page = visit(
        start(studio),
        color_scheme=scheme,
        viewport={"width": width, "height": 800},
        bypass_csp=True,  # for axe alone
    )
    page.evaluate(script)

    def is_well(view: str) -> None:
        page.wait_for_timeout(300)
        found = page.evaluate("axe.run()")["violations"]
        told = [(v["id"], [n["html"] for n in v["nodes"]]) for v in found]
        assert told == [], view
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, view

    for view in ("label", "table", "review", "export"):
        page.click(f"[data-view={view}]")
        is_well(view)
    page.click("[data-view=table]")
    page.click("#choose-all")
    is_well("chosen rows")
    page.click("#accept-sure")
    page.wait_for_selector("#dialog [role=status] p")
    is_well("accept")
    page.keyboard.press("Escape")
    page.click("[data-view=label]")
    page.click("#keys")
    is_well("keys")
    page.keyboard.press("Escape")
    page.click("#edit-classes")
    is_well("classes")
    page.keyboard.press("Escape")
    page.click("#sizes")
    is_well("sizes")
    page.fill("#size-0", "nearly all of them")
    page.keyboard.press("Enter")
    page.wait_for_selector("#size-0-error:not([hidden])")
    is_well("sizes that are refused")
    box = page.locator("#dialog").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    page.keyboard.press("Escape")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    is_dark = sum(int(c) for c in back[4:-1].split(",")) < 200
    assert is_dark == (scheme == "dark")


def test_class_sizes_that_were_given_are_shown(
    visit: Callable[..., Any], start: Callable[..., Running], tmp_path: Path
) -> None:
    sizes = {"cat": 10.0, "dog": 90.0}
    page = visit(start(small_studio(tmp_path, class_sizes=sizes)))
    shown = page.locator("#shares li").all_inner_texts()
    assert [line.split("\n")[:2] for line in shown] == [
        ["cat", "you said 10%"],
        ["dog", "you said 90%"],
    ]


def test_without_class_sizes_nothing_is_said_of_them(
    visit: Callable[..., Any], start: Callable[..., Running], tmp_path: Path
) -> None:
    page = visit(start(small_studio(tmp_path)))
    assert "you said" not in page.locator("#shares").inner_text()


def test_class_sizes_are_entered_changed_and_removed_by_keys(
    visit: Callable[..., Any], start: Callable[..., Running], tmp_path: Path
) -> None:
    studio = small_studio(tmp_path, classes=("cat", "dog", "bird", "fish"))
    for label in range(3):  # no fish: it gets nothing of the rest
        studio.answer("ann", f"t{label}", label, label)
    page = visit(start(studio))
    assert "estimates how large" in page.inner_text("#sizes-note")
    page.focus("#sizes")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "size-0"
    page.keyboard.type("ten")
    assert "No size" not in page.inner_text("#dialog")
    page.keyboard.press("Enter")
    page.wait_for_selector("#size-0-error:not([hidden])")
    assert "'ten' is not a valid size" in page.inner_text("#size-0-error")
    assert page.get_attribute("#size-0", "aria-invalid") == "true"
    assert page.evaluate("document.activeElement.id") == "size-0"
    assert studio.store.ledger.sizes == {}
    page.keyboard.press("Control+A")
    page.keyboard.type("12,5 %")
    assert page.get_attribute("#size-0", "aria-invalid") is None
    assert page.inner_text("#dialog [role=status]") == (
        "Together 12.5%. The 2 labelled classes without a size share the rest evenly."
    )
    page.fill("#size-1", "87.5")
    assert page.inner_text("#dialog [role=status]") == "Together 100%."
    page.fill("#size-1", "")
    page.focus("#size-0")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !document.getElementById('dialog').open")
    assert page.evaluate("document.activeElement.id") == "sizes"
    shown_sizes(page, ["you said 12.5%", "rest 44%", "rest 44%"])
    assert "uses the class sizes" in page.inner_text("#sizes-note")
    page.reload()
    shown_sizes(page, ["you said 12.5%", "rest 44%", "rest 44%"])
    page.click("#sizes")
    assert page.input_value("#size-0") == "12.5"
    page.fill("#size-1", "95")
    page.keyboard.press("Enter")
    page.wait_for_selector("#dialog form > [role=alert]:not([hidden])")
    assert "add up to 107.5%" in page.inner_text("#dialog form > [role=alert]")
    page.keyboard.press("Escape")
    assert studio.store.ledger.sizes == {0: 12.5}
    page.click("#sizes")
    assert page.input_value("#size-1") == ""  # what was refused is not kept
    page.click("text=Remove all")
    page.wait_for_function("() => mercer.state.classes[0].said === null")
    shown_sizes(page, [])
    assert studio.store.ledger.sizes == {}


def shown_sizes(page: Any, sizes: list[str]) -> None:
    """Wait until the page shows these sizes beside the classes, in order."""
    page.wait_for_function(
        "sizes => JSON.stringify([...document.querySelectorAll('#shares li')].flatMap("
        "line => [...line.querySelectorAll('.count')].slice(0, -1)"
        ".map(one => one.textContent))) === JSON.stringify(sizes)",
        arg=sizes,
    )


def test_without_classes_there_is_nothing_to_size(
    visit: Callable[..., Any], start: Callable[..., Running], tmp_path: Path
) -> None:
    page = visit(start(small_studio(tmp_path, classes=())))
    assert not page.is_visible("#sizes")
    page.fill("#new-name", "cat")
    page.click("#new-class button[type=submit]")
    page.wait_for_selector("#sizes")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("known", [False, True])
def test_points_of_the_map_stand_out_from_the_page(
    scheme, known, tmp_path, start, visit
) -> None:
    """Pixels of the canvas over the colour of its card, with and without a model."""
    n = 400
    engine = trained(n)
    if not known:
        engine = FixedEngine(replace(engine.snapshot, proba=None, classes=()))
    studio = small_studio(tmp_path, rows(n), engine=engine)
    page = visit(start(studio), color_scheme=scheme)
    page.wait_for_function("() => mercer.map.drawn === 400")
    background = page.evaluate(
        "getComputedStyle(document.querySelector('.map-card')).backgroundColor"
    )
    card = [int(part) for part in re.findall(r"\d+", background)[:3]]
    box = page.locator("#map").bounding_box()
    for _ in range(10):  # a drawn frame may not be on the screen yet
        image = Image.open(io.BytesIO(page.screenshot(clip=box))).convert("RGB")
        apart = np.abs(np.asarray(image, int) - card).max(2)
        # A point of a 400-point map covers about 28 pixels; many lie over each other.
        if (apart > 40).sum() > 2000:
            return
        page.wait_for_timeout(300)
    pytest.fail(f"{(apart > 40).sum()} pixels differ from the card")


def test_a_held_key_answers_once_and_a_quick_one_waits(tmp_path, start, visit) -> None:
    studio = small_studio(tmp_path, engine=trained(30))
    page = visit(start(studio))
    page.evaluate(
        """() => {
          for (let k = 0; k < 20; k++)
            document.dispatchEvent(
              new KeyboardEvent("keydown", { key: "1", repeat: k > 0 }));
        }"""
    )
    answered(page, 1)
    page.evaluate(
        """() => {
          for (let k = 0; k < 3; k++)
            document.dispatchEvent(new KeyboardEvent("keydown", { key: "2" }));
        }"""
    )
    answered(page, 4)
    assert sorted(labels(studio).values()) == [0, 1, 1, 1]


@pytest.mark.parametrize("width", [1280, 390])
def test_long_names_and_texts_move_nothing(width, tmp_path, start, visit) -> None:
    name, class_name = "column " + "x" * 100, "class " + "y" * 83
    frame = pd.DataFrame({name: ["value"] * 3, "text": ["a", "b " * 4000, "c"]})
    frame["code"] = ["r0", "r1", "r2"]
    classes = (class_name, *(f"class {k}" for k in range(76)))
    studio = small_studio(tmp_path, frame, classes=classes)
    page = visit(start(studio), viewport={"width": width, "height": 860})
    places = []
    for _ in range(3):
        places.append(page.locator("#classes button").nth(1).bounding_box())
        value = page.locator("#item dd", has_text="value").bounding_box()
        assert value["width"] > 80
        if len(places) < 3:
            answer_with(page, "2")
    assert places[0] == places[1] == places[2]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#classes").bounding_box()["height"] <= 0.41 * 860


def test_a_new_item_is_announced(tmp_path, start, visit) -> None:
    studio = small_studio(tmp_path, engine=trained(30))
    page = visit(start(studio))
    before = answer_with(page, "1")
    said = page.inner_text("#announced")
    assert said.startswith(f"Row {shown(page)}. ")
    assert not said.startswith(f"Row {before}. ")
    assert page.locator("#sizes-note[role=status]").count() == 0
