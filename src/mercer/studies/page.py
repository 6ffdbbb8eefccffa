"""One page of all tables, from what has really been run."""

from collections.abc import Sequence
from dataclasses import replace

from mercer.studies.runner import run_study
from mercer.studies.study import Results, Study
from mercer.studies.table import Table, make_table, to_markdown

HEAD = """# Reproduction

Made by `mercer reproduce --page` from finished runs alone. Every cell has ours and, in
parentheses, the figure printed in the paper.
"""


def finished(study: Study) -> tuple[int, int, Results]:
    """Return how many jobs have run, of how many, and their results; run none."""
    return next(run_study(study))


def reproduction_page(studies: Sequence[Study]) -> str:
    """Return the page in Markdown.

    Tables of which all jobs have run are counted in the summary; of the others the
    page shows what there is and says how much is missing.
    """
    parts, tables, states = [], [], []
    for study in studies:
        done, total, results = finished(study)
        name = f"{study.paper} {study.name}"
        state = "complete" if done == total else f"{done} of {total} jobs have run"
        minutes = "" if study.minutes is None else f"{study.minutes:g}"
        states.append(f"| {name} | {study.title} | {minutes} | {state} |")
        if done == 0:
            continue
        table = make_table(study, {row: runs for row, runs in results.items() if runs})
        table = replace(table, rows=tuple(filter(table.has_run, table.rows)))
        if done == total:
            tables.append(table)
        text = to_markdown(table).replace("### ", "## ", 1)
        note = "" if done == total else f"\n**Not complete: {state}.**\n"
        parts.append(text + note + _worse(table))
    head = "| study | what | minutes of one core | state |"
    listed = [head, "|---|---|---|---|", *states]
    return "\n".join([HEAD, _summary(tables), "", *listed, "", *parts])


def _summary(tables: list[Table]) -> str:
    counts = [table.counts() for table in tables]
    if not counts:
        return "No table is complete."
    total = {what: sum(c[what] for c in counts) for what in counts[0]}
    cells = ", ".join(f"{n} {what}" for what, n in total.items())
    return f"Cells of the complete tables: {cells}."


def _worse(table: Table) -> str:
    worse = [
        f"{row} / {column}"
        for (row, column), cell in table.cells.items()
        if cell.verdict == "worse"
    ]
    if not worse:
        return ""
    reasons = table.study.remarks or ("We have no explanation for them.",)
    lines = [f"Worse than print: {'; '.join(worse)}.", *reasons]
    return "\n" + "\n".join(lines) + "\n"
