"""What a person knows of the class sizes, and the shares nearest to the predicted."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from mercer import UnifiedKernelMachine
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.kernels.parametric import RBF
from mercer.machines._sizes import read_sizes, with_classes
from mercer.machines.klr import KernelLogisticRegression
from mercer.machines.rls import RLSClassifier

ABC = np.array(["a", "b", "c"])


def likeliest(predicted, low, high, order=()):
    """Return the maximum of sum p log s by a solver for general constraints."""
    rules = [{"type": "eq", "fun": lambda s: s.sum() - 1}]
    for first, second in pairwise(order):
        rules.append({"type": "ineq", "fun": lambda s, i=first, j=second: s[i] - s[j]})
    bounds = list(zip(np.maximum(low, 1e-6), high, strict=True))
    found = minimize(
        lambda s: -predicted @ np.log(s), np.clip(predicted, low, high),
        jac=lambda s: -predicted / s, bounds=bounds, constraints=rules,
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    return found.x


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), C=st.integers(2, 6))
def test_the_nearest_shares_make_the_predicted_ones_likeliest(seed: int, C: int):
    rng = np.random.default_rng(seed)
    predicted, true = rng.dirichlet(np.ones(C), 2)
    predicted = (predicted + 0.02) / (1 + 0.02 * C)
    low, high = true * rng.uniform(size=C), true + (1 - true) * rng.uniform(size=C)
    names = np.array([f"c{i}" for i in range(C)])
    told = read_sizes(dict(zip(names, zip(low, high, strict=True), strict=True)), names)
    found = told.nearest(predicted)
    assert (found >= low - 1e-9).all()
    assert (found <= high + 1e-9).all()
    assert found.sum() == pytest.approx(1)
    wanted = likeliest(predicted, low, high)
    assert predicted @ np.log(found) >= predicted @ np.log(wanted) - 1e-7
    order = rng.permutation(C)[: rng.integers(2, C + 1)]
    found = read_sizes(" > ".join(names[order]), names).nearest(predicted)
    assert (np.diff(found[order]) <= 1e-12).all()
    wanted = likeliest(predicted, np.zeros(C), np.ones(C), order)
    assert predicted @ np.log(found) >= predicted @ np.log(wanted) - 1e-6


def test_what_may_be_said_of_sizes() -> None:
    predicted = np.array([0.4, 0.2, 0.4])

    def near(given, names=ABC):
        return read_sizes(given, names).nearest(predicted).round(6).tolist()

    assert near({"a": 6, "b": 2, "c": 2}) == [0.6, 0.2, 0.2]
    assert near(pd.Series({"c": 2, "a": 6, "b": 2})) == [0.6, 0.2, 0.2]
    assert near([6, 2, 2]) == [0.6, 0.2, 0.2]
    assert near({"b": 0.5}) == [0.25, 0.5, 0.25]
    assert near({"b": (0.1, 0.3)}) == predicted.tolist()
    assert near({"b": (0.5, 0.9)}) == [0.25, 0.5, 0.25]
    assert near({"a": "nearly all"}) == pytest.approx([0.9, 0.1 / 3, 0.2 / 3], abs=1e-6)
    assert near({"a": "rare", "c": "few"}) == [0.05, 0.75, 0.2]
    assert near({"a": "about half"}) == predicted.tolist()
    assert near({"b": "most"}) == [0.25, 0.5, 0.25]
    assert near("b > a > c") == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert near({2: "few"}, np.array([0, 1, 2])) == pytest.approx(
        [0.8 * 2 / 3, 0.8 / 3, 0.2], abs=1e-6
    )
    assert near("2 > 0", np.array([0, 1, 2])) == predicted.tolist()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"a": 90}, "class_sizes of 'a' must be a share between 0 and 1, a pair"),
        ({"a": (0.5, 0.4)}, "class_sizes of 'a' must be"),
        ({"a": (0.1, 0.2, 0.3)}, "class_sizes of 'a' must be"),
        ({"a": 0.0}, "class_sizes of 'a' must be"),
        ({"a": "many"}, "one of the words 'nearly all', 'most', 'about half'"),
        ({"a": None}, "class_sizes of 'a' must be"),
        ({"a": 0.7, "b": 0.6}, "they sum to 1.3 at least"),
        ({"a": 0.2, "b": 0.2, "c": (0.1, 0.3)}, "at least and 0.7 at most"),
        ({"a": 1.0}, "leave no share for every class"),
        ({"a": 0.7, "d": 0.2}, "names the class 'd', and the labels are of"),
        ("a", "is an order of classes, largest first, such as 'a > b > c'"),
        ("a > a", "each class once"),
        ("a > d", "names the class 'd'"),
        ({"a": 1, "b": 0, "c": 1}, "class_sizes must be 3 positive shares"),
    ],
)
def test_sizes_that_cannot_be_are_refused(said, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        read_sizes(said, ABC)


def uneven():
    """Three overlapping classes of 120, 40 and 20 points, four labels each."""
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], [120, 40, 20])
    X = rng.normal(size=(180, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    y = np.full(180, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[:4]] = c
    return X, y


@pytest.mark.parametrize(
    "model",
    [
        UnifiedKernelMachine(random_state=0),
        LeaveOneOutRLS(RBF(gamma=0.3)),
        RLSClassifier(RBF(gamma=0.3)),
        KernelLogisticRegression(RBF(gamma=0.3)),
    ],
    ids=lambda m: type(m).__name__,
)
def test_models_keep_to_what_they_are_told(model) -> None:
    X, y = uneven()
    alone = np.bincount(model.fit(X, y).transduction_, minlength=3)
    assert alone[0] < 135
    for said, low, high in (
        ({0: (0.75, 0.8)}, 0.75, 0.8),
        ({0: "nearly all"}, 0.9, 1.0),
        ({0: 0.85}, 0.85, 0.85),
    ):
        model.set_params(class_sizes=said).fit(X, y)
        share = np.mean(model.transduction_ == 0)
        assert low - 0.04 <= share <= high + 0.04
    model.set_params(class_sizes="2 > 1").fit(X, y)
    counts = np.bincount(model.transduction_, minlength=3)
    assert counts[2] >= counts[1] - 8
    with pytest.raises(ValueError, match="class_sizes of 0 must be"):
        model.set_params(class_sizes={0: 90}).fit(X, y)


def test_knowledge_of_the_classes_that_are_left() -> None:
    machine = LeaveOneOutRLS(class_sizes={"a": 0.5, "b": (0.1, 0.3)})
    found = with_classes(machine, ABC, ABC[:2]).class_sizes
    np.testing.assert_allclose(found.low, [0.625, 1 / 6])
    np.testing.assert_allclose(found.high, [0.5 / 0.6, 0.375])
    machine.set_params(class_sizes="a > b > c")
    assert with_classes(machine, ABC, ABC[1:]).class_sizes.order == (0, 1)
    assert with_classes(machine, ABC, ABC) is machine
    machine.set_params(class_sizes="estimate")
    assert with_classes(machine, ABC, ABC[:2]).class_sizes == "estimate"
