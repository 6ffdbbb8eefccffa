"""The page of a large table: when it is usable, and how smoothly its map moves.

Places points whose features have the width of the default kernel's, then opens the page
in Debian's Chromium (software rendering where there is no graphics card), drags and
zooms the map, and counts the frames that were painted.

    python benchmarks/studio_map.py --rows 100000
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from mercer.app.studio.engine import Snapshot
from mercer.app.studio.items import Items
from mercer.app.studio.service import Studio
from mercer.app.studio.serving import Running
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task
from mercer.judging.layout import place_points

WIDTH, CLASSES, SECONDS = 751, 10, 5.0


class Drawn:
    """A model that never trains."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def start(self) -> None:
        """Do nothing."""

    stop = wake = start


def place(n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CLASSES, WIDTH))

    def features_of(rows: np.ndarray) -> np.ndarray:
        noise = np.random.default_rng(int(rows[0])).standard_normal((len(rows), WIDTH))
        return centres[rows % CLASSES] + noise

    start = time.process_time()
    xy = place_points(features_of, n, rng)
    print(f"placed {n:,} points in {time.process_time() - start:.1f} s of CPU")
    return xy.astype(np.float32)


def count_frames(xy: np.ndarray) -> None:
    from playwright.sync_api import sync_playwright

    n = len(xy)
    proba = np.full((n, CLASSES), 0.02, dtype=np.float32)
    proba[np.arange(n), np.arange(n) % CLASSES] = 0.82
    snapshot = Snapshot(
        stage="", classes=tuple(range(CLASSES)), proba=proba, map=xy, map_version=1
    )
    frame = pd.DataFrame({"id": np.arange(n)})
    with tempfile.TemporaryDirectory() as folder:
        store = Store(sqlite_url(Path(folder) / "labels.db"))
        items = Items(as_table(frame), Task(id="id"))
        names = tuple(map(str, range(CLASSES)))
        studio = Studio(items, store, classes=names, engine=Drawn(snapshot))
        running = Running(studio)
        running.start()
        with sync_playwright() as playwright:
            flags = ["--headless", "--no-sandbox", "--no-first-run"]
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=flags
            )
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            start = time.monotonic()
            page.goto(running.url)
            page.wait_for_selector("#item .one", state="attached")
            print(f"first row on the page after {time.monotonic() - start:.2f} s")
            page.wait_for_function(
                "() => mercer.map.places.length > 0", timeout=120_000
            )
            box = page.locator("#map").bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
            before, start = page.evaluate("mercer.map.frames"), time.monotonic()
            step = 0
            while time.monotonic() < start + SECONDS:
                step += 1
                page.mouse.move(x + 60 * np.sin(step / 7), y + 40 * np.cos(step / 9))
                if step % 10 == 0:
                    page.mouse.wheel(0, 20 * (-1) ** (step // 10))
            painted = page.evaluate("mercer.map.frames") - before
            kind = page.evaluate("mercer.map.gl ? 'WebGL' : 'canvas'")
            taken = time.monotonic() - start
            browser.close()
        running.stop()
    print(f"{kind}: {painted / taken:.0f} frames per second over {taken:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    args = parser.parse_args()
    count_frames(place(args.rows))


if __name__ == "__main__":
    main()
