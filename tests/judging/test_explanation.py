"""Which labelled points pull a point to their class."""

import numpy as np
import pytest

from mercer import UnifiedKernelMachine
from mercer.judging.explanation import Explanation

LABELS = np.array(["a", "a", "b", "c", "b"])


def three_classes() -> Explanation:
    """Return one point with pulls that are written out: rows of a, a, b, c, b."""
    pulls = np.array(
        [
            [3.0, 1.0, 0.0],  # 2 for a rather than b
            [0.0, 1.0, 0.0],  # of a, and pushes the point away from it
            [1.0, 2.5, 9.0],  # 1.5 for b
            [9.0, 0.0, 1.0],  # of c
            [0.0, 4.0, 0.0],  # 4 for b
        ]
    )
    none = np.zeros((1, 3))
    ids = np.array([10, 11, 12, 13, 14])
    return Explanation(
        pulls[None], none[0], none, ids, LABELS, np.array(["a", "b", "c"])
    )


def test_amounts_are_the_lead_of_a_class_over_the_other() -> None:
    pulls = three_classes().top(between=("a", "b"))
    assert pulls == [(14, "b", 4.0), (10, "a", 2.0), (12, "b", 1.5)]
    assert three_classes().top(between=("b", "a")) == pulls


def test_half_of_the_points_are_of_each_class() -> None:
    """Rows of the second class alone would not say why the first is predicted."""
    pulls = three_classes().top(n=2, between=("a", "b"))
    assert pulls == [(14, "b", 4.0), (10, "a", 2.0)]
    assert three_classes().top(n=1, between=("a", "b")) == [(10, "a", 2.0)]


def test_the_two_most_likely_classes_are_compared() -> None:
    explanation = three_classes()  # decisions 13, 8.5 and 10
    assert explanation.top() == explanation.top(between=("a", "c"))
    assert [pull.id for pull in explanation.top()] == [10]
    assert "Explanation: a rather than c" in explanation._repr_html_()


def test_of_two_classes_the_amounts_add_up_to_the_decision() -> None:
    column = np.array([[[-2.0], [1.0], [3.0]]])
    labels, zero = np.array(["a", "b", "b"]), np.zeros((1, 1))
    explanation = Explanation(
        column, zero[0], zero, np.arange(3), labels, np.array(["a", "b"])
    )
    assert explanation.top() == [(2, "b", 3.0), (0, "a", 2.0), (1, "b", 1.0)]
    assert explanation.decision()[0, 0] == 3.0 - 2.0 + 1.0


def test_training_rows_are_named_by_their_ids() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    X = 5 * np.eye(3)[truth] + rng.standard_normal((60, 3))
    y = np.where(np.arange(60) < 12, truth, -1)
    for machine in ("auto", "klr"):
        model = UnifiedKernelMachine(machine=machine, random_state=0).fit(X, y)
        whole, some = model.explain(), model.explain(rows=[40, 3])
        np.testing.assert_allclose(some.decision(), whole.decision()[[40, 3]])
        assert [p.id for p in some.top(1)] == [p.id for p in whole.top(3)]
    with pytest.raises(ValueError, match="there is no row 60"):
        model.explain(rows=[60])
    with pytest.raises(ValueError, match="X and rows"):
        model.explain(X, rows=[1])
