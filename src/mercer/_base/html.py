"""How results look in a notebook: a small table that a person can read."""

from dataclasses import fields, is_dataclass
from html import escape
from inspect import getdoc
from numbers import Integral, Real
from typing import Any

import numpy as np

N_SHOWN = 20  # rows of a table
_CELL = "padding:2px 12px 2px 0;text-align:left"
_DIM = "opacity:0.7"


class Shown:
    """Gives a dataclass an HTML view: its fields, or its rows if all are columns."""

    __slots__ = ()

    def _facts(self) -> dict[str, Any]:
        """Return what is shown, by name: the public fields, unless overridden."""
        assert is_dataclass(self)
        names = [field.name for field in fields(self)]
        return {name: getattr(self, name) for name in names if name[0] != "_"}

    def _title(self) -> str:
        """Return the line above the table."""
        return type(self).__name__

    def _repr_html_(self) -> str:
        said: dict[str, str] = meanings(type(self)) if is_dataclass(self) else {}
        return show(self._title(), self._facts(), said)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def meanings(record: type) -> dict[str, str]:
    """Return what the section Parameters of a class's docstring says of each name.

    Examples
    --------
    >>> from mercer.optim.ridge import RLS
    >>> meanings(RLS)["rank"]
    'Numerical rank of the features.'
    """
    found: dict[str, str] = {}
    lines = (getdoc(record) or "").partition("Parameters\n----------\n")[2].split("\n")
    name = ""
    for line in lines:
        if not line:
            break
        if line[0] == " ":
            found[name] = f"{found.get(name, '')} {line.strip()}".strip()
        else:
            name = line.partition(" : ")[0]
    return found


def show(title: str, facts: dict[str, Any], said: dict[str, str] | None = None) -> str:
    """Return a title and a table of facts; columns of one length become rows.

    Without such columns, the text `said` stands beside the fact.
    """
    said = said or {}
    columns = [np.asarray(value) for value in facts.values()]
    lengths = {c.shape for c in columns}
    if len(columns) > 1 and len(lengths) == 1 and columns[0].ndim == 1:
        rows = list(zip(*columns, strict=True))
        head = "".join(f"<th style='{_CELL}'>{words(name)}</th>" for name in facts)
        body = "".join(
            "<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows[:N_SHOWN]
        )
        more = f"{len(rows) - N_SHOWN:,} more rows" if len(rows) > N_SHOWN else ""
        return _page(title, f"<thead><tr>{head}</tr></thead>{body}", more)
    lines = "".join(_line(name, facts[name], said.get(name, "")) for name in facts)
    return _page(title, lines, "")


def words(name: str) -> str:
    """Return a field's name as words."""
    return escape(name.replace("_", " ").strip())


def brief(value: Any) -> str:
    """Return a value in few characters.

    Examples
    --------
    >>> brief(0.123456), brief(1e-9), brief(20000), brief(True)
    ('0.1235', '1e-09', '20,000', 'yes')
    >>> brief(np.array([1.0, 3.0]))
    '2 values from 1 to 3'
    """
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, Real):
        return f"{float(value):.4g}"
    if isinstance(value, np.ndarray) and value.ndim:
        shape = " x ".join(f"{n:,}" for n in value.shape)
        if value.size and value.dtype.kind in "fiu":
            return f"{shape} values from {brief(value.min())} to {brief(value.max())}"
        return f"{shape} values"
    if isinstance(value, tuple | list) and len(value) > 3:
        return f"{len(value):,} {type(value[0]).__name__}s"
    text = str(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _cell(value: Any) -> str:
    return f"<td style='{_CELL}'>{escape(brief(value))}</td>"


def _line(name: str, value: Any, said: str) -> str:
    note = f"<td style='{_CELL};{_DIM}'>{escape(said)}</td>" if said else ""
    head = f"<th style='{_CELL};font-weight:normal'>{words(name)}</th>"
    return f"<tr>{head}{_cell(value)}{note}</tr>"


def _page(title: str, table: str, note: str) -> str:
    foot = f"<small>{note}</small>" if note else ""
    return f"<div><strong>{escape(title)}</strong><table>{table}</table>{foot}</div>"
