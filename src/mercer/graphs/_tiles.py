"""Vector instructions for compiled loops: small products, masks and sorted lists.

numba has no vector registers of its own, and a loop that keeps a block of sums in
them, or turns comparisons into bits, does not come out of plain code. So these few
functions are written in LLVM's vectors, of 16 floats where the processor has such and
of 8 elsewhere, which LLVM breaks up as needed. Arrays are contiguous, single precision
(lists of points int32), and addressed by the position of their first entry.
"""

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 16 if llvm.get_host_cpu_features().get("avx512f") else 8
WIDTH = 2 * LANES  # columns of a panel
ROWS = 4  # rows of a tile

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_INTS = ir.VectorType(ir.IntType(32), LANES)
_SHORTS = ir.VectorType(ir.IntType(16), 2 * LANES)
_LONG = ir.IntType(64)
_SUM = ("contract", "nsz")  # a product and a sum may be rounded once


def _in_vectors(function: Callable[..., Any]) -> Any:
    # As numba declares it, callers would have to give the first argument, too.
    return intrinsic(function)


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _at(builder: Any, data: Any, index: Any, shift: int = 0, kind: Any = None) -> Any:
    """Return the address of an entry, or of the vector that starts there."""
    place = builder.gep(data, [builder.add(index, _LONG(shift))])
    return place if kind is None else builder.bitcast(place, kind.as_pointer())


def _vector(builder: Any, data: Any, index: Any, half: int = 0) -> Any:
    return builder.load(_at(builder, data, index, half * LANES, _FLOATS), align=4)


