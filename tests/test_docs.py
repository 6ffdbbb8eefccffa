"""What the documentation shows runs, and what it names exists."""

import contextlib
import doctest
import io
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import click
import pytest

from mercer.app.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
SITE = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if not {"_build", "gallery"} & set(page.relative_to(ROOT).parts)
]
PAGES = [
    *(
        ROOT / f"{name}.md"
        for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")
    ),
    *SITE,
]
SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A page may say that a snippet is not run here, and must say why.
NOT_RUN = re.compile(r"<!-- not run: .{10,}? -->\n+```python\n.*?^```$", re.M | re.S)
# What a page says that the snippet before prints is compared.
PRINTS = re.compile(r"\s*It prints `([^`]+)`\.")
COMMAND_LINE = re.compile(r"^(?: {4}|\$ )mercer ([^#\n`]+)", re.MULTILINE)


def by_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_named_functions_and_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`mercer\.([\w.]+)`", text):
        *path, last = name.split(".")
        module = import_module(".".join(["mercer", *path]))
        if not hasattr(module, last):
            import_module(f"mercer.{name}")
    for path in re.findall(r"`((?:tests|benchmarks|examples|docs)/[\w/.]+)`", text):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / path).exists() or path.startswith("gallery"), path


@pytest.mark.parametrize("page", SITE, ids=by_name)
def test_every_snippet_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Snippets of a page run in order and share their variables."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    run_snippets(page)


def run_snippets(page: Path) -> None:
    text = NOT_RUN.sub("", page.read_text(encoding="utf-8"))
    names: dict[str, object] = {"__name__": "snippet"}
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    for found in SNIPPET.finditer(text):
        code, line = found[1], text.count("\n", 0, found.start())
        if not code.startswith(">>>"):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, f"{by_name(page)}, snippet {line}", "exec"), names)
            if shown := PRINTS.match(text, found.end()):
                assert printed.getvalue().strip() == shown[1]
            continue
        test = doctest.DocTestParser().get_doctest(
            code, names, by_name(page), str(page), line
        )
        said: list[str] = []
        doctest.DocTestRunner(optionflags=flags).run(
            test, out=said.append, clear_globs=False
        )
        assert not said, "".join(said)
        names = test.globs


def test_every_snippet_of_the_readme_is_run_by_pytest() -> None:
    # README is collected as a doctest, so prompts are all that it needs.
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    snippets = [found[1] for found in SNIPPET.finditer(text)]
    assert snippets
    assert all(code.startswith(">>>") for code in snippets)


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_commands_and_options_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for line in COMMAND_LINE.findall(text):
        name, *words = line.split()
        assert name in COMMANDS or name.startswith("-"), line
        if name in COMMANDS:
            command: click.Command = import_module(COMMANDS[name]).command
            known = {flag for option in command.params for flag in option.opts}
            used = {word.partition("=")[0] for word in words if word.startswith("-")}
            assert used <= known, line


# Pages for users are short; figures beyond these go to docs/evidence.
LIMITS = {
    "few_labels.md": 1500,
    "trust.md": 1300,
    "studio.md": 1200,
    "guides/cluster.md": 600,
}


FRONT = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
SEARCHED = (
    "semi-supervised",
    "active learning",
    "weak label",
    "label propagation",
    "class imbalance",
    "hyperparameter",
    "calibrat",
    "label error",
    "embedding",
)


