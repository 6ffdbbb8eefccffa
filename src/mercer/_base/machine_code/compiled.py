"""Compiled loops of the search, kept on disk only as long as they are up to date.

numba compares the file of a function with the one its machine code was made from, but
not the files of the functions it calls, whose code is part of it. So the name under
which machine code is kept tells what is written in all files it may come from.
"""

import os
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

_HERE = Path(__file__).parent
_PLAIN = os.environ.get("MERCER_PLAIN", "0").encode()  # see `instructions`


@cache
def _fingerprint(folder: Path) -> str:
    files = sorted({*_HERE.glob("*.py"), *folder.glob("*.py")})
    sources = sha256(b"".join([_PLAIN, *(file.read_bytes() for file in files)]))
    return sources.hexdigest()[:16]


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that calls compiled ones of its folder or this one."""
    # What other compiled code would need to call it as a function of C takes time.
    settings = {"nogil": True, "cache": True, "no_cfunc_wrapper": True, **options}

    def decorate(function: Callable[..., Any]) -> Any:
        folder = Path(function.__code__.co_filename).parent
        function.__qualname__ += f"_{_fingerprint(folder)}"
        return njit(**settings)(function)

    return decorate
