"""The same estimators on tensors and on arrays."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

torch = pytest.importorskip("torch")

import mercer  # noqa: E402
from mercer.fewlabels import AutoKernel, KernelPool, TorchPool  # noqa: E402
from mercer.fewlabels.pools import base as pool  # noqa: E402
from mercer.fewlabels.pools import device as device_pool  # noqa: E402
from mercer.fewlabels.pools.plain_kernels import linear_map  # noqa: E402
from mercer.learners.parameter_free import ParameterFreeKernel  # noqa: E402
from mercer.model.estimator import UnifiedKernelMachine  # noqa: E402
from mercer.spectrum.graph import GraphBasis  # noqa: E402

X, TRUTH = load_digits(return_X_y=True)
X, TRUTH = X[:700], TRUTH[:700]
# Among equally near points a device takes the first; here none are.
X = X + 1e-3 * np.random.default_rng(0).random(X.shape)
Y = np.full(700, -1)
for c in range(10):
    Y[np.flatnonzero(c == TRUTH)[:2]] = c
NEW = X[:60] + 0.05


@pytest.fixture(scope="module")
def both():
    return [
        UnifiedKernelMachine(random_state=0).fit(points, Y)
        for points in (X, torch.as_tensor(X))
    ]


def test_the_default_predicts_the_same_for_tensors(both):
    host, device = both
    # Eigenvectors are right to the stated residuals: ties of that size may differ.
    assert np.mean(host.transduction_ == device.transduction_) >= 0.995
    assert np.abs(host.training_proba() - device.training_proba()).max() < 0.02
    assert np.mean(device.transduction_ == TRUTH) > 0.9
    assert device.basis_.certificate_.method == "dense, principal directions"
    largest = device.basis_.values_.max()  # of a kernel
    assert device.basis_.certificate_.residual < 1e-12 * largest


def test_tensors_of_few_points_in_clear_groups():
    """Fifty directions of 300 points did not converge."""
    points, truth = make_blobs(300, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    y = np.where(np.arange(300) < 60, truth, -1)
    wrong = [7, 30, 31]
    y[wrong] = (truth[wrong] + 1) % 3
    host, device = (
        UnifiedKernelMachine(random_state=0).fit(made, y)
        for made in (points, torch.as_tensor(points))
    )
    np.testing.assert_array_equal(host.transduction_, device.transduction_)
    ours, theirs = host.suspicious_labels(), device.suspicious_labels()
    np.testing.assert_array_equal(ours.ids[:3], theirs.ids[:3])
    np.testing.assert_allclose(ours.wrong, theirs.wrong, atol=0.02)


def test_the_default_predicts_new_points_the_same_for_tensors(both):
    host, device = both
    expected = host.predict(NEW)
    assert np.mean(device.predict(torch.as_tensor(NEW)) == expected) >= 0.98
    at_training = device.predict(torch.as_tensor(X[:60]))
    unknown = Y[:60] == -1
    np.testing.assert_array_equal(
        at_training[unknown], device.transduction_[:60][unknown]
    )


def test_the_model_of_tensors_asks_and_is_told(both):
    _, device = both
    rows = device.ask(3)
    told = device.with_labels(Y).tell(rows, TRUTH[rows])
    assert len(told.labeled_) == 23
    assert (told.transduction_[rows] == TRUTH[rows]).all()


def test_the_linear_kernel_of_tensors_is_that_of_arrays():
    host, device = (
        linear_map(A, 20, np.random.default_rng(0)) for A in (X, torch.as_tensor(X))
    )
    np.testing.assert_allclose(device.values, host.values, rtol=1e-9)
    ours, theirs = device.at(torch.as_tensor(NEW)).numpy(), host.at(NEW)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-6)


def test_the_linear_kernel_of_many_tensors_is_known_from_a_sample(both, monkeypatch):
    monkeypatch.setattr(pool, "SAMPLED_ABOVE", 300)
    model = UnifiedKernelMachine(random_state=0).fit(torch.as_tensor(X), Y)
    widths = {block.name: len(block.values) for block in model.basis_.blocks_}
    # Directions below a hundredth of the largest are left out.
    assert widths["linear"] < both[1].basis_.blocks_[2].values.size
    assert np.mean(model.transduction_ == both[0].transduction_) >= 0.99


@pytest.mark.parametrize(("many", "tol"), [(700, 1e-3), (699, 6e-2)])
def test_graphs_of_many_tensors_are_as_exact_as_those_of_many_arrays(
    many, tol, monkeypatch
):
    asked, whole = [], device_pool.basis_of

    def noted(*args, **options):
        asked.append(options["tol"])
        return whole(*args, **options)

    monkeypatch.setattr(pool, "_MANY", many)
    monkeypatch.setattr(device_pool, "basis_of", noted)
    TorchPool(8, random_state=0).fit(torch.as_tensor(X))
    assert asked == [tol] * 2


def test_graphs_are_laid_out_in_the_order_of_the_search(both, monkeypatch):
    """Rows of vectors and scales are those of the points all the same."""
    whole, laid_out = device_pool.TorchSearch.neighbors, []
    order = torch.as_tensor(np.random.default_rng(0).permutation(700))

    def ordered(self, k):
        return replace(whole(self, k), order=order)

    def noted(search, found, *args, **options):
        laid_out.append(found.distances[:5])
        return make(search, found, *args, **options)

    make = device_pool.basis_of
    monkeypatch.setattr(device_pool.TorchSearch, "neighbors", ordered)
    monkeypatch.setattr(device_pool, "basis_of", noted)
    model = UnifiedKernelMachine(random_state=0).fit(torch.as_tensor(X), Y)
    ours, theirs = model.basis_, both[1].basis_
    nearest = theirs._search.neighbors(20).distances
    torch.testing.assert_close(laid_out[0], nearest[order[:5]])
    for one, other in zip(ours._parts[:2], theirs._parts[:2], strict=True):
        torch.testing.assert_close(one, other)
    np.testing.assert_allclose(ours.values_, theirs.values_, atol=1e-6)
    assert np.mean(model.transduction_ == both[1].transduction_) >= 0.995
    assert np.mean(model.predict(NEW) == both[1].predict(NEW)) >= 0.98


@pytest.mark.parametrize("kind", ["shares", "zeros and ones", "mixed", "even"])
def test_units_of_tensors_are_those_of_arrays(kind):
    rng = np.random.default_rng(0)
    points = {
        "shares": rng.dirichlet(np.full(30, 0.1), size=90),
        "zeros and ones": (rng.random((90, 30)) < 0.01).astype(float),
        "mixed": rng.standard_normal((90, 3)) @ np.diag([1.0, 2, 900]),
        "even": rng.standard_normal((90, 6)),
    }[kind]  # fmt: skip
    host = KernelPool(3, random_state=0).fit(points)
    device = TorchPool(3, random_state=0).fit(torch.as_tensor(points))
    assert device.as_roots_ == host.as_roots_ == (kind == "shares")
    assert (device.scales_ is None) == (host.scales_ is None) == (kind != "mixed")
    if kind == "mixed":
        np.testing.assert_allclose(device.scales_, host.scales_, rtol=1e-12)


def test_rows_join_a_pool_of_tensors_as_they_join_one_of_arrays():
    new = X[:9] + 0.05
    host, device = (
        UnifiedKernelMachine(random_state=0).fit(made(X[:600]), Y[:600])
        for made in (np.asarray, torch.as_tensor)
    )
    host.add_rows(new, TRUTH[:9])
    device.partial_fit(torch.as_tensor(new), TRUTH[:9])
    assert device.growth_.n_far == host.growth_.n_far == 0
    assert len(device.ids_) == len(device.basis_.columns()) == 609
    np.testing.assert_array_equal(device.transduction_[600:], TRUTH[:9])
    assert np.mean(host.transduction_ == device.transduction_) >= 0.99
    far = torch.as_tensor(np.random.default_rng(0).uniform(0, 60, (40, 64)))
    device.add_rows(far)
    assert device.growth_.is_renewed
    assert len(device.transduction_) == 649


def test_a_model_of_tensors_comes_back_from_a_file(both, tmp_path):
    device = both[1].with_labels(Y)
    device.add_rows(torch.as_tensor(NEW[:5]))
    mercer.save(device, tmp_path / "model.skops")
    again = mercer.load(tmp_path / "model.skops")
    assert isinstance(again.basis_, TorchPool)
    np.testing.assert_array_equal(again.training_proba(), device.training_proba())
    new = torch.as_tensor(NEW)
    np.testing.assert_array_equal(again.predict_proba(new), device.predict_proba(new))
    for model in (device, again):
        model.tell([100, 702], [TRUTH[100], TRUTH[2]]).add_rows(new[5:8])
    np.testing.assert_array_equal(again.training_proba(), device.training_proba())


def test_a_pool_of_tensors_has_the_density_and_the_units_of_one_of_arrays():
    scale = np.geomspace(1.0, 1e4, 64)
    host = KernelPool(8, random_state=0).fit(X * scale)
    device = TorchPool(8, random_state=0).fit(torch.as_tensor(X * scale))
    np.testing.assert_allclose(device.scales_, host.scales_, rtol=1e-12)
    for rows in (None, NEW * scale):
        expected = host.log_density(rows)
        np.testing.assert_allclose(device.log_density(rows), expected, atol=1e-5)
    moved = torch.as_tensor(X[:4] * scale)
    np.testing.assert_allclose(device.extend(moved), device.vectors_[:4], atol=1e-5)


def test_a_pool_of_arrays_takes_tensors_of_the_processor():
    host, device = (
        UnifiedKernelMachine(
            AutoKernel(KernelPool(8, random_state=0)), random_state=0
        ).fit(points, Y)
        for points in (X, torch.as_tensor(X))
    )
    np.testing.assert_array_equal(device.transduction_, host.transduction_)
    proba = device.predict_proba(torch.as_tensor(NEW))
    np.testing.assert_allclose(proba, host.predict_proba(NEW), atol=1e-9)


@pytest.mark.parametrize("laplacian", ["normalized", "random_walk"])
@pytest.mark.parametrize("weights", ["gaussian", "self_tuning"])
def test_a_graph_basis_is_the_same_for_tensors_and_arrays(laplacian, weights):
    options = {"laplacian": laplacian, "weights": weights, "random_state": 0}
    host = GraphBasis(12, **options).fit(X)
    for device in (
        GraphBasis(12, **options).fit(torch.as_tensor(X)),
        GraphBasis(12, device="cpu", **options).fit(X),
    ):
        np.testing.assert_allclose(device.values_, host.values_, atol=1e-5)
        U = np.asarray(device.vectors_)
        apart = np.diff(host.values_, prepend=-1, append=9) > 1e-3
        alone = apart[:-1] & apart[1:]
        np.testing.assert_allclose(
            U[:, alone], host.vectors_[:, alone], atol=2e-3 * np.abs(U).max()
        )
        new, expected = device.extend(NEW), host.extend(NEW)
        size = np.abs(expected).max()
        np.testing.assert_allclose(new[:, alone], expected[:, alone], atol=5e-3 * size)
        np.testing.assert_allclose(device.extend(X[:5]), U[:5], atol=1e-6)
        assert device.certificate_.recall == 1.0


def test_one_graph_predicts_the_same_for_tensors():
    found = [
        UnifiedKernelMachine(
            ParameterFreeKernel(GraphBasis(60, random_state=0)), "rls", random_state=0
        )
        .fit(points, Y)
        .transduction_
        for points in (X, torch.as_tensor(X))
    ]
    assert np.mean(found[0] == found[1]) >= 0.995


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"metric": "cosine"}, "metric='euclidean'.*got 'cosine'"),
        ({"laplacian": "combinatorial"}, "normalized"),
    ],
)
def test_what_a_device_cannot_do_is_refused(options, match):
    with pytest.raises(ValueError, match=match):
        GraphBasis(5, **options).fit(torch.as_tensor(X))


@pytest.mark.parametrize("shape", [(700,), (5, 3)])
def test_tensors_of_another_shape_are_refused(both, shape):
    with pytest.raises(ValueError, match="give a tensor with"):
        both[1].predict(torch.zeros(shape))
