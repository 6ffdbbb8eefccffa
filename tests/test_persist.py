import copy
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer import persist
from mercer.active.pool import PoolClassifier
from mercer.fewlabels.pools import neighbors as pools
from mercer.fewlabels.pools.anchors import AnchorPool
from mercer.graphs import Neighbors, nearest_neighbors
from mercer.judging.explanation import Pull
from mercer.kernels.composite import Weighted
from mercer.kernels.normalized import Centered, Normalized
from mercer.kernels.parametric import RBF, Linear, PairwiseKernelFunction
from mercer.kernels.precomputed import Precomputed
from mercer.learners.closed_form import ClosedFormKernel
from mercer.learners.combination import CenteredAlignmentKernel
from mercer.learners.decaying import DecayingKernel
from mercer.learners.pair_classifier import PairClassifier
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.klr import KernelLogisticRegression
from mercer.machines.laplacian import LapRLS
from mercer.machines.rls import RLSClassifier
from mercer.machines.svm import KernelSVC
from mercer.model.estimator import UnifiedKernelMachine
from mercer.neighbors import index as search
from mercer.neighbors.index import NeighborIndex
from mercer.spectrum.filters import diffusion
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.kernel import SpectralKernel

X, Y = make_moons(40, noise=0.05, random_state=0)
NEW = X[:7] + 0.05
PARTLY = np.where(np.arange(40) < 10, Y, -1)


def reloaded(obj: Any, folder: Path) -> Any:
    file = folder / "object.skops"
    persist.save(obj, file)
    return persist.load(file)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(0.5),
        Weighted([Linear(), Normalized(RBF(0.5) + Linear())], [0.25, 2.0]),
        Centered(RBF(0.5)).resolve(X),
        2 * Linear() * Linear(),
    ],
    ids=str,
)
def test_kernels_come_back(kernel: Any, tmp_path: Path) -> None:
    again = reloaded(kernel, tmp_path)
    assert type(again) is type(kernel)
    assert np.array_equal(again(NEW, X), kernel(NEW, X))


def test_precomputed_comes_back(tmp_path: Path) -> None:
    K = RBF(1.0)(X)
    assert np.array_equal(reloaded(Precomputed(K), tmp_path).K, K)


@pytest.mark.parametrize(
    "basis",
    [
        GraphBasis(n_components=6, n_neighbors=5),
        GramBasis(n_components=6, kernel=RBF(0.5)),
        GramBasis(n_components=6, kernel="rbf", n_landmarks=20, random_state=0),
    ],
    ids=str,
)
def test_bases_and_their_kernels_come_back(basis: Any, tmp_path: Path) -> None:
    basis.fit(X)
    again = reloaded(basis, tmp_path)
    assert np.array_equal(again.extend(NEW), basis.extend(NEW))
    assert again.certificate_ == basis.certificate_
    kernel = SpectralKernel(basis, diffusion(basis.values_))
    assert np.array_equal(reloaded(kernel, tmp_path)(NEW, X), kernel(NEW, X))


def test_pipelines_around_mercer_come_back(tmp_path: Path) -> None:
    basis = FrozenEstimator(GramBasis(n_components=6, kernel=RBF(0.5)).fit(X))
    for model in (
        SVC(kernel=RBF(0.5)),
        make_pipeline(StandardScaler(), SVC(kernel=Normalized(Linear()))),
        make_pipeline(basis, SVC()),
    ):
        model.fit(X, Y)
        again = reloaded(model, tmp_path)
        assert np.array_equal(
            again.decision_function(NEW), model.decision_function(NEW)
        )


@pytest.mark.parametrize(
    "learner",
    [
        ParameterFreeKernel(),
        DecayingKernel(),
        ClosedFormKernel(),
        CenteredAlignmentKernel(),
    ],
    ids=str,
)
def test_learners_come_back(learner: Any, tmp_path: Path) -> None:
    learner.fit(X, PARTLY)
    again = reloaded(learner, tmp_path)
    assert np.array_equal(again.transform(NEW), learner.transform(NEW))
    assert np.array_equal(again.kernel_(NEW, X), learner.kernel_(NEW, X))


