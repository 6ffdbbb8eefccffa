"""Databases from strangers, and queries that would do more than read."""

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from mercer.app.tables.reading import read_table
from mercer.app.tables.table import TableError
from postgres_at_hand import ABSENT, BIN, postgres
from tables_at_hand import two_groups


def _sqlite(path: Path) -> Path:
    connection = sqlite3.connect(path)
    two_groups().to_sql("people", connection, index=False)
    connection.close()
    return path


def _duckdb(path: Path, *statements: str) -> Path:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as store:
        for statement in statements:
            store.execute(statement)
    return path


@pytest.mark.parametrize(
    "reach",
    [
        "select content as a, 'x' as label from read_text('{}')",
        "select * from read_csv('{}', columns={{'a': 'VARCHAR'}}, header=false)",
        "select filename as a from read_blob('{}')",
        "select file as a from glob('{}*')",
    ],
)
def test_a_view_of_duckdb_cannot_read_other_files(tmp_path: Path, reach: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("my-private-key\n")
    view = f"create view people as {reach.format(secret)}"
    path = _duckdb(tmp_path / "evil.duckdb", view)
    with pytest.raises(TableError, match="disabled by configuration") as caught:
        read_table(path)
    assert "my-private-key" not in str(caught.value)


def test_a_query_of_duckdb_sees_no_variable_of_this_process(tmp_path: Path) -> None:
    private = pd.DataFrame({"a": [1]})
    path = _duckdb(tmp_path / "t.duckdb", "create table t as select 1 as a")
    with pytest.raises(TableError, match="private does not exist"):
        read_table(path, query="select * from private")
    assert len(private) == 1


@pytest.mark.parametrize(
    "query",
    [
        "copy (select 1 as a) to '{out}'",
        "select 1 as a; copy (select 1 as a) to '{out}'",
        "attach '{out}' as other",
        "export database '{out}'",
        "set memory_limit = '90GB'",
        "create temp table x as select 1 as a",
        "pragma version",
    ],
)
def test_a_query_of_duckdb_is_one_select(tmp_path: Path, query: str) -> None:
    path = _duckdb(tmp_path / "t.duckdb", "create table t as select 1 as a")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(TableError, match="--query takes one SELECT"):
        read_table(path, query=query.format(out=tmp_path / "pwned"))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "query",
    [
        "vacuum into '{out}'",
        "attach '{out}' as other",
        "delete from people",
        "create temp table x as select 1 as a",
        "pragma journal_mode = wal",
        "select 1 as a; delete from people",
    ],
)
@pytest.mark.parametrize("as_url", [False, True])
def test_a_query_of_sqlite_is_one_select(
    tmp_path: Path, query: str, as_url: bool
) -> None:
    if as_url:
        pytest.importorskip("sqlalchemy")
    path = _sqlite(tmp_path / "t.db")
    before = path.read_bytes()
    name = f"sqlite:///{path}" if as_url else path
    with pytest.raises(TableError, match="--query takes one SELECT"):
        read_table(name, query=query.format(out=tmp_path / "pwned"))
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["t.db"]


@pytest.mark.parametrize("name", ["a#b.db", "q?x.db", "100%25.db", "mode=rwc.db"])
def test_any_name_of_a_file_of_sqlite_is_opened_read_only(
    tmp_path: Path, name: str
) -> None:
    path = _sqlite(tmp_path / name)
    assert len(read_table(path)) == 40
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_selects_with_marks_and_more_are_still_read(tmp_path: Path) -> None:
    path = _sqlite(tmp_path / "t.db")
    query = "with big as (select * from people where size > 3) select *, ';' as s, "
    query += "row_number() over (order by size) as k from big;"
    assert set(read_table(path, query=query).frame["s"]) == {";"}
    table = _duckdb(
        tmp_path / "t.duckdb",
        "create table t as select range as a, [range, 2.0] as v from range(7)",
    )
    read = read_table(table, query="from t where a > 1;")
    assert read.frame["a"].tolist() == [2, 3, 4, 5, 6]
    assert read.vectors["v"].shape == (5, 2)


@pytest.mark.parametrize(
    "view",
    [
        "select replace(hex(zeroblob(3000000)), '0', 'ab') as a",
        "with recursive t(k) as (select 1 union all select k + 1 from t) "
        "select k as a from t",
        pytest.param(
            "with recursive t(k) as (select 1 union select k + 1 from t) "
            "select max(k) as a from t",
            marks=pytest.mark.skipif(
                not sys.platform.startswith("linux"), reason="reads /proc"
            ),
        ),
    ],
)
def test_a_view_of_sqlite_fills_neither_memory_nor_disk(
    tmp_path: Path, view: str
) -> None:
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute("create table seed (a)")
    connection.execute(f"create view bomb as {view}")
    connection.close()
    with pytest.raises(TableError, match=r"needs more than 9\.5 MiB of memory"):
        read_table(tmp_path / "t.db", query="select * from bomb", memory=1e7)


@pytest.mark.parametrize(
    "view",
    [
        "select repeat('a', 1000000) || range as a from range(100000)",
        "select range as a from range(1000000000)",
    ],
)
def test_a_view_of_duckdb_cannot_fill_memory(tmp_path: Path, view: str) -> None:
    path = _duckdb(tmp_path / "t.duckdb", f"create view bomb as {view}")
    with pytest.raises(TableError, match=r"needs more than 95\.4 MiB of memory"):
        read_table(path, memory=1e8)


def test_a_name_of_a_file_of_duckdb_names_no_service(tmp_path: Path) -> None:
    path = _duckdb(tmp_path / "t.duckdb", "create table t as select 1 as a")
    for name in ("md:t.duckdb", "sqlite:t.duckdb", "a'b\"c;.duckdb"):
        path.rename(tmp_path / name)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            assert len(read_table(name)) == 1
        (tmp_path / name).rename(path)


def test_a_server_without_read_only_transactions_is_not_opened() -> None:
    pytest.importorskip("sqlalchemy")
    with pytest.raises(TableError, match="mssql has no read-only transactions"):
        read_table("mssql+pyodbc://me:secret@nowhere/db", query="select 1")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if BIN is None:
        pytest.skip(ABSENT)
    sa = pytest.importorskip("sqlalchemy")
    pytest.importorskip("psycopg")
    with postgres() as url:
        engine = sa.create_engine(url)
        two_groups().to_sql("people", engine, index=False)
        engine.dispose()
        yield url


@pytest.mark.parametrize(
    "query",
    [
        "delete from people",
        "with gone as (delete from people returning *) select * from gone",
        "select 1 as a; commit; delete from people",
        "commit",
        "copy people to '/tmp/mercer-pwned.csv'",
        "create table x (a int)",
        "set transaction read write",
    ],
)
def test_a_query_of_a_server_is_one_select(server: str, query: str) -> None:
    with pytest.raises(TableError, match="--query takes one SELECT"):
        read_table(server, query=query)
    assert not Path("/tmp/mercer-pwned.csv").exists()
    frame = read_table(server).frame
    assert len(frame) == 40
    assert read_table(server, query="select size from people;").columns == ["size"]


def test_a_server_cannot_fill_memory(server: str) -> None:
    query = "select k, repeat('a', 1000) as a from generate_series(1, 10000000) as k"
    with pytest.raises(TableError, match=r"needs more than 9\.5 MiB of memory"):
        read_table(server, query=query, memory=1e7)
