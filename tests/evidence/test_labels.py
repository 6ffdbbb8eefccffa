import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from mercer.evidence.labels import Labels
from mercer.evidence.reading import UNLABELED, is_labeled
from mercer.exceptions import UnlabeledClassWarning
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.rls import RLSClassifier
from mercer.model.estimator import UnifiedKernelMachine


@pytest.mark.parametrize(
    ("y", "codes", "classes"),
    [
        ([3, -1, 7, 3], [0, -1, 1, 0], [3, 7]),
        ([0.0, np.nan, 1.0, -1.0], [0, -1, 1, -1], [0.0, 1.0]),
        ([0, None, 1, 0], [0, -1, 1, 0], [0, 1]),
        ([1, 2.0, None], [0, 1, -1], [1.0, 2.0]),
        ([True, None, False], [1, -1, 0], [False, True]),
        (["dog", None, "cat"], [1, -1, 0], ["cat", "dog"]),
        (["a", float("nan"), "b"], [0, -1, 1], ["a", "b"]),
        (["-1", "1"], [0, 1], ["-1", "1"]),
        (["a", -1, "b"], [0, -1, 1], ["a", "b"]),
        (np.array([0, 255], dtype=np.uint8), [0, 1], [0, 255]),
        ([-2, 0, -1], [0, 1, -1], [-2, 0]),
    ],
)
def test_what_counts_as_a_label(y: Any, codes: list[int], classes: list[Any]) -> None:
    labels = Labels.read(y, min_classes=2)
    assert labels.codes.tolist() == codes
    assert labels.classes.tolist() == classes
    assert labels.classes.dtype.kind != "O"


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, None, 2], "Int64"),
        (["a", None, "b"], "str"),
        (["a", None, "b"], "string"),
        (["a", None, "b"], "category"),
        (["a", None, "b"], object),
        ([True, None, False], "boolean"),
    ],
)
def test_columns_of_pandas(values: list[Any], dtype: Any) -> None:
    pandas = pytest.importorskip("pandas")
    labels = Labels.read(pandas.Series(values, dtype=dtype), min_classes=2)
    assert sorted(labels.codes.tolist()) == [-1, 0, 1]
    assert labels.codes[1] == UNLABELED
    assert {type(c) for c in labels.classes.tolist()} == {type(values[0])}


@pytest.mark.parametrize(
    "values", [[1, None, 2], [True, None, False], ["a", None, "b"]]
)
def test_columns_of_polars(values: list[Any]) -> None:
    polars = pytest.importorskip("polars")
    labels = Labels.read(polars.Series(values), min_classes=2)
    assert labels.codes[1] == UNLABELED
    assert {type(c) for c in labels.classes.tolist()} == {type(values[0])}


def test_frames_of_polars() -> None:
    polars = pytest.importorskip("polars")
    with pytest.warns(DataConversionWarning):
        one_column = Labels.read(polars.DataFrame({"y": [5, 3, -1]}), min_classes=2)
    assert one_column.codes.tolist() == [1, 0, -1]
    shares = Labels.read(
        polars.DataFrame({"b": [1.0, 0.25], "a": [0.0, 0.75]}), min_classes=2
    )
    assert shares.classes.tolist() == ["a", "b"]
    assert shares.codes.tolist() == [1, 0]


