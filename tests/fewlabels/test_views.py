"""Groups of columns with a similarity of their own: pools side by side."""

import numpy as np
import pytest
from scipy import sparse

import mercer
from mercer import GraphBasis, UnifiedKernelMachine
from mercer._base.ranges import unit_rows
from mercer.fewlabels import AutoKernel, KernelPool, View
from mercer.fewlabels.pools import choice
from mercer.fewlabels.rule import Rule

VIEWS = {"told": slice(0, 6), "noise": list(range(6, 30))}


@pytest.fixture(scope="module")
def table():
    """Return points of which six columns tell the classes and 24 are loud noise."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=240)
    X = rng.normal(size=(240, 30))
    X[:, :3] += 4 * np.eye(3)[truth]
    X[:, 6:] *= 4
    y = np.full(240, -1)
    y[:15] = truth[:15]
    return X, y, truth


def model(X, y, **settings) -> UnifiedKernelMachine:
    return UnifiedKernelMachine(random_state=0, **settings).fit(X, y)


def test_labels_find_the_view_that_tells_the_classes(table) -> None:
    X, y, truth = table
    apart, soup = model(X, y, views=VIEWS), model(X, y)
    evidence = apart.learner_.certificate_
    told = [name.startswith("told: ") for name in evidence.names]
    assert evidence.weights[told].sum() > 0.9
    right = np.mean(apart.transduction_ == truth)
    assert right > 0.9
    assert right > np.mean(soup.transduction_ == truth) + 0.1


def test_every_view_has_the_pool_it_would_have_alone(table) -> None:
    X, y, _ = table
    apart = model(X, y, views=VIEWS).basis_
    for name, columns in VIEWS.items():
        blocks = [block for block in apart.blocks_ if block.view == name]
        assert [b.name.removeprefix(f"{name}: ") for b in blocks] == [
            "graph 10", "linear", "density",
        ]  # fmt: skip
        alone = KernelPool(50, n_neighbors=(10,), random_state=0).fit(X[:, columns])
        for block, own in zip(blocks, alone.blocks_, strict=True):
            np.testing.assert_allclose(block.values, own.values, rtol=1e-6, atol=1e-9)
            here, there = (
                apart.vectors_[:, block.columns],
                alone.vectors_[:, own.columns],
            )
            np.testing.assert_allclose(here @ here.T, there @ there.T, atol=1e-3)


def test_a_single_view_of_all_columns_is_the_pool_of_all_columns(table) -> None:
    X, _, _ = table
    pool = AutoKernel(views={"all": slice(None)}, random_state=0).fitted_basis(X)
    names = [block.name for block in pool.blocks_]
    assert names == ["graph 3", "graph 20", "linear", "density"]


def test_a_rule_sets_the_graphs_of_views(table) -> None:
    X, _, _ = table
    learner = AutoKernel(views=VIEWS, rule=Rule(view_graphs=(4, 7)), random_state=0)
    names = [block.name for block in learner.fitted_basis(X).blocks_]
    assert names[:2] == ["told: graph 4", "told: graph 7"]


def test_without_labels_to_weigh_the_prior_of_a_view_decides(table) -> None:
    X, _, truth = table
    y = np.full(len(X), -1)
    y[[int(np.argmax(truth == c)) for c in range(3)]] = range(3)
    views = [View("told", slice(0, 6)), View("noise", slice(6, 30), prior=4.0)]
    evidence = model(X, y, views=views).learner_.certificate_
    of_noise = [name.startswith("noise: ") for name in evidence.names]
    assert evidence.n_held_out == 0
    assert evidence.weights[of_noise].sum() == pytest.approx(0.8)


def test_with_cosine_lengths_do_not_count(table) -> None:
    X, y, _ = table
    lengths = np.random.default_rng(1).uniform(0.1, 10, size=(len(X), 1))
    views = [View("told", slice(0, 6), "cosine", trees=False)]
    views += [View("noise", slice(6, None), "cosine", trees=False)]
    here = model(X, y, views=views).training_proba()
    np.testing.assert_allclose(
        model(X * lengths, y, views=views).training_proba(), here, atol=1e-6
    )
    euclidean = [View("told", slice(0, 6), trees=False), *views[1:]]
    there = model(X, y, views=euclidean).training_proba()
    assert np.abs(there - here).max() > 0.01


def test_rows_have_length_one_whatever_holds_them() -> None:
    X = np.array([[3e200, 4e200], [0.0, 0.0], [1e-200, 0.0]])
    expected = [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]]
    np.testing.assert_allclose(unit_rows(X), expected)
    usual = np.array([[3.0, 4.0], [0.0, 0.0], [2.0, 0.0]])
    np.testing.assert_allclose(unit_rows(sparse.csr_array(usual)).toarray(), expected)
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(unit_rows(torch.tensor(X)).numpy(), expected)


def test_trees_ask_about_the_columns_of_views_for_trees(table) -> None:
    X, y, _ = table
    views = [View("told", slice(0, 6)), View("noise", slice(6, 30), trees=False)]
    basis = model(X, y, views=views).basis_
    np.testing.assert_array_equal(basis.columns().values, X[:, :6])
    np.testing.assert_array_equal(basis.columns(X[:3]).values, X[:3, :6])
    none = [View("told", slice(0, 6), trees=False), views[1]]
    assert model(X, y, views=none).basis_.columns() is None


def test_a_view_for_trees_alone_has_no_kernels(table) -> None:
    X, y, truth = table
    views = [View("noise", slice(6, 30), trees=False)]
    views += [View("told", slice(0, 6), kernels=False)]
    found = model(X, y, views=views)
    assert {block.view for block in found.basis_.blocks_} == {"noise"}
    without = model(
        X,
        y,
        views=[
            views[0],
            View("told", [0], kernels=False),
            View("rest", range(1, 6), kernels=False, trees=False),
        ],
    )
    right = np.mean(found.transduction_ == truth)
    assert right > np.mean(without.transduction_ == truth) + 0.05


@pytest.mark.parametrize("kind", ["neighbors", "anchors", "torch"])
def test_views_are_saved_grown_and_slimmed(table, kind, monkeypatch, tmp_path) -> None:
    X, y, truth = table
    if kind == "anchors":
        monkeypatch.setattr(choice, "NEIGHBORS_UP_TO", 100)
    if kind == "torch":
        X = pytest.importorskip("torch").tensor(X)
    fitted = model(X[:200], y[:200], views=VIEWS)
    assert type(fitted.basis_.pools_[0]).__name__ == {
        "neighbors": "KernelPool", "anchors": "AnchorPool", "torch": "TorchPool",
    }[kind]  # fmt: skip
    basis = fitted.basis_
    np.testing.assert_allclose(
        basis.extend(X[:200]), np.asarray(basis.vectors_), atol=1e-5
    )
    new = fitted.predict_proba(X[200:])
    mercer.save(fitted, tmp_path / "model.skops")
    loaded = mercer.load(tmp_path / "model.skops")
    np.testing.assert_allclose(loaded.predict_proba(X[200:]), new, atol=1e-6)
    np.testing.assert_allclose(
        fitted.without_rows().predict_proba(X[200:]), new, atol=1e-6
    )
    grown = loaded.add_rows(X[200:])
    assert len(grown.transduction_) == 240
    assert grown.growth_.is_renewed is False
    assert np.mean(grown.transduction_[200:] == truth[200:]) > 0.9


def test_sparse_points_have_views(table) -> None:
    X, y, truth = table
    points = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0))
    found = model(points, y, views=VIEWS)
    assert np.mean(found.transduction_ == truth) > 0.8
    assert found.basis_.columns() is None


def test_rows_that_drifted_get_a_new_basis_of_the_same_views(table) -> None:
    X, y, _ = table
    fitted = model(X, y, views=VIEWS)
    with_far = fitted.add_rows(X[:60] + 100)
    assert with_far.growth_.is_renewed
    assert len(with_far.basis_.pools_) == 2


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ({"a": slice(0, 6)}, "columns 6, 7, 8, 9, 10, ... are in no view"),
        ({"a": slice(0, 30), "b": [30]}, "positions below 30"),
        ({"a": slice(0, 30), "b": [2, 2]}, "names a column twice"),
        ({"a": slice(0, 30), "b": []}, "has no columns"),
        ([View("a", slice(0, 30)), View("a", [1])], "two have one name"),
        ([View("a", slice(0, 30), "angle")], "metric of view 'a'"),
        ([View("a", slice(0, 30), prior=0)], "prior of view 'a'"),
        ([View("a", slice(0, 30), kernels=False)], "kernels need one"),
        ([], "views must be a dict"),
        ("text", "views must be a dict"),
        ([slice(0, 30)], "or a list of View"),
    ],
)
def test_views_that_make_no_sense_are_refused(table, views, message) -> None:
    X, y, _ = table
    with pytest.raises((TypeError, ValueError), match=message):
        model(X, y, views=views)


def test_views_go_with_the_default_pools_of_points_alone(table) -> None:
    X, y, _ = table
    with pytest.raises(TypeError, match="takes none"):
        model(X, y, views=VIEWS, basis=KernelPool())
    with pytest.raises(TypeError, match="leave out views="):
        model(X, y, views=VIEWS, learner=mercer.ParameterFreeKernel(GraphBasis()))
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="without pairs and views"):
        model(da.from_array(X, chunks=(80, 30)), y, views=VIEWS)


def test_views_need_more_memory(table) -> None:
    X, _, _ = table
    one = choice.plan_pool(X, 2)
    two = choice.plan_pool(X, 2, n_views=2)
    # 240 points, 50 directions of five bases, eight bytes, two and a half arrays.
    assert two.needed - one.needed == 240 * 50 * 3 * 8 * 2.5
