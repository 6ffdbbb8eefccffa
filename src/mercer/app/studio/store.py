"""The durable history of answers, in SQLite or any database of SQLAlchemy."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, delete, event, select
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from mercer.app.studio import schema
from mercer.app.studio.ledger import Event, Ledger
from mercer.app.studio.schema import StoreError, claims, events

BUSY_SECONDS = 30.0
CLAIM_SECONDS = 600.0


class Transaction:
    """One unit of work: events appended and items claimed, all or nothing."""

    def __init__(self, connection: Connection, seq: int) -> None:
        self.connection = connection
        self.written: list[Event] = []
        self._seq = seq

    def append(self, who: str, kind: str, token: str, **fields: Any) -> Event:
        """Write an event."""
        if self.written:  # the clock is ours until commit
            self._seq += 1
        made = Event(self._seq, time.time(), who, kind, token, **fields)
        self.connection.execute(events.insert().values(made._asdict()))
        self.written.append(made)
        return made

    def append_all(
        self, who: str, kind: str, token: str, each: list[dict[str, Any]]
    ) -> None:
        """Write the events of one act, which is taken back as one.

        What `each` holds of person and kind counts instead of the common ones.
        """
        first = self._seq + bool(self.written)
        common = {"at": time.time(), "who": who, "kind": kind}
        made = [
            Event(seq=first + k, token=f"{token}#{k}", **{**common, **fields})
            for k, fields in enumerate(each)
        ]
        if made:
            self._seq = made[-1].seq
            lines = [event._asdict() for event in made]
            self.connection.execute(events.insert(), lines)
            self.written += made

    def claims(self) -> list[tuple[str, str, str]]:
        """Return item, person and purpose of the claims that have not expired."""
        since = time.time() - CLAIM_SECONDS
        query = select(claims.c.item, claims.c.who, claims.c.purpose)
        rows = self.connection.execute(query.where(claims.c.at >= since))
        return [(row.item, row.who, row.purpose) for row in rows]

    def claim(self, item: str, who: str, purpose: str) -> None:
        """Note that a person has an item on the screen, and no other one."""
        self.connection.execute(delete(claims).where(claims.c.who == who))
        row = {"item": item, "who": who, "at": time.time(), "purpose": purpose}
        self.connection.execute(claims.insert().values(row))

    def release(self, who: str) -> None:
        """Note that a person has no item on the screen."""
        self.connection.execute(delete(claims).where(claims.c.who == who))


class Store:
    """Opens a database, keeps a ledger in step with it, and writes events.

    The URL is one of SQLAlchemy, such as ``sqlite:///labels.db`` or
    ``postgresql+psycopg://user@host/name``.
    """

    def __init__(self, url: str) -> None:
        self.engine = _connect(url)
        self.ledger = Ledger()
        try:
            with self._begin(write=True) as connection:
                schema.prepare(connection)
                self.token = schema.token(connection)
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).splitlines()[0]
            shown = self.engine.url.render_as_string(hide_password=True)
            msg = f"the store {shown} cannot be opened: {reason}."
            raise StoreError(msg) from error
        self.sync()

    def sync(self) -> None:
        """Take events that were written since, here or by another studio."""
        with self._begin(write=False) as connection:
            self._read(connection)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Give a transaction; at its end everything is on the disk, or nothing.

        The ledger is in step with the database inside, and takes the new events only
        once they are durable. Writers wait for each other.
        """
        with self._begin(write=True) as connection:
            seq = schema.tick(connection)
            self._read(connection)
            transaction = Transaction(connection, seq)
            yield transaction
            if len(transaction.written) > 1:
                schema.set_clock(connection, transaction.written[-1].seq)
        for made in transaction.written:
            self.ledger.add(made)

    def claims(self) -> list[tuple[str, str, str]]:
        """Return item, person and purpose of what is on somebody's screen."""
        with self._begin(write=False) as connection:
            return Transaction(connection, 0).claims()

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()

    @contextmanager
    def _begin(self, *, write: bool) -> Iterator[Connection]:
        options = {"mercer_write": write}
        with (
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    def _read(self, connection: Connection) -> None:
        new = select(events).where(events.c.seq > self.ledger.seq)
        for row in connection.execute(new.order_by(events.c.seq)):
            self.ledger.add(Event(*row))


def sqlite_url(path: Path) -> str:
    """Return the URL of a SQLite file."""
    return f"sqlite:///{path.resolve()}"


def _connect(url: str) -> Engine:
    if make_url(url).get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True)
    file = make_url(url).database
    if file and file != ":memory:" and Path(file).parent.is_dir():
        Path(file).touch(mode=0o600)  # it holds the secret of the link
    engine = create_engine(
        url, poolclass=QueuePool, connect_args={"timeout": BUSY_SECONDS}
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # BEGIN is ours
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("mercer_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine
