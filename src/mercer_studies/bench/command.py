"""`python -m mercer_studies bench`: Mercer and its peers in one run."""

from pathlib import Path

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from mercer_studies.bench import devices, runner
from mercer_studies.bench.cells import TASKS, Cell, plan
from mercer_studies.bench.show import machine, plots, table


@click.command("bench")
@click.argument("tasks", nargs=-1)
@click.option("--data", multiple=True, help="Data sets, such as mixture or mnist.")
@click.option(
    "--size",
    "sizes",
    multiple=True,
    type=int,
    help="Numbers of rows; as planned if left out.",
)
@click.option("--method", "methods", multiple=True, help="Methods; all if left out.")
@click.option(
    "--python",
    "pythons",
    multiple=True,
    metavar="PACKAGE=PATH",
    help="Python interpreter that has this package installed.",
)
@click.option(
    "--limit",
    type=float,
    default=600.0,
    show_default=True,
    help="Seconds after which a method is stopped.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("mercer-out/bench"),
    show_default=True,
    help="Folder for results, tables and plots.",
)
@click.option(
    "--threads",
    multiple=True,
    type=int,
    default=(1, 2),
    show_default=True,
    help="Numbers of threads; of devices only.",
)
@click.option("--show", is_flag=True, help="Run nothing; show the results so far.")
def command(
    tasks: tuple[str, ...],
    data: tuple[str, ...],
    sizes: tuple[int, ...],
    methods: tuple[str, ...],
    pythons: tuple[str, ...],
    limit: float,
    threads: tuple[int, ...],
    out: Path,
    show: bool,
) -> None:
    """Measure Mercer and other packages on the same data.

    TASKS are learn, neighbors, eigenpairs and solvers; all of them if left out. Each
    method runs in its own process with one thread. Finished cells are kept: after an
    interrupt, run the same command to continue. The table says which packages are not
    installed.

    devices is a part of its own: the default on five kinds of points, by threads and,
    where there is one, on the GPU.
    """
    if tasks == ("devices",):
        rows = []
        for row in devices.measured(
            data or devices.KINDS, sizes or devices.SIZES, threads
        ):
            rows.append(row)
            click.echo(devices.table(rows).splitlines()[-1])
        out.mkdir(parents=True, exist_ok=True)
        (out / "devices.md").write_text(devices.table(rows) + "\n")
        return
    for name in tasks:
        if name not in TASKS:
            msg = f"there is no task {name!r}; the tasks are {', '.join(TASKS)}."
            raise click.UsageError(msg)
    environments = dict(_pair(text) for text in pythons)
    cells = plan(tasks, data=data, sizes=sizes, methods=methods)
    if not show:
        _run(cells, out, environments, limit)
    _write(runner.results_of(cells, out), out)


def _pair(text: str) -> tuple[str, str]:
    package, found, path = text.partition("=")
    if not found or not path:
        msg = f"--python takes PACKAGE=PATH, got {text!r}."
        raise click.UsageError(msg)
    return package, path


def _run(
    cells: list[Cell], out: Path, environments: dict[str, str], limit: float
) -> None:
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    done = total = 0
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("bench")
        try:
            for done, total, what in runner.run_cells(
                cells, out, pythons=environments, limit=limit
            ):
                progress.update(bar, completed=done, total=total, description=what)
                if not console.is_terminal and what:
                    click.echo(f"{done} of {total}: {what}", err=True)
        except KeyboardInterrupt:
            progress.stop()
            kept = f"{done} of {total} cells are kept; the same command continues."
            click.echo(f"stopped: {kept}", err=True)
            raise click.exceptions.Exit(130) from None


def _write(rows: list[runner.Row], out: Path) -> None:
    parts = [machine()]
    for task in dict.fromkeys(str(row["task"]) for row in rows):
        parts += [f"## {task}", table(rows, task)]
    text = "\n\n".join(parts)
    click.echo(text)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "results.md"
    path.write_text(text, encoding="utf-8")
    for written in (path, *plots(rows, out)):
        click.echo(f"wrote {written}", err=True)
