"""One step of a three-term recurrence with a sparse matrix, in LLVM's vectors.

Sums of 8, 16 or 32 columns are kept in vector registers, which does not come out of
plain code: that takes half off. Rows of the block are asked for some time before they
are needed, which takes a third off where the block is larger than the caches.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from mercer._base.machine_code.compiled import compiled
from mercer._base.machine_code.vectors import address, data_of, in_vectors, spread

FEW, SOME, MANY = 8, 16, 32  # columns that are summed up together
_LINE = 64  # bytes that processors read at a time
_AHEAD = 4096  # bytes of a block that are on their way to the processor
_SUM = ("contract",)  # a product and a sum may be rounded once
_INT, _LONG = ir.IntType(32), ir.IntType(64)


def _fetch(builder: Any, place: Any) -> None:
    """Ask for what will be read soon."""
    pointer = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, _INT, _INT, _INT])
    fetch = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
    # To be read (0), kept in all caches (3), data (1).
    builder.call(fetch, [builder.bitcast(place, pointer), _INT(0), _INT(3), _INT(1)])


def _step(lanes: int) -> Any:
    """Return a function that replaces Y[row, first : first + lanes], see `recur`.

    The entries of A in this row are start to stop. Rows of X are asked for `ahead`
    entries before they are needed.
    """

    def step(
        _: Any,
        indices: Any,
        data: Any,
        X: Any,
        Y: Any,
        a: Any,
        b: Any,
        c: Any,
        row: Any,
        first: Any,
        start: Any,
        stop: Any,
        ahead: Any,
        last: Any,
    ) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            columns, weights, x, y = (
                data_of(context, builder, signature.args[i], args[i]) for i in range(4)
            )
            kind, bytes_each = ir.VectorType(args[4].type, lanes), X.dtype.bitwidth // 8
            a, b, c = (spread(builder, number, kind) for number in args[4:7])
            row, first, start, stop, ahead, last = args[7:]
            shape = context.make_array(X)(context, builder, args[2]).shape
            width = builder.extract_value(shape, 1)

            def place(number: Any) -> Any:
                return builder.add(builder.mul(number, width), first)

            def column(entry: Any) -> Any:
                found = builder.load(address(builder, columns, entry))
                return builder.zext(found, _LONG)

            def vector(array: Any, index: Any) -> Any:
                where = address(builder, array, index, 0, kind)
                return builder.load(where, align=bytes_each)

            def multiplied(x: Any, y: Any, total: Any) -> Any:
                return builder.fadd(total, builder.fmul(x, y, flags=_SUM), flags=_SUM)

            before = builder.block
            loop, after = (builder.append_basic_block() for _ in range(2))
            nothing = ir.Constant(kind, [0.0] * lanes)
            builder.cbranch(builder.icmp_unsigned("<", start, stop), loop, after)
            builder.position_at_end(loop)
            entry, total = builder.phi(_LONG), builder.phi(kind)
            later = builder.add(entry, ahead)
            later = builder.select(builder.icmp_unsigned("<", later, last), later, last)
            soon = place(column(later))
            for shift in range(0, lanes, _LINE // bytes_each):
                _fetch(builder, address(builder, x, soon, shift))
            weight = builder.load(address(builder, weights, entry))
            weight = spread(builder, weight, kind)
            added = multiplied(weight, vector(x, place(column(entry))), total)
            following = builder.add(entry, _LONG(1))
            for phi, old, new in ((entry, start, following), (total, nothing, added)):
                phi.add_incoming(old, before)
                phi.add_incoming(new, loop)
            builder.cbranch(builder.icmp_unsigned("<", following, stop), loop, after)
            builder.position_at_end(after)
            product = builder.phi(kind)
            product.add_incoming(nothing, before)
            product.add_incoming(added, loop)

            own = place(row)
            result = multiplied(c, vector(y, own), builder.fmul(b, vector(x, own)))
            result = multiplied(a, product, result)
            where = address(builder, y, own, 0, kind)
            builder.store(result, where, align=bytes_each)
            return context.get_dummy_value()

        counts = (types.uint64,) * 6
        return types.void(indices, data, X, Y, *(X.dtype,) * 3, *counts), codegen

    return in_vectors(step)


_step_few, _step_some, _step_many = _step(FEW), _step(SOME), _step(MANY)


@compiled()
def recur(
    indptr: Any,
    indices: Any,
    data: Any,
    X: Any,
    Y: Any,
    a: Any,
    b: Any,
    c: Any,
    begin: int,
    end: int,
) -> None:
    """Replace rows of Y, `begin` to `end`, by those of a A X + b X + c Y.

    All numbers are of one type, which decides the precision; A is from `parts`, X and
    Y are from `zero_block` or `aligned`.
    """
    k = X.shape[1]
    ahead = np.uint64(_AHEAD // (k * X.itemsize) + 1)
    last = np.uint64(max(len(indices) - 1, 0))
    for i in range(begin, end):
        start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        row = np.uint64(i)
        t = 0
        while t < k:
            part = (np.uint64(t), start, stop, ahead, last)
            if t + MANY <= k:
                _step_many(indices, data, X, Y, a, b, c, row, *part)
                t += MANY
            elif t + SOME <= k:
                _step_some(indices, data, X, Y, a, b, c, row, *part)
                t += SOME
            else:
                _step_few(indices, data, X, Y, a, b, c, row, *part)
                t += FEW