@pytest.mark.parametrize("word", SEARCHED)
def test_words_that_people_search_for_are_found(word: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert word in " ".join(readme.lower().split())
    fronts = [FRONT.search(page.read_text(encoding="utf-8")) for page in SITE]
    assert any(word in " ".join(f[0].lower().split()) for f in fronts if f), "no page"


GUIDES = [page for page in SITE if page.parent.name == "guides"]


@pytest.mark.parametrize("page", GUIDES, ids=by_name)
def test_every_guide_has_a_description(page: Path) -> None:
    front = FRONT.search(page.read_text(encoding="utf-8"))
    assert front
    assert "description:" in front[0]


@pytest.mark.parametrize(("page", "limit"), LIMITS.items())
def test_pages_for_users_are_short(page: str, limit: int) -> None:
    text = FRONT.sub("", (ROOT / "docs" / page).read_text(encoding="utf-8"))
    words = [word for word in text.split() if re.search(r"\w", word)]
    assert limit / 2 < len(words) <= limit, "move figures to docs/evidence"


def test_a_displayed_formula_closes_what_it_opens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nodes = pytest.importorskip("docutils.nodes")
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    mathml = import_module("mathml")
    for write, node in (
        (mathml._display, nodes.math_block(text=r"a \le \dots \le b")),
        (mathml._inline, nodes.math(text="a_1")),
    ):
        writer = SimpleNamespace(body=[])
        with pytest.raises(nodes.SkipNode):
            write(writer, node)
        ElementTree.fromstring("".join(writer.body))  # raises unless it is balanced


NUMBER = re.compile(r"\d+\.\d+")


def test_figures_of_the_table_of_methods_are_those_of_their_pages() -> None:
    page = ROOT / "docs" / "which.md"
    table = page.read_text(encoding="utf-8").split("## When not to use")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for row in rows:
        measured, _, script = row.strip(" |").rpartition(", ")
        link = re.search(r"\]\(([^)]+)\)", measured)
        assert link, row
        assert re.fullmatch(r"`benchmarks/\w+\.py`", script), row
        source = (page.parent / link[1].partition("#")[0]).read_text(encoding="utf-8")
        for number in NUMBER.findall(measured):
            assert number in source, f"{number} is not on {link[1]}"


def rows_of(page: str) -> dict[str, list[str]]:
    """Return the first table of a page that compares with baselines, by first cell."""
    text = (ROOT / page).read_text(encoding="utf-8")
    table = re.search(r"^\| (?:compared with|baseline) \|.*?\n\n", text, re.M | re.S)
    assert table, page
    lines = [line.strip("|").split("|") for line in table[0].splitlines()[2:]]
    return {name.strip(): [c.strip() for c in cells] for name, *cells in lines if name}


def test_the_first_table_is_that_of_the_measured_page() -> None:
    measured = rows_of("docs/few_labels.md")
    shown = rows_of("README.md")
    assert len(shown) >= 6
    assert shown == rows_of("docs/index.md")
    assert {name: measured[name][:2] for name in shown} == shown


def test_the_house_is_drawn_from_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    house = import_module("house")
    rooms = [name for layer in house.layers() for name in layer]
    picture = (ROOT / "docs/images/house.svg").read_text(encoding="utf-8")
    assert picture == house.draw(), "run python docs/house.py"
    assert re.findall(r'class="name"[^>]*>([^<]+)<', picture) == rooms
    folders = {path.parent.name for path in house.SOURCE.glob("*/__init__.py")}
    assert folders <= set(rooms)


def test_examples_of_the_architecture_pass_the_linters(tmp_path: Path) -> None:
    """Who copies the classes of the page into a module can commit it."""
    page = (ROOT / "docs/project/architecture.md").read_text(encoding="utf-8")
    lines = [
        line[4:]
        for found in SNIPPET.finditer(page)
        for line in found[1].splitlines()
        if line.startswith((">>> ", "... ", "..."))
    ]
    module = tmp_path / "own.py"
    module.write_text('"""Classes of your own."""\n\n' + "\n".join(lines) + "\n")
    assert not re.search(r"from mercer[\w.]*\.(base|_\w+) import", module.read_text())
    ruff = [sys.executable, "-m", "ruff"]
    config = str(ROOT / "pyproject.toml")
    # The page shows imports where they are needed.
    once = ["--ignore", "E402,I001,B018,F811"]
    for command in (
        [*ruff, "format", "-q", "--config", config, str(module)],
        [*ruff, "check", "-q", "--config", config, *once, str(module)],
        [sys.executable, "-m", "mypy", "--config-file", config, str(module)],
    ):
        pytest.importorskip(command[2])
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stdout + done.stderr


def test_examples_import_public_names_only() -> None:
    inside = re.compile(r"^(?:from|import) (mercer\.[\w.]+) import", re.MULTILINE)
    known = {"mercer.exceptions", "mercer.persist", "mercer.app.tables.reading"}
    for path in (ROOT / "examples").rglob("*.py"):
        for module in inside.findall(path.read_text(encoding="utf-8")):
            is_package = hasattr(import_module(module), "__path__")
            assert is_package or module in known, (path.name, module)
