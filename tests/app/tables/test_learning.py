"""`mercer.learn`: the same result in Python."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris

from mercer import persist
from mercer._base.memory import GIB
from mercer.app.cli.main import main
from mercer.app.tables.learning import learn
from mercer.app.tables.saving import save_result
from mercer.app.tables.session import Session
from mercer.app.tables.table import TableError, as_table
from mercer.fewlabels import AnchorPool, KernelPool
from mercer.model.estimator import UnifiedKernelMachine
from tables_at_hand import two_groups


@pytest.fixture(scope="module")
def iris() -> tuple[pd.DataFrame, Any]:
    data = load_iris(as_frame=True)
    truth = np.array(data.target_names)[data.target]
    frame = data.frame.drop(columns="target")
    frame["species"] = [t if k % 10 == 3 else None for k, t in enumerate(truth)]
    return frame, truth


@pytest.fixture(scope="module")
def result(iris: tuple[pd.DataFrame, Any]) -> Any:
    before = iris[0].copy(deep=True)
    done = learn(iris[0], target="species")
    pd.testing.assert_frame_equal(iris[0], before)  # nothing was written to it
    return done


def test_it_learns(result: Any, iris: tuple[pd.DataFrame, Any]) -> None:
    hidden = iris[0]["species"].isna()
    right = result.predictions["prediction"].to_numpy() == iris[1]
    assert right[hidden].mean() > 0.8  # two of the species overlap
    assert result.check.scores[0].low < right[hidden].mean() < 1


def test_possible_classes_hold_the_right_one_for_nine_rows_in_ten(
    result: Any, iris: tuple[pd.DataFrame, Any]
) -> None:
    said = result.predictions["possible at 90%"].str.split(" or ")
    held = np.array([t in some for t, some in zip(iris[1], said, strict=True)])
    assert held[iris[0]["species"].isna()].mean() >= 0.87
    assert (said.str[0] == result.predictions["prediction"]).all()
    sizes = said.str.len()
    assert sizes.tolist() == result.sets.sum(axis=1).tolist()
    assert 1 <= sizes.mean() < 2


def test_the_command_gives_the_same_result(
    result: Any, iris: tuple[pd.DataFrame, Any], tmp_path: Path
) -> None:
    iris[0].to_csv(tmp_path / "iris.csv", index=False)
    words = ["learn", str(tmp_path / "iris.csv"), "--target", "species"]
    done = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "out"), "-q"])
    assert done.exit_code == 0, done.output
    said = pd.read_parquet(tmp_path / "out" / "predictions.parquet")
    pd.testing.assert_frame_equal(said, result.predictions, check_dtype=False)


def test_the_next_rows_are_unlabelled_and_differ(result: Any) -> None:
    assert len(result.next_rows) == len(set(result.next_rows)) == 20
    assert (result.labels.codes[result.next_rows] < 0).all()


def test_labels_may_be_numbers_with_minus_one(iris: tuple[pd.DataFrame, Any]) -> None:
    codes = pd.factorize(iris[1])[0]
    y = np.where(iris[0]["species"].isna(), -1, codes)
    X = iris[0].drop(columns="species").to_numpy()
    said = learn({"X": X, "y": y}, target="y").predictions
    assert said["prediction"].dtype.kind == "i"
    names = np.where(y < 0, None, np.array(["a", "b", "c"], dtype=object)[y])
    named = learn({"X": X, "y": names}, target="y").predictions
    letters = np.array(["a", "b", "c"])[said["prediction"]]
    np.testing.assert_array_equal(letters, named["prediction"])


def test_a_table_without_unlabelled_rows(iris: tuple[pd.DataFrame, Any]) -> None:
    frame = iris[0].assign(species=iris[1]).iloc[::5]
    done = learn(frame, target="species")
    assert len(done.next_rows) == 0
    assert done.check.scores[0].accuracy > 0.8


def test_one_label_per_class_needs_no_flag(tmp_path: Path) -> None:
    frame = two_groups(60, n_labels=2)
    done = learn(frame)
    assert done.check is None
    assert (done.predictions["prediction"] == ["small", "big"] * 30).all()
    page = save_result(done, tmp_path)[0].read_text()
    assert "nothing could be checked" in page


def test_a_tight_limit_gives_fewer_directions_and_a_note() -> None:
    done = learn(two_groups(), memory=0.45003 * GIB)
    assert done.session.plan.is_reduced
    assert (done.predictions["prediction"] == ["small", "big"] * 20).all()


@pytest.mark.parametrize("n_labels", [1, 3])
def test_the_table_and_the_estimator_are_one_model(
    iris: tuple[pd.DataFrame, Any], n_labels: int
) -> None:
    frame, truth = iris[0].copy(), iris[1]
    frame["species"] = None
    for name in np.unique(truth):
        frame.loc[np.flatnonzero(truth == name)[:n_labels], "species"] = name
    done = learn(frame, target="species")
    X = done.session.rows.encoder.transform(done.session.rows.screened.table)
    model = UnifiedKernelMachine(random_state=0).fit(X, frame["species"])
    np.testing.assert_array_equal(done.proba, model.training_proba())
    np.testing.assert_array_equal(done.model.predict(frame), model.predict(X))
    np.testing.assert_array_equal(
        done.model.predict_proba(frame), model.predict_proba(X)
    )
    np.testing.assert_array_equal(done.next_rows, model.ask(20))


def many_rows(n: int, n_labels: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    truth = rng.integers(3, size=n)
    X = 3.0 * rng.normal(size=(3, 6))[truth] + rng.normal(size=(n, 6))
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["kind"] = None
    for c, name in enumerate(["ash", "elm", "oak"]):
        frame.loc[np.flatnonzero(truth == c)[:n_labels], "kind"] = name
    return frame


@pytest.mark.parametrize("n_labels", [1, 4])
@pytest.mark.parametrize(
    ("n", "neighbors_up_to"),
    [
        (200, 100_000),
        (400, 200),
        pytest.param(20_000, 100_000, marks=pytest.mark.slow),
        pytest.param(400_000, 100_000, marks=pytest.mark.slow),
    ],
)
def test_the_table_and_the_estimator_are_one_model_at_any_size(
    monkeypatch: pytest.MonkeyPatch, n: int, neighbors_up_to: int, n_labels: int
) -> None:
    limit = "mercer.fewlabels.pools.choice.NEIGHBORS_UP_TO"
    monkeypatch.setattr(limit, neighbors_up_to)
    frame = many_rows(n, n_labels)
    done = learn(frame, target="kind")
    kind = AnchorPool if n > neighbors_up_to else KernelPool
    assert isinstance(done.session.model.basis_, kind)
    X = done.session.rows.encoder.transform(done.session.rows.screened.table)
    model = UnifiedKernelMachine(random_state=0).fit(X, frame["kind"])
    np.testing.assert_array_equal(done.proba, model.training_proba())
    np.testing.assert_array_equal(
        done.predictions["prediction"], np.asarray(model.transduction_)
    )
    new = many_rows(300, 0).drop(columns="kind")
    np.testing.assert_array_equal(
        done.model.predict_proba(new),
        model.predict_proba(done.session.rows.encoder.transform(as_table(new))),
    )


def test_a_saved_model_predicts_the_same(
    result: Any, iris: tuple[pd.DataFrame, Any], tmp_path: Path
) -> None:
    persist.save(result.model, tmp_path / "model.skops")
    loaded = persist.load(tmp_path / "model.skops")
    np.testing.assert_allclose(
        loaded.predict_proba(iris[0]), result.model.predict_proba(iris[0]), atol=1e-12
    )
    # Row 142 repeats row 101, whose place in the graphs it takes as a new row.
    others = np.arange(150) != 142
    np.testing.assert_allclose(
        loaded.predict_proba(iris[0])[others], result.proba[others], atol=1e-8
    )


def test_answers_are_learned_from_and_kept(iris: tuple[pd.DataFrame, Any]) -> None:
    session = Session.open(iris[0], target="species").fit()
    before = session.labels.labeled
    rows = session.ask(3, exclude=[0])
    session.tell(rows, iris[1][rows])
    assert session.labels.labeled.tolist() == sorted([*before, *rows])
    fresh = UnifiedKernelMachine(random_state=0).fit(session.rows.points, session.y)
    np.testing.assert_allclose(session.proba, fresh.training_proba(), atol=1e-8)


def test_labels_of_a_session_are_coded_once_until_an_answer_comes() -> None:
    session = Session.open(two_groups(), id="code").fit()
    first = session.labels
    assert session.labels is first
    session.tell([30, 31], ["big", "small"])
    assert session.labels.labeled.tolist() == [*first.labeled.tolist(), 30, 31]


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_without_a_package_that_tables_need_the_extra_is_named(package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from mercer import learn"
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f'needs {package}: pip install "mercer[tables]"' in said.stderr


def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = {"a": np.array(["x", "y", "x", "y"]), "label": np.array(["p", "q", "", ""])}
    monkeypatch.setitem(sys.modules, "skrub", None)
    with pytest.raises(ImportError, match=r"needs skrub: .*mercer\[tables\]"):
        learn(table)


def test_the_studio_names_its_extra() -> None:
    code = (
        "import sys; sys.modules['uvicorn'] = None; from mercer import Session;"
        "Session.open({'a': [1.0, 2.0], 'label': ['x', None]}).label()"
    )
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 'The studio needs uvicorn: pip install "mercer[studio]"' in said.stderr


def test_a_session_and_a_saved_model_say_what_they_hold() -> None:
    session = Session.open(two_groups(), id="code")
    said = (
        f"{len(session.table)} rows, {len(session.labels.labeled)} labels of 2 classes"
    )
    assert repr(session) == f"Session: {said}; fit() learns from them"
    assert repr(session.fit()) == f"Session: {said}"
    assert "2: big, small" in session.to_model()._repr_html_()


def test_predictions_have_the_index_of_the_frame(tmp_path: Path) -> None:
    """A column joined to a shuffled frame went to other rows, silently."""
    frame = two_groups().sample(frac=1, random_state=1)
    result = learn(frame, id="code")
    assert result.predictions.index.tolist() == frame.index.tolist()
    joined = frame.assign(found=result.predictions["prediction"])
    assert joined["found"].sort_index().tolist() == ["small", "big"] * 20
    named = two_groups().set_index("code")
    assert learn(named).predictions.index.tolist() == named.index.tolist()
    for _ in range(2):  # the second time it is compared with the first
        result.save(tmp_path / "o")
    saved = pd.read_parquet(tmp_path / "o" / "predictions.parquet")
    assert saved["id"].tolist() == frame["code"].tolist()
    assert saved.index.tolist() == list(range(40))
    page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert "Nothing changed" in page


def test_columns_may_be_named_by_numbers() -> None:
    frame = two_groups().rename(columns={"code": 0, "label": 2})
    result = learn(frame, target=2, id=0)  # type: ignore[arg-type]
    assert result.predictions["prediction"].tolist() == ["small", "big"] * 20
    assert result.predictions["id"].tolist() == frame[0].tolist()


def test_what_a_session_is_told_is_checked() -> None:
    session = Session.open(two_groups(), id="code").fit()
    before = session.y.copy()
    with pytest.raises(ValueError, match="there is no row 999"):
        session.tell([999], ["big"])
    with pytest.raises(ValueError, match="there is no row -1"):
        session.tell([-1], ["big"])
    with pytest.raises(ValueError, match="3 rows named, 2 labels given"):
        session.tell([20, 21, 22], ["big", "small"])
    assert session.y.tolist() == before.tolist()
    assert session.tell(20, "big").y[20] == "big"


def test_true_and_false_are_told_as_the_table_has_them() -> None:
    frame = two_groups()
    frame["label"] = frame["label"].map({"small": True, "big": False})
    session = Session.open(frame, id="code").fit()
    session.tell([20, 21], [True, np.False_])
    assert session.y[20:22].tolist() == ["True", "False"]


def test_a_single_value_is_no_column() -> None:
    model = learn(two_groups(), id="code").model
    row = two_groups().drop(columns=["code", "label"]).iloc[0].to_dict()
    with pytest.raises(TableError, match="'size' must hold one value per row"):
        model.predict(row)
    assert model.predict({name: [cell] for name, cell in row.items()}) == ["small"]


def test_next_rows_of_a_long_table_need_features_of_some_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A million rows would have needed six gigabytes for their features."""
    model = learn(two_groups().drop(columns="code")).model
    transform, seen = model.model.transform, []

    def counted(X: Any) -> Any:
        seen.append(len(X))
        return transform(X)

    monkeypatch.setattr(model.model, "transform", counted)
    rows = model.ask(two_groups(3000, 4).drop(columns="code"), 5)
    assert len(rows) == 5
    assert rows.min() >= 4
    assert seen == [1004]


def test_later_years_are_no_other_unit() -> None:
    frame = two_groups().assign(year=[2020, 2021] * 20)
    model = learn(frame, target="label").model
    model.predict(frame.assign(year=2031))
    with pytest.warns(UserWarning, match="'year'.*same unit") as caught:
        model.predict(frame.assign(year=24240))  # in months
    assert [w.filename for w in caught] == [__file__]
