"""`python -m mercer_studies reproduce`: the papers' tables, ours next to theirs."""

from pathlib import Path

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from mercer_studies import registry
from mercer_studies.page import reproduction_page
from mercer_studies.render import to_markdown, write
from mercer_studies.runner import run_study
from mercer_studies.study import Results, Study
from mercer_studies.table import make_table


@click.command("reproduce")
@click.argument("paper", required=False)
@click.argument("name", required=False)
@click.option(
    "--quick", is_flag=True, help="Few splits: a quick impression, not a result."
)
@click.option(
    "--fresh", is_flag=True, help="Ignore the cache and compute everything again."
)
@click.option("--jobs", type=int, default=None, help="Processes [default: all cores].")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("mercer-out/reproduce"),
    show_default=True,
    help="Folder for CSV, Markdown and PNG.",
)
@click.option(
    "--page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Run nothing; write what has run so far to this Markdown file, and its "
    "pictures to the folder images beside it.",
)
def command(
    paper: str | None,
    name: str | None,
    quick: bool,
    fresh: bool,
    jobs: int | None,
    out: Path,
    page: Path | None,
) -> None:
    """Run a paper's tables and figures again; without arguments, list them.

    PAPER is mao2010, abbasnejad2010, dai2007, hoi2006 or zhuang2009, and NAME a table
    or figure of it, such as table2; without NAME all of the paper's studies run.
    Finished splits are kept: after an interrupt, run the same command to continue. The
    list says how many minutes a full run takes on one core.
    """
    known = registry.studies()
    if paper is None and page is None:
        _list(known)
        return
    chosen = [s for s in known if paper in (None, s.paper) and name in (None, s.name)]
    if not chosen:
        wanted = paper if name is None else f"{paper} {name}"
        msg = (
            f"there is no study {wanted!r}; `python -m mercer_studies reproduce` "
            "lists them."
        )
        raise click.UsageError(msg)
    if page is not None:
        images = page.parent / "images"
        images.mkdir(parents=True, exist_ok=True)
        page.write_text(reproduction_page(chosen, images), encoding="utf-8")
        click.echo(f"wrote {page}")
        return
    for study in chosen:
        _run(study, quick=quick, fresh=fresh, jobs=jobs, out=out)


def _list(known: list[Study]) -> None:
    for paper, citation in registry.PAPERS.items():
        click.secho(f"{paper}  {citation}", bold=True)
        for study in (s for s in known if s.paper == paper):
            cost = f"with {study.shares}"
            if study.minutes is not None:
                cost = f"{study.minutes:g} min"
            click.echo(f"  {paper} {study.name:20} {cost:>14}  {study.title}")
    total = sum(study.minutes or 0.0 for study in known)
    click.echo(f"Times are for one core; everything takes {total / 60:.1f} hours.")


def _run(
    study: Study, *, quick: bool, fresh: bool, jobs: int | None, out: Path
) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    done, total, results = 0, 0, Results()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(f"{study.paper} {study.name}")
        try:
            for state in run_study(study, quick=quick, fresh=fresh, n_jobs=jobs):
                done, total, results = state
                progress.update(task, completed=done, total=total)
        except KeyboardInterrupt:
            progress.stop()
            kept = f"{done} of {total} jobs are kept; the same command continues."
            click.echo(f"stopped: {kept}", err=True)
            raise click.exceptions.Exit(130) from None
    table = make_table(study, results)
    click.echo(to_markdown(table))
    for path in write(table, results, out):
        click.echo(f"wrote {path}")
