"""One page of all tables, from what has really been run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mercer_studies.causes import explain
from mercer_studies.registry import PAPERS
from mercer_studies.render import (
    grid,
    how_many,
    summary,
    worse_cells,
    write_picture,
)
from mercer_studies.runner import run_study
from mercer_studies.study import Results, Study
from mercer_studies.table import LEGEND, Table, make_table

HEAD = f"""# Reproduction

Made by `python -m mercer_studies reproduce --page` from finished runs alone. Every cell
has ours and, in parentheses, the figure printed in the paper.
{LEGEND}

A cell can lie within the printed deviation and yet be marked + or -: a mark compares
means and their standard errors, which are smaller than deviations. Where a paper prints
no deviation, ours stands in for it, and the other way round where ours is one run.
"""


@dataclass(frozen=True)
class State:
    """How far a study has run, and its table if anything of it has."""

    study: Study
    done: int
    total: int
    results: Results
    table: Table | None

    @property
    def complete(self) -> bool:
        """Whether every job has run."""
        return self.done == self.total

    def in_words(self) -> str:
        """Say how far."""
        if self.complete:
            return "complete"
        return f"{self.done} of {self.total} jobs have run"


def state_of(study: Study) -> State:
    """Read what has run of a study; run nothing."""
    done, total, results = next(run_study(study))
    results = {row: runs for row, runs in results.items() if runs}
    table = None
    if results:
        table = make_table(study, results)
        table = replace(table, rows=tuple(filter(table.has_run, table.rows)))
    return State(study, done, total, results, table)


def reproduction_page(studies: Sequence[Study], images: Path | None = None) -> str:
    """Return the page in Markdown.

    Tables of which all jobs have run are counted in the summary; of the others the page
    shows what there is and says how much is missing. The papers' figures go to the
    folder `images` beside the page, if there is one.
    """
    states = [state_of(study) for study in studies]
    tables = [s.table for s in states if s.table is not None and s.complete]
    parts = [HEAD, *_summary(tables), *_list(states)]
    for paper in dict.fromkeys(study.paper for study in studies):
        parts += [f"## {paper}: {PAPERS.get(paper, '')}".rstrip(": "), ""]
        said: dict[str, str] = {}
        for state in (s for s in states if s.study.paper == paper and s.table):
            parts += [*_section(state, said, images), ""]
    return "\n".join(parts).rstrip() + "\n"


def _summary(tables: list[Table]) -> list[str]:
    if not tables:
        return ["No table is complete.", ""]
    results = [t for t in tables if not t.study.times and t.study.aside is None]
    lines = ["## Summary", "", _sentence(results), ""]
    lines += [
        "| paper | compared | within the printed deviation | better | worse | "
        "worse and explained |",
        "|---|---|---|---|---|---|",
    ]
    for paper in dict.fromkeys(t.study.paper for t in results):
        counts = _counts(t for t in results if t.study.paper == paper)
        if counts["compared"]:
            lines.append(f"| {paper} | " + " | ".join(map(str, counts.values())) + " |")
    lines.append("")
    if times := _counts(t for t in tables if t.study.times):
        lines += [
            "Seconds, kept apart because the machines are up to twenty years apart: "
            f"{times['compared']} compared, {times['better']} shorter than print, "
            f"{times['worse']} longer.",
            "",
        ]
    reasons: dict[str, list[str]] = {}
    for table in tables:
        if table.study.aside is not None and table.counts()["compared"]:
            name = f"{table.study.paper} {table.study.name}"
            reasons.setdefault(table.study.aside, []).append(name)
    for reason, names in reasons.items():
        lines += [f"Not counted: {', '.join(names)} ({reason}).", ""]
    return lines


def _counts(tables: Iterable[Table]) -> dict[str, int]:
    total: dict[str, int] = {}
    for table in tables:
        known = sum(len(g.cells) for g in explain(table) if g.explained)
        for what, n in (table.counts() | {"explained": known}).items():
            total[what] = total.get(what, 0) + n
    return total


def _sentence(tables: list[Table]) -> str:
    counts = _counts(tables)
    known = counts.pop("explained", 0)
    cells = ", ".join(f"{n} {what}" for what, n in counts.items())
    return (
        f"Cells of the complete tables: {cells}. A cell can be within the printed "
        "deviation and also be better or worse, so the numbers overlap. Of the worse "
        f"ones, {known} have an explanation under their table; the others are listed "
        "there as not explained."
    )


def _list(states: list[State]) -> list[str]:
    lines = [
        "## Studies",
        "",
        "| study | what | CPU minutes | state |",
        "|---|---|---|---|",
    ]
    for state in states:
        study = state.study
        minutes = f"with {study.shares}"
        if study.minutes is not None:
            minutes = f"{study.minutes:g}"
        name = f"{study.paper} {study.name}"
        lines.append(f"| {name} | {study.title} | {minutes} | {state.in_words()} |")
    total = sum(state.study.minutes or 0.0 for state in states)
    hours = f"All together: {total:.0f} minutes of one core."
    return [*lines, "", hours, ""]


def _section(state: State, said: dict[str, str], images: Path | None) -> list[str]:
    """Return a study's lines; what was `said` under the paper is not said again."""
    study, table = state.study, state.table
    assert table is not None
    lines = [f"### {study.paper} {study.name}: {study.title}", ""]
    if not state.complete:
        lines += [f"**Not complete: {state.in_words()}.**", ""]
    if images is not None and study.draw is not None:
        path = images / f"reproduction_{study.id}.png"
        write_picture(table, state.results, path, dpi=80)
        lines += [f"![{study.title}]({images.name}/{path.name})", ""]
    lines += [*grid(table), "", f"{how_many(table)} {summary(table)}".rstrip()]
    if worse := worse_cells(table):
        title = "Worse than print" + (" (not counted):" if study.aside else ":")
        lines += ["", title, "", *(f"- {text}" for text in worse)]
    new = [text for text in study.deviations if text not in said]
    before = [said[text] for text in study.deviations if text in said]
    texts = [*table.notes, *new]
    if before:
        texts.append(f"For the rest as under {', '.join(dict.fromkeys(before))}.")
    said |= dict.fromkeys(new, study.name)
    if texts:
        lines += ["", "What to know:", "", *(f"- {text}" for text in texts)]
    return lines
