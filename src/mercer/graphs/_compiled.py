"""Compiled loops of the search, kept on disk only as long as they are up to date.

numba compares the file of a function with the one its machine code was made from, but
not the files of the functions it calls, whose code is part of it. So the name under
which machine code is kept tells what is written in all files it may come from.
"""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

_FILES = sorted(Path(__file__).parent.glob("_*.py"))
_PLAIN = os.environ.get("MERCER_PLAIN", "0").encode()  # see `_instructions`
_SOURCES = sha256(b"".join([_PLAIN, *(file.read_bytes() for file in _FILES)]))
_NAME = _SOURCES.hexdigest()[:16]


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that calls compiled ones of the modules ``_*`` here alone."""

    def decorate(function: Callable[..., Any]) -> Any:
        function.__qualname__ += f"_{_NAME}"
        return njit(nogil=True, cache=True, **options)(function)

    return decorate
