"""One step of a three-term recurrence with a sparse matrix, on a block of vectors."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from mercer._typing import SparseArray

_LINE = 64  # bytes that processors read at a time
_NEAR = 2**22  # bytes of a block that are at hand whatever is read
_AHEAD = 4096  # bytes of a block that are on their way to the processor
_ONE, _TWO, _THREE, _FOUR = np.arange(1, 5, dtype=np.uint64)


def _fetching(_: Any, X: Any, place: Any) -> Any:
    """Ask for the entry X.flat[place], which will be read soon."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        pointer = ir.IntType(8).as_pointer()
        entry = builder.bitcast(builder.gep(array.data, [args[1]]), pointer)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
        # To be read (0), kept in all caches (3), data (1).
        builder.call(fetch, [entry, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(X, types.uint64), codegen


# As numba declares it, callers would have to give the first argument, too.
_fetch: Any = intrinsic(_fetching)


@njit(cache=True)
def recur(
    indptr: Any,
    indices: Any,
    data: Any,
    X: Any,
    Y: Any,
    a: Any,
    b: Any,
    c: Any,
) -> None:
    """Replace Y by a A X + b X + c Y, in one pass over the rows.

    All numbers are of one type, which decides the precision. Four entries are taken
    at a time: the sums of a row wait for each other, so that halves the time of rows
    with 70 entries. Rows of a large X are asked for some time before they are needed,
    which takes a third off.
    """
    n, k = X.shape
    width = np.uint64(k)
    row = np.empty(k, X.dtype)
    is_far = X.nbytes > _NEAR
    ahead = np.uint64(max(_AHEAD // max(k * X.itemsize, 1), 4))
    last = np.uint64(max(len(indices) - 4, 0))
    for i in range(n):
        for t in range(k):
            row[t] = b * X[i, t] + c * Y[i, t]
        p, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        while p + _FOUR <= stop:
            if is_far:
                q = min(p + ahead, last)
                _fetch(X, np.uint64(indices[q]) * width)
                _fetch(X, np.uint64(indices[q + _ONE]) * width)
                _fetch(X, np.uint64(indices[q + _TWO]) * width)
                _fetch(X, np.uint64(indices[q + _THREE]) * width)
            w0, j0 = a * data[p], indices[p]
            w1, j1 = a * data[p + _ONE], indices[p + _ONE]
            w2, j2 = a * data[p + _TWO], indices[p + _TWO]
            w3, j3 = a * data[p + _THREE], indices[p + _THREE]
            for t in range(k):
                first = w0 * X[j0, t] + w1 * X[j1, t]
                row[t] += first + (w2 * X[j2, t] + w3 * X[j3, t])
            p += _FOUR
        while p < stop:
            if is_far:
                _fetch(X, np.uint64(indices[min(p + ahead, last)]) * width)
            weight, j = a * data[p], indices[p]
            for t in range(k):
                row[t] += weight * X[j, t]
            p += _ONE
        for t in range(k):
            Y[i, t] = row[t]


def parts(A: SparseArray, dtype: Any) -> tuple[Any, Any, Any]:
    """Return the arrays of A, row numbers unsigned: that saves a test per read."""
    return (
        A.indptr.view(f"u{A.indptr.itemsize}"),
        A.indices.view(f"u{A.indices.itemsize}"),
        A.data.astype(dtype, copy=False),
    )


def zero_block(shape: tuple[int, int], dtype: Any) -> Any:
    """Return zeros that start where a line of memory does.

    Then a row of 8 numbers is read with one line instead of two.
    """
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    memory = np.zeros(size + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + size].view(dtype).reshape(shape)


def aligned(X: Any, dtype: Any) -> Any:
    """Return a copy of X in rows, see `zero_block`."""
    copy = zero_block(X.shape, dtype)
    copy[:] = X
    return copy


def times(A: SparseArray, X: Any) -> Any:
    """Return A X, in the precision of X."""
    X = aligned(X, X.dtype)
    one, product = X.dtype.type(1), zero_block(X.shape, X.dtype)
    recur(*parts(A, X.dtype), X, product, one, 0 * one, 0 * one)
    return product
