"""A table of ours next to theirs: comparison, and writing it down."""

import csv
import html
import math
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from mercer.studies.study import Figure, Results, Study

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

    def counts(self) -> dict[str, int]:
        """How many cells with a printed figure have which verdict."""
        compared = [c for c in self.cells.values() if c.printed and c.mean is not None]
        verdicts = [cell.verdict for cell in compared]
        within = [c for c in compared if _within_deviation(c)]
        return {
            "compared": len(compared),
            "within the printed deviation": len(within),
            "better": sum(v == "better" for v in verdicts),
            "worse": sum(v in ("worse", "differs") for v in verdicts),
        }

    def summary(self) -> str:
        """Return the counts as a sentence."""
        return ", ".join(f"{n} {what}" for what, n in self.counts().items())


def _within_deviation(cell: Cell) -> bool:
    if cell.printed is None or cell.mean is None or cell.printed.std is None:
        return False
    return abs(cell.mean - cell.printed.mean) <= cell.printed.std


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
    theirs = (printed.std or 0.0) / math.sqrt(printed.splits or n)
    error = math.hypot((std or 0.0) / math.sqrt(n), theirs)
    difference = mean - printed.mean
    # Print is rounded: half a unit of its last shown place is no difference.
    slack = 0.005
    if abs(difference) <= error + slack:
        return "agrees"
    if abs(difference) <= 2 * error + slack:
        return "near"
    if better is None:
        return "differs"
    return "better" if (difference > 0) == (better == "higher") else "worse"


def _text(mean: float | None, std: float | None, decimals: int) -> str:
    if mean is None:
        return "–"
    text = f"{mean:.{decimals}f}"
    return text if std is None else f"{text} ± {std:.{decimals}f}"


def _both(cell: Cell, decimals: int) -> tuple[str, str]:
    ours = _text(cell.mean, cell.std, decimals)
    mark = MARKS[cell.verdict]
    theirs = ""
    if cell.printed is not None:
        theirs = _text(cell.printed.mean, cell.printed.std, decimals)
    return f"{ours} {mark}".rstrip(), theirs


def to_markdown(table: Table) -> str:
    """Return the table with its summary and deviations; print is in parentheses."""
    study = table.study
    lines = [f"### {study.paper} {study.name}: {study.title}", ""]
    lines += [
        "| | " + " | ".join(table.columns) + " |",
        "|---" * (len(table.columns) + 1) + "|",
    ]
    for row in table.rows:
        texts = []
        for column in table.columns:
            ours, theirs = _both(table.cells[row, column], study.decimals)
            texts.append(f"{ours} ({theirs})" if theirs else ours)
        lines.append(f"| {row} | " + " | ".join(texts) + " |")
    splits = sorted({c.splits for c in table.cells.values() if c.splits})
    shown = " to ".join(str(s) for s in dict.fromkeys([splits[0], splits[-1]]))
    noun = "split" if shown == "1" else "splits"
    lines += ["", f"Ours: mean ± standard deviation over {shown} {noun} (print)."]
    lines += [LEGEND, "", f"Cells: {table.summary()}.", ""]
    lines += [f"- {text}" for text in (*table.notes, *study.deviations)]
    return "\n".join(lines).rstrip() + "\n"


def to_csv(table: Table) -> str:
    """Return one line per cell."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = "row column mean std splits printed_mean printed_std verdict"
    writer.writerow(names.split())
    for (row, column), cell in table.cells.items():
        printed = cell.printed
        theirs = [printed and printed.mean, printed and printed.std, cell.verdict]
        writer.writerow([row, column, cell.mean, cell.std, cell.splits, *theirs])
    return out.getvalue()


STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem;
  padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #8884; text-align: right }
th:first-child { text-align: left }
small { opacity: .65; display: block }
.better { color: #157f3b } .worse, .differs { color: #c0392b }
@media (prefers-color-scheme: dark) {
  .better { color: #5ccf83 } .worse, .differs { color: #ff8d7e } }
"""


def to_html(table: Table) -> str:
    """Return a page that stands on its own."""
    study = table.study
    heading = html.escape(f"{study.paper} {study.name}: {study.title}")
    head = "".join(f"<th>{html.escape(c)}</th>" for c in table.columns)
    body = []
    for row in table.rows:
        cells = []
        for column in table.columns:
            cell = table.cells[row, column]
            ours, theirs = _both(cell, study.decimals)
            cells.append(
                f'<td class="{cell.verdict}">{html.escape(ours)}'
                f"<small>{html.escape(theirs)}</small></td>"
            )
        body.append(f"<tr><th>{html.escape(row)}</th>{''.join(cells)}</tr>")
    texts = (*table.notes, *study.deviations)
    notes = "".join(f"<li>{html.escape(text)}</li>" for text in texts)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{heading}</title>'
        f"<style>{STYLE}</style><h1>{heading}</h1>"
        f"<table><thead><tr><th></th>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
        f"<p>Ours above, print below. {html.escape(LEGEND)}</p>"
        f"<p>Cells: {html.escape(table.summary())}.</p><ul>{notes}</ul></html>\n"
    )


def draw(table: Table, figure: Any) -> None:
    """Draw ours and print as dots with bars of one deviation, a panel per row."""
    rows = [row for row in table.rows if table.has_run(row)]
    axes = figure.subplots(1, len(rows), sharey=True, squeeze=False)[0]
    places = np.arange(len(table.columns))[::-1]
    for ax, row in zip(axes, rows, strict=True):
        for place, column in zip(places, table.columns, strict=True):
            cell = table.cells[row, column]
            if cell.mean is not None:
                ax.errorbar(cell.mean, place + 0.12, xerr=cell.std, fmt="o", color="C0")
            if cell.printed is not None:
                ax.errorbar(
                    cell.printed.mean,
                    place - 0.12,
                    xerr=cell.printed.std,
                    fmt="s",
                    color="C1",
                )
        ax.set_title(row, fontsize=9)
        ax.set_yticks(places, table.columns)
        ax.grid(axis="x", alpha=0.3)
    figure.suptitle(f"{table.study.title}   ● Mercer   ■ print", fontsize=10)


def write(table: Table, results: Results, folder: Path) -> list[Path]:
    """Write CSV, Markdown, HTML and a picture; return their paths."""
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    texts = {"csv": to_csv(table), "md": to_markdown(table), "html": to_html(table)}
    paths = []
    for suffix, text in texts.items():
        path = folder / f"{table.study.id}.{suffix}"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    with mpl.rc_context({"backend": "Agg"}):
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(
            figsize=(2 + 1.8 * len(table.rows), 1 + 0.5 * len(table.columns)),
            layout="constrained",
        )
        if table.study.draw is None:
            draw(table, figure)
        else:
            table.study.draw(figure, table.study.collected(results))
        path = folder / f"{table.study.id}.png"
        figure.savefig(path, dpi=130)
    return [*paths, path]
