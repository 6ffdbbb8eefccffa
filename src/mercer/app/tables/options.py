"""Options that name columns: ``COLUMN`` or ``COLUMN=MORE``, any number of them."""

from collections.abc import Iterable
from typing import Any

from mercer.app.tables.table import TableError


def parted(said: Any, usage: str) -> tuple[str, str]:
    """Return the column that a text names, and what follows after ``=``.

    Examples
    --------
    >>> parted("llm = sure", "takes COLUMN or COLUMN=CONFIDENCE"), parted("anna", "")
    (('llm', 'sure'), ('anna', ''))
    """
    name, _, more = said.partition("=") if isinstance(said, str) else ("", "", "")
    if not name.strip():
        msg = f"{usage}; got {said!r}."
        raise TableError(msg)
    return name.strip(), more.strip()


def check_once(names: Iterable[str], what: str) -> None:
    """Raise if a name is given twice; `what` says of what, for the message."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            msg = f"{what} {name!r} is given twice; name it once."
            raise TableError(msg)
        seen.add(name)
