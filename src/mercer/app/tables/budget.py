"""Memory that a reader may take: counted before, or while, a table is built."""

from mercer._base.words import in_bytes
from mercer.app.tables.table import TableError


class TooLargeError(TableError):
    """A table that does not fit into the memory that may be used."""


class Budget:
    """What may be held of one table; a reader that needs more is stopped.

    `limit` is in bytes; `name` is what messages call the table.

    Examples
    --------
    >>> budget = Budget("t.csv", 1000)
    >>> budget.hold(900)
    >>> budget.left
    100.0
    """

    def __init__(self, name: str, limit: float) -> None:
        self.name = name
        self.limit = limit
        self.held = 0.0

    @property
    def left(self) -> float:
        """Bytes that may still be taken."""
        return self.limit - self.held

    def check(self, size: float) -> None:
        """Raise if bytes that are needed for a while do not fit."""
        if size > self.left:
            raise self.refusal()

    def hold(self, size: float) -> None:
        """Count bytes that are needed; raise once they are too many."""
        self.held += size
        if self.held > self.limit:
            raise self.refusal()

    def refusal(self) -> "TooLargeError":
        """Return the error to raise where memory is exceeded."""
        return TooLargeError(
            f"{self.name} needs more than {in_bytes(self.limit)} of memory, which is "
            "all that may be used. Raise --memory, or take fewer rows or columns."
        )
