"""Make the links and pictures of README.md absolute, for the page on a package index.

python .ci/absolute_links.py https://host/project/blob/v0.1.0
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def absolute(text: str, base: str) -> str:
    """Put the address before every link that is relative."""
    return re.sub(r"\]\((?!https?://|#)([^)]+)\)", rf"]({base.rstrip('/')}/\1)", text)


if __name__ == "__main__":
    page = ROOT / "README.md"
    page.write_text(absolute(page.read_text(encoding="utf-8"), sys.argv[1]), "utf-8")
