"""Rows of a survey labelled by keys alone: keys that are lost, frames that are slow.

A person who knows the classes labels all rows of a survey of 16 columns in Debian's
Chromium, by keys: a class for most rows, "I do not know" for some, Space to read on,
W for why, a note now and then; pauses are drawn from 5 to 400 ms.

    python benchmarks/studio_keys.py --rows 300
"""

import argparse
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

from mercer.app.studio.from_file import open_studio
from mercer.app.studio.serving import Running
from mercer.app.tables.task import Task

CLASSES = ("satisfied", "critical", "newcomer", "occasional", "non-user")
QUESTION = "In the past 12 months, how often did you use the bus on your way to work?"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]
PAUSES = (5, 30, 80, 200, 400)  # milliseconds
# How long frames take, what has the focus when a key comes, and the time from a key to
# the second frame after another row was written on the page.
WATCH = """
globalThis.frames = []; globalThis.focus = []; globalThis.taken = [];
let last = performance.now(), began = 0;
(function next() {
  requestAnimationFrame((now) => { frames.push(now - last); last = now; next(); });
})();
document.addEventListener("keydown", () => {
  began = performance.now();
  focus.push(document.activeElement.id || document.activeElement.tagName);
}, true);
new MutationObserver(() => {
  const pressed = began;
  began = 0;
  if (pressed) requestAnimationFrame(() => requestAnimationFrame(() =>
    taken.push(performance.now() - pressed)));
}).observe(document.getElementById("reason"), { childList: true });
"""
ROW = "() => document.getElementById('reason').textContent.split(' ')[1] ?? ''"


def survey(n: int) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return rows that follow their classes, and the class of each."""
    rng = np.random.default_rng(0)
    kind = rng.integers(len(CLASSES), size=n)
    centres = rng.normal(3, 1.2, (len(CLASSES), 12))
    answers = (centres[kind] + rng.normal(0, 0.7, (n, 12))).round().clip(1, 5)
    frame = pd.DataFrame(answers, columns=[f"{QUESTION} [{k}]" for k in range(12)])
    frame.insert(0, "person", [f"R{1000 + k}" for k in range(n)])
    frame["age"] = (18 + rng.gamma(4, 9, n)).round()
    frame["region"] = rng.choice(["North", "South", "Overseas territories"], n)
    frame["income"] = rng.choice(["below 20k", "20 to 40k", "not said"], n)
    frame["anything else"] = rng.choice(["", "too slow", "friendly people"], n)
    return frame, {
        row: CLASSES[k] for row, k in zip(frame["person"], kind, strict=True)
    }


def label(page, truth: dict[str, str]) -> tuple[int, int]:
    """Label every row by keys; return the numbers of answers and of skips."""
    rng, given, skipped = np.random.default_rng(1), 0, 0
    while row := page.evaluate(ROW):
        chance = rng.random()
        if chance < 0.1:
            page.keyboard.press("Space")
        if chance < 0.02:
            page.keyboard.press("w")
        if 0.02 < chance < 0.03:
            page.keyboard.press("t")
            page.keyboard.type("1 odd row z")
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            page.wait_for_function("() => !document.getElementById('dialog').open")
        skips = 0.03 < chance < 0.05
        given, skipped = given + (not skips), skipped + skips
        page.keyboard.press("s" if skips else str(CLASSES.index(truth[row]) + 1))
        page.wait_for_function(f"before => ({ROW})() !== before", arg=row)
        page.wait_for_timeout(float(rng.choice(PAUSES)))
    return given, skipped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300)
    frame, truth = survey(parser.parse_args().rows)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "survey.csv"
        frame.to_csv(path, index=False)
        studio = open_studio(path, Task("kind", id="person"), classes=CLASSES)
        running = Running(studio)
        running.start()
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page()
        page.goto(running.url)
        page.wait_for_selector("#item .one")
        page.evaluate(WATCH)
        given, skipped = label(page, truth)
        page.wait_for_timeout(2000)
        frames, taken, focus = page.evaluate("[frames, taken, focus]")
        browser.close()
        ledger = studio.store.ledger
        kept = {i: ledger.name_of(ledger.label_of(i)) for i in ledger.answers}
        wrong = sum(truth[row] != name for row, name in kept.items())
        print(f"{given} classes given, {len(kept)} kept, {wrong} of them wrong")
        print(f"{skipped} rows skipped, {len(ledger.skips)} kept as skipped")
        print(f"{len(frames)} frames, {sum(f > 50 for f in frames)} above 50 ms")
        for name, times in (("frame", frames), ("key to paint", taken)):
            shown = ", ".join(f"{np.percentile(times, q):.0f}" for q in (50, 90, 99))
            print(f"{name}: {shown} ms in 50, 90 and 99 %")
        print(f"focus: {dict(Counter(focus))}")
        running.stop()


if __name__ == "__main__":
    main()
