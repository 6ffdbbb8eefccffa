"""Which pool is chosen: both sides of every threshold."""

import pytest

from mercer._base.memory import GIB
from mercer.fewlabels.pools.anchors import AnchorPool
from mercer.fewlabels.pools.choice import choose_pool, directions_for
from mercer.fewlabels.pools.neighbors import KernelPool


def test_many_points_are_tied_to_anchors() -> None:
    below = choose_pool(100_000, 5, n_classes=2, memory=64 * GIB)
    above = choose_pool(100_001, 5, n_classes=2, memory=64 * GIB)
    assert (below.kind, above.kind) == ("neighbors", "anchors")
    assert "100,000 points are few (at most 100,000)" in below.reason
    assert "100,001 points are many (more than 100,000)" in above.reason


def test_the_threshold_can_be_set() -> None:
    kinds = [
        choose_pool(n, 5, n_classes=2, memory=GIB, neighbors_up_to=50).kind
        for n in (50, 51)
    ]
    assert kinds == ["neighbors", "anchors"]


def test_sparse_points_have_neighbour_graphs_however_many() -> None:
    plan = choose_pool(
        500_000, 10**5, n_classes=2, kind="sparse", bytes_of_points=1e9, memory=64 * GIB
    )
    assert plan.kind == "neighbors"
    assert "sparse" in plan.reason


def test_a_dask_array_has_anchors_however_few() -> None:
    plan = choose_pool(1000, 5, n_classes=2, kind="dask", memory=2 * GIB)
    assert plan.kind == "anchors"
    assert "Dask" in plan.reason


def test_the_rows_of_a_dask_array_are_elsewhere() -> None:
    some, many = (
        choose_pool(n, 50, n_classes=2, kind="dask", memory=2 * GIB)
        for n in (10**6, 10**9)
    )
    assert many.needed == some.needed
    assert many.n_components == 50


def test_where_neighbour_graphs_do_not_fit_anchors_are_taken() -> None:
    enough = choose_pool(90_000, 20, n_classes=2, memory=64 * GIB)
    scarce = choose_pool(90_000, 20, n_classes=2, memory=0.99 * enough.needed)
    exact = choose_pool(90_000, 20, n_classes=2, memory=1.01 * enough.needed)
    assert (enough.kind, scarce.kind, exact.kind) == (
        "neighbors",
        "anchors",
        "neighbors",
    )
    assert "do not fit into" in scarce.reason
    assert scarce.needed < enough.needed
    assert not scarce.is_reduced


def test_memory_reduces_the_directions_and_says_so() -> None:
    enough = choose_pool(10**6, 20, n_classes=2, memory=64 * GIB)
    scarce = choose_pool(10**6, 20, n_classes=2, memory=0.9 * enough.needed)
    assert scarce.is_reduced
    assert not enough.is_reduced
    assert scarce.n_components < enough.n_components == scarce.wanted
    assert scarce.needed <= scarce.limit
    assert f"{scarce.n_components} directions instead of 50" in str(scarce)
    assert "instead" not in str(enough)


def test_too_little_memory_is_refused_before_it_is_spent() -> None:
    with pytest.raises(MemoryError, match=r"1,000,000 points need at least \d"):
        choose_pool(10**6, 20, n_classes=2, memory=0.6 * GIB)


def test_directions_follow_the_classes() -> None:
    counts = {C: directions_for(C) for C in (2, 10, 11, 29, 30, 31, 500)}
    assert counts == {2: 50, 10: 50, 11: 55, 29: 145, 30: 150, 31: 150, 500: 150}
    assert choose_pool(20, 2, n_classes=2, memory=GIB).n_components == 20


@pytest.mark.parametrize(("n", "pool"), [(50, KernelPool), (51, AnchorPool)])
def test_the_plan_makes_the_pool(n: int, pool: type) -> None:
    plan = choose_pool(n, 2, n_classes=2, memory=GIB, neighbors_up_to=50)
    made = plan.make(random_state=7)
    assert type(made) is pool
    assert made.n_components == 50
    assert made.random_state == 7
