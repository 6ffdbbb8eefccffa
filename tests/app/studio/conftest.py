"""The page in a real browser: Debian's Chromium, driven by Playwright."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mercer.app.studio.service import Studio
from mercer.app.studio.serving import Running

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-renderer-backgrounding"
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Return what opens a page of a running studio in a fresh profile."""
    contexts, problems = [], []

    def open_page(running: Running, who: str = "", **look: Any) -> Any:
        look.setdefault("viewport", {"width": 1280, "height": 860})
        contexts.append(browser.new_context(**look))
        page = contexts[-1].new_page()
        page.set_default_timeout(20_000)
        if who:
            page.add_init_script(f"localStorage.setItem('mercer-who', '{who}')")
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda m: problems.append(m.text) if "Security Policy" in m.text else None,
        )
        page.goto(running.url)
        page.wait_for_selector("#item .one, #item .done")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[Studio], Running]]:
    running: list[Running] = []

    def begin(studio: Studio, **more: Any) -> Running:
        running.append(Running(studio, **more))
        running[-1].start()
        return running[-1]

    yield begin
    for one in running:
        one.stop()