@pytest.mark.parametrize("values", [[5, None, 3, 5], ["a", None, "b", "a"]])
def test_arrays_of_pyarrow(values: list[Any]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    wanted = Labels.read(values, min_classes=2)
    array = pyarrow.array(values)
    for y in (array, array.dictionary_encode(), pyarrow.chunked_array([array])):
        found = Labels.read(y, min_classes=2)
        assert found.codes.tolist() == wanted.codes.tolist()
        assert found.classes.tolist() == wanted.classes.tolist()
        assert found.classes.dtype == wanted.classes.dtype


@pytest.mark.parametrize("values", [[5, 9, 3], ["b", "z", "a"]])
def test_labels_under_a_mask_are_not_seen(values: list[Any]) -> None:
    found = Labels.read(np.ma.array(values, mask=[False, True, False]), min_classes=2)
    assert found.codes.tolist() == [1, -1, 0]
    assert found.classes.tolist() == [values[2], values[0]]


def test_strings_of_numpy_with_a_missing_one() -> None:
    pytest.importorskip("numpy", "2.0")
    kind = np.dtypes.StringDType(na_object=None)
    assert Labels.read(
        np.array(["b", None, "a"], kind), min_classes=2
    ).codes.tolist() == [1, -1, 0]


@pytest.mark.parametrize("unlabeled", [-1, None, np.nan, ""])
def test_names_that_numpy_gives_to_missing_labels(unlabeled: Any) -> None:
    y = np.array(["setosa", "virginica", "setosa"])
    y[1] = unlabeled
    for form in (y, y.astype(object), y.tolist()):
        with pytest.warns(UnlabeledClassWarning, match="1 label is the string"):
            labels = Labels.read(form, min_classes=2)
        assert len(labels.classes) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_told = y.astype(object)
        as_told[y == y[1]] = None
        assert Labels.read(as_told, min_classes=1).classes.tolist() == ["setosa"]
        Labels.read(np.array(["-1", "1", "0"]), min_classes=2)  # signs are names
        Labels.read(
            ["None", None, "some"], min_classes=2
        )  # a class beside what is missing


def test_labels_that_are_tuples_are_refused() -> None:
    y = np.empty(2, dtype=object)
    y[:] = [(0, 1), (1, 0)]
    with pytest.raises(TypeError, match="y holds tuple labels; use numbers only"):
        Labels.read(y, min_classes=2)


@given(st.lists(st.integers(-1, 4), min_size=1).filter(lambda y: len({*y} - {-1}) > 1))
def test_codes_point_to_the_classes(y: list[int]) -> None:
    labels = Labels.read(y, min_classes=2)
    known = labels.labeled
    assert np.array_equal(labels.classes[labels.codes[known]], np.array(y)[known])
    assert np.array_equal(known, np.flatnonzero(is_labeled(np.array(y))))
    hot = labels.one_hot()
    assert np.array_equal(hot.argmax(axis=1), labels.codes[known])
    assert np.array_equal(hot.sum(axis=1), np.ones(len(known)))
    assert labels.prior().sum() == pytest.approx(1)
    for share, name in zip(labels.prior(), labels.classes, strict=True):
        assert share == pytest.approx(y.count(int(name)) / len(known))


@pytest.mark.parametrize(
    "y", [[-1, 1, 1], [-1.0, 1.0], [1, None, -1], [-1.0, 1.0, np.nan]]
)
def test_signs_for_two_classes_are_explained(y: Any) -> None:
    with pytest.raises(ValueError, match=r"-1 means unlabelled: .*\(y > 0\)"):
        Labels.read(y, min_classes=2)


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        ([None, None], ValueError, "y has no label: all 2 entries"),
        ([-1, -1, -1], ValueError, "y has no label: all 3 entries"),
        ([], ValueError, "y has no label"),
        ([3, -1], ValueError, r"y has 1 class \(3\)"),
        (["a", None], ValueError, r"y has 1 class \('a'\)"),
        ([0.5, 1.25, 2.0], ValueError, "continuous"),
        ([0.0, np.inf, 1.0], ValueError, "infinity"),
        (["a", 1, None], TypeError, "y holds int and str labels"),
        ([{}, None, {}], TypeError, "y holds dict labels"),
        ([[0, 1], [1, 0]], ValueError, "1d array"),
        (3, ValueError, "1d array"),
    ],
)
def test_bad_labels(y: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Labels.read(y, min_classes=2)


@pytest.mark.parametrize(
    ("y", "rows", "answers", "codes", "classes"),
    [
        ([0, 1, -1], [2], [1], [0, 1, 1], [0, 1]),
        ([0, 1, -1], [2], [7], [0, 1, 2], [0, 1, 7]),
        ([0, 1, -1], [0], [-1], [-1, 0, -1], [1]),  # a class without labels goes
        ([0, 1, -1], [0, 2], [np.nan, 7.0], [-1, 0, 1], [1, 7]),  # and stays whole
        ([5, 6, -1], [2], 2.5 * 2, [0, 1, 0], [5, 6]),
        ([-1, -1, -1], [1], [1], [-1, 0, -1], [1]),  # 1 beside -1 is no mistake here
        ([None, None], [0], "b", [0, -1], ["b"]),
        (["b", None], [1], ["a longer word"], [1, 0], ["a longer word", "b"]),
        ([1, 2], [0, 1], ["x", "y"], [0, 1], ["x", "y"]),
        (np.array([0, 255], np.uint8), [0], [300], [1, 0], [255, 300]),
    ],
)
def test_answers_replace_labels(
    y: Any, rows: list[int], answers: Any, codes: list[int], classes: list[Any]
) -> None:
    before = Labels.read(np.array(y, dtype=None))
    kept = before.codes.copy()
    after = before.told(np.array(rows), answers)
    assert after.codes.tolist() == codes
    assert after.classes.tolist() == classes
    assert {type(c) for c in after.classes.tolist()} == {type(c) for c in classes}
    assert np.array_equal(before.codes, kept)


def test_answers_may_be_shares_and_the_other_rows_keep_theirs() -> None:
    labels = Labels.read(np.array([[0.5, 0.5], [1, 0], [0, 0]]), weights=[2, 3, 1])
    after = labels.told(np.array([1, 2]), np.array([[0.0, 0.25, 0.75], [0, 0, 0]]))
    assert after.classes.tolist() == [0, 1, 2]
    assert after.shares is not None
    assert after.shares.tolist() == [[0.5, 0.5, 0], [0, 0.25, 0.75], [0, 0, 0]]
    assert after.weight().tolist() == [2, 1]
    assert after.labeled.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        (["a"], TypeError, "y holds int and str labels"),
        ([0.5], ValueError, "continuous"),
        ([1, 2], ValueError, "1 row named, 2 labels given"),
    ],
)
def test_bad_answers(answers: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Labels.read([0, 1, -1]).told(np.array([2]), answers)


def test_labels_are_read_as_they_are() -> None:
    labels = Labels.read([3, -1, 4])
    assert Labels.read(labels, n=3, min_classes=5) is labels
    with pytest.raises(ValueError, match="X has 4 rows and y has 3"):
        Labels.read(labels, n=4)
    with pytest.raises(ValueError, match="requires y to be passed"):
        Labels.read(None)


def test_a_column_is_taken_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning):
        assert Labels.read([[0], [1]], min_classes=2).codes.tolist() == [0, 1]