@pytest.mark.parametrize(
    "machine",
    [
        KernelLogisticRegression(ParameterFreeKernel()),
        RLSClassifier(RBF(0.5)),
        KernelSVC("rbf"),
        LapRLS(),
    ],
    ids=str,
)
def test_machines_come_back(machine: Any, tmp_path: Path) -> None:
    machine.fit(X, PARTLY)
    again = reloaded(machine, tmp_path)
    assert np.array_equal(again.predict(NEW), machine.predict(NEW))
    assert np.array_equal(again.transduction_, machine.transduction_)


@pytest.mark.parametrize("has_pool", [True, False])
def test_a_classifier_of_a_pool_comes_back(has_pool: bool, tmp_path: Path) -> None:
    some = np.flatnonzero(PARTLY >= 0)
    model = PoolClassifier(
        UnifiedKernelMachine(random_state=0), X if has_pool else None
    )
    again = reloaded(model.fit(X[some], PARTLY[some]), tmp_path)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    again.fit(X, PARTLY)
    assert np.array_equal(again.predict_proba(X), model.fit(X, PARTLY).predict_proba(X))


def test_frozen_dataclasses_and_sparse_arrays_come_back(tmp_path: Path) -> None:
    neighbors = nearest_neighbors(X, 3, rng=np.random.default_rng(0))
    again = reloaded(neighbors, tmp_path)
    assert isinstance(again, Neighbors)
    assert np.array_equal(again.indices, neighbors.indices)
    assert (again.recall, again.method) == (1.0, "exact")
    pull = Pull(1, "b", 0.5)
    assert reloaded(pull, tmp_path) == pull
    sparse = csr_array(np.eye(3))
    assert np.array_equal(reloaded(sparse, tmp_path).toarray(), np.eye(3))


def test_files_are_compressed(tmp_path: Path) -> None:
    file = tmp_path / "zeros.skops"
    persist.save([np.zeros(100_000)], file)
    assert file.stat().st_size < 20_000


def test_a_failed_save_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "object.skops"
    persist.save(RBF(0.5), file)
    with pytest.raises(Exception, match="generator"):
        persist.save([RBF(0.7), (i for i in range(3))], file)
    assert persist.load(file).gamma == 0.5

    def full_disk(obj: object, part: Path, **options: object) -> None:
        part.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("skops.io.dump", full_disk)
    with pytest.raises(OSError, match="disk full"):
        persist.save(RBF(0.7), file)
    assert persist.load(file).gamma == 0.5
    assert [entry.name for entry in tmp_path.iterdir()] == ["object.skops"]


def test_a_lambda_is_refused_while_the_model_is_there(tmp_path: Path) -> None:
    """It was saved, and could not be loaded."""
    file = tmp_path / "object.skops"
    persist.save(RBF(0.5), file)
    with pytest.raises(ValueError, match="a lambda could not be loaded again"):
        persist.save(RLSClassifier(lambda A, B: A @ B.T), file)
    assert persist.load(file).gamma == 0.5
    text = '"__class__": "<lambda>"'
    assert reloaded(text, tmp_path) == text


class Column:
    """As strings of pyarrow in a data frame."""

    def __reduce__(self) -> Any:
        raise TypeError("no default __reduce__")


def test_what_cannot_be_saved_is_named(tmp_path: Path) -> None:
    model = PairClassifier(preprocessor=Column())
    with pytest.raises(TypeError, match="its preprocessor is a Column"):
        persist.save(model, tmp_path / "object.skops")


def test_what_cannot_be_saved_is_named_within_lists(tmp_path: Path) -> None:
    """Its way out was for frames only."""
    model = make_pipeline(StandardScaler(), PairClassifier(preprocessor=Column()))
    where = r"Pipeline cannot be saved: its steps\[1\]\[1\].preprocessor is a Column.$"
    with pytest.raises(TypeError, match=where):
        persist.save(model, tmp_path / "object.skops")


def own_kernel(A: Any, B: Any) -> Any:
    return A @ B.T


@pytest.mark.parametrize("name", ["inner", "own_kernel"])
def test_a_function_within_a_function_is_refused(tmp_path: Path, name: str) -> None:
    """It was saved, and could not be loaded, or another of its name was."""

    def inner(A: Any, B: Any) -> Any:
        return A @ B.T

    inner.__name__ = name
    with pytest.raises(ValueError, match=f"{name} of .* could not be loaded again"):
        persist.save(RLSClassifier(inner), tmp_path / "object.skops")
    assert not list(tmp_path.iterdir())


