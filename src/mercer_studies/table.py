"""A table of ours next to theirs: means, deviations and the comparison."""

import math
from dataclasses import dataclass

import numpy as np

from mercer_studies.study import Figure, Results, Study

MARKS = {
    "agrees": "=",
    "near": "~",
    "better": "+",
    "worse": "-",
    "differs": "#",
    "ours": "",
    "missing": "",
}
LEGEND = (
    "= within one combined standard error of print, ~ within two; beyond that "
    "+ better, - worse, # different. Unmarked: the paper prints no figure."
)


@dataclass(frozen=True)
class Cell:
    """Ours and theirs for one row and column."""

    mean: float | None
    std: float | None
    splits: int
    printed: Figure | None
    verdict: str  # a key of MARKS

    @property
    def within(self) -> bool:
        """Whether ours lies within the printed deviation, or ours if none is."""
        if self.printed is None or self.mean is None:
            return False
        spread = self.std if self.printed.std is None else self.printed.std
        return abs(self.mean - self.printed.mean) <= (spread or 0.0) + SLACK


SLACK = 0.005  # print is rounded: half a unit of its last place does not count


@dataclass(frozen=True)
class Table:
    """Everything a study found."""

    study: Study
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]
    notes: tuple[str, ...] = ()

    def has_run(self, row: str) -> bool:
        """Tell whether any cell of a row is ours."""
        return any(self.cells[row, column].splits for column in self.columns)

    def worse(self) -> list[tuple[str, str]]:
        """Rows and columns of the cells that come out worse than print."""
        return [key for key, cell in self.cells.items() if cell.verdict == "worse"]

    def counts(self) -> dict[str, int]:
        """How many cells with a printed figure have which verdict."""
        compared = [c for c in self.cells.values() if c.printed and c.mean is not None]
        verdicts = [cell.verdict for cell in compared]
        return {
            "compared": len(compared),
            "within the printed deviation": sum(c.within for c in compared),
            "better": verdicts.count("better"),
            "worse": verdicts.count("worse"),
        }


def make_table(study: Study, results: Results) -> Table:
    """Aggregate results over splits and compare them with print."""
    printed = study.printed()
    results = study.collected(results)
    rows = list(dict.fromkeys([*results, *(row for row, _ in printed)]))
    ours = [column for splits in results.values() for s in splits for column in s]
    columns = list(dict.fromkeys([*(column for _, column in printed), *ours]))
    cells = {
        (row, column): _cell(
            [s[column] for s in results.get(row, []) if column in s],
            printed.get((row, column)),
            study.better,
        )
        for row in rows
        for column in columns
    }
    notes = () if study.notes is None else tuple(study.notes(results))
    return Table(study, tuple(rows), tuple(columns), cells, notes)


def _cell(values: list[float], printed: Figure | None, better: str | None) -> Cell:
    if not values:
        return Cell(None, None, 0, printed, "missing")
    mean = float(np.mean(values))
    std = float(np.std(values, ddof=1)) if len(values) > 1 else None
    verdict = "ours"
    if printed is not None:
        verdict = _verdict(mean, std, len(values), printed, better)
    return Cell(mean, std, len(values), printed, verdict)


def _verdict(
    mean: float, std: float | None, n: int, printed: Figure, better: str | None
) -> str:
    """Compare with print; an unknown deviation is taken to be the other's.

    Where neither deviation nor number of runs is printed, print counts as exact.
    """
    ours = printed.std if std is None else std
    theirs = std if printed.std is None else printed.std
    error = (ours or 0.0) / math.sqrt(n)
    if printed.splits is not None:
        error = math.hypot(error, (theirs or 0.0) / math.sqrt(printed.splits))
    difference = mean - printed.mean
    if abs(difference) <= error + SLACK:
        return "agrees"
    if abs(difference) <= 2 * error + SLACK:
        return "near"
    if better is None:
        return "differs"
    return "better" if (difference > 0) == (better == "higher") else "worse"
