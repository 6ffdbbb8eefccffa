"""The store: durable, shared, full, old, new."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from mercer.app.studio.items import Items
from mercer.app.studio.schema import StoreError
from mercer.app.studio.state import notices_of
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task
from studio_at_hand import acting, label_rows, rows, serving, small_studio


@pytest.fixture
def url(tmp_path: Path) -> str:
    return sqlite_url(tmp_path / "labels.db")


def read(path: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_every_answer_is_one_durable_transaction(tmp_path: Path) -> None:
    studio = small_studio(tmp_path)
    studio.answer("ann", "t1", 3, 1)
    path = tmp_path / "labels.db"
    assert read(path, "PRAGMA journal_mode") == [("wal",)]
    with studio.store.engine.connect() as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2  # FULL
    kept = "SELECT item, label, who FROM mercer_events WHERE kind = 'answer'"
    assert read(path, kept) == [("r3", 1, "ann")]


def test_failure_inside_leaves_neither_event_nor_memory(url: str) -> None:
    store = Store(url)

    def fail() -> None:
        with store.writing() as transaction:
            transaction.append("ann", "answer", "t1", item="a", label=0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert store.ledger.n_answers == 0
    assert Store(url).ledger.n_answers == 0


def test_full_disk_is_not_acknowledged_and_breaks_nothing(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(2000))
    with serving(studio) as client:
        act = acting(client)
        assert act("answer", row=0, label=0).status_code == 200
        with studio.store.engine.connect() as connection:
            pages = connection.execute(text("PRAGMA page_count")).scalar()
        limit = f"PRAGMA max_page_count = {pages + 3}"
        studio.store.engine.dispose()
        from sqlalchemy import event

        @event.listens_for(studio.store.engine, "connect")
        def _fill(connection: Any, _: Any) -> None:
            connection.execute(limit).close()

        many = act("bulk", action="label", rows=list(range(1, 900)), label=1)
        assert many.status_code == 507
        assert "full" in many.json()["error"]
        assert studio.store.ledger.n_answers == 1
        event.remove(studio.store.engine, "connect", _fill)
        studio.store.engine.dispose()
        again = act("bulk", action="label", rows=list(range(1, 900)), label=1)
        assert again.status_code == 200
    assert read(tmp_path / "labels.db", "PRAGMA integrity_check") == [("ok",)]
    assert Store(sqlite_url(tmp_path / "labels.db")).ledger.n_answers == 900


def test_many_events_at_once_keep_the_clock(tmp_path: Path) -> None:
    one, two = small_studio(tmp_path, rows(9)), small_studio(tmp_path, rows(9))
    label_rows(one, "ann", "t1", [0, 1, 2], 1)
    two.answer("ben", "t2", 5, 0)
    one.store.sync()
    seqs = [event.seq for event in one.store.ledger.events]
    assert seqs == sorted(set(seqs))
    assert one.store.ledger.n_answers == two.store.ledger.n_answers == 4


def test_two_studios_share_a_store(tmp_path: Path) -> None:
    one, two = small_studio(tmp_path, rows(4)), small_studio(tmp_path, rows(4))
    first, second = one.next("ann"), two.next("ben")
    assert first["row"] != second["row"]
    third = one.answer("ann", "t1", first["row"], 0)
    fourth = two.answer("ben", "t2", second["row"], 1)
    assert len({q["row"] for q in (first, second, third, fourth)}) == 4
    assert two.state()["labelled"] == 2
    assert one.state()["labelled"] == 2
    two.add_class("ben", "t3", "bird")
    one.state()
    assert one.store.ledger.classes == two.store.ledger.classes
    one.answer("ann", "t2", first["row"], 1)  # the token of ben's answer
    assert one.store.ledger.n_answers == 2


def test_classes_made_in_two_studios_get_numbers_of_their_own(tmp_path: Path) -> None:
    one, two = small_studio(tmp_path), small_studio(tmp_path)
    assert one.add_class("ann", "t1", "bird") == 2
    assert two.add_class("ben", "t2", "fish") == 3


def test_newer_store_is_refused(url: str, tmp_path: Path) -> None:
    Store(url).close()
    connection = sqlite3.connect(tmp_path / "labels.db")
    connection.execute("UPDATE mercer_meta SET value = '99' WHERE key = 'version'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="newer Mercer"):
        Store(url)


def test_a_changed_table_is_noticed_explained_and_matched(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(5))
    for k, row in enumerate((0, 1, 2)):
        studio.answer("ann", f"t{k}", row, 1)
    other = rows(5).iloc[[4, 2, 1]]
    other.loc[1, "size"] = 77
    again = small_studio(tmp_path, other)
    gone, changed = notices_of(again)
    assert gone.startswith("1 answered row is no longer in the table")
    assert changed.startswith("1 answered row has changed since")
    assert again.labels()[0].tolist() == [-1, 1, 1]
    assert notices_of(small_studio(tmp_path, rows(5))) == []


def test_a_file_written_to_while_the_studio_runs_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows(3).to_csv(path, index=False)
    items = Items(as_table(rows(3), str(path)), Task(id="code"))
    assert items.changed_on_disk() == []
    rows(4).to_csv(path, index=False)
    (said,) = items.changed_on_disk()
    assert "rows.csv was changed" in said
