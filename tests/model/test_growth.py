"""Rows that join a table: by extension, or with a new basis where they drifted."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from mercer import UnifiedKernelMachine
from mercer.exceptions import DriftWarning
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.pools.anchors import AnchorPool
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.fewlabels.rule import Rule
from mercer.model.growth import Growth, judge_growth
from mercer.persist import load, save

X, TRUTH = make_blobs(
    400, centers=[[0, 0], [7, 0], [0, 7]], cluster_std=1.0, random_state=0
)
FAR = make_blobs(30, centers=[[40, 40]], cluster_std=1.0, random_state=1)[0]
FEW = np.full(300, -1)
for c in range(3):
    FEW[np.flatnonzero(TRUTH[:300] == c)[:2]] = c


def model(learner="auto") -> UnifiedKernelMachine:
    return UnifiedKernelMachine(learner, random_state=0).fit(X[:300], FEW)


POOLS = [KernelPool(20, random_state=0), AnchorPool(20, n_anchors=60, random_state=0)]


@pytest.mark.parametrize("pool", POOLS, ids=lambda p: type(p).__name__)
def test_a_grown_pool_is_the_pool_with_extended_rows(pool) -> None:
    pool = pool.fit(X[:300])
    larger = pool.grown(X[300:])
    U = np.asarray(larger.vectors_)
    np.testing.assert_allclose(U[:300], np.asarray(pool.vectors_))
    np.testing.assert_allclose(U[300:], pool.extend(X[300:]), atol=1e-6)
    np.testing.assert_allclose(larger.extend(FAR), pool.extend(FAR))
    twice = larger.grown(FAR)
    np.testing.assert_allclose(
        np.asarray(twice.vectors_)[400:], pool.extend(FAR), atol=1e-6
    )
    assert len(pool.vectors_) == 300


def test_rows_of_the_same_source_join_by_extension() -> None:
    found = model()
    basis = found.basis_
    found.add_rows(X[300:])
    assert len(found.transduction_) == len(found.ids_) == 400
    assert np.mean(found.transduction_ == TRUTH) > 0.97
    assert not found.growth_.has_drifted
    assert "joined by extension" in str(found.growth_)
    assert found.basis_.certificate_.note == str(found.growth_)
    np.testing.assert_allclose(found.basis_.vectors_[:300], basis.vectors_)


def test_rows_that_drifted_make_a_new_basis_and_it_says_so() -> None:
    found = model().add_rows(FAR)
    assert found.growth_.is_renewed
    assert "made again" in found.basis_.certificate_.note
    again = UnifiedKernelMachine(random_state=0)
    again.fit(np.vstack([X[:300], FAR]), np.r_[FEW, np.full(30, -1)])
    np.testing.assert_allclose(found.training_proba(), again.training_proba())
    assert not found.add_rows(
        X[300:310]
    ).growth_.has_drifted  # counted from the new one


@pytest.mark.parametrize(("n_far", "has_drifted"), [(2, False), (6, True)])
def test_both_sides_of_the_threshold(n_far: int, has_drifted: bool) -> None:
    """Of 106 rows one is expected to be far; two are no news, six are."""
    rows = np.vstack([X[300:], FAR[:n_far]])
    pool = KernelPool(10, random_state=0).fit(X[:300])
    usual = int(
        (pool.log_density(X[300:]) < np.quantile(pool.log_density(), 0.01)).sum()
    )
    growth = judge_growth(pool, rows, Growth())
    assert growth.n_far == usual + n_far
    assert growth.has_drifted == has_drifted
    assert (growth.chance < 1e-3) == has_drifted


def test_drift_adds_up_over_calls() -> None:
    pool = KernelPool(10, random_state=0).fit(X[:300])
    growth = Growth()
    drifted = []
    for row in FAR[:4]:
        growth = judge_growth(pool, row[None], growth)
        drifted.append(growth.has_drifted)
    assert drifted == [False, True, True, True]
    assert judge_growth(pool, FAR[:1], Growth(), Rule(drift_chance=0.05)).has_drifted


def test_labels_and_answers_reach_added_rows() -> None:
    found = model().add_rows(X[300:], np.where(np.arange(100) < 3, TRUTH[300:], -1))
    assert np.isin([300, 301, 302], found.labeled_).all()
    assert found.tell([399], [TRUTH[399]]).transduction_[399] == TRUTH[399]
    assert set(found.ask(390)) <= set(range(400))


def test_lists_are_numbered_on() -> None:
    """A list has a method `index`, and was taken for a data frame."""
    found = model().add_rows(X[300:302].tolist(), [1, -1]).add_rows([X[302].tolist()])
    assert found.ids_[-3:].tolist() == [300, 301, 302]
    assert 300 in found.labeled_


def test_data_frames_bring_their_row_labels() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"r{i}" for i in range(400)])
    found = UnifiedKernelMachine(random_state=0).fit(frame[:300], FEW)
    assert found.add_rows(frame[300:]).ids_[-1] == "r399"
    with pytest.raises(ValueError, match="not unique"):
        found.add_rows(frame[300:])
    more = frame[300:].add_prefix("n", axis=0)
    with pytest.warns(UserWarning, match="in a different order"):
        found.add_rows(more, pd.Series(TRUTH[300:], more.index)[::-1])


def test_a_model_without_its_points_warns_of_drift(tmp_path) -> None:
    save(model(), tmp_path / "model")
    found = load(tmp_path / "model")
    with pytest.warns(DriftWarning, match="Fit again"):
        found.add_rows(FAR)
    assert not found.growth_.is_renewed
    assert len(found.transduction_) == 330


def test_an_anchor_pool_grows_too() -> None:
    found = model(AutoKernel(AnchorPool(20, n_anchors=60, random_state=0)))
    found.add_rows(X[300:])
    assert np.mean(found.transduction_ == TRUTH) > 0.95


def test_soft_labels_stay_with_their_rows() -> None:
    shares = np.where(FEW[:, None] >= 0, np.eye(3)[TRUTH[:300]], 0.0)
    row = np.flatnonzero(FEW >= 0)[0]
    shares[row] = [0.5, 0.3, 0.2]
    found = UnifiedKernelMachine(random_state=0).fit(X[:300], shares).add_rows(X[300:])
    np.testing.assert_allclose(found.label_distributions_[row], [0.5, 0.3, 0.2])


def test_partial_fit_is_fit_and_then_add_rows() -> None:
    found = UnifiedKernelMachine(random_state=0)
    found.partial_fit(X[:300], FEW, classes=[0, 1, 2])
    found.partial_fit(X[300:], np.full(100, -1))
    direct = model().add_rows(X[300:])
    np.testing.assert_allclose(found.training_proba(), direct.training_proba())


def test_other_bases_are_fitted_again_by_the_person() -> None:
    from mercer.learners.parameter_free import ParameterFreeKernel

    with pytest.raises(TypeError, match="fit again"):
        model(ParameterFreeKernel(random_state=0)).add_rows(X[300:])


@pytest.mark.parametrize("with_sources", [False, True])
def test_what_cannot_be_learned_changes_nothing(with_sources):
    """A class without a size is refused; the model then still asks, tells and joins."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + 4 * (np.arange(40) % 2)[:, None]
    y = np.where(np.arange(40) < 8, np.arange(40) % 2, -1)
    sources = {"rule": np.arange(40) % 2} if with_sources else None
    model = UnifiedKernelMachine(class_sizes={0: 0.5, 1: 0.5}, random_state=0)
    model.fit(X, y, sources=sources)
    before = model.transduction_, model.ask(), model.classes_
    for refused in (
        lambda: model.add_rows(X[:3] + 0.01, [7, 7, 7]),
        lambda: model.tell([30], [7]),
        lambda: model.tell([30], [7], source="rule"),
    ):
        with pytest.raises(ValueError, match="class_sizes"):
            refused()
        assert len(model.ids_) == len(model.labels_.codes) == 40
        assert (model.believed_ is None) == (not with_sources)
        after = model.transduction_, model.ask(), model.classes_
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(old, new)
    model.tell([30], [0]).add_rows(X[:3] + 0.01, [0, 1, 0])
    assert len(model.ids_) == len(model.transduction_) == 43
    assert model.classes_.tolist() == [0, 1]
