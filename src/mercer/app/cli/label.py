"""`mercer label`: a page on this machine that asks what to label next."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from mercer._base.words import printable
from mercer.app.cli.jobs import reading_options, stop_with, task_of, task_options

if TYPE_CHECKING:
    from mercer.app.studio.service import Studio


@click.command("label")
@task_options
@click.option("--classes", default="", help="Classes to offer, separated by commas.")
@click.option(
    "--store",
    default=None,
    help="Where answers are kept: a file, or a URL of SQLAlchemy such as "
    "postgresql+psycopg://me@host/labels [default: FILE.labels.db].",
)
@click.option(
    "--overlap",
    type=click.IntRange(1, 20),
    default=1,
    show_default=True,
    help="Number of people asked about each row.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. With any other than the default, other machines can "
    "connect: whoever has the link can read the table and answer, without encryption.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port; any free one if 0."
)
@click.option(
    "--name",
    "names",
    multiple=True,
    help="Further host name of the page, if browsers use one.",
)
@click.option("--open/--no-open", "open_page", default=True, help="Open a browser.")
@reading_options
def command(
    file: str,
    classes: str,
    store: str | None,
    overlap: int,
    host: str,
    port: int,
    names: tuple[str, ...],
    open_page: bool,
    **said: Any,
) -> None:
    """Label the rows of FILE on a page that asks the most useful question next.

    FILE is whatever `mercer learn` reads: a table, a folder of images or texts, or a
    database. The target column may be empty or absent. Every answer is saved at once;
    run the same command again to continue.
    """
    click.echo(printable(f"Reading {file} ..."), err=True)
    try:
        from mercer.app.studio.from_file import open_studio
        from mercer.app.studio.serving import Running

        task = task_of(said)
        studio = open_studio(
            file,
            task,
            classes=tuple(c.strip() for c in classes.split(",") if c.strip()),
            store=store,
            overlap=overlap,
            **said,
        )
        running = Running(studio, host=host, port=port, names=names)
    except (ValueError, OSError, RuntimeError, ImportError) as error:
        stop_with(str(error), as_json=False)
    if host not in {"127.0.0.1", "::1", "localhost"}:
        click.echo(
            f"Note: {host} can be reached from other machines. Whoever has the link "
            "can read the table and answer. The connection is not encrypted.",
            err=True,
        )

    def ready() -> None:
        click.echo(
            f"The studio is at {running.url}\nCtrl-C stops it; answers are saved."
        )
        if open_page:
            click.launch(running.url)

    studio.listeners.add(_teller(studio))
    running.serve(ready)


def _teller(studio: "Studio") -> Callable[[], None]:
    """Return what prints each note about the table once, and what ended the model."""
    told = set[str]()

    def tell() -> None:
        notes = [f"Note: {note}" for note in studio.snapshot.notes]
        error = studio.snapshot.error
        for said in [*notes, *([f"Error: {error}"] if error else [])]:
            if said not in told:
                told.add(said)
                click.echo(printable(said), err=True)

    return tell
