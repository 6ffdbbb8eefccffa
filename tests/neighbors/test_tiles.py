"""The innermost steps of the cell search, in vectors and plain, against numpy."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

from mercer._base.machine_code import plain as _plain
from mercer._base.machine_code import tiles as _tiles
from mercer._base.machine_code import vectors as _vectors
from mercer.neighbors.index import NeighborIndex


def compiled(tile, insert, module):
    """Return the steps as functions that Python can call."""
    below, below_either = module.below, module.below_either
    lowest_bit, count_bits = module.lowest_bit, module.count_bits
    smallest, minima = module.smallest, module.minima

    @njit
    def call_tile(A, heads, t, B, tops, p, pairs, G, g, step):
        tile(A, heads, t, B, tops, p, pairs, G, g, step)

    @njit
    def call_insert(best, ids, first, parts, x, who):
        insert(best, ids, first, parts, x, who)

    @njit
    def bits(G, g, bound, limits, first):
        return below(G, g, bound), below_either(G, g, bound, limits, first)

    @njit
    def lowest_and_count(mask):
        return lowest_bit(mask), count_bits(mask)

    @njit
    def call_smallest(least):
        return smallest(least)

    @njit
    def call_minima(G, g, step, count, least, first):
        minima(G, g, step, count, least, first)

    return SimpleNamespace(
        LANES=module.LANES,
        WIDTH=module.WIDTH,
        ROWS=_plain.ROWS,
        tile=call_tile,
        insert=call_insert,
        bits=bits,
        lowest_and_count=lowest_and_count,
        smallest=call_smallest,
        minima=call_minima,
    )


@pytest.fixture(scope="module", params=["vectors", "plain"])
def steps(request):
    if request.param == "plain":
        return compiled(_plain.tile, _plain.insert, _plain)
    return compiled(_tiles.tile, _tiles.insert, _vectors)


def floats(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def shorts(rng, *shape):
    """Return vectors of 16-bit entries, along the first axis, of the largest length."""
    x = rng.normal(size=shape)
    return np.rint(32767 * x / np.linalg.norm(x, axis=0)).astype(np.int16)


@pytest.mark.parametrize("pairs", [1, 2, 3, 25])
def test_tile_is_a_product_and_writes_nothing_else(steps, pairs):
    rows, width = steps.ROWS, steps.WIDTH
    rng = np.random.default_rng(pairs)
    A, B = (
        shorts(rng, 2 * pairs, rows + 2),
        shorts(rng, 2 * pairs, 3 * width),
    )
    B[:, 0] = A[:, 2]  # the largest sum there is
    heads, tops = floats(rng, rows + 2, 2), floats(rng, 3, 2, width)
    tops[1, 0, 5] = np.inf
    panels = B.reshape(pairs, 2, 3, width).transpose(2, 0, 3, 1).copy()
    for p in range(3):
        G = np.full((rows, width + 5), 7, dtype=np.float32)
        steps.tile(
            A.T.copy(), heads, 2, panels, tops, p, pairs, G.ravel(), 2, width + 5
        )
        products = A[:, 2:].T.astype(float) @ B[:, p * width : (p + 1) * width]
        known = heads[2:, :1] + tops[p, 0]
        expected = known + heads[2:, 1:] * tops[p, 1] * products
        np.testing.assert_allclose(G[:, 2 : 2 + width], expected, rtol=1e-5, atol=1)
        assert (G[:, :2] == 7).all()
        assert (G[:, 2 + width :] == 7).all()


def test_masks_hold_one_bit_per_column(steps):
    rng = np.random.default_rng(0)
    for _ in range(20):
        G, limits = floats(rng, steps.WIDTH + 3), floats(rng, steps.WIDTH + 1)
        G[5], limits[5] = np.inf, np.inf
        bound = G[7]  # not below itself
        powers = 2 ** np.arange(steps.WIDTH, dtype=np.uint64)
        one, either = steps.bits(G, 3, bound, limits, 1)
        assert one == (powers * (G[3:] < bound)).sum()
        assert either == (powers * ((G[3:] < bound) | (G[3:] < limits[1:]))).sum()
        if one:
            lowest, count = steps.lowest_and_count(np.uint64(one))
            assert lowest == np.flatnonzero(G[3:] < bound)[0]
            assert count == np.count_nonzero(G[3:] < bound)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_minima_of_columns(steps, count):
    step = steps.WIDTH + 3
    G = floats(np.random.default_rng(count), 2 + count * step)
    least = np.full(steps.WIDTH + 3, 7, dtype=np.float32)
    steps.minima(G, 2, step, count, least, 1)
    columns = G[2:].reshape(count, step)[:, : steps.WIDTH]
    np.testing.assert_array_equal(least[1:-2], columns.min(axis=0))
    assert (least[[0, -2, -1]] == 7).all()


def test_smallest_is_found_wherever_it_is(steps):
    rng = np.random.default_rng(0)
    for place in range(steps.WIDTH):
        x = floats(rng, steps.WIDTH)
        x[place] = -9
        assert steps.smallest(x) == -9


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_inserted_values_are_sorted_and_the_first_of_equals_stays_first(steps, parts):
    values = np.random.default_rng(parts).integers(50, size=200).astype(np.float32)
    width = parts * steps.LANES
    best = np.full(width + 2 * steps.LANES, np.inf, dtype=np.float32)
    ids = np.full(len(best), -1, dtype=np.int32)
    for who, x in enumerate(values):
        steps.insert(best, ids, steps.LANES, parts, x, who)
    order = np.argsort(values, kind="stable")[:width]
    np.testing.assert_array_equal(best[steps.LANES : -steps.LANES], values[order])
    np.testing.assert_array_equal(ids[steps.LANES : -steps.LANES], order)
    assert (ids[: steps.LANES] == -1).all()
    assert (ids[-steps.LANES :] == -1).all()


SEARCH = """
import sys
import numpy as np
from mercer._base.machine_code import instructions as _instructions
from mercer.neighbors.index import NeighborIndex
X, file = np.load(sys.argv[1]), sys.argv[2]
index = NeighborIndex.fit(X, method="cells", rng=np.random.default_rng(0))
found = index.neighbors(8)
queried = index.query(X[:200] + 0.01, 8)
assert found.method == "cells"
np.savez(file, plain=_instructions.PLAIN, found=found.indices, queried=queried[0])
"""


def test_the_search_finds_the_same_with_plain_steps(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 6))[rng.integers(12, size=5000)] * 3
    X += rng.normal(size=X.shape)
    np.save(tmp_path / "X.npy", X)
    command = [sys.executable, "-c", SEARCH, tmp_path / "X.npy", tmp_path / "out.npz"]
    subprocess.run(command, env={**os.environ, "MERCER_PLAIN": "1"}, check=True)
    plain = np.load(tmp_path / "out.npz")
    assert plain["plain"]
    index = NeighborIndex.fit(X, method="cells", rng=np.random.default_rng(0))
    # Squares of lengths are summed in another order: ties of 16 bits may differ.
    assert np.mean(index.neighbors(8).indices == plain["found"]) > 0.999
    assert np.mean(index.query(X[:200] + 0.01, 8)[0] == plain["queried"]) > 0.999


def test_the_exact_search_needs_no_vectors():
    code = (
        "import sys, mercer.neighbors.exact, mercer.neighbors.sparse\n"
        "assert 'mercer._base.machine_code.vectors' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_processor_has_vectors_of_eight(monkeypatch):
    def unknown():
        raise RuntimeError

    monkeypatch.setattr(_vectors.llvm, "get_host_cpu_features", unknown)
    assert _vectors._lanes() == 8
