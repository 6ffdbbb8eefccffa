"""How much memory a job will need, and the largest basis that fits."""

import os
from dataclasses import dataclass
from pathlib import Path

from mercer.tables.table import TableError

GIB = 1024**3
# Imported code, compiled functions and what Python leaves lying about.
_START = 0.45 * GIB
# Arrays of n x r numbers that live at the same time at the worst moment.
_COPIES = 5.5
_FEWEST = 10


@dataclass(frozen=True)
class MemoryPlan:
    """What a job will spend, in bytes, and the basis that keeps it within limits."""

    needed: float
    limit: float
    n_components: int
    wanted: int

    @property
    def is_reduced(self) -> bool:
        """Whether the basis was made smaller to fit."""
        return self.n_components < self.wanted

    def __str__(self) -> str:
        said = (
            f"needs about {self.needed / GIB:.1f} GiB of memory "
            f"({self.limit / GIB:.1f} GiB may be used)"
        )
        if self.is_reduced:
            said += f"; {self.n_components} directions instead of {self.wanted} to fit"
        return said


def plan_memory(
    *,
    n: int,
    bytes_of_points: int,
    n_classes: int,
    wanted: int,
    has_graph: bool,
    limit: float,
) -> MemoryPlan:
    """Return the largest basis whose job fits, before any memory is spent.

    Parameters
    ----------
    n : int
        Rows.
    bytes_of_points : int
        Size of the encoded table.
    n_classes : int
    wanted : int
        Directions to take if memory allows.
    has_graph : bool
        Whether neighbours of all points are searched, rather than anchors.
    limit : float
        Bytes that may be used.

    Examples
    --------
    >>> plan = plan_memory(n=700_000, bytes_of_points=42_000_000, n_classes=7,
    ...                    wanted=200, has_graph=False, limit=2 * GIB)
    >>> plan.n_components < 200
    True
    """
    # Of the table, its encoding and the search; of labels, ids and probabilities.
    fixed = _START + 4.0 * bytes_of_points + n * (100 + 24 * n_classes)
    if has_graph:
        fixed += n * 900  # neighbours, weights both ways, the Laplacian
    a_direction = _COPIES * 8 * n
    fits = int((limit - fixed) // a_direction)
    if fits < min(_FEWEST, wanted):
        least = fixed + min(_FEWEST, wanted) * a_direction
        msg = (
            f"{n:,} rows need at least {least / GIB:.1f} GiB of memory, and "
            f"{limit / GIB:.1f} GiB may be used. Raise --memory, or take fewer rows "
            "or columns."
        )
        raise TableError(msg)
    r = min(wanted, fits)
    return MemoryPlan(fixed + r * a_direction, limit, r, wanted)


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


def available_memory() -> float:
    """Return the bytes that may be used: three quarters of what is free."""
    free = _free_memory()
    return 0.75 * min([free, *_group_limits()])


def _free_memory() -> float:
    info = Path("/proc/meminfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return 4.0 * GIB


def _group_limits() -> list[float]:
    """Return what the control group of this process leaves, where there is one."""
    root = Path("/sys/fs/cgroup")
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            limit = (root / most).read_text().strip()
            spent = float((root / used).read_text())
        except (OSError, ValueError):
            continue
        if limit.isdecimal():
            return [float(limit) - spent]
    return []
