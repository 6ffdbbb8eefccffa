"""Tables of figures name the script that printed them, and quick ones are compared."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from data_folder import needs_data

ROOT = Path(__file__).parents[1]
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if not {"_build", "gallery", "api"} & set(page.relative_to(ROOT).parts)
    and page.name != "reproduction.md"  # written by `mercer_studies reproduce`
]
SCRIPT = r"`(?:python )?((?:benchmarks|tests|src/mercer_studies|docs|examples)/[\w./]*)"
MEASURED = re.compile(
    rf"Measured by {SCRIPT}[^`]*` with (\d+\.\d+\.\d+) of (\d{{4}}-\d\d-\d\d)\."
)
FIGURE = re.compile(r"(?<!section )\b(?<!\.)\d+\.\d+\b(?!\.\d)|\d%")


def unnamed(text: str) -> list[str]:
    """Return the sections that have a table of figures and no script."""
    missing = []
    for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        rows = [row for row in section.splitlines() if row.startswith("|")]
        rows = [row for row in rows if FIGURE.search(row)]
        without = [row for row in rows if not re.search(SCRIPT, row)]
        without = [row for row in without if "`python -m mercer_studies" not in row]
        if len(without) > 1 and not MEASURED.search(section):
            missing.append(section.splitlines()[0])
    return missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_tables_of_figures_name_script_version_and_day(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert unnamed(text) == []
    for script, *_ in MEASURED.findall(text):
        assert (ROOT / script).exists(), script


def test_a_table_without_a_script_is_found() -> None:
    table = "# A\n\n## B\n\n| a | b |\n|---|---|\n| x | 1.5 |\n| y | 2.5 |\n"
    assert unnamed(table) == ["## B"]
    named = "Measured by `benchmarks/trees.py` with 0.1.0 of 2026-11-18."
    assert unnamed(f"{table}\n{named}\n") == []
    assert unnamed(f"{named}\n\n{table}") == ["## B"]


@needs_data
def test_quick_figures_are_those_of_the_page(tmp_path: Path) -> None:
    results = str(tmp_path / "results.jsonl")
    script = [sys.executable, str(ROOT / "benchmarks" / "few_labels.py")]
    chosen = ["wine", "--ours", "--draws", "3"]
    subprocess.run([*script, "run", results, *chosen], check=True, capture_output=True)
    done = subprocess.run(
        [*script, "table", results], check=True, capture_output=True, text=True
    )
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in done.stdout.splitlines()
        if line.startswith("| wine")
    ]
    default = ", ".join(row[1] for row in cells)
    sized = ", ".join(row[-3] for row in cells)
    page = (ROOT / "docs/evidence/few_labels.md").read_text(encoding="utf-8")
    assert f"| wine | 1, 2, 5, 10 per class | {default} | {sized} |" in page


def test_the_headline_is_a_mean_that_the_script_prints() -> None:
    names = ["Mercer", "label spreading"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "headline.py"), *names],
        check=True,
        capture_output=True,
        text=True,
    )
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for name in names:
        line = next(x for x in done.stdout.splitlines() if x.startswith(f"| {name}"))
        _, mean, error, *_ = (cell.strip() for cell in line.strip("|").split("|"))
        assert f"{mean} ± {error}%" in readme, (name, mean, error)


def test_the_tutorial_has_the_table_that_the_example_prints() -> None:
    example = str(ROOT / "examples" / "plot_decision.py")
    done = subprocess.run(
        [sys.executable, example],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    rows = re.findall(r"\| above [\d.]+ (\|.*\|)", done.stdout)
    assert len(rows) == 4
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    for row in rows:
        assert row in page
