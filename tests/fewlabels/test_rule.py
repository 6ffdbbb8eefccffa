"""The rule is handed over once, and every field of it decides something."""

from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_blobs, make_circles

from mercer import UnifiedKernelMachine
from mercer.fewlabels import AnchorPool, AutoKernel, KernelPool
from mercer.fewlabels.pools.choice import PoolPlan
from mercer.fewlabels.pools.views import ViewPool
from mercer.fewlabels.rule import DEFAULT, Rule


@pytest.fixture(scope="module")
def points() -> Any:
    return np.random.default_rng(0).standard_normal((90, 3)) * [1.0, 2.0, 3.0]


def test_a_learner_hands_its_rule_to_the_pool_it_makes(points: Any) -> None:
    learner = AutoKernel(rule=Rule(graphs=(5,)), random_state=0)
    names = [block.name for block in learner.fitted_basis(points).blocks_]
    assert names == ["graph 5", "linear", "density"]
    rule = Rule(fewest_directions=7)
    pool = AutoKernel(rule=rule, random_state=0).fitted_basis(points)
    assert [len(block.values) for block in pool.blocks_][:2] == [7, 7]


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


def labels(truth, counts, seed):
    rng, y = np.random.default_rng(seed), np.full(len(truth), -1)
    for c, count in enumerate(counts):
        y[rng.choice(np.flatnonzero(truth == c), count, replace=False)] = c
    return y


def clusters(seed, *counts):
    """Return four clusters of different sizes, and labels of each."""
    X, truth = make_blobs(
        [150, 50, 30, 70], n_features=2, center_box=(-8, 8), random_state=seed
    )
    return X, labels(truth, counts, seed)


def wine():
    X, truth = load_wine(return_X_y=True)
    return X, labels(truth, [3, 3, 3], 0)


def noise():
    """Return unrelated columns of different sizes, not centred."""
    X = np.random.default_rng(0).standard_normal((120, 6)) * [9, 3, 1, 1, 1, 1] + 5
    return X, labels((X[:, 0] > 5).astype(int), [4, 4], 0)


def rings():
    """Return two rings, which even sizes divide best."""
    X, truth = make_circles(200, noise=0.08, factor=0.5, random_state=4)
    return X, labels(truth, [1, 1], 4)


def shares():
    """Return thirty parts of a whole, of two kinds of rows."""
    rng, truth = np.random.default_rng(0), np.repeat([0, 1], 60)
    common = np.where(truth[:, None] == np.arange(30) % 2, 0.3, 0.2)
    X = rng.standard_gamma(common)
    return X / X.sum(axis=1, keepdims=True), labels(truth, [3, 3], 0)


CASES = {
    "rings": rings,
    "one label, close": lambda: clusters(4, 1, 1, 1, 1),
    "one label": lambda: clusters(0, 1, 1, 1, 1),
    "one label, split again": lambda: clusters(25, 1, 1, 1, 1),
    "six labels": lambda: clusters(0, 6, 6, 6, 6),
    "uneven labels": lambda: clusters(0, 6, 3, 2, 4),
    "wine": wine,
    "noise": noise,
    "shares": shares,
}
# Where a field acts, and a value that makes a difference there. A new field needs a
# line here; one for which there is none decides nothing, and goes.
CHANGES: dict[str, tuple[str, Any]] = {
    "graphs": ("one label", (5,)),
    "nearest_anchors": ("anchors", (2,)),
    "view_graphs": ("two views", (5,)),
    "view_anchors": ("two views on anchors", (2,)),
    "directions": ("one label", 20),
    "fewest_directions": ("one label", 20),
    "class_directions": ("one label", 20),
    "density_neighbor": ("one label", 3),
    "even_columns": ("wine", 0.0),
    "unrelated_columns": ("noise", 7),
    "unrelated_within": ("noise", 0.1),
    "many_parts": ("shares", 31),
    "alike_sums": ("shares", 0.0),
    "far_share": ("added rows", 0.2),
    "drift_chance": ("added rows", 1e-12),
    "steepness": ("one label", 2.0),
    "powers": ("one label", (1.0,)),
    "flat_prior": ("one label", 0.1),
    "ridges": ("one label", (1.0,)),
    "added_label": ("uneven labels", 3.0),
    "slopes": ("uneven labels", (1.0,)),
    "usual_slope": ("one label", 2.0),
    "slope_doubt": ("uneven labels", 0.1),
    "doubt_fades": ("uneven labels", 100.0),
    "slope_stiffness": ("uneven labels", 1.0),
    "offset_spread": ("uneven labels", 0.2),
    "trees": ("uneven labels", 10),
    "tree_tries": ("wine", 1.0),
    "tree_share": ("uneven labels", 0.2),
    "tree_doubt": ("six labels", 8.0),
    "tree_centring": ("uneven labels", 0.0),
    "label_trust": ("rings", 0.1),
    "most_moved": ("rings", 0.001),
    "labels_for_sizes": ("six labels", 3.0),
    "gain": ("one label", 1.0),
    "skill_power": ("one label", 1.0),
    "points_per_label": ("one label", 10.0),
    "doubted_labels": ("uneven labels", 10.0),
    "directions_per_class": ("one label", 2.0),
    "share_of_points": ("one label", 0.02),
    "sampled_points": ("one label", 60),
    "seen_points": ("one label", 60),
    "clear": ("rings", 1e-9),
    "sureness": ("one label, close", 0.1),
    "worth": ("rings", 0.2),
    "split_directions": ("one label, split again", 1),
    "split_pairs": ("one label, split again", 1),
    "resplits": ("one label, split again", 0),
}


@cache
def decided(case, rule):
    """Return what a model of a small table says of its rows."""
    if case == "added rows":
        X, y = CASES["one label"]()
        model = UnifiedKernelMachine(rule=rule, random_state=0).fit(X, y)
        return np.array([model.add_rows(X[:9] + 1.5).growth_.has_drifted])
    if case == "hidden labels":
        X, y = CASES["uneven labels"]()
        model = UnifiedKernelMachine(rule=rule, random_state=0).fit(X, y)
        return np.log(model.suspicious_labels().wrong)
    settings: Any = {}
    basis: Any = "auto"
    if case == "anchors":
        case, basis = "one label", AnchorPool(random_state=0)
    if case.startswith("two views"):
        plan = PoolPlan("anchors", 50, 50, "", 0.0, 0.0)
        views = {"one": [0], "other": [1]}
        if case == "two views on anchors":
            basis = ViewPool(views, plan, random_state=0)
        else:
            settings = {"views": views}
        case = "one label"
    if case == "labels drawn at random":
        case, settings = "uneven labels", {"labels_drawn": "at random"}
    model = UnifiedKernelMachine(basis=basis, rule=rule, random_state=0, **settings)
    return model.fit(*CASES[case]()).training_proba()


@pytest.mark.parametrize("name", [field.name for field in fields(Rule)])
def test_every_field_of_the_rule_changes_a_model(name) -> None:
    case, value = CHANGES[name]
    changed = decided(case, replace(DEFAULT, **{name: value}))
    assert np.abs(changed - decided(case, DEFAULT) * 1.0).max() > 1e-3
