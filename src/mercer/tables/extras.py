"""Packages that only some tables need."""

from importlib.util import find_spec

# Which extra brings a module, for messages.
EXTRAS = {
    "pandas": "tables",
    "pyarrow": "tables",
    "skrub": "tables",
    "PIL": "tables",
    "python_calamine": "tables",
    "openpyxl": "tables",
    "sqlalchemy": "databases",
    "duckdb": "databases",
}


def need(module: str, extra: str) -> None:
    """Raise, with the command that installs it, unless a module is there."""
    if find_spec(module) is None:
        raise ModuleNotFoundError(hint(module, extra), name=module)


def hint(module: str, extra: str | None = None) -> str:
    """Return what to do about a module that is not there.

    Examples
    --------
    >>> hint("pyarrow")
    'This needs the package pyarrow: pip install "mercer[tables]"'
    """
    extra = extra or EXTRAS.get(module.partition(".")[0])
    name = f'"mercer[{extra}]"' if extra else module.partition(".")[0]
    return f"This needs the package {module.partition('.')[0]}: pip install {name}"