def test_one_class_is_enough_where_asked() -> None:
    assert Labels.read([2, -1], min_classes=1).classes.tolist() == [2]


def test_the_argument_is_not_written_to() -> None:
    y = np.array([5, -1, 6])
    Labels.read(y, min_classes=2)
    assert y.tolist() == [5, -1, 6]


@pytest.mark.filterwarnings("error")
def test_few_labels_of_many_classes_are_no_reason_to_warn() -> None:
    assert len(Labels.read([0, 1, 2, 3, -1], min_classes=2).classes) == 4
    assert len(Labels.read(["a", None, "b"], min_classes=2).classes) == 2


@pytest.mark.parametrize(
    "model",
    [UnifiedKernelMachine(), RLSClassifier(), ParameterFreeKernel()],
    ids=str,
)
def test_rows_in_another_order_are_noticed(model: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).standard_normal((20, 2)))
    y = pandas.Series(np.arange(20) % 2)
    with pytest.warns(UserWarning, match=r"in a different order.*y\.loc\[X\.index\]"):
        model.fit(X, y[::-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
        model.fit(X[::-1], y[::-1])
        model.fit(X, y[::-1].to_numpy())
        model.fit(X, y.set_axis([f"r{i}" for i in range(20)]))
        model.fit(X.set_axis([0] * 20), y)
