"""Writing a table down: Markdown, CSV and a picture."""

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from mercer_studies.causes import explain
from mercer_studies.study import Results
from mercer_studies.table import LEGEND, MARKS, Cell, Table


def _text(mean: float | None, std: float | None, decimals: int) -> str:
    if mean is None:
        return "–"
    text = f"{mean:.{decimals}f}"
    return text if std is None else f"{text} ± {std:.{decimals}f}"


def _both(cell: Cell, decimals: int, *, count: bool) -> tuple[str, str]:
    ours = _text(cell.mean, cell.std, decimals)
    if count and cell.splits:
        ours += f" [{cell.splits}]"
    theirs = ""
    if cell.printed is not None:
        theirs = _text(cell.printed.mean, cell.printed.std, decimals)
    return f"{ours} {MARKS[cell.verdict]}".rstrip(), theirs


def _numbers_of_splits(table: Table) -> list[int]:
    cells = (table.cells[row, c] for row in table.rows for c in table.columns)
    return sorted({cell.splits for cell in cells if cell.splits})


def how_many(table: Table) -> str:
    """Say over how many splits the means are."""
    numbers = _numbers_of_splits(table)
    over = f" over {numbers[0]} splits"
    if numbers == [1]:
        over = " over 1 split"
    if len(numbers) > 1:
        over = " [splits]"
    theirs = " (print)" if table.counts()["compared"] else ""
    return f"Ours: mean ± standard deviation{over}{theirs}."


def summary(table: Table) -> str:
    """Return the counts as a sentence; empty where nothing is compared."""
    counts = table.counts()
    if not counts["compared"]:
        return ""
    return "Cells: " + ", ".join(f"{n} {what}" for what, n in counts.items()) + "."


def grid(table: Table) -> list[str]:
    """Return the lines of the table in Markdown, print in parentheses."""
    several = len(_numbers_of_splits(table)) > 1
    lines = [
        "| | " + " | ".join(table.columns) + " |",
        "|---" * (len(table.columns) + 1) + "|",
    ]
    for row in table.rows:
        texts = []
        for column in table.columns:
            cell = table.cells[row, column]
            ours, theirs = _both(cell, table.study.decimals, count=several)
            texts.append(f"{ours} ({theirs})" if theirs else ours)
        lines.append(f"| {row} | " + " | ".join(texts) + " |")
    return lines


def worse_cells(table: Table) -> list[str]:
    """Return a sentence for each cause of worse cells."""
    return [group.sentence() for group in explain(table)]


def to_markdown(table: Table) -> str:
    """Return the table with its summary, worse cells and deviations."""
    study = table.study
    lines = [f"### {study.paper} {study.name}: {study.title}", "", *grid(table), ""]
    lines += [how_many(table), ""]
    if text := summary(table):
        lines += [LEGEND, text, ""]
    if worse := worse_cells(table):
        lines += ["Worse than print:", "", *(f"- {text}" for text in worse), ""]
    if texts := (*table.notes, *study.deviations):
        lines += ["What to know:", "", *(f"- {text}" for text in texts)]
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


def write_picture(table: Table, results: Results, path: Path, *, dpi: int) -> None:
    """Draw the study's own picture, or the table."""
    import matplotlib as mpl

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
        figure.savefig(path, dpi=dpi)


def write(table: Table, results: Results, folder: Path) -> list[Path]:
    """Write CSV, Markdown and a picture; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for suffix, text in (("csv", to_csv(table)), ("md", to_markdown(table))):
        path = folder / f"{table.study.id}.{suffix}"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    picture = folder / f"{table.study.id}.png"
    write_picture(table, results, picture, dpi=130)
    return [*paths, picture]
