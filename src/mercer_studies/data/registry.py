"""The data sets Mercer knows: a table in ``registry.toml``."""

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One data set: where it comes from and how its arrays are checked."""

    title: str
    page: str  # where the original lives
    licence: str
    note: str  # differences from what the papers used
    digest: str  # `mercer_studies.data.arrays.digest` of the arrays
    aliases: Sequence[str] = ()
    recipe: str | None = None  # None: the original cannot be converted for certain
    urls: Sequence[str] = ()


@cache
def registry() -> Mapping[str, Entry]:
    """Return every entry by name."""
    text = files("mercer_studies.data").joinpath("registry.toml").read_text("utf-8")
    rows: dict[str, dict[str, Any]] = tomllib.loads(text)
    return MappingProxyType({name: Entry(**row) for name, row in rows.items()})


def names() -> list[str]:
    """Return the names that `load` knows.

    Examples
    --------
    >>> from mercer_studies.data import names
    >>> names()[:3]
    ['a1a', 'a2a', 'a3a']
    """
    return sorted(registry())


def canonical_name(name: str) -> str:
    """Return the registered name of a name or alias."""
    known = {alias: own for own, e in registry().items() for alias in (own, *e.aliases)}
    if name not in known:
        close = difflib.get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        msg = f"No data set {name!r}: {hint}mercer_studies.data.names() lists them all."
        raise ValueError(msg)
    return known[name]
