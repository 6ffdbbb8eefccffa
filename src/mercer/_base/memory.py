"""How much memory may be used, and giving back what is not used any more."""

import ctypes
import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

GIB = 1024**3


def available_memory() -> float:
    """Return the bytes that may be used: three quarters of what is free."""
    return 0.75 * min([_free_memory(), *_group_limits()])


def resident_memory() -> float:
    """Return the bytes that this process holds in memory; 0 where nobody tells."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
        return float(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0.0


def give_back() -> None:
    """Give the system what was freed; allocators keep it for what comes next."""
    gc.collect()
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # only the library of GNU has it
            ctypes.CDLL(None).malloc_trim(0)


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
