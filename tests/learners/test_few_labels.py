"""Few labels, one class, strings, parts of the graph without labels."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons

from mercer.exceptions import DisconnectedGraphWarning
from mercer.learners.closed_form import ClosedFormKernel, ClosedFormKernelCV
from mercer.learners.combination import CenteredAlignmentKernel
from mercer.learners.decaying import DecayingKernel
from mercer.learners.ordered import OrderedKernel
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.rls import RLSClassifier
from mercer.spectrum.graph import GraphBasis

GRAPH = [
    ParameterFreeKernel(random_state=0),
    ClosedFormKernel(C=100.0, mu=1e-3, random_state=0),
    OrderedKernel(random_state=0),
    OrderedKernel(improved=True, random_state=0),
]
LEARNERS = [*GRAPH, DecayingKernel(random_state=0), CenteredAlignmentKernel()]


def name(learner) -> str:
    return repr(learner)


def moons(n: int = 80):
    return make_moons(n, noise=0.05, random_state=4)


@pytest.mark.parametrize("learner", [*LEARNERS, ClosedFormKernelCV()], ids=name)
def test_one_class_is_an_error(learner) -> None:
    X, _ = moons()
    y = np.full(80, -1)
    y[:5] = 3
    with pytest.raises(ValueError, match=r"y has 1 class .* at least 2"):
        clone(learner).fit(X, y)


@pytest.mark.parametrize("learner", [*LEARNERS, ClosedFormKernelCV()], ids=name)
def test_plus_and_minus_one_is_an_error(learner) -> None:
    X, y = moons()
    with pytest.raises(ValueError, match="-1 means unlabelled"):
        clone(learner).fit(X, 2 * y - 1)


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_no_label_is_an_error(learner) -> None:
    X, _ = moons()
    with pytest.raises(ValueError, match="y has no label"):
        clone(learner).fit(X, np.full(80, -1))
    with pytest.raises(ValueError, match="requires y to be passed"):
        clone(learner).fit(X)


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_one_label_per_class_gives_a_finite_kernel_that_predicts(learner) -> None:
    X, truth = moons()
    y = np.full(80, -1)
    y[:2] = truth[:2]
    assert set(y[:2]) == {0, 1}
    fitted = clone(learner).fit(X, y)
    K = fitted.kernel_(X)
    assert np.isfinite(K).all()
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.abs(K).max()
    predicted = RLSClassifier(clone(learner), C=100.0).fit(X, y).transduction_
    assert np.array_equal(predicted[:2], truth[:2])
    assert (predicted == truth).mean() > 0.7


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_all_points_labelled(learner) -> None:
    X, y = moons()
    machine = RLSClassifier(clone(learner), C=1e4).fit(X, y)
    assert np.array_equal(machine.transduction_, y)
    assert (machine.predict(X) == y).mean() > 0.8


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
@pytest.mark.parametrize(
    "recode",
    [
        lambda y: np.array([None if v < 0 else "ab"[v] for v in y], dtype=object),
        lambda y: np.where(y < 0, np.nan, y.astype(float)),
        lambda y: np.where(y < 0, -1, 7 - y),
    ],
    ids=["strings", "nan", "other numbers"],
)
def test_names_of_the_classes_do_not_matter(learner, recode) -> None:
    X, truth = moons()
    y = np.where(np.arange(80) < 10, truth, -1)
    expected = clone(learner).fit(X, y).kernel_(X)
    got = clone(learner).fit(X, recode(y)).kernel_(X)
    assert got == pytest.approx(expected, rel=1e-10, abs=1e-12)


def islands():
    """Three groups of points that no edge joins."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.1, size=(20, 2)) for c in (0, 10, 20)])
    return X, np.repeat([0, 1, 2], 20)


@pytest.mark.parametrize("learner", GRAPH, ids=name)
def test_labels_in_one_component_leave_the_others_to_the_prior(learner) -> None:
    X, part = islands()
    y = np.full(60, -1)
    y[[0, 1, 2]] = [0, 1, 1]
    fitted = clone(learner).set_params(basis=GraphBasis(60, n_neighbors=5))
    K = clone(fitted).fit(X, y).kernel_()
    assert np.isfinite(K).all()
    assert np.abs(K[np.ix_(part > 0, part == 0)]).max() <= 1e-12 * np.abs(K).max()
    with pytest.warns(DisconnectedGraphWarning, match="40 of 60 points"):
        machine = RLSClassifier(fitted, C=100.0).fit(X, y)
    assert (machine.transduction_[part > 0] == 1).all()  # two of three labels


@pytest.mark.parametrize("learner", GRAPH[:2], ids=name)
def test_a_component_follows_its_own_label(learner) -> None:
    X, part = islands()
    y = np.full(60, -1)
    y[[0, 20, 40]] = [0, 1, 1]
    fitted = clone(learner).set_params(basis=GraphBasis(60, n_neighbors=5))
    machine = RLSClassifier(fitted, C=100.0).fit(X, y)
    assert np.array_equal(machine.transduction_, np.minimum(part, 1))


def test_labels_outside_the_directions_of_the_basis_are_an_error() -> None:
    X, _ = islands()
    pair = np.array([[50.0, 50.0], [50.1, 50.1]])
    y = np.full(62, -1)
    y[[60, 61]] = [0, 1]
    # One direction: the constant on the largest component, where no label is.
    basis = GraphBasis(1, n_neighbors=1)
    for learner in (ParameterFreeKernel(basis), ClosedFormKernel(basis=basis)):
        with pytest.raises(ValueError, match="zero at the labelled points"):
            learner.fit(np.vstack([X, pair]), y)
    aligned = DecayingKernel(basis=basis)
    with pytest.raises(ValueError, match="no direction of the basis agrees"):
        aligned.fit(np.vstack([X, pair]), y)
