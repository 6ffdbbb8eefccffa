"""The documentation names things that exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_functions_and_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`mercer\.([\w.]+)`", text):
        *path, last = name.split(".")
        module = import_module(".".join(["mercer", *path]))
        if not hasattr(module, last):
            import_module(f"mercer.{name}")
    for path in re.findall(r"`((?:tests|benchmarks|examples)/[\w/.]+)`", text):
        assert (ROOT / path).is_file(), path
    for path in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / path).exists(), path