def test_functions_of_a_stranger_are_refused_and_named(tmp_path: Path) -> None:
    file = tmp_path / "object.skops"
    persist.save(PairwiseKernelFunction(own_kernel), file)
    name = f"{own_kernel.__module__}.own_kernel"
    with pytest.raises(ValueError, match=f"not trusted: {name}.*pass trusted="):
        persist.load(file)


def test_types_of_a_stranger_are_refused_unless_named(tmp_path: Path) -> None:
    file = tmp_path / "object.skops"
    persist.save({"kernel": RBF(0.5), "other": Path("/etc")}, file)
    with pytest.raises(ValueError, match="not trusted: pathlib"):
        persist.load(file)
    named = skops.io.get_untrusted_types(file=file)
    assert persist.load(file, trusted=named)["kernel"].gamma == 0.5


def forge(file: Path, node: dict[str, Any]) -> None:
    """Write a file that asks for the call described by a node."""
    with zipfile.ZipFile(file, "w") as archive:
        schema = {**node, "protocol": 2, "_skops_version": "0"}
        archive.writestr("schema.json", json.dumps(schema))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("builtins", "eval"),
        ("mercer.persist", "load"),
        ("mercer.persist", "Path"),
        ("mercer.kernels.base", "BaseEstimator"),  # not defined there
        ("mercer.exceptions", "NotPSDError"),  # neither estimator nor result
        ("mercer.persist", "import_module"),
        ("mercer_studies.data", "load"),
        ("mercer.absent", "Absent"),
        ("numpy", "save"),
        ("scipy.sparse", "save_npz"),
    ],
)
def test_a_forged_call_is_refused(module: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "forged.skops"
    marker = tmp_path / "marker"
    argument = {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(f"touch {marker}"),
        "is_json": True,
    }
    content = {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": "ListNode",
        "content": [argument],
    }
    call = {"__class__": name, "__module__": module, "content": content}
    forge(file, {**call, "__loader__": "ConstructorFromReduceNode"})
    with pytest.raises(ValueError, match=f"not trusted: {module}.{name}"):
        persist.load(file)
    assert not marker.exists()


def test_modules_that_run_on_import_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported: list[str] = []
    monkeypatch.setattr(persist, "import_module", imported.append)
    file = tmp_path / "forged.skops"
    names = [("mercer.app.cli.__main__", "Main"), ("antigravity", "Main")]
    for module, name in names:
        node = {"__class__": name, "__module__": module, "__loader__": "TypeNode"}
        forge(file, node)
        with pytest.raises(ValueError, match="not trusted"):
            persist.load(file)
    assert imported == []


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.pkl"
    file.write_bytes(pickle.dumps(RBF(0.5)))
    with pytest.raises(
        ValueError, match=r"model\.pkl is not a file of mercer\.persist"
    ):
        persist.load(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("readme", "no schema")
    with pytest.raises(ValueError, match="is not a file of"):
        persist.load(file)
    with pytest.raises(FileNotFoundError):
        persist.load(tmp_path / "absent.skops")


NEW_PROCESS = """
import sys
import numpy as np
from mercer import persist
model, rows, answers = sys.argv[1:]
np.save(answers, persist.load(model).predict(np.load(rows)))
"""
GOES_ON = """
import sys
import numpy as np
from mercer import persist
file, rows, answers = sys.argv[1:]
model = persist.load(file)
before = model.predict_proba(np.load(rows))
asked = model.ask(3)
model.tell(asked, [3, 1, 4])
after = model.predict_proba(np.load(rows))
np.savez(answers, before=before, asked=asked, after=after, own=model.training_proba())
"""


@pytest.mark.parametrize("threshold", [500, 700], ids=["above", "below"])
def test_models_on_both_sides_of_the_cell_search_predict_in_a_new_process(
    threshold: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above the threshold of the search, models could not be saved."""
    monkeypatch.setattr(search, "_EXACT_UP_TO", threshold)
    made, prepare = [], search.CellSearch.prepare
    monkeypatch.setattr(
        search.CellSearch,
        "prepare",
        lambda *args, **kwargs: made.append(1) or prepare(*args, **kwargs),
    )
    points, labels = make_moons(600, noise=0.05, random_state=0)
    known = np.where(np.arange(600) % 49 == 0, labels, -1)
    model = UnifiedKernelMachine(random_state=0).fit(points, known)
    assert bool(made) == (threshold < 600)
    new = points[:50] + 0.01
    files = [tmp_path / name for name in ("model.skops", "rows.npy", "answers.npy")]
    persist.save(model, files[0])
    np.save(files[1], new)
    subprocess.run([sys.executable, "-c", NEW_PROCESS, *files], check=True)
    assert np.array_equal(np.load(files[2]), model.predict(new))


def test_a_planned_cell_search_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((6000, 3))
    index = NeighborIndex.fit(points, method="cells", rng=rng)
    assert index.neighbors(5).method == "cells"
    found = index.query(points[:9] + 0.01, 5)
    again = reloaded(index, tmp_path)
    assert again.search.plans == index.search.plans
    assert again.search.plans_for_new == index.search.plans_for_new
    assert index.search.plans_for_new[5] is not None
    for one, other in zip(found, again.query(points[:9] + 0.01, 5), strict=True):
        assert np.array_equal(one, other)


def few_labels(truth: Any, n_per_class: int) -> Any:
    """Return labels of the first rows of each class; -1 elsewhere."""
    y = np.full(len(truth), -1)
    for c in np.unique(truth):
        rows = np.flatnonzero(truth == c)[:n_per_class]
        y[rows] = c
    return y


def test_a_model_of_digits_is_small_and_goes_on_in_a_new_process(
    tmp_path: Path,
) -> None:
    points, truth = load_digits(return_X_y=True)
    model = UnifiedKernelMachine(random_state=0).fit(points, few_labels(truth, 2))
    files = [tmp_path / name for name in ("model.skops", "rows.npy", "answers.npz")]
    persist.save(model, files[0])
    assert files[0].stat().st_size <= 1.5 * points.nbytes  # single precision: 1.9
    new = points[:40] + 0.5
    np.save(files[1], new)
    subprocess.run([sys.executable, "-c", GOES_ON, *files], check=True)
    found = np.load(files[2])
    assert np.allclose(found["before"], model.predict_proba(new), rtol=0, atol=1e-12)
    asked = model.ask(3)
    assert np.array_equal(found["asked"], asked)
    model.tell(asked, [3, 1, 4])
    assert np.allclose(found["after"], model.predict_proba(new), rtol=0, atol=1e-12)
    assert np.allclose(found["own"], model.training_proba(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["few columns", "many columns", "sparse"])
@pytest.mark.parametrize("sampled", [100, 1000], ids=["sampled", "all rows"])
@pytest.mark.parametrize("single", [100, 1000], ids=["single", "double"])
@pytest.mark.parametrize("half", [100, 1000], ids=["half", "exact"])
def test_pools_come_back_equal_on_both_sides_of_their_thresholds(
    kind: str,
    sampled: int,
    single: int,
    half: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pools, "HALF_ABOVE", half)
    monkeypatch.setattr("mercer.fewlabels.pools.base.SAMPLED_ABOVE", sampled)
    monkeypatch.setattr(pools, "SINGLE_ABOVE", single)
    rng = np.random.default_rng(0)
    points: Any = rng.standard_normal((300, 5 if kind == "few columns" else 400))
    if kind == "sparse":
        points = csr_array(points * (rng.random(points.shape) < 0.05))
    truth = rng.integers(2, size=300)
    model = UnifiedKernelMachine(random_state=0).fit(points[:250], truth[:250])
    model.add_rows(points[250:])
    pool, again = model.basis_, reloaded(model, tmp_path)
    assert pool.vectors_.dtype == (np.float32 if single < 250 else np.float64)
    assert again.basis_.vectors_.dtype == pool.vectors_.dtype
    assert pool._saved[0][1].dtype == (np.float16 if half < 250 else np.float32)
    assert np.array_equal(again.basis_.vectors_, pool.vectors_)
    new = points[:20] * 1.001
    assert np.array_equal(again.basis_.extend(new), pool.extend(new))
    assert np.array_equal(again.predict_proba(new), model.predict_proba(new))
    for one in (again, model):
        one.tell([260, 270], [0, 1]).add_rows(new)
    assert np.array_equal(again.training_proba(), model.training_proba())
    twice = reloaded(again, tmp_path)
    assert np.array_equal(twice.basis_.vectors_, model.basis_.vectors_)


def test_files_leave_out_what_can_be_computed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((400, 400))
    file = tmp_path / "model.skops"
    y = np.where(np.arange(400) < 9, rng.integers(2, size=400), -1)
    model = UnifiedKernelMachine(random_state=0).fit(points, y)
    persist.save(model, file)
    with zipfile.ZipFile(file) as archive:
        names = [entry for entry in archive.namelist() if entry.endswith(".npy")]
        arrays = [np.load(archive.open(name)) for name in names]
    assert sum(array.shape == points.shape for array in arrays) == 1
    assert not any(array.shape == model.basis_.vectors_.shape for array in arrays)


def test_an_unfitted_pool_and_copies_of_a_fitted_one(tmp_path: Path) -> None:
    assert reloaded(pools.KernelPool(7), tmp_path).n_components == 7
    pool = pools.KernelPool(5, random_state=0).fit(X)
    assert copy.copy(pool).vectors_ is pool.vectors_
    assert np.array_equal(copy.deepcopy(pool).vectors_, pool.vectors_)
    assert len(pool.grown(NEW).vectors_) == len(pool.vectors_) + len(NEW)


def test_cells_are_laid_out_for_the_processor_that_reads_them(tmp_path: Path) -> None:
    """Panels are as wide as the vector registers of a machine."""
    points = np.random.default_rng(0).standard_normal((6000, 3))
    index = NeighborIndex.fit(points, method="cells", rng=np.random.default_rng(0))
    file = tmp_path / "index.skops"
    persist.save(index, file)
    with zipfile.ZipFile(file) as archive:
        arrays = [np.load(archive.open(name)) for name in archive.namelist()[:-1]]
    panels = index.search.cells.grid.panels
    assert not any(array.ndim == panels[0].ndim for array in arrays)
    again = persist.load(file).search.cells
    for one, other in zip(again.grid.panels, panels, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(again.rows, index.search.cells.rows)


def test_sparse_points_are_saved_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    points = csr_array((rng.random((300, 40_000)) < 0.001).astype(float))
    index = NeighborIndex.fit(points, rng=rng)
    again = reloaded(index, tmp_path)
    for one, other in zip(again.query(points, 4), index.query(points, 4), strict=True):
        assert np.array_equal(one, other)
    with zipfile.ZipFile(tmp_path / "object.skops") as archive:
        assert sum(name.endswith(".npz") for name in archive.namelist()) == 1


def test_an_anchor_pool_comes_back_equal(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((600, 4))
    y = np.where(np.arange(600) % 50 == 0, points[:, 0] > 0, -1)
    model = UnifiedKernelMachine(basis=AnchorPool(9, random_state=0)).fit(points, y)
    again = reloaded(model, tmp_path)
    assert np.array_equal(again.basis_.vectors_, model.basis_.vectors_)
    for one in (again, model):
        one.tell([7, 8], [0, 1]).add_rows(points[:30] + 0.01)
    assert np.array_equal(again.training_proba(), model.training_proba())
    with zipfile.ZipFile(tmp_path / "object.skops") as archive:
        # skops compresses sparse arrays once per reference to them.
        assert not any(name.endswith(".npz") for name in archive.namelist())
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = [np.load(archive.open(name)) for name in names]
    assert sum(array.shape == points.shape for array in arrays) == 1
    width = len(model.basis_.vectors_.dense[0])
    assert not any(array.shape == (600, width) for array in arrays)
    slim = reloaded(model.without_rows(), tmp_path)
    assert len(slim.basis_.vectors_) == 0
    assert np.array_equal(slim.predict_proba(points), model.predict_proba(points))


def test_the_trusted_types_are_a_list_for_others(tmp_path) -> None:
    """What skops is told to trust loads a model without `mercer.load`."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.where(np.arange(30) < 8, np.arange(30) % 2, -1)
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    persist.save(model, tmp_path / "model.skops")
    trusted = list(persist.TRUSTED)
    found = skops.io.load(tmp_path / "model.skops", trusted=trusted)
    np.testing.assert_array_equal(found.predict(X), model.predict(X))
    assert "mercer.model.estimator.UnifiedKernelMachine" in trusted
    assert not [name for name in trusted if name.startswith(("mercer.app", "os"))]
    with pytest.raises(AttributeError, match="no attribute 'OTHER'"):
        _ = persist.OTHER
