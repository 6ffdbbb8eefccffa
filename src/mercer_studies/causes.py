"""Why cells come out worse than print, as far as that is known."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources

from mercer_studies.table import Table

NOT_EXPLAINED = "We do not know why."


@dataclass(frozen=True)
class Cause:
    """Why some cells of a study come out worse than in print.

    Rows and columns are patterns as in a shell: ``*`` stands for anything.
    """

    study: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    text: str
    explained: bool = True

    def covers(self, row: str, column: str) -> bool:
        """Tell whether the sentence is about a cell."""
        return any(fnmatchcase(row, p) for p in self.rows) and any(
            fnmatchcase(column, p) for p in self.columns
        )


@dataclass(frozen=True)
class Group:
    """Worse cells of a table with one cause."""

    cells: tuple[tuple[str, str], ...]
    text: str
    explained: bool

    def sentence(self) -> str:
        """Return the cells, row by row, and what there is to say about them."""
        rows: dict[str, list[str]] = {}
        for row, column in self.cells:
            rows.setdefault(row, []).append(column)
        listed = "; ".join(f"{row}: {', '.join(cs)}" for row, cs in rows.items())
        return f"{listed}. {self.text}"


@cache
def known_causes() -> tuple[Cause, ...]:
    """Read causes.toml; of two that cover a cell the first counts."""
    source = resources.files("mercer_studies") / "causes.toml"
    with source.open("rb") as file:
        return tuple(
            Cause(
                study=entry["study"],
                rows=tuple(entry.get("rows", ["*"])),
                columns=tuple(entry.get("columns", ["*"])),
                text=" ".join(entry["text"].split()),
                explained=entry.get("explained", True),
            )
            for entry in tomllib.load(file)["cause"]
        )


def explain(table: Table, causes: Iterable[Cause] | None = None) -> list[Group]:
    """Group the worse cells of a table by their cause; those without one come last."""
    known = known_causes() if causes is None else causes
    own = [cause for cause in known if cause.study == table.study.id]
    found: dict[Cause | None, list[tuple[str, str]]] = {c: [] for c in (*own, None)}
    for row, column in table.worse():
        cause = next((c for c in own if c.covers(row, column)), None)
        found[cause].append((row, column))
    return [
        Group(tuple(cells), NOT_EXPLAINED, explained=False)
        if cause is None
        else Group(tuple(cells), cause.text, cause.explained)
        for cause, cells in found.items()
        if cells
    ]
