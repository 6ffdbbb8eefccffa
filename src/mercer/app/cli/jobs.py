"""What the commands on tables share: options, progress, errors and exit codes.

0: done. 2: something a person can correct (a file, an option, a full disk).
130: stopped by Ctrl-C, 143: by the system; nothing half-written is left.
"""

import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from mercer._base.words import printable

if TYPE_CHECKING:
    from mercer._base.progress import Progress
    from mercer.app.tables.task import Task

F = TypeVar("F", bound=Callable[..., Any])
BAD_INPUT, INTERRUPTED, TERMINATED = 2, 130, 143
_STOPPED = "Stopped; nothing was written."
_TOO_LATE = "Stopped, but all results had been written."


def stem_of(file: str) -> str:
    """Return what results of a file are called: its name without endings.

    Examples
    --------
    >>> stem_of("data/wines.csv.gz"), stem_of("-"), stem_of("sqlite:///a.db")
    ('wines', 'table', 'a')
    >>> stem_of("rows/part-*.parquet")
    'part'
    """
    if file == "-":
        return "table"
    name = Path(file.rpartition("://")[2] or file).resolve().name
    stem = re.sub(r"[*?\[\]]", "", name.partition(".")[0]).strip("-_ ")
    return stem or "table"


def options(*added: Callable[[F], F]) -> Callable[[F], F]:
    """Return what adds options and arguments to a command."""

    def add(function: F) -> F:
        for option in reversed(added):
            function = option(function)
        return function

    return add


embed_option = click.option(
    "--embed",
    multiple=True,
    metavar="COLUMN[=MODEL]",
    help="Column of texts, images or sound to compare by meaning; MODEL is a folder or "
    "a name that `mercer fetch` downloaded [default for texts: the small model of "
    "wordllama]; "
    "may be repeated.",
)

# What is learned from a table, for `task_of`.
task_options = options(
    click.argument("file"),
    click.option(
        "--target", default="label", show_default=True, help="Column of labels."
    ),
    click.option("--id", default=None, help="Column that names the rows."),
    click.option(
        "--class-sizes",
        multiple=True,
        metavar="NAME=NUMBER,...",
        help="How large the classes are among all rows, if you know it: counts or "
        "shares, e.g. yes=10,no=90; may be repeated. To learn from a table, also "
        "in part: yes=20%, yes=5%-20%, yes=few, or 'no > yes'.",
    ),
    click.option(
        "--drop", multiple=True, help="Column not to learn from; may be repeated."
    ),
    click.option(
        "--keep",
        multiple=True,
        help="Column to learn from although it looks misleading; may be repeated.",
    ),
    embed_option,
    click.option(
        "--source",
        "sources",
        multiple=True,
        metavar="COLUMN[=CONFIDENCE]",
        help="Column of guesses that may be wrong, as of a language model, a rule "
        "or a colleague, and the column that says how sure they are; may be "
        "repeated.",
    ),
)

# How a text file is read.
reading_options = options(
    click.option("--query", default=None, help="SQL query, if FILE is a database."),
    click.option("--sheet", default=None, help="Sheet of a workbook."),
    click.option(
        "--delimiter", default=None, help="One character, or 'tab' [default: detected]."
    ),
    click.option("--encoding", default=None, help="Text encoding [default: detected]."),
    click.option(
        "--missing", multiple=True, help="Cell that means 'no value', e.g. '?'."
    ),
)

# How much is printed.
output_options = options(
    click.option("--quiet", "-q", is_flag=True, help="Print errors only."),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
)

# New rows for a model that was saved, for `read_rows`.
model_options = options(
    click.argument("model", type=click.Path(path_type=Path)),
    click.argument("file"),
    reading_options,
    output_options,
)


def task_of(said: dict[str, Any]) -> "Task":
    """Return the task that options name, and leave those about reading in `said`."""
    from mercer.app.tables.class_sizes import parse_sizes
    from mercer.app.tables.task import Task

    task = Task.among({**said, "class_sizes": parse_sizes(said["class_sizes"])})
    for name in vars(task):
        said.pop(name, None)
    return task


def is_first_run(folder: Path | None = None) -> bool:
    """Tell whether numba has kept no compiled function yet, so that it must compile.

    Where it may not write to the folder of the package, it keeps them elsewhere, and
    the answer is no.
    """
    if folder is None:
        folder = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parents[2])
    return os.access(folder, os.W_OK) and not any(folder.rglob("*.nbi"))


def load_model(path: Path) -> Any:
    """Return a model that `mercer learn` saved."""
    from mercer.app.tables.model import TableModel
    from mercer.app.tables.table import TableError
    from mercer.persist import load

    model = load(path)
    if not isinstance(model, TableModel):
        msg = f"{path} holds a {type(model).__name__}, not a model of `mercer learn`."
        raise TableError(msg)
    return model


