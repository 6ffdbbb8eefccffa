"""Vector instructions against numpy."""

import numpy as np
import pytest
from numba import njit

from mercer.graphs import _tiles, _vectors
from mercer.graphs._tiles import ROWS
from mercer.graphs._vectors import LANES, WIDTH


@njit
def tile(A, heads, t, B, tops, p, pairs, G, g, step):
    _tiles.tile(A, heads, t, B, tops, p, pairs, G, g, step)


@njit
def bits(G, g, bound, limits, first):
    one = _vectors.below(G, g, bound)
    return one, _vectors.below_either(G, g, bound, limits, first)


@njit
def smallest(least):
    return _vectors.smallest(least)


@njit
def lowest_and_count(mask):
    return _vectors.lowest_bit(mask), _vectors.count_bits(mask)


@njit
def minima(G, g, step, count, least, first):
    _vectors.minima(G, g, step, count, least, first)


@njit
def insert(best, ids, first, parts, x, who):
    _tiles.insert(best, ids, first, parts, x, who)


def floats(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def shorts(rng, *shape):
    """Return vectors of 16-bit entries, along the first axis, of the largest length."""
    x = rng.normal(size=shape)
    return np.rint(32767 * x / np.linalg.norm(x, axis=0)).astype(np.int16)


@pytest.mark.parametrize("pairs", [1, 2, 3, 25])
def test_tile_is_a_product_and_writes_nothing_else(pairs):
    rng = np.random.default_rng(pairs)
    A, B = shorts(rng, 2 * pairs, ROWS + 2), shorts(rng, 2 * pairs, 3 * WIDTH)
    B[:, 0] = A[:, 2]  # the largest sum there is
    heads, tops = floats(rng, ROWS + 2, 2), floats(rng, 3, 2, WIDTH)
    tops[1, 0, 5] = np.inf
    panels = B.reshape(pairs, 2, 3, WIDTH).transpose(2, 0, 3, 1).copy()
    for p in range(3):
        G = np.full((ROWS, WIDTH + 5), 7, dtype=np.float32)
        tile(A.T.copy(), heads, 2, panels, tops, p, pairs, G, 2, WIDTH + 5)
        products = A[:, 2:].T.astype(float) @ B[:, p * WIDTH : (p + 1) * WIDTH]
        known = heads[2:, :1] + tops[p, 0]
        expected = known + heads[2:, 1:] * tops[p, 1] * products
        np.testing.assert_allclose(G[:, 2 : 2 + WIDTH], expected, rtol=1e-5, atol=1)
        assert (G[:, :2] == 7).all()
        assert (G[:, 2 + WIDTH :] == 7).all()


def test_masks_hold_one_bit_per_column():
    rng = np.random.default_rng(0)
    for _ in range(20):
        G, limits = floats(rng, WIDTH + 3), floats(rng, WIDTH + 1)
        G[5], limits[5] = np.inf, np.inf
        bound = G[7]  # not below itself
        powers = 2 ** np.arange(WIDTH, dtype=np.uint64)
        one, either = bits(G, 3, bound, limits, 1)
        assert one == (powers * (G[3:] < bound)).sum()
        assert either == (powers * ((G[3:] < bound) | (G[3:] < limits[1:]))).sum()
        if one:
            lowest, count = lowest_and_count(np.uint64(one))
            assert lowest == np.flatnonzero(G[3:] < bound)[0]
            assert count == np.count_nonzero(G[3:] < bound)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_minima_of_columns(count):
    step = WIDTH + 3
    G = floats(np.random.default_rng(count), 2 + count * step)
    least = np.full(WIDTH + 3, 7, dtype=np.float32)
    minima(G, 2, step, count, least, 1)
    columns = G[2:].reshape(count, step)[:, :WIDTH]
    np.testing.assert_array_equal(least[1:-2], columns.min(axis=0))
    assert (least[[0, -2, -1]] == 7).all()


def test_smallest_is_found_wherever_it_is():
    rng = np.random.default_rng(0)
    for place in range(WIDTH):
        x = floats(rng, WIDTH)
        x[place] = -9
        assert smallest(x) == -9


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_inserted_values_are_sorted_and_the_first_of_equals_stays_first(parts):
    values = np.random.default_rng(parts).integers(50, size=200).astype(np.float32)
    width = parts * LANES
    best = np.full(width + 2 * LANES, np.inf, dtype=np.float32)
    ids = np.full(len(best), -1, dtype=np.int32)
    for who, x in enumerate(values):
        insert(best, ids, LANES, parts, x, who)
    order = np.argsort(values, kind="stable")[:width]
    np.testing.assert_array_equal(best[LANES:-LANES], values[order])
    np.testing.assert_array_equal(ids[LANES:-LANES], order)
    assert (ids[:LANES] == -1).all()
    assert (ids[-LANES:] == -1).all()
