"""The package is what it says: one version, extras with code behind them."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import mercer

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCE = "\n".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "src" / "mercer").rglob("*.py")
)
# Where the name on the package index is not that of the import.
IMPORTED_AS = {
    "pillow": "PIL",
    "scikit-activeml": "skactiveml",
    "scikit-learn": "sklearn",
    "huggingface-hub": "huggingface_hub",
    "sentence-transformers": "sentence_transformers",
}
# Used by another package that is imported.
THROUGH = {
    "clarabel": "cvxpy",
    "scs": "cvxpy",
    "h11": "uvicorn",
    "python-calamine": "pandas",
    "duckdb-engine": "sqlalchemy",
}


def test_there_is_one_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["project"]["version"] == mercer.__version__
    assert f"\nversion: {mercer.__version__}\n" in citation


@pytest.mark.parametrize("extra", PROJECT["project"]["optional-dependencies"])
def test_every_extra_has_code_behind_it(extra: str) -> None:
    for line in PROJECT["project"]["optional-dependencies"][extra]:
        name = Requirement(line).name
        if name == "mercer":
            continue
        name = THROUGH.get(name, name)
        module = IMPORTED_AS.get(name, name)
        used = re.search(rf"""(import|from) {module}\b|["']{module}\b""", SOURCE)
        assert used, f"{extra} installs {name}, which no module uses"


def test_all_holds_every_extra() -> None:
    extras = dict(PROJECT["project"]["optional-dependencies"])
    (everything,) = extras.pop("all")
    assert Requirement(everything).extras == set(extras)


def test_the_wheel_holds_the_library_alone() -> None:
    build = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert build["packages"] == ["src/mercer"]


def test_every_module_is_in_a_layer() -> None:
    (layers,) = (
        contract["layers"]
        for contract in PROJECT["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    named = {name for layer in layers for name in re.findall(r"[\w.]+", layer)}
    modules = {
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for path in (ROOT / "src" / "mercer").rglob("*.py")
        if not path.stem.startswith("__")
    }
    alone = {m for m in modules if not any(f"{m}.".startswith(f"{n}.") for n in named)}
    assert not alone


def test_no_module_imports_the_studies() -> None:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    (sources,) = (
        contract["source_modules"]
        for contract in contracts
        if contract.get("forbidden_modules") == ["mercer_studies"]
    )
    assert sources == ["mercer"]
    assert "mercer_studies" not in SOURCE  # nor does an example in a docstring


def test_placeholders_of_addresses_are_on_the_checklist() -> None:
    urls = PROJECT["project"]["urls"]
    assert set(urls) >= {"Homepage", "Documentation", "Source", "Issues"}
    if any("mercer.invalid" in url for url in urls.values()):
        checklist = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        assert "mercer.invalid" in checklist.split("## A release")[1]


def test_commands_that_pages_and_workflows_name_are_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    files = [ROOT / ".devcontainer" / "devcontainer.json", ROOT / ".ci" / "run"]
    files += [*ROOT.glob("*.md"), *(ROOT / ".github").rglob("*.*")]
    files += [
        page for page in (ROOT / "docs").rglob("*.md") if "_build" not in str(page)
    ]
    command = re.compile(
        r"(?:^ {4}|^\$ |`|run: |&& |\")(?:MERCER_GALLERY=0 )?make ([a-z-]+)", re.M
    )
    named = {
        (str(file.relative_to(ROOT)), target)
        for file in files
        for target in command.findall(file.read_text(encoding="utf-8"))
    }
    assert {file for file, _ in named} > {".devcontainer/devcontainer.json"}
    assert {(file, target) for file, target in named if target not in targets} == set()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("goal", ["demo", "lint-only", "test-oldest"])
def test_environments_are_made_where_git_does_not_look(goal: str) -> None:
    """Make has variables of its own, and `?=` leaves those as they are."""
    done = subprocess.run(
        ["make", "-B", "-n", goal], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rooms = re.findall(r"-m venv (\S+)", done.stdout)
    assert rooms
    assert all(room.startswith(".venv") for room in rooms), rooms


def test_links_of_the_readme_can_be_made_absolute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    from absolute_links import absolute

    base = "https://host/blob/v1/"
    assert absolute("[a](docs/a.md#b)", base) == "[a](https://host/blob/v1/docs/a.md#b)"
    assert absolute("[a](https://other/a)", base) == "[a](https://other/a)"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", absolute(readme, base))
    assert links
    assert all(link.startswith(("https://", "#")) for link in links)
    for path in re.findall(r"\]\((?!https?:|#)([^)#]+)", readme):
        assert (ROOT / path).exists(), path


def test_citation_names_title_and_papers_with_authors() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert 'title: "Mercer: semi-supervised' in citation
    papers = citation.split("  - type: ")[1:]
    assert len(papers) == 5
    for paper in papers:
        assert all(f"\n    {key}:" in paper for key in ("title", "authors", "year"))
        assert "\n    collection-title:" in paper or "\n    journal:" in paper, paper