def read_rows(model: Any, file: str, **options: Any) -> tuple[Any, Any]:
    """Return the table in a file, read as the model was taught, and its row ids."""
    from mercer.app.tables.reading import read_table
    from mercer.app.tables.table import TableError
    from mercer.app.tables.target import read_ids

    embedded = (embedding.column for embedding in model.encoder.embeddings_)
    columns = (model.target, model.id, *embedded)
    table = read_table(
        file,
        as_text=tuple(column for column in columns if column),
        needed=model.encoder.columns_,
        image_shape=model.image_shape,
        **options,
    )
    if len(table) == 0:
        msg = f"{table.source} has no rows."
        raise TableError(msg)
    has_id = model.id in table.frame.columns
    return table, read_ids(table, model.id if has_id else None)


def run(
    job: Callable[[Any], dict[str, Any]],
    describe: Callable[[dict[str, Any]], str],
    *,
    stages: Sequence[str] | None = None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Do a job with progress on stderr, print its result, or say what went wrong.

    The result is one that JSON can hold; `describe` turns it into the words that are
    printed without `as_json`. The job goes through `stages`, by default all of them.
    """
    before = signal.signal(signal.SIGTERM, _terminate)
    interrupts: list[int] = []

    def interrupt(number: int, *_: object) -> NoReturn:
        interrupts.append(number)
        raise KeyboardInterrupt

    before_interrupt = signal.signal(signal.SIGINT, interrupt)
    try:
        from mercer._base.progress import quiet as silence
        from mercer.app.cli.progress import Display, usual_stages

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if quiet or as_json:
                result = job(Heeding(silence, interrupts))
            else:
                with Display(stages or usual_stages()) as display:
                    result = job(Heeding(display, interrupts))
    except KeyboardInterrupt:
        stop_with(_STOPPED, INTERRUPTED, as_json=as_json)
    except (MemoryError, OSError, ValueError, TypeError, ImportError) as error:
        if interrupts:  # an interrupted import ends in errors of other kinds
            stop_with(_STOPPED, INTERRUPTED, as_json=as_json)
        stop_with(_words(error), BAD_INPUT, as_json=as_json)
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, before_interrupt)
    if interrupts:
        stop_with(_TOO_LATE, INTERRUPTED, as_json=as_json)
    if as_json:
        click.echo(json.dumps(result))
    elif not quiet:
        click.echo(printable(describe(result)))
    if not quiet:
        for message in dict.fromkeys(str(w.message) for w in caught):
            click.echo(f"Note: {printable(message)}", err=True)


class Heeding:
    """A progress that stops the job where an interrupt was swallowed.

    Python drops a KeyboardInterrupt that is raised in a destructor or a callback. The
    job ends when it next says where it is.
    """

    def __init__(self, progress: "Progress", interrupts: list[int]) -> None:
        self._progress, self._interrupts = progress, interrupts

    def __getattr__(self, name: str) -> Any:
        if self._interrupts:
            raise KeyboardInterrupt
        return getattr(self._progress, name)


def _terminate(*_: object) -> NoReturn:
    sys.exit(TERMINATED)


def _words(error: Exception) -> str:
    """Return what went wrong, and the way out."""
    if isinstance(error, MemoryError):
        return "memory ran out; pass --memory with less than this machine has."
    if isinstance(error, ModuleNotFoundError) and error.name:
        return hint(error.name)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}. Nothing was written."
    return str(error)


def stop_with(message: str, code: int = BAD_INPUT, *, as_json: bool) -> NoReturn:
    """Print an error and end the program."""
    if as_json:
        click.echo(json.dumps({"error": message, "exit_code": code}))
    click.echo(f"Error: {printable(message)}", err=True)
    sys.exit(code)


# Which modules an extra brings, for messages.
EXTRAS = {
    "tables": ("pandas", "pyarrow", "skrub", "PIL", "python_calamine", "openpyxl"),
    "databases": ("sqlalchemy", "duckdb"),
    "dask": ("dask",),
    "embed": ("wordllama", "tokenizers", "safetensors"),
    "texts": ("sentence_transformers",),
    "images": ("transformers",),
    "sound": ("soundfile",),
}


def hint(module: str) -> str:
    """Return what to do about a module that is not there.

    Examples
    --------
    >>> hint("pyarrow")
    'This needs pyarrow: pip install "mercer[tables]"'
    """
    package = module.partition(".")[0]
    extra = next((extra for extra, has in EXTRAS.items() if package in has), "")
    name = f'"mercer[{extra}]"' if extra else package
    return f"This needs {package}: pip install {name}"
