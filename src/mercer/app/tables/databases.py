"""The result of one SELECT as a table; no database is ever written to.

The database itself sees to that: DuckDB runs without access to anything but its file,
SQLite asks an authoriser before every action, and servers run the query in a
read-only transaction.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from mercer._base.extras import require
from mercer._base.memory import resident_memory
from mercer._base.words import reason
from mercer.app.tables.budget import Budget
from mercer.app.tables.formats import from_arrow
from mercer.app.tables.table import Table, TableError, as_table

if TYPE_CHECKING:
    import sqlite3

SQLITE = {".sqlite", ".sqlite3", ".db"}
DUCKDB = {".duckdb", ".ddb"}
_ELSEWHERE = {"http", "https", "ftp", "sftp", "s3", "gs", "hf"}
# Servers that have read-only transactions.
_READ_ONLY = {"postgresql", "mysql", "mariadb", "oracle"}
# A view in a file may name any function: it gets none that reaches outside the file.
_LOCKED = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "threads": "1",
    "lock_configuration": "true",
}
# Steps of SQLite's machine between two looks at memory.
_STEPS = 10_000
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_ONE_SELECT = "--query takes one SELECT; databases are opened for reading only"


def is_database(path: str) -> bool:
    """Tell whether a name is that of a database file or an SQLAlchemy URL."""
    return "://" in path or Path(path).suffix.lower() in SQLITE | DUCKDB


def read_query(path: str, query: str | None, *, memory: float) -> Table:
    """Return what a query gives; without one, the only table that there is.

    The path is a file of SQLite or DuckDB, or an SQLAlchemy URL.
    """
    if path.partition("://")[0].lower() in _ELSEWHERE:
        msg = f"{path} is not downloaded; fetch the file first and give its name."
        raise TableError(msg)
    if "://" in path:
        return _read_sqlalchemy(path, query, memory)
    if Path(path).suffix.lower() in DUCKDB:
        return _read_duckdb(_there(path), query, memory)
    return _read_sqlite(path, query, memory, path)


def _there(path: str) -> str:
    """Return the name of a file, or raise where there is none."""
    if not Path(path).exists():
        msg = f"there is no file {path}."
        raise TableError(msg)
    return path


def _read_duckdb(path: str, query: str | None, memory: float) -> Table:
    duckdb = require("duckdb", extra="databases", purpose="Reading a DuckDB file")

    budget = Budget(path, memory)
    settings = {**_LOCKED, "memory_limit": f"{max(int(memory / 4), 1_000_000)}B"}
    try:
        # Whole: DuckDB would take md:t.duckdb for the name of a service.
        whole = str(Path(path).absolute())
        with duckdb.connect(whole, read_only=True, config=settings) as connection:
            if query is None:
                names = connection.execute("show tables").fetchall()
                query = _all_of([name for name, *_ in names], path)
            kinds = [s.type.name for s in connection.extract_statements(query)]
            if kinds != ["SELECT"]:
                raise _not_one_select(path)
            relation = connection.sql(query)
            if relation is None:
                raise _not_one_select(path)
            batches = []
            # Releases before 2 call it by another name.
            read = getattr(relation, "to_arrow_reader", None)
            rows = (read or relation.fetch_arrow_reader)(1000)
            for batch in rows:
                budget.hold(2 * batch.nbytes)
                batches.append(batch)
            arrow = pa.Table.from_batches(batches, rows.schema)
    except duckdb.Error as error:
        if isinstance(error, duckdb.OutOfMemoryException):
            raise budget.refusal() from error
        raise _wrong(path, error) from error
    return from_arrow(arrow, path)


def _read_sqlite(file: str, query: str | None, memory: float, name: str) -> Table:
    import sqlite3

    # As a URI with its marks escaped: # and ? in a name end no name.
    uri = f"{Path(_there(file)).resolve().as_uri()}?mode=ro"
    budget = Budget(name, memory)
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("pragma trusted_schema = off")
            # What a sort or a union sets aside counts, and fills no disk.
            connection.execute("pragma temp_store = memory")
            connection.set_progress_handler(_watch(memory), _STEPS)
            if query is None:
                query = _all_of(_tables_of(connection), name)
            connection.set_authorizer(_only_reads)
            connection.setlimit(
                sqlite3.SQLITE_LIMIT_LENGTH, int(max(min(memory / 16, 1e9), 1e5))
            )
            cursor = connection.execute(query)
            if cursor.description is None:
                raise _not_one_select(name)
            frame = _frame_of(cursor, [d[0] for d in cursor.description], budget)
    except sqlite3.DataError as error:  # a cell that is longer than the limit
        raise budget.refusal() from error
    except sqlite3.OperationalError as error:
        if str(error) == "interrupted":
            raise budget.refusal() from error
        raise _wrong(name, error) from error
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _wrong(name, error) from error
    return as_table(frame, name)


def _watch(memory: float) -> Callable[[], bool]:
    """Return what stops a query once the process has grown by as much memory."""
    most = resident_memory() + memory
    return lambda: resident_memory() > most


def _tables_of(connection: "sqlite3.Connection") -> list[str]:
    found = connection.execute(
        "select name from sqlite_master where type = 'table' and name not like "
        "'sqlite~_%' escape '~' order by name"
    )
    return [name for (name,) in found]


def _only_reads(action: int, *_: str | None) -> int:
    """Allow what a SELECT does; deny ATTACH, PRAGMA and every change."""
    import sqlite3

    allowed = {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


def _read_sqlalchemy(path: str, query: str | None, memory: float) -> Table:
    sa = require("sqlalchemy", extra="databases", purpose="Reading a database")

    try:
        url = sa.make_url(path)
        name, kind = url.render_as_string(hide_password=True), url.get_backend_name()
        if kind == "sqlite":
            return _read_sqlite_url(url, query, memory, name)
        if kind not in _READ_ONLY:
            msg = (
                f"{name}: {kind} has no read-only transactions, so it is not opened. "
                "Export the rows to a file, such as CSV or Parquet."
            )
            raise TableError(msg)
        engine = sa.create_engine(url)
    except (sa.exc.ArgumentError, ImportError) as error:
        msg = f"the database cannot be opened: {reason(error)}."
        raise TableError(msg) from error
    if query is not None and ";" in _QUOTED.sub("", query).rstrip().rstrip(";"):
        raise _not_one_select(name)
    budget = Budget(name, memory)
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            names = [] if query else sa.inspect(connection).get_table_names()
            text = (query or _all_of(names, name)).rstrip().rstrip(";")
            # A cursor on the server: PostgreSQL makes it for one SELECT alone.
            streaming = connection.execution_options(
                stream_results=True, max_row_buffer=100
            )
            with closing(streaming.execute(sa.text(text))) as rows:
                frame = _frame_of(map(tuple, rows), list(rows.keys()), budget)
    except sa.exc.SQLAlchemyError as error:
        raise _wrong(name, getattr(error, "orig", None) or error) from error
    finally:
        engine.dispose()
    return as_table(frame, name)


def _read_sqlite_url(url: Any, query: str | None, memory: float, name: str) -> Table:
    file: str = url.database or ""
    if url.host or not file or file == ":memory:" or file.startswith("file:"):
        msg = f"{name} names no file; give the name of the file of SQLite."
        raise TableError(msg)
    return _read_sqlite(file, query, memory, name)


def _frame_of(
    rows: Iterable[tuple[Any, ...]], names: list[str], budget: Budget
) -> pd.DataFrame:
    """Return rows of Python objects as a frame, or raise when they are too many."""
    held = []
    for row in rows:
        # As objects and in a frame.
        texts = sum(2 * len(c) if isinstance(c, str | bytes) else 24 for c in row)
        budget.hold(64 + 48 * len(row) + texts)
        held.append(row)
    return pd.DataFrame.from_records(held, columns=names, coerce_float=True)


def _all_of(names: list[str], path: str) -> str:
    if len(names) != 1:
        shown = ", ".join(names[:12]) or "none"
        msg = (
            f"{path} has {len(names)} tables ({shown}); pass --query, e.g. "
            f"--query 'select * from {names[0] if names else 'people'}'."
        )
        raise TableError(msg)
    quoted = names[0].replace('"', '""')
    return f'select * from "{quoted}"'


def _not_one_select(path: str) -> TableError:
    return TableError(f"{path}: {_ONE_SELECT}.")


def _wrong(path: str, error: object) -> TableError:
    return TableError(f"{path}: the query failed: {reason(error)}. ({_ONE_SELECT}.)")
