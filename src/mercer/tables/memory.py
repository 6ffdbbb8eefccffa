"""Sizes of memory, as people write them."""

from mercer.tables.table import TableError


def parse_size(text: str) -> float:
    """Return bytes of a text such as "4GB" or "500 MiB".

    Examples
    --------
    >>> parse_size("2 KiB")
    2048.0
    """
    number = text.strip().rstrip("bBiIkKmMgGtT ").strip()
    unit = text.strip()[len(number) :].strip().lower()
    base = 1024 if "i" in unit else 1000
    power = " kmgt".find(unit[:1]) if unit[:1] != "b" else 0
    try:
        size = float(number) * float(base ** max(power, 0))
    except ValueError:
        size = 0.0
    if not 0 < size < float("inf"):
        msg = f"--memory must be a size such as 4GB or 500MB, got {text!r}."
        raise TableError(msg)
    return size
