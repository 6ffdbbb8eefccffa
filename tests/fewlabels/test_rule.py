"""The rule is handed over once, and every field of it decides something."""

from typing import Any

import numpy as np
import pytest

from mercer.fewlabels import AnchorPool, AutoKernel, KernelPool
from mercer.fewlabels.rule import Rule


@pytest.fixture(scope="module")
def points() -> Any:
    return np.random.default_rng(0).standard_normal((90, 3)) * [1.0, 2.0, 3.0]


def test_a_learner_hands_its_rule_to_the_pool_it_makes(points: Any) -> None:
    learner = AutoKernel(rule=Rule(graphs=(5,)), random_state=0)
    names = [block.name for block in learner.fitted_basis(points).blocks_]
    assert names == ["graph 5", "linear", "gaussian", "density"]
    rule = Rule(fewest_directions=7)
    pool = AutoKernel(rule=rule, random_state=0).fitted_basis(points)
    assert [len(block.values) for block in pool.blocks_][:3] == [7, 7, 7]


@pytest.mark.parametrize("pool", [KernelPool(4), AnchorPool(4)])
def test_a_pool_without_a_rule_gets_that_of_its_learner(points: Any, pool: Any) -> None:
    rule = Rule(even_columns=1.0, graphs=(4,), nearest_anchors=(4,))
    learner = AutoKernel(pool, rule=rule, random_state=0)
    fitted = learner.fitted_basis(points)
    assert fitted.scales_ is not None
    assert fitted.blocks_[0].n_neighbors == 4
    assert learner.basis is pool
    assert pool.rule is None
    own = type(pool)(4, rule=Rule())
    assert AutoKernel(own, rule=rule).fitted_basis(points).scales_ is None
