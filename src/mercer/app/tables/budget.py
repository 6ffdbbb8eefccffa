"""Memory that a reader may take: counted before, or while, a table is built."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from mercer._base.words import in_bytes
from mercer.app.tables.table import TableError

T = TypeVar("T")


class Budget:
    """What may be held of one table; a reader that needs more is stopped.

    Parameters
    ----------
    name : str
        The table, for messages.
    limit : float
        Bytes that may be used.

    Examples
    --------
    >>> budget = Budget("t.csv", 1000)
    >>> budget.hold(900)
    >>> budget.hold(200)
    Traceback (most recent call last):
        ...
    mercer.app.tables.table.TableError: t.csv needs more than 1000 bytes of memory, \
which is all that may be used. Raise --memory, or take fewer rows or columns.
    """

    def __init__(self, name: str, limit: float) -> None:
        self.name = name
        self.limit = limit
        self.held = 0.0

    def hold(self, size: float) -> None:
        """Count bytes that are needed; raise once they are too many."""
        self.held += size
        if self.held > self.limit:
            raise self.refusal()

    def watched(self, sized: Iterable[tuple[T, int]]) -> Iterator[T]:
        """Yield items that come with their sizes, for as long as they fit."""
        for item, size in sized:
            self.hold(size)
            yield item

    def refusal(self) -> TableError:
        """Return the error to raise where memory is exceeded."""
        return TableError(
            f"{self.name} needs more than {in_bytes(self.limit)} of memory, which is "
            "all that may be used. Raise --memory, or take fewer rows or columns."
        )