def _spread(builder: Any, x: Any, kind: Any = _FLOATS) -> Any:
    nothing = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(nothing, x, ir.IntType(32)(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(_INTS, [0] * LANES))


def _mask(builder: Any, lower: list[Any], upper: list[Any]) -> Any:
    """Return the bits of ``lower < upper``, the first column lowest."""
    total = _LONG(0)
    for half, (x, y) in enumerate(zip(lower, upper, strict=True)):
        bits = builder.bitcast(builder.fcmp_ordered("<", x, y), ir.IntType(LANES))
        wide = builder.shl(builder.zext(bits, _LONG), _LONG(half * LANES))
        total = builder.or_(total, wide)
    return total


def _smaller(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", y, x), y, x)


def _dot(builder: Any, x: Any, y: Any) -> Any:
    """Multiply 16-bit entries and add neighbours, which processors do in one step."""
    wide = ir.VectorType(ir.IntType(32), 2 * LANES)
    product = builder.mul(builder.sext(x, wide), builder.sext(y, wide))
    nothing = ir.Constant(wide, ir.Undefined)
    even, odd = (
        builder.shuffle_vector(
            product, nothing, ir.Constant(_INTS, list(range(start, 2 * LANES, 2)))
        )
        for start in (0, 1)
    )
    return builder.add(even, odd)


def _down_from(builder: Any, count: Any, body: Callable[[Any], None]) -> None:
    """Run `body` for count - 1, ..., 0; at least once."""
    before = builder.block
    loop, after = (builder.append_basic_block() for _ in range(2))
    start = builder.sub(count, _LONG(1))
    builder.branch(loop)
    builder.position_at_end(loop)
    step = builder.phi(_LONG)
    step.add_incoming(start, before)
    body(step)
    step.add_incoming(builder.sub(step, _LONG(1)), builder.block)
    builder.cbranch(builder.icmp_signed(">", step, _LONG(0)), loop, after)
    builder.position_at_end(after)


@_in_vectors
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
        left, heads, right, tops, out = (_data(context, builder, *x) for x in arrays)
        t, p, pairs, g, step = (args[i] for i in (2, 5, 6, 8, 9))
        rows = [builder.add(t, _LONG(row)) for row in range(ROWS)]
        places = [builder.mul(row, pairs) for row in rows]
        left, right = (
            builder.bitcast(x, ir.IntType(32).as_pointer()) for x in (left, right)
        )
        first = builder.mul(builder.mul(p, pairs), _LONG(WIDTH))

        before = builder.block
        loop, after = (builder.append_basic_block() for _ in range(2))
        builder.branch(loop)
        builder.position_at_end(loop)
        i = builder.phi(_LONG)
        sums = [builder.phi(_INTS) for _ in range(2 * ROWS)]
        place = builder.add(first, builder.mul(i, _LONG(WIDTH)))
        panel = [
            builder.load(_at(builder, right, place, half * LANES, _SHORTS), align=2)
            for half in range(2)
        ]
        following = []
        for row in range(ROWS):
            pair = builder.load(
                _at(builder, left, builder.add(places[row], i)), align=2
            )
            x = builder.bitcast(_spread(builder, pair, _INTS), _SHORTS)
            for half in range(2):
                total = sums[2 * row + half]
                following.append(builder.add(total, _dot(builder, x, panel[half])))
        i.add_incoming(_LONG(0), before)
        i.add_incoming(builder.add(i, _LONG(1)), loop)
        for total, last in zip(sums, following, strict=True):
            total.add_incoming(ir.Constant(_INTS, [0] * LANES), before)
            total.add_incoming(last, loop)
        more = builder.icmp_signed("<", builder.add(i, _LONG(1)), pairs)
        builder.cbranch(more, loop, after)
        builder.position_at_end(after)

        top = builder.mul(p, _LONG(2 * WIDTH))
        squares, scales = (
            [_vector(builder, tops, builder.add(top, _LONG(shift)), h) for h in (0, 1)]
            for shift in (0, WIDTH)
        )
        for row in range(ROWS):
            head = builder.mul(rows[row], _LONG(2))
            square, scale = (
                _spread(builder, builder.load(_at(builder, heads, head, shift)))
                for shift in range(2)
            )
            index = builder.add(g, builder.mul(_LONG(row), step))
            for half in range(2):
                dot = builder.sitofp(following[2 * row + half], _FLOATS)
                factor = builder.fmul(scale, scales[half])
                product = builder.fmul(factor, dot, flags=_SUM)
                known = builder.fadd(square, squares[half])
                total = builder.fadd(known, product, flags=_SUM)
                spot = _at(builder, out, index, half * LANES, _FLOATS)
                builder.store(total, spot, align=4)
        return context.get_dummy_value()

    kinds = (A, heads, i64, B, tops, i64, i64, G, i64, i64)
    return types.void(*kinds), codegen


@_in_vectors
def below(_: Any, G: Any, g: Any, bound: Any) -> Any:
    """Tell by bits which of the `WIDTH` entries from G[g] on are below the bound."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0])
        values = [_vector(builder, data, args[1], half) for half in range(2)]
        return _mask(builder, values, [_spread(builder, args[2])] * 2)

    return types.uint64(G, types.int64, types.float32), codegen


@_in_vectors
def below_either(_: Any, G: Any, g: Any, bound: Any, limits: Any, first: Any) -> Any:
    """Tell which of the `WIDTH` entries are below the bound or their own limits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0])
        bounds = _data(context, builder, signature.args[3], args[3])
        values = [_vector(builder, data, args[1], half) for half in range(2)]
        upper = [_vector(builder, bounds, args[4], half) for half in range(2)]
        bound = _spread(builder, args[2])
        upper = [
            builder.select(builder.fcmp_ordered(">", x, bound), x, bound) for x in upper
        ]
        return _mask(builder, values, upper)

    i64 = types.int64
    return types.uint64(G, i64, types.float32, limits, i64), codegen


