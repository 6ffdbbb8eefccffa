"""Memory is planned before it is spent."""

import numpy as np
import pytest

from mercer._labels import encode_labels
from mercer.tables.fitting import fit_basis, plan_basis
from mercer.tables.memory import GIB, available_memory, parse_size, plan_memory
from mercer.tables.table import TableError

JOB = {
    "n": 500_000,
    "bytes_of_points": 100_000_000,
    "n_classes": 5,
    "wanted": 100,
    "has_graph": False,
}


def test_a_tight_limit_makes_the_basis_smaller() -> None:
    roomy = plan_memory(**JOB, limit=100 * GIB)
    assert roomy.n_components == 100
    assert not roomy.is_reduced
    tight = plan_memory(**JOB, limit=0.7 * roomy.needed)
    assert 10 <= tight.n_components < 100
    assert tight.needed <= tight.limit
    assert f"{tight.n_components} directions instead of 100" in str(tight)


def test_too_tight_a_limit_is_refused_with_what_is_needed() -> None:
    with pytest.raises(TableError, match=r"500,000 rows need at least \d\.\d GiB"):
        plan_memory(**JOB, limit=0.2 * GIB)


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


def test_the_basis_has_the_planned_size() -> None:
    X = np.random.default_rng(0).standard_normal((200, 3))
    labels = encode_labels(np.r_[np.arange(10) % 2, np.full(190, -1)])
    free = plan_basis(X, labels, None, pool=False)
    assert free.n_components == 100
    # What is left after the rest of the job: room for 30 directions.
    rest = free.needed - 100 * (free.needed - 0.45 * GIB) / 1e4
    plan = plan_basis(X, labels, rest - 70 * 5.5 * 8 * 200, pool=False)
    assert plan.is_reduced
    basis = fit_basis(X, plan, pool=False, seed=0)
    assert basis.vectors_.shape == (200, plan.n_components)
