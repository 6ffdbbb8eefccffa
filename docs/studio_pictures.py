"""Take the pictures of docs/studio.md: the digits, labelled in Debian's Chromium.

    python docs/studio_pictures.py

Somebody who knows the digits answers 60 questions by keys, and the page is looked at
in dark, as a table, on a phone and with two rows side by side. A minute of this work is
the moving picture: questions, similar rows labelled as a group, and what the model is
sure of accepted at the end.
"""

import io
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
MOVIE_WIDTH, MOVIE_COLOURS = 760, 160
MOST_BYTES = 1_500_000
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


class Movie:
    """Pictures of a page, each with the milliseconds that it is shown."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, milliseconds: int) -> None:
        """Add what the page shows now."""
        frame = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        height = round(frame.height * MOVIE_WIDTH / frame.width)
        self.frames.append(
            frame.resize((MOVIE_WIDTH, height), Image.Resampling.LANCZOS)
        )
        self.times.append(milliseconds)

    def save(self, path: Path) -> None:
        """Write an animated picture with one palette for all frames."""
        sample = self.frames[:: max(1, len(self.frames) // 6)]
        together = Image.new("RGB", (MOVIE_WIDTH, sum(f.height for f in sample)))
        for k, frame in enumerate(sample):
            together.paste(frame, (0, k * frame.height))
        # Colours of classes are rare, and must not be lost among the greys. Digits are
        # grey and must not be tinted.
        palette = together.quantize(MOVIE_COLOURS, Image.Quantize.MAXCOVERAGE)
        greys = [grey for level in range(0, 256, 8) for grey in 3 * [level]]
        palette.putpalette(palette.getpalette()[: 3 * MOVIE_COLOURS] + greys)
        none = Image.Dither.NONE
        first, *others = [f.quantize(palette=palette, dither=none) for f in self.frames]
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=self.times,
            loop=0,
            optimize=True,
        )
        if path.stat().st_size > MOST_BYTES:
            msg = f"{path} has {path.stat().st_size:,} bytes, wanted {MOST_BYTES:,}."
            raise RuntimeError(msg)


def work_in_bulk(page: Any, movie: Movie, truth: dict[str, int]) -> None:
    """Label rows like the question as a group, then accept what is sure."""
    name = page.inner_text("#reason").split(" · ")[0].removeprefix("Row ")
    page.keyboard.press("m")
    page.wait_for_selector("#rows tr")
    page.wait_for_timeout(1500)
    movie.take(2500)
    page.focus("#rows input >> nth=0")
    page.keyboard.press("Space")
    for _ in range(9):
        page.keyboard.press("Shift+ArrowDown")
    movie.take(2500)
    page.keyboard.press(str((truth[name] + 1) % 10))
    page.wait_for_selector("#dialog[open]")
    movie.take(4000)
    page.keyboard.press("Escape")
    page.click("#unlike")
    page.click("#accept-sure")
    page.wait_for_selector("#dialog [role=status] p")
    movie.take(5000)
    page.focus("#dialog .primary")
    page.keyboard.press("Enter")
    page.wait_for_timeout(2000)
    movie.take(3500)
    page.click("#table-undo")
    page.wait_for_timeout(1500)
    movie.take(3000)
    page.click("[data-view=label]")


def visit(browser: Any, running: Running, **look: Any) -> Any:
    """Open the page in a fresh profile, under the name of Ann."""
    page = browser.new_context(**look).new_page()
    page.add_init_script("localStorage.setItem('mercer-who', 'ann')")
    page.set_default_timeout(180_000)
    page.goto(running.url)
    page.wait_for_selector("#item .one")
    close_note(page)
    return page


def close_note(page: Any) -> None:
    """Close a note about the table, which is not what the pictures show."""
    if page.is_visible("#unsay"):
        page.click("#unsay")


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
        movie = Movie(page)
        wait_until(lambda: studio.snapshot.ready, 600)
        page.wait_for_timeout(3000)
        close_note(page)
        for k in range(ANSWERS):
            if k < 20 or k % 5 == 0:
                movie.take(1500 if k < 8 else 900)
            answer(page, truth)
            wait_until(lambda k=k: studio.snapshot.n_labels == k + 1, 60)
        wait_until(lambda: studio.snapshot.map_version > 1, 600)
        page.wait_for_timeout(3000)
        page.screenshot(path=IMAGES / "studio_dark.png")
        movie.take(3000)
        work_in_bulk(page, movie, truth)
        movie.save(IMAGES / "studio_minute.gif")

        light = visit(browser, running, viewport=DESK, color_scheme="light")
        light.keyboard.press("p")
        light.wait_for_timeout(3000)
        light.screenshot(path=IMAGES / "studio_pairs.png")
        light.click("[data-view=table]")
        light.click("[data-sort=certainty]")
        light.wait_for_timeout(3000)
        light.screenshot(path=IMAGES / "studio_table.png")

        phone = visit(browser, running, viewport=PHONE, color_scheme="light")
        phone.wait_for_timeout(3000)
        phone.screenshot(path=IMAGES / "studio_phone.png")
        browser.close()
        running.stop()


if __name__ == "__main__":
    main()
