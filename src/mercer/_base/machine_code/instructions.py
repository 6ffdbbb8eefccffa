"""The innermost steps of the cell search: in LLVM's vectors, or plain.

The two ways do the same. The plain one serves where llvmlite's vectors do not compile,
and where the environment variable ``MERCER_PLAIN`` is set.
"""

import os

__all__ = [
    "LANES",
    "ROWS",
    "WIDTH",
    "below",
    "below_either",
    "count_bits",
    "insert",
    "lowest_bit",
    "minima",
    "smallest",
    "tile",
]


def _is_plain() -> bool:
    if os.environ.get("MERCER_PLAIN", "0") != "0":
        return True
    try:
        import llvmlite.ir
    except ImportError:
        return True
    return not hasattr(llvmlite.ir, "VectorType")


PLAIN = _is_plain()

if PLAIN:
    from mercer._base.machine_code.plain import (
        LANES,
        ROWS,
        WIDTH,
        below,
        below_either,
        count_bits,
        insert,
        lowest_bit,
        minima,
        smallest,
        tile,
    )
else:
    from mercer._base.machine_code.tiles import ROWS, insert, tile
    from mercer._base.machine_code.vectors import (
        LANES,
        WIDTH,
        below,
        below_either,
        count_bits,
        lowest_bit,
        minima,
        smallest,
    )
