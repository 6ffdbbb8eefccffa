"""Embeddings on disk, so that each text or image is computed once.

One file of SQLite, shared by `mercer learn`, `label`, `predict` and notebooks. A key is
the hash of the content; what is kept is the vector in half precision. Every batch is
one transaction: a program that is killed leaves a whole file with all batches before.
"""

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from mercer.app.embedding.embedder import Vectors

# Bytes of vectors that are kept; beyond them the oldest go.
MOST_BYTES = 2 * 1024**3
_NAME = "embeddings.db"
_ASKED_AT_ONCE = 500
_PATIENCE = 30.0  # seconds that another program may write
_MARK = 0x4D455243  # application_id of the file
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL, item BLOB NOT NULL, pieces INTEGER NOT NULL,
    vector BLOB NOT NULL, made INTEGER NOT NULL, PRIMARY KEY (model, item)
) WITHOUT ROWID
"""
# What people call a model, which vectors are kept by the content of.
_NAMES = "CREATE TABLE IF NOT EXISTS names (model TEXT PRIMARY KEY, name TEXT NOT NULL)"


class Kept(NamedTuple):
    """What the cache holds of one model."""

    model: str  # hash of its content
    name: str  # as it was asked for last; "" where nobody said
    n_items: int
    n_bytes: int


def cache_file() -> Path:
    """Return where embeddings are kept: in `MERCER_CACHE`, or the user's cache."""
    given = os.environ.get("MERCER_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(given) if given else Path(home) / "mercer"
    return folder.expanduser() / _NAME


class Cache:
    """The embeddings that were computed before.

    Where the file cannot be used, nothing is found and nothing is kept; `trouble` says
    why. At most `most_bytes` of vectors are kept; the file is `cache_file()` by
    default.
    """

    def __init__(self, file: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        self.file = cache_file() if file is None else file
        self.most_bytes = most_bytes
        self.trouble = ""
        self._db: sqlite3.Connection | None = None
        try:
            self._db = _opened(self.file)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
        self._db = None

    def find(self, model: str, keys: Sequence[bytes]) -> dict[bytes, tuple[bytes, int]]:
        """Return the vectors, in half precision, and pieces of the keys it has."""
        found: dict[bytes, tuple[bytes, int]] = {}
        if self._db is None:
            return found
        try:
            for start in range(0, len(keys), _ASKED_AT_ONCE):
                some = keys[start : start + _ASKED_AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = self._db.execute(
                    "SELECT item, vector, pieces FROM vectors "
                    f"WHERE model = ? AND item IN ({marks})",
                    (model, *some),
                )
                found.update((key, (vector, n)) for key, vector, n in rows)
        except sqlite3.Error as error:
            self._give_up(error)
            return {}
        return found

    def keep(self, model: str, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep vectors, in one transaction."""
        if self._db is None:
            return
        now = int(time.time())
        half = vectors.array.astype(np.float16)
        rows = [
            (model, key, int(n), vector.tobytes(), now)
            for key, n, vector in zip(keys, vectors.pieces, half, strict=True)
        ]
        try:
            with self._db:
                self._db.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", rows
                )
        except sqlite3.Error as error:
            self._give_up(error)

    def call(self, model: str, name: str) -> None:
        """Keep what people call a model, to be shown with its vectors."""
        if self._db is None:
            return
        try:
            with self._db:
                row = model, name
                self._db.execute("INSERT OR REPLACE INTO names VALUES (?, ?)", row)
        except sqlite3.Error as error:
            self._give_up(error)

    def trim(self) -> None:
        """Drop the oldest vectors beyond `most_bytes`."""
        if self._db is None:
            return
        try:
            total = self._sum("SELECT sum(length(vector)) FROM vectors")
            if total <= self.most_bytes:
                return
            # A tenth more than need be, so that the next run need not trim again.
            surplus, last = total - 0.9 * self.most_bytes, 0
            sizes = self._db.execute(
                "SELECT made, sum(length(vector)) FROM vectors GROUP BY made "
                "ORDER BY made"
            )
            for made, size in sizes:
                surplus, last = surplus - size, made
                if surplus <= 0:
                    break
            with self._db:
                self._db.execute("DELETE FROM vectors WHERE made <= ?", (last,))
        except sqlite3.Error as error:
            self._give_up(error)

    def contents(self) -> list[Kept]:
        """Return what is kept, one line per model."""
        if self._db is None:
            return []
        rows = self._db.execute(
            "SELECT model, coalesce(name, ''), count(*), sum(length(vector)) "
            "FROM vectors LEFT JOIN names USING (model) GROUP BY model"
        )
        return [Kept(*row) for row in rows]

    def clear(self) -> None:
        """Drop everything and give the space back."""
        if self._db is not None:
            with self._db:
                self._db.execute("DELETE FROM vectors")
                self._db.execute("DELETE FROM names")
            self._db.execute("VACUUM")

    def _sum(self, query: str) -> int:
        assert self._db is not None
        return int(self._db.execute(query).fetchone()[0] or 0)

    def _give_up(self, error: Exception) -> None:
        self.close()
        self.trouble = (
            f"Embeddings are not kept for the next run: {self.file} cannot be used "
            f"({error})."
        )


def _opened(file: Path) -> sqlite3.Connection:
    """Open the file, made for this user alone; a damaged one is put aside."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Vectors of private texts tell much about them.
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
    try:
        return _connected(file)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # locked, or a full disk
            raise
        file.replace(file.with_name(file.name + ".damaged"))
        for ending in ("-wal", "-shm"):
            file.with_name(file.name + ending).unlink(missing_ok=True)
        return _connected(file)


def _connected(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(file, timeout=_PATIENCE)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA application_id = {_MARK}")
        db.execute(_SCHEMA)
        db.execute(_NAMES)
        return db
    except sqlite3.Error:
        with closing(db):
            raise
