"""The names a user types exist, are few at the top, and each is documented."""

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

import mercer
from mercer import UnifiedKernelMachine

MOST_AT_THE_TOP = 16
PACKAGES = (
    "",
    ".active",
    ".fewlabels",
    ".graphs",
    ".judging",
    ".kernels",
    ".learners",
    ".machines",
    ".model_selection",
    ".plotting",
    ".spectrum",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_documented(package: str) -> None:
    module = import_module("mercer" + package)
    assert sorted(module.__all__) == list(module.__all__)
    assert module.__all__
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name


@pytest.mark.parametrize("package", [name for name in PACKAGES if name])
def test_no_module_takes_the_place_of_a_public_name(package: str) -> None:
    """An import of a module sets its name in the package."""
    module = import_module("mercer" + package)
    inside = {found.name for found in pkgutil.iter_modules(module.__path__)}
    assert inside.isdisjoint(module.__all__)


def test_the_top_level_holds_a_handful_of_names() -> None:
    names = [n for n in mercer.__all__ if not inspect.ismodule(getattr(mercer, n))]
    assert "UnifiedKernelMachine" in names
    assert len(names) <= MOST_AT_THE_TOP


def test_subpackages_need_no_import_of_their_own() -> None:
    code = "import mercer; print(mercer.kernels.Polynomial.__module__)"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "mercer.kernels.parametric"


def public_things() -> dict[str, object]:
    return {
        name: getattr(import_module("mercer" + package), name)
        for package in PACKAGES
        for name in import_module("mercer" + package).__all__
    }


def related(thing: object) -> list[str]:
    section = re.search(
        r"\nSee Also\n-+\n(.*?)\n\n", f"{inspect.getdoc(thing)}\n\n", re.S
    )
    return re.findall(r"^([\w.]+) : ", section[1], re.M) if section else []


def test_names_under_see_also_exist() -> None:
    things = public_things() | of_the_reference()
    for thing in things.values():
        for name in related(thing):
            *home, last = name.split(".")
            if not home:
                assert last in things, name
            elif home[0] == "mercer":
                assert hasattr(import_module(".".join(home)), last), name
            else:
                assert hasattr(things[home[0]], last), name


def of_the_reference() -> dict[str, object]:
    """Return what the reference describes besides the names of packages."""
    code = (Path(__file__).parents[1] / "docs/_ext/reference.py").read_text("utf-8")
    lists = {
        ast.unparse(node.targets[0]): ast.literal_eval(node.value)
        for node in ast.parse(code).body
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call)
    }
    modules = [import_module(name) for name in lists["MODULES"]]
    places = [
        (import_module(f"{package}.{place.split('.')[0]}"), place.split(".")[1])
        for package, names in lists["APPLICATION"].items()
        for place in names
    ]
    places += [
        (module, name)
        for module in modules
        for name, thing in vars(module).items()
        if getattr(thing, "__module__", "") == module.__name__ and name[0] != "_"
    ]
    return {name: getattr(module, name) for module, name in places}


def documented() -> dict[str, object]:
    """Return public classes and functions of ours, without errors and warnings."""
    return {
        name: thing
        for name, thing in (public_things() | of_the_reference()).items()
        if inspect.isfunction(thing)
        or (inspect.isclass(thing) and not issubclass(thing, BaseException))
    }


def test_public_names_say_what_is_related_to_them() -> None:
    assert [name for name, thing in documented().items() if not related(thing)] == []


def test_public_names_have_an_example() -> None:
    """What is subclassed or returned says where its example is."""
    shown = re.compile(r"^Examples\n-+\n|has\s+an\s+example\.", re.MULTILINE)
    words = {name: inspect.getdoc(thing) or "" for name, thing in documented().items()}
    assert [name for name, text in words.items() if not shown.search(text)] == []


SECTION = re.compile(
    r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
ENTRY = re.compile(r"^(\w[\w*, ]*?)(?: : ([^\n]*))?$(\n {4}\S)?", re.MULTILINE)
FIELD = re.compile(r"^ {4}(\w+): [^#\n]*# \S", re.MULTILINE)


def described(thing: type) -> set[str]:
    """Return the parameters of a class that have words, not only a type."""
    names = set()
    for body in SECTION.findall(inspect.getdoc(thing) or ""):
        for entry, kind, words in ENTRY.findall(body):
            if words or kind.startswith("as in"):
                names |= set(entry.replace(" ", "").split(","))
    source = inspect.getsource(thing).split("    def ")[0]
    return names | set(FIELD.findall(source))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_parameter_of_a_class_is_described(package: str) -> None:
    module = import_module("mercer" + package)
    for name in module.__all__:
        thing = getattr(module, name)
        own = inspect.isclass(thing) and thing.__module__.startswith("mercer")
        if not own or issubclass(thing, BaseException):
            continue
        asked = set(inspect.signature(thing).parameters) - {"args", "kwargs"}
        assert asked <= described(thing), (name, asked - described(thing))


def test_a_parameter_without_words_is_found() -> None:
    class Half:
        """One.

        Parameters
        ----------
        a : int
            Words.
        b, c : as in `One`
        d : int
        """

    assert described(Half) == {"a", "b", "c"}


def methods_of(thing: type) -> dict[str, FunctionType]:
    """Return public methods of a class, those that it inherits from ours included."""
    found = {name: getattr(thing, name, None) for name in dir(thing)}
    plain = {name: getattr(x, "__func__", x) for name, x in found.items()}
    return {
        name: method
        for name, method in plain.items()
        if isinstance(method, FunctionType)
        and method.__module__.startswith("mercer")
        and not name.startswith("_")
    }


def unnamed(function: Callable[..., object], text: str) -> set[str]:
    """Return the parameters that a docstring does not name."""
    asked = set(inspect.signature(function).parameters) - {"self", "cls"}
    return {name for name in asked if not re.search(rf"(?<!\w){name}(?!\w)", text)}


def test_functions_and_methods_name_their_parameters() -> None:
    missing = {}
    for name, thing in documented().items():
        methods = methods_of(thing) if inspect.isclass(thing) else {"": thing}
        for method, function in methods.items():
            words = inspect.getdoc(getattr(thing, method) if method else thing) or ""
            if not words or unnamed(function, words):
                missing[f"{name}.{method}"] = unnamed(function, words)
    assert missing == {}


def test_a_parameter_without_a_name_is_found() -> None:
    def half(X: object, n: int) -> None:
        """Return X."""

    class Inherits(UnifiedKernelMachine): ...

    assert unnamed(half, half.__doc__ or "") == {"n"}
    assert {"fit", "predict", "ask", "score"} <= set(methods_of(Inherits))
