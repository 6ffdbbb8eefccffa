"""Tables of the store, and their version."""

import secrets

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    inspect,
    select,
    text,
    update,
)

VERSION = 1

metadata = MetaData()

meta = Table(
    "mercer_meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", String, nullable=False),
)

# Nothing in here is ever changed or removed: undo is a further event.
events = Table(
    "mercer_events",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("at", Float, nullable=False),
    Column("who", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("token", String(64), nullable=False, unique=True),
    Column("item", String(256)),
    Column("other", String(256)),  # second item of a pair
    Column("label", Integer),  # a class
    Column("digest", String(64)),  # of the item's content
    Column("purpose", String(16)),  # why the item was asked
    Column("guess", Integer),  # what the model predicted before the answer
    Column("sure", Float),  # and how probable it was
    Column("n_labels", Integer),  # that the model had then
    Column("undoes", BigInteger().with_variant(Integer, "sqlite")),
    Column("text", String),  # name of a class, or sizes of classes as JSON
)

# Who has which item on the screen. Of no value once the studio has stopped.
claims = Table(
    "mercer_claims",
    metadata,
    Column("item", String(256), primary_key=True),
    Column("who", String(64), primary_key=True),
    Column("at", Float, nullable=False),
    Column("purpose", String(16), nullable=False),
)


class StoreError(RuntimeError):
    """A store that cannot be used, with the reason in its message."""


def prepare(connection: Connection) -> None:
    """Make the tables, where there are none, or refuse those of a newer version."""
    if not inspect(connection).has_table(meta.name):
        metadata.create_all(connection)
        for key, value in (("version", str(VERSION)), ("clock", "0")):
            connection.execute(meta.insert().values(key=key, value=value))
        return
    found = _value_of("version", connection)
    if found > VERSION:
        msg = (
            f"the store has version {found} and this Mercer knows up to {VERSION}: a "
            "newer Mercer wrote it. Upgrade Mercer to open it."
        )
        raise StoreError(msg)


def token(connection: Connection) -> str:
    """Return the secret of the links to this store, made when it was first opened."""
    query = select(meta.c.value).where(meta.c.key == "token")
    kept = connection.scalar(query)
    if kept is None:
        kept = secrets.token_urlsafe(24)
        connection.execute(meta.insert().values(key="token", value=kept))
    return str(kept)


def tick(connection: Connection) -> int:
    """Return the number of the next event, and keep other writers out until commit."""
    clock = text(
        "UPDATE mercer_meta SET value = CAST(CAST(value AS INTEGER) + 1 AS VARCHAR(20))"
        " WHERE key = 'clock'"
    )
    connection.execute(clock)
    return _value_of("clock", connection)


def set_clock(connection: Connection, seq: int) -> None:
    """Note the number of the last event, where several were written at once."""
    row = update(meta).where(meta.c.key == "clock")
    connection.execute(row.values(value=str(seq)))


def _value_of(key: str, connection: Connection) -> int:
    query = select(meta.c.value).where(meta.c.key == key)
    return int(str(connection.scalar(query)))
