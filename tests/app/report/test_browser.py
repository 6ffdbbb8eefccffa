"""The report in a real browser: its list is searched and sorted, its map has keys."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer.app.report.page import render
from mercer.app.report.story import Listed
from story_at_hand import story

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed (apt-get install chromium)"
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
N_ROWS = 60


@pytest.fixture(scope="module", name="page")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Open a report of 60 rows; every seventh is a dog, probabilities fall."""
    playwright = pytest.importorskip("playwright.sync_api")
    rows = tuple(
        Listed(f"row {k}", "cat" if k % 7 else "dog", 1 - k / 100, "", "dog" * (k == 3))
        for k in range(N_ROWS)
    )
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(replace(story(), predictions=rows)), encoding="utf-8")
    problems: list[str] = []
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.set_default_timeout(120_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda m: problems.append(m.text) if m.type == "error" else None,
        )
        page.goto(path.as_uri())
        yield page
        browser.close()
    assert problems == []


@pytest.fixture(autouse=True)
def afresh(page: Any) -> None:
    page.reload()


def column(page: Any, k: int) -> list[str]:
    cells = page.locator(f"table.list tbody td:nth-child({k + 1})")
    return list(cells.all_text_contents())


def test_a_click_on_a_heading_sorts_and_a_second_one_turns_the_order(
    page: Any,
) -> None:
    assert column(page, 0)[:2] == ["row 0", "row 1"]
    head = page.locator("table.list th").nth(2)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, 2)[:2] == ["41%", "42%"]
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, 2)[:2] == ["100%", "99%"]
    name = page.locator("table.list th").nth(0)
    name.locator("button").click()
    assert column(page, 0)[1:3] == ["row 1", "row 2"]  # numbers by value: not "row 10"
    assert head.get_attribute("aria-sort") == "none"


def test_a_search_finds_predictions_and_labels_and_counts_them(page: Any) -> None:
    page.locator("#search").fill(" DOG ")
    assert page.locator("#found").text_content() == "10 rows"  # 9 and a label
    assert set(column(page, 1)) == {"cat", "dog"}
    assert column(page, 4).count("dog") == 1
    assert page.locator(".pager").is_hidden()
    page.locator("#search").fill("no such row")
    assert page.locator("#found").text_content() == "0 rows"
    page.locator("#search").fill("")
    assert page.locator("#found").text_content() == "60 rows"


def test_all_rows_can_be_paged_through(page: Any) -> None:
    seen = column(page, 0)
    assert page.locator("#previous").is_disabled()
    while page.locator("#following").is_enabled():
        page.locator("#following").click()
        seen += column(page, 0)
    assert seen == [f"row {k}" for k in range(N_ROWS)]
    assert page.locator("#page").text_content() == "51 to 60"


def hot(page: Any) -> tuple[float, float]:
    point = page.locator(".pt.hot")
    assert point.count() == 1
    return float(point.get_attribute("cx")), float(point.get_attribute("cy"))


def test_arrow_keys_walk_over_the_map_and_escape_leaves_it(page: Any) -> None:
    tip = page.locator("#tip")
    assert tip.is_hidden()
    page.locator("#points").focus()
    assert tip.is_visible()
    assert tip.text_content() == "cat"
    for key, axis, way in (
        ("ArrowLeft", 0, -1),
        ("ArrowRight", 0, 1),
        ("ArrowUp", 1, -1),
        ("ArrowDown", 1, 1),
    ):
        moved = [hot(page)[axis]]
        for _ in range(9):  # as many as there are dots
            page.keyboard.press(key)
            moved.append(hot(page)[axis])
        steps = [way * (b - a) for a, b in pairwise(moved)]
        assert all(step >= 0 for step in steps)
        assert any(step > 0 for step in steps)
        assert steps[-1] == 0  # the last dot of that side is kept
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_a_class_of_the_legend_fades_the_others(page: Any) -> None:
    page.locator(".legend button").first.focus()
    assert page.locator(".pt.faded").count() == 4  # of nine dots, of class 1
    page.locator("#points").focus()
    assert page.locator(".pt.faded").count() == 0


def test_paper_has_neither_the_list_nor_its_tools(page: Any) -> None:
    assert page.locator("#predictions").is_visible()
    page.emulate_media(media="print")
    torn = page.evaluate(
        """() => ["p", "#map", "#quality .two > div", ".confusion"].filter(name =>
          getComputedStyle(document.querySelector(name)).breakInside !== "avoid")"""
    )
    assert torn == []
    shown = {
        name: page.locator(f"#{name}").is_visible()
        for name in ("quality", "next", "map", "columns", "predictions", "search")
    }
    page.emulate_media(media="screen")
    assert [name for name in shown if not shown[name]] == ["predictions", "search"]


def test_confusions_of_eight_classes_fit_screen_and_paper(
    page: Any, tmp_path: Path
) -> None:
    plain = story()
    assert plain.quality is not None
    names = tuple(f"a long name {k}" for k in range(8))
    path = tmp_path / "report.html"
    path.write_text(
        render(
            replace(
                plain,
                classes=names,
                n_given=np.full(8, 5),
                n_predicted=np.full(8, 12),
                quality=replace(plain.quality, confusion=5 * np.eye(8)),
            )
        ),
        encoding="utf-8",
    )
    before = page.url
    page.goto(path.as_uri())
    hidden = """() => { const box = document.querySelector(".confusion").parentElement;
      return box.scrollWidth - box.clientWidth; }"""
    on_screen = page.evaluate(hidden)
    page.set_viewport_size({"width": 680, "height": 960})  # A4 less its margins
    page.emulate_media(media="print")
    on_paper = page.evaluate(hidden)
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 1100, "height": 900})
    page.goto(before)
    assert (on_screen, on_paper) == (0, 0)


def test_on_a_phone_columns_and_evidence_need_no_sideways_scrolling(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    too_wide = page.evaluate(
        """() => [...document.querySelectorAll(".scroll")]
          .filter(box => box.closest("#columns, #learned, #classes"))
          .filter(box => box.scrollWidth > box.clientWidth).length"""
    )
    whole = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1100, "height": 900})
    assert too_wide == 0
    assert whole == 390
