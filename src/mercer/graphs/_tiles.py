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
    _: Any, A: Any, a: Any, B: Any, b: Any, r: Any, G: Any, g: Any, step: Any
) -> Any:
    """Write ``A[t, 0] + B[0, j] + sum_i A[t, i] B[i, j]`` for 4 rows t of r + 1.

    B is a panel of r + 1 rows of `WIDTH`; row t of the result starts at g + t step.
    """
    i64 = types.int64

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = [(signature.args[i], args[i]) for i in (0, 2, 5)]
        left, right, out = (_data(context, builder, *pair) for pair in arrays)
        a, b, r, g, step = (args[i] for i in (1, 3, 4, 6, 7))
        stride = builder.add(r, _LONG(1))
        rows = [builder.add(a, builder.mul(_LONG(t), stride)) for t in range(ROWS)]
        one = ir.Constant(_FLOATS, [1.0] * LANES)

        def factor(t: int, i: Any) -> Any:
            index = builder.add(rows[t], i)
            return _spread(builder, builder.load(_at(builder, left, index), align=4))

        def add(sums: list[Any], factors: list[Any], panel: list[Any]) -> list[Any]:
            return [
                builder.fadd(
                    total,
                    builder.fmul(factors[t // 2], panel[t % 2], flags=_SUM),
                    flags=_SUM,
                )
                for t, total in enumerate(sums)
            ]

        panel = [_vector(builder, right, b, half) for half in range(2)]
        firsts = [factor(t, _LONG(0)) for t in range(ROWS)]
        start = add([firsts[t // 2] for t in range(2 * ROWS)], [one] * ROWS, panel)

        before = builder.block
        loop, after = (builder.append_basic_block() for _ in range(2))
        builder.branch(loop)
        builder.position_at_end(loop)
        i = builder.phi(_LONG)
        sums = [builder.phi(_FLOATS) for _ in start]
        row = builder.add(b, builder.mul(i, _LONG(WIDTH)))
        panel = [_vector(builder, right, row, half) for half in range(2)]
        following = add(sums, [factor(t, i) for t in range(ROWS)], panel)
        i.add_incoming(_LONG(1), before)
        i.add_incoming(builder.add(i, _LONG(1)), loop)
        for total, first, last in zip(sums, start, following, strict=True):
            total.add_incoming(first, before)
            total.add_incoming(last, loop)
        builder.cbranch(builder.icmp_signed("<", i, r), loop, after)
        builder.position_at_end(after)
        for t, total in enumerate(following):
            index = builder.add(g, builder.mul(_LONG(t // 2), step))
            place = _at(builder, out, index, t % 2 * LANES, _FLOATS)
            builder.store(total, place, align=4)
        return context.get_dummy_value()

    return types.void(A, i64, B, i64, i64, G, i64, i64), codegen


@_in_vectors
def below(_: Any, G: Any, g: Any, bound: Any) -> Any:
    """Tell by bits which of the `WIDTH` entries from G[g] on are below the bound."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0])
        values = [_vector(builder, data, args[1], half) for half in range(2)]
        return _mask(builder, values, [_spread(builder, args[2])] * 2)

    return types.uint64(G, types.int64, types.float32), codegen


@_in_vectors
def below_each(_: Any, G: Any, g: Any, limits: Any, first: Any) -> Any:
    """Tell by bits which of the `WIDTH` entries are below their own limits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0])
        bounds = _data(context, builder, signature.args[2], args[2])
        values = [_vector(builder, data, args[1], half) for half in range(2)]
        upper = [_vector(builder, bounds, args[3], half) for half in range(2)]
        return _mask(builder, values, upper)

    return types.uint64(G, types.int64, limits, types.int64), codegen


@_in_vectors
def lower(_: Any, least: Any, first: Any, G: Any, g: Any) -> Any:
    """Lower the `WIDTH` entries from least[first] on to those from G[g] on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        old = _data(context, builder, signature.args[0], args[0])
        new = _data(context, builder, signature.args[2], args[2])
        for half in range(2):
            x = _vector(builder, old, args[1], half)
            y = _vector(builder, new, args[3], half)
            smaller = builder.select(builder.fcmp_ordered("<", y, x), y, x)
            place = _at(builder, old, args[1], half * LANES, _FLOATS)
            builder.store(smaller, place, align=4)
        return context.get_dummy_value()

    return types.void(least, types.int64, G, types.int64), codegen


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
