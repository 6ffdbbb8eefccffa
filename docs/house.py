"""Draw docs/images/house.svg: the packages by the contract, and who uses whom.

python docs/house.py
"""

import ast
import re
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "mercer"
WIDTH, ROW, GAP = 860, 58, 8
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}"
    ".name{font-weight:600;font-size:14px}"
    "rect{fill:#eef2f8;stroke:#4c72b0}.uses{font-size:11px}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}rect{fill:#22303f}}"
)


def layers() -> list[list[str]]:
    """Return the packages of each layer, the application first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    order = next(one["layers"] for one in contracts if one["type"] == "layers")
    names = [[part.strip() for part in re.split(r"[|:]", layer)] for layer in order]
    return [[name.removeprefix("mercer.") for name in layer] for layer in names]


def imports() -> dict[str, set[str]]:
    """Return, for each package, the others that it imports from."""
    uses: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).with_suffix("").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level and node.module:
                parts = node.module.split(".")
                if parts[0] == "mercer" and len(parts) > 1 and parts[1] != room:
                    uses.setdefault(room, set()).add(parts[1])
    return uses


def draw() -> str:
    """Return the picture as SVG."""
    rows, uses = layers(), imports()
    height = len(rows) * (ROW + GAP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'role="img"><title>The packages of Mercer; each imports only from below'
        f"</title><style>{STYLE}</style>"
    ]
    for k, row in enumerate(rows):
        width = (WIDTH - GAP * (len(row) + 1)) / len(row)
        for j, name in enumerate(row):
            x, y = GAP + j * (width + GAP), GAP + k * (ROW + GAP)
            below = uses.get(name, set())
            most = [other for layer in rows for other in layer if other in below]
            room = int(width / 6.2) - 6
            words = ", ".join(most)
            if len(words) > room:
                words = words[:room].rsplit(",", 1)[0] + ", ..."
            words = f"uses {words}" if words else "uses nothing of Mercer"
            box = f'x="{x:.0f}" y="{y}" width="{width:.0f}" height="{ROW}" rx="5"'
            parts.append(f"<rect {box}/>")
            for kind, down, text in (("name", 22, name), ("uses", 43, words)):
                place = f'x="{x + 10:.0f}" y="{y + down}"'
                parts.append(f'<text class="{kind}" {place}>{escape(text)}</text>')
    return "".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    (ROOT / "docs" / "images" / "house.svg").write_text(draw(), encoding="utf-8")
