"""How much memory a job will need, and the largest basis that fits."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.sparse import issparse

from mercer.fewlabels.pool import KernelPool
from mercer.fewlabels.rule import DEFAULT
from mercer.spectrum.graph import GraphBasis
from mercer.tables.table import TableError

GIB = 1024**3
# Imported code, compiled functions and what Python leaves lying about.
_START = 0.45 * GIB
# Arrays of n x r numbers that live at the same time at the worst moment.
_COPIES = 2.5
_FEWEST = 2


@dataclass(frozen=True)
class MemoryPlan:
    """What a job will spend, in bytes, and the basis that keeps it within limits."""

    needed: float
    limit: float
    n_components: int  # directions per part of the pool
    wanted: int
    pool: bool

    @property
    def is_reduced(self) -> bool:
        """Whether the basis was made smaller to fit."""
        return self.n_components < self.wanted

    def basis(self, random_state: int) -> Any:
        """Return the basis to fit, or "auto" where the learner's own one fits."""
        if not self.is_reduced:
            return "auto"
        make = KernelPool if self.pool else GraphBasis
        return make(self.n_components, random_state=random_state)

    def __str__(self) -> str:
        said = (
            f"needs about {self.needed / GIB:.1f} GiB of memory "
            f"({self.limit / GIB:.1f} GiB may be used)"
        )
        if self.is_reduced:
            said += f"; {self.n_components} directions instead of {self.wanted} to fit"
        return said


def plan_model(X: Any, n_classes: int, has_pairs: bool, limit: float) -> MemoryPlan:
    """Return the largest basis whose job fits, before any memory is spent.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        Encoded points.
    n_classes : int
    has_pairs : bool
        Whether pairs are given: then one graph is used, else the pool.
    limit : float
        Bytes that may be used.

    Examples
    --------
    >>> import numpy as np
    >>> plan_model(np.ones((1000, 4)), 2, False, 4 * GIB).is_reduced
    False
    """
    n = X.shape[0]
    bytes_of_points = 2 * X.data.nbytes if issparse(X) else X.nbytes
    parts = 1 if has_pairs else len(DEFAULT.graphs) + 2  # graphs and plain kernels
    wanted = min(100 if has_pairs else DEFAULT.directions, n)
    # The table, its encoding and the search; labels, ids and probabilities;
    # neighbours, weights both ways and the Laplacian.
    fixed = _START + 4.0 * bytes_of_points + n * (1000 + 24 * n_classes)
    per_direction = _COPIES * 8 * n * parts
    fits = int((limit - fixed) // per_direction)
    if fits < min(_FEWEST, wanted):
        least = fixed + min(_FEWEST, wanted) * per_direction
        msg = (
            f"{n:,} rows need at least {least / GIB:.1f} GiB of memory, and "
            f"{limit / GIB:.1f} GiB may be used. Raise --memory, or take fewer rows "
            "or columns."
        )
        raise TableError(msg)
    r = min(wanted, fits)
    return MemoryPlan(fixed + r * per_direction, limit, r, wanted, not has_pairs)


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
