"""Memory is planned before it is spent."""

import numpy as np
import pytest

from mercer.fewlabels.pool import KernelPool
from mercer.spectrum.graph import GraphBasis
from mercer.tables.memory import GIB, available_memory, parse_size, plan_model
from mercer.tables.table import TableError

X = np.zeros((5_000, 20))


def test_a_tight_limit_makes_the_basis_smaller() -> None:
    roomy = plan_model(X, 5, False, 100 * GIB)
    assert roomy.n_components == 150
    assert not roomy.is_reduced
    assert roomy.basis(0) == "auto"
    tight = plan_model(X, 5, False, 0.95 * roomy.needed)
    assert 2 <= tight.n_components < 150
    assert tight.needed <= tight.limit
    assert f"{tight.n_components} directions instead of 150" in str(tight)
    pool = tight.basis(0)
    assert isinstance(pool, KernelPool)
    assert pool.n_components == tight.n_components


def test_pairs_have_one_graph_of_their_own() -> None:
    plan = plan_model(X, 5, True, 100 * GIB)
    assert plan.n_components == 100
    assert plan.needed < plan_model(X, 5, False, 100 * GIB).needed
    assert isinstance(plan_model(X, 5, True, 0.99 * plan.needed).basis(0), GraphBasis)


def test_too_tight_a_limit_is_refused_with_what_is_needed() -> None:
    with pytest.raises(TableError, match=r"5,000 rows need at least \d\.\d GiB"):
        plan_model(X, 5, False, 0.2 * GIB)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4e9), ("1.5 GiB", 1.5 * GIB), ("500mb", 5e8), ("1024", 1024.0)],
)
def test_sizes(text: str, size: float) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "much", "infGB"])
def test_bad_sizes(text: str) -> None:
    with pytest.raises(TableError, match="--memory must be a size"):
        parse_size(text)


def test_some_memory_is_available() -> None:
    assert available_memory() > 0
