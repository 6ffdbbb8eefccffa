import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import KNeighborsClassifier

from data_folder import needs_data
from mercer_studies.data import Dataset, load, names
from mercer_studies.data.arrays import as_matrix, digest
from mercer_studies.data.loading import cache_folder
from mercer_studies.data.registry import registry

QUICK = [name for name in names() if name not in {"mnist", "covtype", "news20_bydate"}]


@needs_data
@pytest.mark.parametrize("name", QUICK)
def test_every_set_is_well_formed(name: str) -> None:
    data = load(name)
    n = data.X.shape[0]
    assert data.X.dtype == np.float64
    assert isinstance(data.X, np.ndarray | csr_array)
    assert np.isfinite(data.X.data if issparse(data.X) else data.X).all()
    assert np.array_equal(np.unique(data.y), np.arange(len(data.classes)))
    assert data.y.shape == (n,)
    assert registry()[name].page in data.description
    for size, group in data.splits.items():
        for labeled, unlabeled in group:
            assert len(labeled) == size
            rows = np.sort(np.concatenate([labeled, unlabeled]))
            assert np.array_equal(rows, np.arange(n))


@needs_data
@pytest.mark.parametrize(
    ("name", "size", "error"),
    [
        ("g50c", 50, 22.96),
        ("uspst", 50, 27.45),
        ("pcmac", 50, 25.45),
        ("ssl_digit1", 10, 23.47),
        ("ssl_digit1", 100, 6.12),
        ("ssl_usps", 10, 19.82),
        ("ssl_usps", 100, 7.64),
        ("ssl_coil", 10, 65.91),
        ("ssl_coil", 100, 23.27),
        ("ssl_coil2", 10, 43.03),
        ("ssl_coil2", 100, 11.84),
        ("ssl_text", 10, 39.31),
        ("ssl_text", 100, 30.77),
    ],
)
def test_nearest_neighbor_errs_as_known_on_the_published_splits(
    name: str, size: int, error: float
) -> None:
    """The known error lies between those with ties broken for and against it.

    Texts without a common word are all equally far, so ties are common there; the
    others have hardly any, and the bounds meet.
    """
    data = load(name)
    bounds = []
    for labeled, unlabeled in data.splits[size]:
        distances = euclidean_distances(data.X[unlabeled], data.X[labeled])
        nearest = distances <= distances.min(axis=1, keepdims=True) + 1e-9
        wrong = data.y[labeled] != data.y[unlabeled, None]
        bounds.append(
            [
                np.mean(np.all(wrong | ~nearest, axis=1)),
                np.mean(np.any(wrong & nearest, axis=1)),
            ]
        )
    low, high = np.round(100 * np.mean(bounds, axis=0), 2)
    assert low <= error <= high
    if not issparse(data.X):
        assert high - low < 0.02


@needs_data
def test_nearest_neighbor_errs_as_known_from_train_to_test_of_usps() -> None:
    data = load("usps")
    assert data.train is not None
    assert data.test is not None
    model = KNeighborsClassifier(1, algorithm="brute")
    model.fit(data.X[data.train], data.y[data.train])
    wrong = np.mean(model.predict(data.X[data.test]) != data.y[data.test])
    assert round(100 * float(wrong), 2) == 5.63


@needs_data
@pytest.mark.parametrize(
    ("view", "n_words", "n_kept"), [("page", 7947, 3000), ("link", 1848, 1840)]
)
def test_views_of_webkb_have_the_frequent_words(
    view: str, n_words: int, n_kept: int
) -> None:
    X = load("webkb", view=view).X
    with np.load(Path(os.environ["MERCER_DATA"]) / "webkb_course.npz") as stored:
        arrays = dict(stored)
    every = as_matrix(arrays, dtype=np.float64, prefix=f"{view}_")
    assert X.shape == (1051, n_kept)
    assert every.shape == (1051, n_words)
    # No word left out is in more documents than a word kept.
    in_documents = np.sort((every > 0).sum(axis=0))[::-1]
    assert sorted((X > 0).sum(axis=0))[::-1] == in_documents[:n_kept].tolist()
    if view == "page":
        assert (X != load("webkb").X).nnz == 0


@needs_data
def test_reduced_precision_on_request() -> None:
    half = load("coil20", dtype="float32").X
    assert half.dtype == np.float32
    assert np.array_equal(half, load("coil20").X)


def test_reveal_hides_all_other_labels() -> None:
    data = load("iris")
    known = data.reveal(np.array([3, 100]))
    assert np.flatnonzero(known != -1).tolist() == [3, 100]
    assert known[100] == data.y[100]


def test_sets_of_scikit_learn_need_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.setattr("mercer_studies.data.loading.cache_folder", lambda: tmp_path)
    assert load("iris").classes.tolist() == ["setosa", "versicolor", "virginica"]
    assert load("wine").X.shape == (178, 13)
    assert list(tmp_path.iterdir()) == []


def test_a_set_that_cannot_be_converted_says_where_to_put_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    monkeypatch.setattr("mercer_studies.data.loading.cache_folder", lambda: tmp_path)
    with pytest.raises(FileNotFoundError, match=r"Put uspst\.npz into a folder"):
        load("uspst")


def test_a_changed_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    iris = load("iris")
    y = iris.y.copy()
    y[0] = 1
    np.savez(tmp_path / "iris.npz", X=iris.X, y=y, classes=iris.classes)
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"arrays of iris from .* not the registered"):
        load("iris")


def test_a_data_folder_that_is_not_there_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MERCER_DATA", str(tmp_path / "typo"))
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        load("iris")


def test_cache_is_a_folder_of_the_user() -> None:
    assert cache_folder().name == "mercer"
    assert cache_folder().is_absolute()


def test_an_unknown_name_gets_suggestions() -> None:
    with pytest.raises(ValueError, match=r"did you mean .*uspst"):
        load("uspts")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("iris", "iris has one view"),
        ("webkb_course", r"webkb_course has the views \['page', 'link'\]"),
    ],
)
def test_unknown_views_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(name, view="pages")


def test_digest_sees_every_change_of_content_and_none_of_storage() -> None:
    arrays = {"X": np.arange(6.0).reshape(2, 3), "classes": np.array(["a", "b"])}
    same = {
        "classes": np.array([b"a", b"b"]),
        "X": np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3)),
    }
    assert digest(arrays) == digest(same)
    changed = [
        {**arrays, "X": arrays["X"].reshape(3, 2)},
        {**arrays, "X": arrays["X"] + np.eye(2, 3)},
        {**arrays, "classes": np.array(["a", "c"])},
        {"Z": arrays["X"], "classes": arrays["classes"]},
    ]
    assert len({digest(arrays), *map(digest, changed)}) == 5


def test_registry_names_and_aliases_do_not_clash() -> None:
    every = [n for name, e in registry().items() for n in (name, *e.aliases)]
    assert len(every) == len(set(every))
    assert all(len(entry.digest) == 64 for entry in registry().values())


def test_a_dataset_cannot_be_changed_and_prints_briefly() -> None:
    data = load("iris")
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"  # type: ignore[misc]
    assert isinstance(data, Dataset)
    assert repr(data) == "Dataset('iris', 150 x 4 dense, 3 classes, splits={})"
