"""Reference pages written from the packages: no public name can be missing."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

PACKAGES = (
    "mercer",
    "mercer.active",
    "mercer.fewlabels",
    "mercer.graphs",
    "mercer.judging",
    "mercer.kernels",
    "mercer.learners",
    "mercer.machines",
    "mercer.model_selection",
    "mercer.evidence.pairs",
    "mercer.plotting",
    "mercer.spectrum",
)
MODULES = (
    "mercer.model.advice",
    "mercer.learners.clustering",
    "mercer.exceptions",
    "mercer.evidence.sources",
    "mercer.judging.explanation",
    "mercer.judging.sources",
    "mercer.persist",
)
# Names of the application, where they are at home; its packages export nothing.
APPLICATION = {
    "mercer.app.tables": (
        "learning.learn",
        "learning.TableResult",
        "session.Session",
        "parquet_parts.learn_parts",
        "reading.read_table",
        "table.Table",
        "encoding.TableEncoder",
        "task.Task",
    ),
    "mercer.app.studio": ("notebook.label", "from_file.open_studio"),
}
# The gallery begins with what most people do.
EXAMPLES = (
    "decision",
    "session",
    "texts",
    "images",
    "sources",
    "asking",
    "probabilities",
    "ten_labels",
    "pairs",
    "spectrum",
    "kernel_selection",
    "influence",
)
# A field of a dataclass or named tuple, with the comment that says what it is.
FIELD = re.compile(
    r"^    (\w+): ([^#\n]*?)(?: = [^#\n]+?)?(?:  # (.+))?$", re.MULTILINE
)


class ByUse:
    """Sort key of the gallery, by `EXAMPLES`; a script must be among them."""

    def __init__(self, src_dir: str) -> None:
        """Take the folder, as sphinx-gallery asks for."""

    def __call__(self, filename: str) -> int:
        """Return the place of a script."""
        return EXAMPLES.index(filename.removeprefix("plot_").removesuffix(".py"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for them."""
    app.connect("config-inited", _write_pages)
    app.connect("source-read", _list_packages)
    app.connect("autodoc-skip-member", _skip_what_others_wrote)
    app.connect("autodoc-process-docstring", _describe_fields, priority=400)
    return {"parallel_read_safe": True}


def _skip_what_others_wrote(
    _app: Sphinx, _what: str, name: str, thing: Any, skip: bool, _options: Any
) -> bool:
    """Leave out what classes inherit from scikit-learn: it is documented there."""
    home = getattr(thing, "__module__", None) or ""
    if name.startswith("set_") and name.endswith("_request"):
        return True
    return skip or (bool(home) and not home.startswith("mercer"))


def _describe_fields(
    _app: Sphinx, what: str, _name: str, thing: Any, _options: Any, lines: list[str]
) -> None:
    """List the fields of a result under its first words, from their comments."""
    if what == "class":
        lines += described_fields(thing, "\n".join(lines))


def described_fields(thing: Any, words: str) -> list[str]:
    """Return the section "Attributes" of a class whose fields have comments."""
    is_record = hasattr(thing, "__dataclass_fields__") or hasattr(thing, "_fields")
    if not is_record or "Attributes\n---" in words:
        return []
    lines = ["", "Attributes", "----------"]
    body = inspect.getsource(thing).split("    def ")[0]
    for name, kind, comment in FIELD.findall(body):
        if not name.startswith("_"):
            plain = re.sub(r"([|*]|_\b)", r"\\\1", comment)
            lines += [f"{name} : {kind.strip()}", f"    {plain}"]
    return lines if len(lines) > 3 else []


def _write_pages(app: Sphinx, _config: Any) -> None:
    folder = Path(app.srcdir) / "api"
    for package in PACKAGES:
        _keep(folder / f"{package}.rst", _package_page(package))
    for module in MODULES:
        _keep(folder / f"{module}.rst", _module_page(module))
    for package, names in APPLICATION.items():
        text = _title(package, import_module(package).__doc__ or "")
        text += f".. currentmodule:: {package}\n\n.. autosummary::\n"
        text += "   :toctree: generated\n   :nosignatures:\n\n"
        text += "".join(f"   {name}\n" for name in names)
        _keep(folder / f"{package}.rst", text)
    solvers = [
        f"mercer.optim.{module.name}"
        for module in pkgutil.iter_modules(import_module("mercer.optim").__path__)
        if not module.name.startswith("_")
    ]
    text = _title("mercer.optim", "Solvers on plain arrays.")
    _keep(folder / "mercer.optim.rst", text + "".join(map(_section, solvers)))


def _list_packages(_app: Sphinx, page: str, source: list[str]) -> None:
    """Put a table of all packages, with their first sentences, into the index."""
    if page != "api/index":
        return
    lines = ["| package | contents |", "|---|---|"]
    for name in sorted((*PACKAGES, *MODULES, *APPLICATION, "mercer.optim")):
        first = (import_module(name).__doc__ or "").strip().partition("\n\n")[0]
        lines.append(f"| [`{name}`]({name}.rst) | {' '.join(first.split())} |")
    source[0] = source[0].replace("% packages", "\n".join(lines))


def _package_page(package: str) -> str:
    """List the names of a package; each is described once, where it is at home."""
    module = import_module(package)
    names = [n for n in module.__all__ if not inspect.ismodule(getattr(module, n))]
    at_home = [n for n in names if _home(package, n) == package]
    text = _title(package, module.__doc__ or "") + f".. currentmodule:: {package}\n\n"
    if at_home:
        table = "\n".join(f"   {name}" for name in at_home)
        text += ".. autosummary::\n   :toctree: generated\n   :nosignatures:\n"
        text += f"\n{table}\n\n"
    others = [n for n in names if n not in at_home]
    if others:
        text += "Described in their subpackages:\n\n"
        for name in others:
            home = _home(package, name)
            text += f"* :py:obj:`{package}.{name} <{home}.{name}>` of ``{home}``\n"
    return text


def _home(package: str, name: str) -> str:
    thing = getattr(import_module(package), name)
    for other in (*MODULES, *PACKAGES):
        if other != "mercer" and getattr(import_module(other), name, None) is thing:
            defined = getattr(thing, "__module__", other)
            if other in PACKAGES or other == defined:
                return other
    return package


def _module_page(module: str) -> str:
    return _title(module, "") + f".. automodule:: {module}\n   :members:\n"


def _section(module: str) -> str:
    line = "-" * len(module)
    return f"\n{module}\n{line}\n\n.. automodule:: {module}\n   :members:\n"


def _title(name: str, words: str) -> str:
    line = "=" * len(name)
    return f"{name}\n{line}\n\n{words.strip()}\n\n"


def _keep(path: Path, text: str) -> None:
    # Written only if it changed, so that a second build reads what it has.
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
