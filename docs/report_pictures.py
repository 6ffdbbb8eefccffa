"""Take the pictures of the report in docs/learn.md: the wines, in light and dark.

Run it with `python docs/report_pictures.py`.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
TABLE = ROOT / "examples" / "data" / "wine.csv"
WIDE, HIGH = 1100, 1390
FLAGS = "--headless --no-sandbox --no-first-run --disable-background-networking"


def main() -> None:
    """Learn from the wines, and take the pictures."""
    with tempfile.TemporaryDirectory() as top, sync_playwright() as playwright:
        learn = [sys.executable, "-m", "mercer", "learn", str(TABLE), "--out", top]
        subprocess.run([*learn, "--target", "cultivar", "--id", "id"], check=True)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=FLAGS.split()
        )
        for scheme in ("light", "dark"):
            look = {"viewport": {"width": WIDE, "height": HIGH}, "color_scheme": scheme}
            page = browser.new_context(**look).new_page()
            page.goto((Path(top) / "report.html").as_uri())
            page.screenshot(path=IMAGES / f"report_{scheme}.png")
            if scheme == "light":
                heading = page.get_by_role("heading", name="How rows are compared")
                section = heading.locator("xpath=ancestor::section[1]")
                section.screenshot(path=IMAGES / "report_learned.png")
        browser.close()


if __name__ == "__main__":
    main()
