"""Vector instructions for compiled loops: comparisons, minima and bits.

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


def _lanes() -> int:
    """Return how many floats a vector holds; 8 where the processor is not known."""
    try:
        features = llvm.get_host_cpu_features()
    except RuntimeError:
        return 8
    return 16 if features.get("avx512f") else 8


LANES = _lanes()
WIDTH = 2 * LANES  # columns of a panel

FLOATS = ir.VectorType(ir.FloatType(), LANES)
INTS = ir.VectorType(ir.IntType(32), LANES)
LONG = ir.IntType(64)


def in_vectors(function: Callable[..., Any]) -> Any:
    # As numba declares it, callers would also have to give the first argument.
    return intrinsic(function)


def data_of(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def address(
    builder: Any, data: Any, index: Any, shift: int = 0, kind: Any = None
) -> Any:
    """Return the address of an entry, or of the vector that starts there."""
    place = builder.gep(data, [builder.add(index, LONG(shift))])
    return place if kind is None else builder.bitcast(place, kind.as_pointer())


def vector(builder: Any, data: Any, index: Any, half: int = 0) -> Any:
    return builder.load(address(builder, data, index, half * LANES, FLOATS), align=4)


def spread(builder: Any, x: Any, kind: Any = FLOATS) -> Any:
    nothing = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(nothing, x, ir.IntType(32)(0))
    first = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
    return builder.shuffle_vector(one, nothing, first)


def _smaller(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", y, x), y, x)


def _mask(builder: Any, lower: list[Any], upper: list[Any]) -> Any:
    """Return the bits of ``lower < upper``, the first column lowest."""
    total = LONG(0)
    for half, (x, y) in enumerate(zip(lower, upper, strict=True)):
        bits = builder.bitcast(builder.fcmp_ordered("<", x, y), ir.IntType(LANES))
        wide = builder.shl(builder.zext(bits, LONG), LONG(half * LANES))
        total = builder.or_(total, wide)
    return total


@in_vectors
def below(_: Any, G: Any, g: Any, bound: Any) -> Any:
    """Tell by bits which of the `WIDTH` entries from G[g] on are below the bound."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature.args[0], args[0])
        values = [vector(builder, data, args[1], half) for half in range(2)]
        return _mask(builder, values, [spread(builder, args[2])] * 2)

    return types.uint64(G, types.int64, types.float32), codegen


@in_vectors
def below_either(_: Any, G: Any, g: Any, bound: Any, limits: Any, first: Any) -> Any:
    """Tell which of the `WIDTH` entries are below the bound or their own limits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature.args[0], args[0])
        bounds = data_of(context, builder, signature.args[3], args[3])
        values = [vector(builder, data, args[1], half) for half in range(2)]
        upper = [vector(builder, bounds, args[4], half) for half in range(2)]
        bound = spread(builder, args[2])
        upper = [
            builder.select(builder.fcmp_ordered(">", x, bound), x, bound) for x in upper
        ]
        return _mask(builder, values, upper)

    i64 = types.int64
    return types.uint64(G, i64, types.float32, limits, i64), codegen


@in_vectors
def minima(
    _: Any, G: Any, g: Any, step: Any, count: Any, least: Any, first: Any
) -> Any:
    """Write the smallest of G[g + j], G[g + step + j], ... to least[first + j].

    There are `count` of them, at least one, for each of `WIDTH` columns j.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature.args[0], args[0])
        out = data_of(context, builder, signature.args[4], args[4])
        g, step, count = args[1:4]
        before = builder.block
        loop, after = (builder.append_basic_block() for _ in range(2))
        builder.branch(loop)
        builder.position_at_end(loop)
        i = builder.phi(LONG)
        sofar = [builder.phi(FLOATS) for _ in range(2)]
        index = builder.add(g, builder.mul(i, step))
        lowered = [
            _smaller(builder, x, vector(builder, data, index, half))
            for half, x in enumerate(sofar)
        ]
        following = builder.add(i, LONG(1))
        i.add_incoming(LONG(0), before)
        i.add_incoming(following, loop)
        for x, y in zip(sofar, lowered, strict=True):
            x.add_incoming(ir.Constant(FLOATS, [float("inf")] * LANES), before)
            x.add_incoming(y, loop)
        builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
        builder.position_at_end(after)
        for half, x in enumerate(lowered):
            place = address(builder, out, args[5], half * LANES, FLOATS)
            builder.store(x, place, align=4)
        return context.get_dummy_value()

    i64 = types.int64
    return types.void(G, i64, i64, i64, least, i64), codegen


@in_vectors
def smallest(_: Any, least: Any) -> Any:
    """Return the smallest of `WIDTH` entries, none of them NaN."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature.args[0], args[0])
        halves = [vector(builder, data, LONG(0), half) for half in range(2)]
        total = _smaller(builder, *halves)
        for step in (1 << e for e in range(LANES.bit_length() - 1)):
            turn = ir.Constant(INTS, [(i + step) % LANES for i in range(LANES)])
            turned = builder.shuffle_vector(total, total, turn)
            total = _smaller(builder, total, turned)
        return builder.extract_element(total, ir.IntType(32)(0))

    return types.float32(least), codegen


@in_vectors
def lowest_bit(_: Any, mask: Any) -> Any:
    """Return the number of the lowest bit set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.uint64), codegen


@in_vectors
def count_bits(_: Any, mask: Any) -> Any:
    """Return the number of bits set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen
