"""Take the pictures of docs/studio.md: the digits, labelled in Debian's Chromium.

    python docs/studio_pictures.py

Somebody who knows the digits answers 60 questions by keys, and the page is looked at
in dark, as a table, on a phone and with two rows side by side.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits

from mercer.app.studio.engine import wait_until
from mercer.app.studio.from_file import open_studio
from mercer.app.studio.serving import Running

IMAGES = Path(__file__).parent / "images"
ANSWERS = 60
FLAGS = "--headless --no-sandbox --no-first-run --disable-background-networking"
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def write_digits(folder: Path) -> dict[str, int]:
    """Write the digits as pictures without labels; return the truth."""
    folder.mkdir()
    digits = load_digits()
    truth = {}
    for k, (pixels, digit) in enumerate(zip(digits.images, digits.target, strict=True)):
        name = f"{k:04}.png"
        Image.fromarray((pixels * 255 / 16).astype("uint8")).save(folder / name)
        truth[name] = int(digit)
    return truth


def answer(page: Any, truth: dict[str, int]) -> None:
    """Answer the question on the page by its key, and wait for the next one."""
    shown = page.inner_text("#reason")
    name = shown.split(" · ")[0].removeprefix("Row ")
    page.keyboard.press(str((truth[name] + 1) % 10))
    page.wait_for_function(
        "b => document.getElementById('reason').textContent !== b", arg=shown
    )


def visit(browser: Any, running: Running, **look: Any) -> Any:
    """Open the page in a fresh profile, under the name of Ann."""
    page = browser.new_context(**look).new_page()
    page.add_init_script("localStorage.setItem('mercer-who', 'ann')")
    page.set_default_timeout(180_000)
    page.goto(running.url)
    page.wait_for_selector("#item .one")
    return page


def main() -> None:
    """Label, and take the pictures."""
    with tempfile.TemporaryDirectory() as top, sync_playwright() as playwright:
        folder = Path(top) / "digits"
        truth = write_digits(folder)
        classes = tuple(map(str, range(10)))
        studio = open_studio(folder, classes=classes)
        running = Running(studio, rate=1000.0)
        running.start()
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=FLAGS.split()
        )
        page = visit(browser, running, viewport=DESK, color_scheme="dark")
        wait_until(lambda: studio.snapshot.ready, 600)
        for k in range(ANSWERS):
            answer(page, truth)
            wait_until(lambda k=k: studio.snapshot.n_labels == k + 1, 60)
        wait_until(lambda: studio.snapshot.map_version > 1, 600)
        page.wait_for_timeout(3000)
        page.screenshot(path=IMAGES / "studio_dark.png")

        light = visit(browser, running, viewport=DESK, color_scheme="light")
        light.keyboard.press("p")
        light.wait_for_timeout(3000)
        light.screenshot(path=IMAGES / "studio_pairs.png")
        light.click("[data-view=table]")
        light.select_option("#order", "uncertain")
        light.wait_for_timeout(3000)
        light.screenshot(path=IMAGES / "studio_table.png")

        phone = visit(browser, running, viewport=PHONE, color_scheme="light")
        phone.wait_for_timeout(3000)
        phone.screenshot(path=IMAGES / "studio_phone.png")
        browser.close()
        running.stop()


if __name__ == "__main__":
    main()
