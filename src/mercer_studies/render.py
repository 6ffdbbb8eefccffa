"""Writing a table down: Markdown, CSV, HTML and a picture."""

import csv
import html
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


STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem;
  padding: 0 1rem }
div { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #8884; text-align: right;
  white-space: nowrap }
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
    several = len(_numbers_of_splits(table)) > 1
    body = []
    for row in table.rows:
        cells = []
        for column in table.columns:
            cell = table.cells[row, column]
            ours, theirs = _both(cell, study.decimals, count=several)
            cells.append(
                f'<td class="{cell.verdict}">{html.escape(ours)}'
                f"<small>{html.escape(theirs)}</small></td>"
            )
        body.append(f"<tr><th>{html.escape(row)}</th>{''.join(cells)}</tr>")
    compared = ""
    if text := summary(table):
        compared = f"<p>Print is below ours. {LEGEND}</p><p>{html.escape(text)}</p>"
    worse = _list("Worse than print", worse_cells(table))
    known = _list("What to know", [*table.notes, *study.deviations])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{heading}</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{STYLE}</style><h1>{heading}</h1>"
        f"<div><table><thead><tr><th></th>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
        f"<p>{html.escape(how_many(table))}</p>{compared}{worse}{known}</html>\n"
    )


def _list(title: str, texts: list[str]) -> str:
    if not texts:
        return ""
    items = "".join(f"<li>{html.escape(text)}</li>" for text in texts)
    return f"<h2>{title}</h2><ul>{items}</ul>"


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
    """Write CSV, Markdown, HTML and a picture; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"csv": to_csv(table), "md": to_markdown(table), "html": to_html(table)}
    paths = []
    for suffix, text in texts.items():
        path = folder / f"{table.study.id}.{suffix}"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    picture = folder / f"{table.study.id}.png"
    write_picture(table, results, picture, dpi=130)
    return [*paths, picture]