@_in_vectors
def minima(
    _: Any, G: Any, g: Any, step: Any, count: Any, least: Any, first: Any
) -> Any:
    """Write the smallest of G[g + j], G[g + step + j], ... to least[first + j].

    There are `count` of them, at least one, for each of `WIDTH` columns j.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0])
        out = _data(context, builder, signature.args[4], args[4])
        g, step, count = args[1:4]
        before = builder.block
        loop, after = (builder.append_basic_block() for _ in range(2))
        builder.branch(loop)
        builder.position_at_end(loop)
        i = builder.phi(_LONG)
        sofar = [builder.phi(_FLOATS) for _ in range(2)]
        index = builder.add(g, builder.mul(i, step))
        lowered = [
            _smaller(builder, x, _vector(builder, data, index, half))
            for half, x in enumerate(sofar)
        ]
        following = builder.add(i, _LONG(1))
        i.add_incoming(_LONG(0), before)
        i.add_incoming(following, loop)
        for x, y in zip(sofar, lowered, strict=True):
            x.add_incoming(ir.Constant(_FLOATS, [float("inf")] * LANES), before)
            x.add_incoming(y, loop)
        builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
        builder.position_at_end(after)
        for half, x in enumerate(lowered):
            place = _at(builder, out, args[5], half * LANES, _FLOATS)
            builder.store(x, place, align=4)
        return context.get_dummy_value()

    i64 = types.int64
    return types.void(G, i64, i64, i64, least, i64), codegen


@_in_vectors
def smallest(_: Any, least: Any) -> Any:
    """Return the smallest of `WIDTH` entries, none of them NaN."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0])
        halves = [_vector(builder, data, _LONG(0), half) for half in range(2)]
        total = _smaller(builder, *halves)
        for step in (1 << e for e in range(LANES.bit_length() - 1)):
            turn = ir.Constant(_INTS, [(i + step) % LANES for i in range(LANES)])
            turned = builder.shuffle_vector(total, total, turn)
            total = _smaller(builder, total, turned)
        return builder.extract_element(total, ir.IntType(32)(0))

    return types.float32(least), codegen


@_in_vectors
def fetch(_: Any, X: Any, index: Any) -> Any:
    """Have the entry at an index, and what shares its cache line, brought near."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0])
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        place = builder.bitcast(_at(builder, data, args[1]), byte)
        builder.call(prefetch, [place, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(X, types.int64), codegen


@_in_vectors
def lowest_bit(_: Any, mask: Any) -> Any:
    """Return the number of the lowest bit set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.uint64), codegen


@_in_vectors
def count_bits(_: Any, mask: Any) -> Any:
    """Return the number of bits set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@_in_vectors
def insert(
    _: Any, best: Any, ids: Any, first: Any, parts: Any, x: Any, who: Any
) -> Any:
    """Put x into the ascending list of parts * `LANES` entries from best[first] on.

    Entries that are no larger keep their places, the last entry falls out; `ids` is
    moved alike and gets `who`.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = _data(context, builder, signature.args[0], args[0])
        names = _data(context, builder, signature.args[1], args[1])
        first, parts = args[2:4]
        x, who = _spread(builder, args[4]), _spread(builder, args[5], _INTS)
        rotation = ir.Constant(_INTS, [LANES, *range(LANES - 1)])

        def shifted(old: Any, preceding: Any) -> Any:
            nothing = ir.Constant(old.type, ir.Undefined)
            one = builder.insert_element(nothing, preceding, ir.IntType(32)(0))
            return builder.shuffle_vector(old, one, rotation)

        def body(part: Any) -> None:
            index = builder.add(first, builder.mul(part, _LONG(LANES)))
            places = [
                _at(builder, values, index, 0, _FLOATS),
                _at(builder, names, index, 0, _INTS),
            ]
            old, old_names = (builder.load(place, align=4) for place in places)
            is_first = builder.icmp_signed("==", part, _LONG(0))
            back = builder.sub(index, builder.select(is_first, _LONG(0), _LONG(1)))
            value = builder.load(_at(builder, values, back), align=4)
            name = builder.load(_at(builder, names, back), align=4)
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
