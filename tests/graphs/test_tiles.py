"""Vector instructions against numpy."""

import numpy as np
import pytest
from numba import njit

from mercer.graphs import _tiles
from mercer.graphs._tiles import LANES, ROWS, WIDTH


@njit
def tile(A, a, B, b, r, G, g, step):
    _tiles.tile(A, a, B, b, r, G, g, step)


@njit
def bits(G, g, bound, limits, first):
    one = _tiles.below(G, g, bound)
    return one, _tiles.below_each(G, g, limits, first)


@njit
def lowest_and_count(mask):
    return _tiles.lowest_bit(mask), _tiles.count_bits(mask)


@njit
def lower(least, first, G, g):
    _tiles.lower(least, first, G, g)


@njit
def insert(best, ids, first, parts, x, who):
    _tiles.insert(best, ids, first, parts, x, who)


def floats(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("r", [1, 2, 3, 50])
def test_tile_is_a_product_and_writes_nothing_else(r):
    rng = np.random.default_rng(r)
    A, B = floats(rng, ROWS, r + 1), floats(rng, r + 1, WIDTH)
    G = np.full((ROWS, WIDTH + 5), 7, dtype=np.float32)
    left = np.concatenate([floats(rng, 3), A.ravel()])
    right = np.concatenate([floats(rng, 9), B.ravel()])
    tile(left, 3, right, 9, r, G.ravel(), 2, WIDTH + 5)
    expected = A[:, :1] + B[0] + A[:, 1:].astype(float) @ B[1:]
    np.testing.assert_allclose(G[:, 2 : 2 + WIDTH], expected, rtol=1e-5, atol=1e-5)
    assert (G[:, :2] == 7).all()
    assert (G[:, 2 + WIDTH :] == 7).all()


def test_infinite_columns_stay_infinite():
    A = floats(np.random.default_rng(0), ROWS, 4)
    B = np.zeros((4, WIDTH), dtype=np.float32)
    B[0] = np.inf
    G = np.empty(ROWS * WIDTH, dtype=np.float32)
    tile(A.ravel(), 0, B.ravel(), 0, 3, G, 0, WIDTH)
    assert (np.inf == G).all()


def test_masks_hold_one_bit_per_column():
    rng = np.random.default_rng(0)
    for _ in range(20):
        G, limits = floats(rng, WIDTH + 3), floats(rng, WIDTH + 1)
        G[5], limits[5] = np.inf, np.inf
        bound = G[7]  # not below itself
        powers = 2 ** np.arange(WIDTH, dtype=np.uint64)
        one, each = bits(G, 3, bound, limits, 1)
        assert one == (powers * (G[3:] < bound)).sum()
        assert each == (powers * (G[3:] < limits[1:])).sum()
        if one:
            lowest, count = lowest_and_count(np.uint64(one))
            assert lowest == np.flatnonzero(G[3:] < bound)[0]
            assert count == np.count_nonzero(G[3:] < bound)


def test_lower_takes_the_smaller():
    rng = np.random.default_rng(0)
    least, G = floats(rng, WIDTH + 1), floats(rng, WIDTH + 2)
    expected = np.append(least[0], np.minimum(least[1:], G[2:]))
    lower(least, 1, G, 2)
    np.testing.assert_array_equal(least, expected)


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
