# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
"""Triton kernel of the eigensolver: a sparse product fused with its recurrence."""

from typing import Any

import triton
import triton.language as tl


@triton.jit
def _recur(
    starts, columns, entries, X, Y, width, a, b, c,
    WIDTH: tl.constexpr, AT_ONCE: tl.constexpr,
):  # fmt: skip
    """Replace a row of Y by a S X + b X + c Y, the entries of S read some at a time."""
    row = tl.program_id(0).to(tl.int64)
    t = tl.arange(0, WIDTH)
    inside = t < width
    first = tl.load(starts + row)
    last = tl.load(starts + row + 1)
    total = tl.zeros((WIDTH,), tl.float32)
    e = tl.arange(0, AT_ONCE)
    for place in range(first, last, AT_ONCE):
        there = place + e < last
        column = tl.load(columns + place + e, mask=there, other=0).to(tl.int64)
        weight = tl.load(entries + place + e, mask=there, other=0.0)
        x = tl.load(
            X + column[:, None] * width + t[None, :],
            mask=there[:, None] & inside[None, :],
            other=0.0,
        )
        total += tl.sum(weight[:, None] * x, axis=0)
    here = row * width + t
    total = a * total + b * tl.load(X + here, mask=inside, other=0.0)
    if c != 0:
        total += c * tl.load(Y + here, mask=inside, other=0.0)
    tl.store(Y + here, total, mask=inside)


def recur(
    starts: Any,
    columns: Any,
    entries: Any,
    X: Any,
    Y: Any,
    a: float,
    b: float,
    c: float,
) -> Any:
    """Return a S X + b X + c Y, in the place of Y."""
    n, width = X.shape
    _recur[(n,)](
        starts, columns, entries, X, Y, width, a, b, c,
        WIDTH=max(16, triton.next_power_of_2(width)), AT_ONCE=8, num_warps=2,
    )  # fmt: skip
    return Y
