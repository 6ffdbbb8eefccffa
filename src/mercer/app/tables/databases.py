"""The result of a database query as a table; files are opened for reading only."""

from pathlib import Path
from typing import Any

from mercer._base.extras import require
from mercer._base.words import reason
from mercer.app.tables.table import Table, TableError, as_table

SQLITE = {".sqlite", ".sqlite3", ".db"}
DUCKDB = {".duckdb", ".ddb"}
_ELSEWHERE = {"http", "https", "ftp", "sftp", "s3", "gs", "hf"}


def is_database(path: str) -> bool:
    """Tell whether a name is that of a database file or an SQLAlchemy URL."""
    return "://" in path or Path(path).suffix.lower() in SQLITE | DUCKDB


def read_query(path: str, query: str | None) -> Table:
    """Return what a query gives; without one, the only table that there is.

    Parameters
    ----------
    path : str
        File of SQLite or DuckDB, or an SQLAlchemy URL.
    query : str or None
    """
    ending = Path(path).suffix.lower()
    if path.partition("://")[0].lower() in _ELSEWHERE:
        msg = f"{path} is not downloaded; fetch the file first and give its name."
        raise TableError(msg)
    if "://" not in path and not Path(path).exists():
        msg = f"there is no file {path}."
        raise TableError(msg)
    if "://" not in path and ending in DUCKDB:
        return _read_duckdb(path, query)
    return _read_sqlalchemy(path, query)


def _read_duckdb(path: str, query: str | None) -> Table:
    duckdb = require("duckdb", extra="databases", purpose="Reading a DuckDB file")

    try:
        with duckdb.connect(path, read_only=True) as connection:
            names = [row[0] for row in connection.execute("show tables").fetchall()]
            result = connection.execute(query or _all_of(names, path))
            frame = result.fetch_df()
    except duckdb.Error as error:
        raise _wrong(path, error) from error
    return as_table(frame, path)


def _read_sqlalchemy(path: str, query: str | None) -> Table:
    import pandas as pd

    sa = require("sqlalchemy", extra="databases", purpose="Reading a database")

    is_file = "://" not in path
    try:
        # A file by its full path: SQLite opens it read-only, and never makes one.
        url: Any = (
            f"sqlite:///file:{Path(path).resolve()}?mode=ro&uri=true"
            if is_file
            else sa.make_url(path)
        )
        name = path if is_file else url.render_as_string(hide_password=True)
        if not is_file:
            _refuse_absent(url)
        engine = sa.create_engine(url)
    except (sa.exc.ArgumentError, ImportError) as error:
        msg = f"the database cannot be opened: {reason(error)}."
        raise TableError(msg) from error
    try:
        with engine.connect() as connection:
            names = [] if query else sa.inspect(connection).get_table_names()
            frame = pd.read_sql_query(
                sa.text(query or _all_of(names, name)), connection
            )
    except (sa.exc.SQLAlchemyError, pd.errors.DatabaseError) as error:
        cause = error.__cause__ or error
        raise _wrong(name, getattr(cause, "orig", None) or cause) from error
    finally:
        engine.dispose()
    return as_table(frame, name)


def _refuse_absent(url: Any) -> None:
    """Raise if a URL names a file of SQLite that is not there, which would be made."""
    is_sqlite = url.get_backend_name() == "sqlite"
    file: str = (is_sqlite and url.database) or ""
    is_file = file and file != ":memory:" and not file.startswith("file:")
    if is_file and not Path(file).exists():
        msg = f"there is no file {file}."
        raise TableError(msg)


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


def _wrong(path: str, error: object) -> TableError:
    return TableError(f"{path}: the query failed: {reason(error)}.")
