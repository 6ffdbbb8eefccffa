"""Tensors of all kinds: numbers, layouts, shapes, memory, and files."""

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

torch = pytest.importorskip("torch")

import mercer  # noqa: E402
from mercer._base.tensors import told_memory  # noqa: E402
from mercer.backends.torch.files import here  # noqa: E402
from mercer.fewlabels.machine import LeaveOneOutRLS  # noqa: E402
from mercer.learners.parameter_free import ParameterFreeKernel  # noqa: E402
from mercer.machines.klr import KernelLogisticRegression  # noqa: E402
from mercer.model.estimator import UnifiedKernelMachine  # noqa: E402
from mercer.spectrum.graph import GraphBasis  # noqa: E402

X = np.random.default_rng(0).integers(-64, 64, size=(90, 3)) / 4  # exact in 16 bits
X[45:] += 40
T = torch.as_tensor(X)


def fitted(points, **options):
    return GraphBasis(6, random_state=0, **options).fit(points)


EXPECTED = fitted(T)


@pytest.mark.parametrize(
    "points",
    [
        T.half(),
        T.float(),
        (4 * T).to(torch.int16) / 4.0,
        torch.as_tensor(X.T.copy()).T,
        torch.stack([T, T + 1], dim=1)[:, 0],
        T.clone().requires_grad_(),
        T.flip(0).flip(0),
    ],
    ids=["half", "single", "from int", "columns", "strided", "grad", "flipped"],
)
def test_every_kind_of_tensor_gives_the_same_basis(points):
    basis = fitted(points)
    np.testing.assert_allclose(basis.values_, EXPECTED.values_, atol=1e-6)
    ours, expected = basis.extend(points[:9]), EXPECTED.extend(T[:9])
    np.testing.assert_allclose(np.abs(ours), np.abs(expected), atol=1e-4)


def test_bfloat16_is_rounded_and_works():
    assert fitted(T.bfloat16()).extend(T[:4].bfloat16()).shape == (4, 6)


@pytest.mark.parametrize(
    ("points", "error", "said"),
    [
        (T[0], ValueError, r"shape \(3,\)"),
        (T[:1], ValueError, r"shape \(1, 3\); give a tensor with two rows or more"),
        (T[:, :0], ValueError, "one column or more"),
        (torch.complex(T, T), ValueError, "X.real and X.imag"),
        (T.to_sparse(), TypeError, "to_dense"),
        (T / 0, ValueError, "NaN or infinity"),
    ],
)
def test_other_tensors_are_refused_in_words(points, error, said):
    with pytest.raises(error, match=said):
        fitted(points)


def test_memory_that_is_too_small_is_an_error_with_numbers_and_a_way_out():
    said = r"90 points of 3 columns \(2.1 KiB\).*memory of cpu.*anchor graphs"
    with pytest.raises(MemoryError, match=said), told_memory(T):
        raise torch.cuda.OutOfMemoryError
    with pytest.raises(KeyError), told_memory(T):
        raise KeyError


def test_a_basis_runs_out_of_memory_in_words(monkeypatch):
    def full(*args, **kwargs):
        raise torch.cuda.OutOfMemoryError

    monkeypatch.setattr("mercer.spectrum.graph.fit_on_device", full)
    with pytest.raises(MemoryError, match="add_rows"):
        fitted(T)


@pytest.mark.parametrize("laplacian", ["normalized", "random_walk"])
def test_a_basis_of_a_tensor_is_saved_once_and_extends_as_before(tmp_path, laplacian):
    basis = fitted(T, laplacian=laplacian)
    mercer.save(basis, tmp_path / "basis.skops")
    read = mercer.load(tmp_path / "basis.skops")
    np.testing.assert_array_equal(read.extend(T[:9] + 0.1), basis.extend(T[:9] + 0.1))
    np.testing.assert_array_equal(read.vectors_[:], basis.vectors_[:])
    assert read.certificate_ == basis.certificate_
    assert read.graph_.starts.dtype == torch.int64
    kept = basis.__getstate__()
    assert "vectors_" not in kept
    assert "graph_" not in kept


def test_a_machine_fitted_to_a_tensor_is_saved_and_predicts_arrays(tmp_path):
    y = np.full(90, -1)
    y[:3], y[-3:] = 0, 1
    learner = ParameterFreeKernel(GraphBasis(6, random_state=0))
    model = UnifiedKernelMachine(learner, "rls", random_state=0).fit(T, y)
    mercer.save(model, tmp_path / "model.skops")
    read = mercer.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(
        read.predict(X[::9] + 0.1), model.predict(T[::9] + 0.1)
    )


def test_a_file_opens_on_a_machine_without_its_device(monkeypatch):
    state = fitted(T).vectors_.__getstate__()
    assert isinstance(state["tensor"], np.ndarray)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert [here(name) for name in ("cuda", "cuda:0", "cuda:1", "cpu")] == [
        "cuda",
        "cuda:0",
        "cpu",
        "cpu",
    ]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    vectors = object.__new__(type(EXPECTED.vectors_))
    vectors.__setstate__({**state, "_device": "cuda:0"})
    assert vectors.tensor.device.type == "cpu"
    np.testing.assert_array_equal(vectors[:], EXPECTED.vectors_[:])


@pytest.mark.parametrize("dispatch", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [KernelLogisticRegression(), LeaveOneOutRLS("linear"), UnifiedKernelMachine()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_tensors_of_points_and_labels_are_taken(
    estimator: Any, dispatch: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what was fitted to arrays, too; scikit-learn may look for array libraries."""
    if dispatch:
        monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 20)
    rows = (rng.normal(size=(40, 3)) + 4 * truth[:, None]).astype(np.float32)
    y = np.where(np.arange(40) % 5 == 0, truth, -1)
    with sklearn.config_context(array_api_dispatch=dispatch):
        tensor = torch.tensor(rows)
        for points, labels in ((rows, y), (tensor, torch.tensor(y))):
            model = clone(estimator).fit(points, labels)
            for new in (tensor, tensor.bfloat16()):
                found = model.predict(new)
                assert isinstance(found, np.ndarray)
                np.testing.assert_array_equal(found, truth)
            assert model.score(tensor, torch.tensor(truth)) == 1
