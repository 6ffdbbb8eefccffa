"""Check a built site: links lead somewhere, and nothing is loaded from outside.

python docs/check_links.py docs/_build/html
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}


class Page(HTMLParser):
    """Collects what a page links to, what it loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one tag."""
        values = dict(attrs)
        for name in ("id", "name"):
            if values.get(name):
                self.anchors.add(str(values[name]))
        target = values.get("href") if tag == "a" else values.get(LOADED.get(tag, ""))
        if target and tag == "a":
            self.links.append(target)
        elif target and values.get("rel") not in ("canonical", "search"):
            self.loads.append(target)


def problems(folder: Path) -> list[str]:
    """Return one line per link that leads nowhere or part loaded from outside."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.html")
        if "_static" not in path.parts  # templates of the theme
    }
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for target in page.loads:
            parts = urlsplit(target)
            if parts.netloc:
                found.append(f"{name} loads {target}")
            elif (
                parts.scheme != "data"
                and not (path.parent / unquote(parts.path)).exists()
            ):
                found.append(f"{name} loads {target}, which does not exist")
        for target in page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.exists():
                found.append(f"{name} links to {target}, which does not exist")
                continue
            anchors = pages[to].anchors if to in pages else {parts.fragment}
            if parts.fragment and unquote(parts.fragment) not in anchors:
                found.append(f"{name} links to {target}, which has no such anchor")
    return found


if __name__ == "__main__":
    lines = sorted(set(problems(Path(sys.argv[1]))))
    print("\n".join(lines) or "All links work; nothing is loaded from outside.")
    sys.exit(bool(lines))
