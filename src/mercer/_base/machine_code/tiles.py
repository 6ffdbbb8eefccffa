"""Products of rows and panels, and sorted lists, in vector registers."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from mercer._base.machine_code.vectors import (
    FLOATS,
    INTS,
    LANES,
    LONG,
    WIDTH,
    address,
    data_of,
    in_vectors,
    spread,
    vector,
)

ROWS = 4  # rows of a tile

_SHORTS = ir.VectorType(ir.IntType(16), 2 * LANES)
_SUM = ("contract", "nsz")  # a product and a sum may be rounded once


def _dot(builder: Any, x: Any, y: Any) -> Any:
    """Multiply 16-bit entries and add neighbours, which processors do in one step."""
    wide = ir.VectorType(ir.IntType(32), 2 * LANES)
    product = builder.mul(builder.sext(x, wide), builder.sext(y, wide))
    nothing = ir.Constant(wide, ir.Undefined)
    even, odd = (
        builder.shuffle_vector(
            product, nothing, ir.Constant(INTS, list(range(start, 2 * LANES, 2)))
        )
        for start in (0, 1)
    )
    return builder.add(even, odd)


def _down_from(builder: Any, count: Any, body: Callable[[Any], None]) -> None:
    """Run `body` for count - 1, ..., 0; at least once."""
    before = builder.block
    loop, after = (builder.append_basic_block() for _ in range(2))
    start = builder.sub(count, LONG(1))
    builder.branch(loop)
    builder.position_at_end(loop)
    step = builder.phi(LONG)
    step.add_incoming(start, before)
    body(step)
    step.add_incoming(builder.sub(step, LONG(1)), builder.block)
    builder.cbranch(builder.icmp_signed(">", step, LONG(0)), loop, after)
    builder.position_at_end(after)


@in_vectors
def tile(
    _: Any,
    A: Any,
    heads: Any,
    t: Any,
    B: Any,
    tops: Any,
    p: Any,
    pairs: Any,
    G: Any,
    g: Any,
    step: Any,
) -> Any:
    """Write the squared distances of the rows t, ..., t + 3 and the columns of panel p.

    A has rows and B panels of `pairs` pairs of int16, those of a panel interleaved:
    (p, pairs, WIDTH, 2). With [a, b] = heads[t] and [c, d] = tops[p, :, j] the result
    is ``a + c[j] + b d[j] sum_i A[t, i] B[p, i, j]``, its rows being g + step apart.
    The sum must not exceed 32 bits.
    """
    i64 = types.int64

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = [(signature.args[i], args[i]) for i in (0, 1, 3, 4, 7)]
        left, heads, right, tops, out = (data_of(context, builder, *x) for x in arrays)
        t, p, pairs, g, step = (args[i] for i in (2, 5, 6, 8, 9))
        rows = [builder.add(t, LONG(row)) for row in range(ROWS)]
        places = [builder.mul(row, pairs) for row in rows]
        left, right = (
            builder.bitcast(x, ir.IntType(32).as_pointer()) for x in (left, right)
        )
        first = builder.mul(builder.mul(p, pairs), LONG(WIDTH))

        before = builder.block
        loop, after = (builder.append_basic_block() for _ in range(2))
        builder.branch(loop)
        builder.position_at_end(loop)
        i = builder.phi(LONG)
        sums = [builder.phi(INTS) for _ in range(2 * ROWS)]
        place = builder.add(first, builder.mul(i, LONG(WIDTH)))
        panel = [
            builder.load(address(builder, right, place, half * LANES, _SHORTS), align=2)
            for half in range(2)
        ]
        following = []
        for row in range(ROWS):
            pair = builder.load(
                address(builder, left, builder.add(places[row], i)), align=2
            )
            x = builder.bitcast(spread(builder, pair, INTS), _SHORTS)
            for half in range(2):
                total = sums[2 * row + half]
                following.append(builder.add(total, _dot(builder, x, panel[half])))
        i.add_incoming(LONG(0), before)
        i.add_incoming(builder.add(i, LONG(1)), loop)
        for total, last in zip(sums, following, strict=True):
            total.add_incoming(ir.Constant(INTS, [0] * LANES), before)
            total.add_incoming(last, loop)
        more = builder.icmp_signed("<", builder.add(i, LONG(1)), pairs)
        builder.cbranch(more, loop, after)
        builder.position_at_end(after)

        top = builder.mul(p, LONG(2 * WIDTH))
        squares, scales = (
            [vector(builder, tops, builder.add(top, LONG(shift)), h) for h in (0, 1)]
            for shift in (0, WIDTH)
        )
        for row in range(ROWS):
            head = builder.mul(rows[row], LONG(2))
            square, scale = (
                spread(builder, builder.load(address(builder, heads, head, shift)))
                for shift in range(2)
            )
            index = builder.add(g, builder.mul(LONG(row), step))
            for half in range(2):
                dot = builder.sitofp(following[2 * row + half], FLOATS)
                factor = builder.fmul(scale, scales[half])
                product = builder.fmul(factor, dot, flags=_SUM)
                known = builder.fadd(square, squares[half])
                total = builder.fadd(known, product, flags=_SUM)
                spot = address(builder, out, index, half * LANES, FLOATS)
                builder.store(total, spot, align=4)
        return context.get_dummy_value()

    kinds = (A, heads, i64, B, tops, i64, i64, G, i64, i64)
    return types.void(*kinds), codegen


@in_vectors
def insert(
    _: Any, best: Any, ids: Any, first: Any, parts: Any, x: Any, who: Any
) -> Any:
    """Put x into the ascending list of parts * `LANES` entries from best[first] on.

    Entries that are no larger keep their places, the last entry falls out; `ids` is
    moved alike and gets `who`.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = data_of(context, builder, signature.args[0], args[0])
        names = data_of(context, builder, signature.args[1], args[1])
        first, parts = args[2:4]
        x, who = spread(builder, args[4]), spread(builder, args[5], INTS)
        rotation = ir.Constant(INTS, [LANES, *range(LANES - 1)])

        def shifted(old: Any, preceding: Any) -> Any:
            nothing = ir.Constant(old.type, ir.Undefined)
            one = builder.insert_element(nothing, preceding, ir.IntType(32)(0))
            return builder.shuffle_vector(old, one, rotation)

        def body(part: Any) -> None:
            index = builder.add(first, builder.mul(part, LONG(LANES)))
            places = [
                address(builder, values, index, 0, FLOATS),
                address(builder, names, index, 0, INTS),
            ]
            old, old_names = (builder.load(place, align=4) for place in places)
            is_first = builder.icmp_signed("==", part, LONG(0))
            back = builder.sub(index, builder.select(is_first, LONG(0), LONG(1)))
            value = builder.load(address(builder, values, back), align=4)
            name = builder.load(address(builder, names, back), align=4)
            least = ir.FloatType()(float("-inf"))
            moved = shifted(old, builder.select(is_first, least, value))
            moved_names = shifted(old_names, name)
            stays = builder.fcmp_ordered("<=", old, x)
            moves = builder.fcmp_ordered(">", moved, x)
            builder.store(
                builder.select(stays, old, builder.select(moves, moved, x)),
                places[0],
                align=4,
            )
            builder.store(
                builder.select(
                    stays, old_names, builder.select(moves, moved_names, who)
                ),
                places[1],
                align=4,
            )

        _down_from(builder, parts, body)
        return context.get_dummy_value()

    i64 = types.int64
    return types.void(best, ids, i64, i64, types.float32, types.int32), codegen
