"""Names of a package that are imported when they are first used."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach_stub(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    Parameters
    ----------
    package, file : str
        ``__name__`` and ``__file__`` of the package. The stub beside it,
        ``__init__.pyi``, says what comes from where: ``from .a.b import c as c``, or
        ``from . import d as d`` for a module. Two dots lead to the package above.
    """
    homes: dict[str, tuple[str, str]] = {}
    for node in ast.parse(Path(file).with_suffix(".pyi").read_text()).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                parent = package.rsplit(".", node.level - 1)[0]
                home = f"{parent}.{node.module}" if node.module else parent
                homes[alias.asname or alias.name] = home, alias.name

    def get(name: str) -> Any:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        home, attribute = homes[name]
        if home == package:  # a module of this package
            return import_module(f"{home}.{attribute}")
        found = import_module(home)
        if not hasattr(found, attribute):
            return import_module(f"{home}.{attribute}")
        return getattr(found, attribute)

    names = sorted(homes)
    return get, lambda: list(names), names
