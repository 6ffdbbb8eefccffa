"""Which rows the sums of an anchor pool are taken over, and what the others get."""

from fractions import Fraction
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import UnifiedKernelMachine
from mercer._base.typing import FloatArray, IntArray
from mercer.fewlabels import AnchorPool
from mercer.fewlabels.pools import anchor_sums
from mercer.fewlabels.pools.anchor_rows import summed_rows
from mercer.fewlabels.pools.anchor_sums import PoolSums

DIGITS = 10**40
GOLDEN = Fraction(isqrt(5 * DIGITS**2) - DIGITS, 2 * DIGITS)  # (√5 - 1) / 2


def rows_of(start: int, stop: int, *, n: int, most: int) -> IntArray:
    rows = summed_rows(start, stop, n=n, most=most)
    assert rows is not None
    return rows


@settings(max_examples=50, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 2000)),
    start=st.integers(0, 10**12),
    share=st.integers(1, 99),
)
def test_the_rows_do_not_depend_on_the_blocks(
    cuts: list[int], start: int, share: int
) -> None:
    table = {"n": 10**14, "most": share * 10**12}
    ends = [start, *(start + cut for cut in sorted(cuts)), start + 2000]
    parts = [rows_of(low, high, **table) + low for low, high in pairwise(ends)]
    whole = rows_of(start, start + 2000, **table) + start
    np.testing.assert_array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("start", [0, 10**6, 10**12])
def test_the_rows_are_those_of_exact_arithmetic(start: int) -> None:
    n, most = 2 * 10**12, 3 * 10**11
    fractions = [(i * GOLDEN) % 1 for i in range(start, start + 3000)]
    share = Fraction(most, n)
    assert min(abs(f - share) for f in fractions) > Fraction(1, 10**6)  # rounding
    oracle = [k for k, f in enumerate(fractions) if f < share]
    assert rows_of(start, start + 3000, n=n, most=most).tolist() == oracle


@pytest.mark.parametrize("n", [101, 1_000, 54_321, 1_000_000])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9])
def test_every_stretch_has_its_share(n: int, share: float) -> None:
    most = round(share * n)
    rows = rows_of(0, n, n=n, most=most)
    assert abs(len(rows) - most) <= 5
    for stop in np.linspace(1, n, 20, dtype=int):
        assert abs(np.searchsorted(rows, stop) - stop * most / n) <= 5


@pytest.mark.parametrize("period", range(2, 51))
def test_rows_that_repeat_have_their_share(period: int) -> None:
    n, most = 200_000, 20_000
    kept = np.bincount(rows_of(0, n, n=n, most=most) % period, minlength=period)
    wanted = most / period
    # With rows drawn at random a third of the places would be further off.
    assert np.abs(kept - wanted).max() < np.sqrt(wanted)


def test_up_to_the_limit_all_rows_are_summed() -> None:
    assert AnchorPool().most_summed == 5_000_000
    assert summed_rows(0, 10, n=100, most=100) is None
    assert len(rows_of(0, 101, n=101, most=100)) == 100


@pytest.fixture(scope="module", name="X")
def three_blobs() -> FloatArray:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3)) + 5.0 * (np.arange(900) % 3)[:, None]
    lonely = np.setdiff1d(np.arange(900), rows_of(0, 900, n=900, most=300))[0]
    X[lonely] += 40.0  # not summed
    return X


def fitted(X: FloatArray, **settings: Any) -> AnchorPool:
    return AnchorPool(6, n_anchors=40, random_state=0, **settings).fit(X)


def test_sums_do_not_depend_on_the_batches(
    X: FloatArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, some = fitted(X), np.arange(0, 900, 7)
    for rows in (None, some):
        whole = PoolSums.of(*pool.place(X), rows)
        with monkeypatch.context() as patch:
            patch.setattr(anchor_sums, "_BATCH", 50)
            sums = PoolSums.of(*pool.place(X), rows)
        assert sums.n == (900 if rows is None else len(some))
        np.testing.assert_allclose(sums.squares, whole.squares, rtol=1e-4, atol=1e-2)
        for one, other in zip(sums.halves, whole.halves, strict=True):
            assert one.sum() == pytest.approx(sums.n / 2)
            np.testing.assert_array_equal(one.toarray(), other.toarray())


def test_the_directions_are_those_of_the_rows_that_are_summed(X: FloatArray) -> None:
    rows, pool = rows_of(0, 900, n=900, most=300), fitted(X, most_summed=300)
    alone = fitted(X, most_summed=300)
    rng = np.random.default_rng(1)
    alone.solve(PoolSums.of(*alone.place(X[rows])), rng, n_rows=900)
    np.testing.assert_allclose(pool.values_, alone.values_, rtol=1e-5, atol=1e-8)
    for one, other in zip(pool.blocks_, alone.blocks_, strict=True):
        np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-4)
    np.testing.assert_allclose(pool.vectors_[rows].mean(axis=0), 0.0, atol=1e-5)


def test_rows_that_are_not_summed_have_columns_by_extension(X: FloatArray) -> None:
    pool = fitted(X, most_summed=300)
    assert len(pool.vectors_) == 900
    np.testing.assert_allclose(pool.extend(X), np.asarray(pool.vectors_), atol=1e-5)


def test_a_limit_that_is_not_reached_changes_nothing(X: FloatArray) -> None:
    usual, at_it = fitted(X), fitted(X, most_summed=900)
    np.testing.assert_array_equal(
        np.asarray(usual.vectors_), np.asarray(at_it.vectors_)
    )
    assert usual.certificate_ == at_it.certificate_


def test_the_certificate_says_how_many_rows_are_summed(X: FloatArray) -> None:
    n_summed = len(rows_of(0, 900, n=900, most=300))
    said = fitted(X, most_summed=300).certificate_.reason
    assert said.endswith(f"; sums over {n_summed} of 900 rows")
    assert "sums" not in fitted(X).certificate_.reason


def test_there_are_three_summed_rows_per_anchor_at_least(X: FloatArray) -> None:
    assert len(AnchorPool(6, most_summed=60, random_state=0).fit(X).anchors_) == 20
    assert len(AnchorPool(6, random_state=0).fit(X).anchors_) == 300


@pytest.mark.parametrize("most", [1, 2, 5])
def test_very_few_summed_rows_give_finite_columns(X: FloatArray, most: int) -> None:
    pool = fitted(X, most_summed=most)
    assert np.isfinite(np.asarray(pool.vectors_)).all()


def accuracy(seed: int, most_summed: int) -> float:
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=3000)
    X = 2.0 * rng.normal(size=(3, 6))[truth] + rng.normal(size=(3000, 6))
    y = np.full(3000, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[:5]] = c
    pool = AnchorPool(30, n_anchors=60, most_summed=most_summed, random_state=0)
    model = UnifiedKernelMachine(basis=pool, random_state=0).fit(X, y)
    return float(np.mean(model.transduction_ == truth))


def test_fewer_summed_rows_cost_no_accuracy() -> None:
    """With 15 rows per anchor; by default there are 250."""
    lost = [accuracy(seed, 3000) - accuracy(seed, 900) for seed in range(5)]
    assert np.mean(lost) < 0.01
    assert max(lost) < 0.03
