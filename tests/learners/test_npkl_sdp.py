import sys

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.evidence.pairs import Pairs
from mercer.learners.npkl_sdp import NPKL
from mercer.learners.pairwise import PairwiseKernel
from mercer.optim.npkl_sdp import solve_npkl_sdp
from mercer.optim.pair_forms import EntryForms
from mercer.spectrum.graph import GraphBasis

pytest.importorskip("cvxpy")
SMALL = GraphBasis(n_components=4, random_state=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([NPKL(basis=SMALL, solver="CLARABEL", random_state=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def moons(n=20, n_pairs=25):
    X, y = make_moons(n, noise=0.1, random_state=0)
    return X, Pairs.from_labels(y, n_pairs=n_pairs, random_state=0)


@pytest.mark.parametrize("loss", ["hinge", "linear"])
@pytest.mark.parametrize("r", [None, 6])
def test_agrees_with_the_fast_learner(loss, r):
    X, pairs = moons()
    basis = GraphBasis(n_components=r, n_neighbors=4)
    slow = NPKL(loss, budget=200.0, basis=basis, solver="CLARABEL")
    fast = PairwiseKernel(loss, budget=200.0, basis=basis, tol=1e-8)
    slow, fast = slow.fit(X, pairs=pairs), fast.fit(X, pairs=pairs)
    assert slow.certificate_.objective == pytest.approx(
        fast.certificate_.objective, rel=1e-5
    )
    assert slow.certificate_.family == fast.certificate_.family
    np.testing.assert_allclose(slow.kernel_(), fast.kernel_(), atol=1e-3)


def test_hinge_needs_no_budget():
    """Eq. (4) as printed is the limit of a budget too large to matter."""
    X, pairs = moons()
    basis = GraphBasis(n_components=8)
    free = NPKL(basis=basis, solver="CLARABEL").fit(X, pairs=pairs)
    wide = PairwiseKernel("hinge", budget=1e4, basis=basis).fit(X, pairs=pairs)
    assert free.certificate_.objective == pytest.approx(
        wide.certificate_.objective, rel=1e-5
    )


def test_linear_loss_needs_a_budget():
    X, pairs = moons()
    with pytest.raises(ValueError, match="no minimum without a budget"):
        NPKL("linear", basis=SMALL).fit(X, pairs=pairs)


def test_large_problems_warn_before_they_start():
    X, pairs = moons(160)
    model = NPKL(solver_options={"max_iters": 1}, random_state=0)
    with (
        pytest.warns(UserWarning, match="160 directions may take minutes"),
        pytest.warns(ConvergenceWarning, match="status 'optimal_inaccurate'"),
    ):
        model.fit(X, pairs=pairs)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"C": 0.0}, "C must be a finite number above 0; got 0"),
        ({"budget": -1.0}, "budget must be a finite number above 0; got -1"),
        ({"loss": "squared_hinge"}, "loss must be 'hinge' or 'linear'"),
    ],
)
def test_bad_settings(setting, message):
    X, pairs = moons()
    with pytest.raises(ValueError, match=message):
        NPKL(basis=SMALL, **setting).fit(X, pairs=pairs)


def test_missing_cvxpy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    forms = EntryForms(np.array([0]), np.array([1]), np.array([1.0]), 2)
    with pytest.raises(ImportError, match=r"mercer\[sdp\]"):
        solve_npkl_sdp(forms, np.eye(2), loss="hinge", C=1.0)


def test_fit_transform_gives_the_features():
    X, pairs = moons()
    learner = NPKL(basis=SMALL, solver="CLARABEL")
    Phi = learner.fit_transform(X, pairs=pairs)
    np.testing.assert_allclose(Phi @ Phi.T, learner.kernel_(), atol=1e-9)
