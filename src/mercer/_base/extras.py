"""Packages that only some parts of Mercer need."""

from importlib import import_module
from typing import Any


def require(name: str, *, extra: str, purpose: str) -> Any:
    """Import an optional package, or name the extra that installs it.

    Parameters
    ----------
    name : str
        Package to import.
    extra : str
        Extra of Mercer that installs it.
    purpose : str
        What needs it; the error message starts with this.

    Returns
    -------
    module
        The package.

    Examples
    --------
    >>> require("no_such_package", extra="app", purpose="The command line")
    Traceback (most recent call last):
    ImportError: The command line needs no_such_package: pip install "mercer[app]"
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name != package:
            raise
        msg = f'{purpose} needs {package}: pip install "mercer[{extra}]"'
        raise ImportError(msg) from error
