"""`mercer.learn`: the same result in Python."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris

from mercer import persist
from mercer.cli.main import main
from mercer.spectrum.anchor import AnchorBasis
from mercer.spectrum.basis import AutoBasis
from mercer.tables import fitting
from mercer.tables.fitting import kernel_for_new_rows, learn_kernel
from mercer.tables.learning import learn
from mercer.tables.memory import GIB
from mercer.tables.model import proba_of_features
from mercer.tables.saving import save_result
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
    assert (said["prediction"] == codes).mean() > 0.9


def test_a_table_without_unlabelled_rows(iris: tuple[pd.DataFrame, Any]) -> None:
    frame = iris[0].assign(species=iris[1]).iloc[::5]
    done = learn(frame, target="species")
    assert len(done.next_rows) == 0
    assert done.check.scores[0].accuracy > 0.8


def test_one_label_a_class_is_accepted_when_asked(tmp_path: Path) -> None:
    frame = two_groups(n_labels=2)
    done = learn(frame, allow_single=True)
    assert done.check is None
    assert (done.predictions["prediction"] == ["small", "big"] * 20).all()
    page = save_result(done, tmp_path)[0].read_text()
    assert "nothing could be checked" in page


def test_a_tight_limit_gives_fewer_directions_and_a_note() -> None:
    done = learn(two_groups(), memory=0.4502 * GIB)
    assert done.plan.is_reduced
    assert (done.predictions["prediction"] == ["small", "big"] * 20).all()


def test_large_tables_take_anchors_and_the_model_keeps_none_of_the_rows(
    iris: tuple[pd.DataFrame, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fitting, "_POOL_UP_TO", 10)
    monkeypatch.setattr("mercer.spectrum.basis.GRAPH_UP_TO", 100)
    done = learn(iris[0], target="species")
    basis = done.model.kernel.basis
    assert isinstance(basis, AnchorBasis)
    assert len(basis.vectors_) == 0
    persist.save(done.model, tmp_path / "model.skops")
    loaded = persist.load(tmp_path / "model.skops")
    np.testing.assert_allclose(loaded.predict_proba(iris[0]), done.proba, atol=1e-5)


def test_a_kernel_for_new_rows_leaves_the_basis_as_it_was() -> None:
    X = np.random.default_rng(0).standard_normal((40, 2))
    codes = np.r_[np.arange(10) % 2, np.full(30, -1)]
    basis = AutoBasis(5, random_state=0)
    basis.basis_ = AnchorBasis(5, n_anchors=10, random_state=0).fit(X)
    basis.vectors_, basis.values_ = basis.basis_.vectors_, basis.basis_.values_
    basis.certificate_ = basis.basis_.certificate_
    learner = learn_kernel(basis, codes, None, X)
    slim = kernel_for_new_rows(basis, learner.kernel_)
    assert len(basis.basis_.vectors_) == 40
    np.testing.assert_allclose(slim.features(X), learner.kernel_.features(), atol=1e-10)


def test_points_that_no_label_reaches_keep_the_shares_of_the_classes() -> None:
    class Machine:
        classes_ = np.array(["a", "b"])
        class_prior_ = np.array([0.25, 0.75])

        def predict_proba(self, features: Any) -> Any:
            return np.array([[0.25, 0.75], [0.2, 0.8]])

    proba = proba_of_features(Machine(), np.zeros((2, 1)), temperature=0.5)
    np.testing.assert_allclose(proba[0], [0.25, 0.75])
    np.testing.assert_allclose(proba[1], [0.04 / 0.68, 0.64 / 0.68], rtol=1e-6)
