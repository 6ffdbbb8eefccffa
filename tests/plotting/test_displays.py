"""Displays draw what they hold, and hold what they were given."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

import mercer.plotting as plotting
from mercer import ParameterFreeKernel, UnifiedKernelMachine
from mercer.judging.layout import place_points
from mercer.learners import AverageKernel
from mercer.machines import SimpleMKL

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

X, truth = load_iris(return_X_y=True)
y = np.where(np.arange(150) % 10 == 0, truth, -1)


@pytest.fixture(scope="module")
def model() -> UnifiedKernelMachine:
    return UnifiedKernelMachine(random_state=0).fit(X, y)


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def test_spectrum_holds_values_and_weights() -> None:
    learner = ParameterFreeKernel(random_state=0).fit(X, y)
    display = plotting.SpectrumDisplay.from_estimator(learner)
    drawn = display.ax_.lines[0].get_ydata()
    assert np.array_equal(drawn, learner.weights_)
    assert np.array_equal(display.values, learner.basis_.values_)


def test_matrix_is_ordered_by_class_and_normalised() -> None:
    learner = ParameterFreeKernel(random_state=0).fit(X, y)
    display = plotting.KernelMatrixDisplay.from_estimator(learner, X, truth)
    assert np.allclose(np.diag(display.matrix), 1)
    inside = [
        display.matrix[50 * c : 50 * c + 50, 50 * c : 50 * c + 50] for c in range(3)
    ]
    assert np.mean(inside) > display.matrix.mean() + 0.2
    assert display.names == ["0", "1", "2"]


def test_unlabelled_rows_come_last() -> None:
    display = plotting.KernelMatrixDisplay.from_predictions(np.eye(3), [-1, "b", "a"])
    assert display.names == ["a", "b", "unlabelled"]
    assert list(display.starts) == [0, 1, 2]


def test_map_is_that_of_the_report_and_of_the_studio(
    model: UnifiedKernelMachine,
) -> None:
    features = np.asarray(model.transform(X))
    drawn = plotting.MapDisplay.from_estimator(model, X)
    rng = np.random.default_rng(0)
    places = place_points(features.__getitem__, len(features), rng)
    assert np.array_equal(drawn.position, places)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert np.mean(truth[gaps.argmin(axis=1)] == truth) > 0.9
    assert np.array_equal(drawn.marked, model.labeled_)
    assert not plotting.MapDisplay.from_estimator(model, X[:20]).marked.size


def test_weights_with_and_without_errors() -> None:
    two = y != 2
    mkl = SimpleMKL().fit(X[two], y[two])
    display = plotting.KernelWeightsDisplay.from_estimator(mkl)
    heights = [bar.get_height() for bar in display.ax_.patches]
    assert np.allclose(heights, mkl.weights_)
    average = AverageKernel(["linear", "rbf"]).fit(X)
    both = plotting.KernelWeightsDisplay.from_estimator(
        average, [0.1, 0.2], names=["linear", "rbf"]
    )
    assert both.names == ["linear", "rbf"]
    with pytest.raises(ValueError, match="for each of 2 weights"):
        plotting.KernelWeightsDisplay.from_predictions([0.5, 0.5], [0.1])


def test_label_curve_asks_and_counts() -> None:
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    curve = plotting.LabelCurveDisplay.from_estimator(
        model, truth, n_rounds=2, batch_size=3, name="default"
    )
    assert list(curve.n_labels) == [15, 18, 21]
    hidden = np.setdiff1d(np.arange(150), model.labeled_)
    last = np.mean(model.transduction_[hidden] == truth[hidden])
    assert curve.accuracy[0, -1] == last


def test_reliability_of_calibrated_probabilities_is_the_diagonal() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1, 20_000)
    right = rng.random(20_000) < p
    proba = np.column_stack([p, 1 - p])
    display = plotting.ReliabilityDisplay.from_predictions(
        np.where(right, 0, 1), proba, [0, 1]
    )
    table = display.table
    assert table.counts.tolist() == [2000] * 10
    assert np.abs(table.share - table.confidence).max() < 0.03
    assert (table.low <= table.share).all()
    assert (table.share <= table.high).all()


def test_reliability_of_a_model(model: UnifiedKernelMachine) -> None:
    display = plotting.ReliabilityDisplay.from_estimator(model, X, truth)
    assert display.table.counts.sum() == 150


def test_intervals_are_counted() -> None:
    display = plotting.IntervalDisplay.from_predictions(
        [3.0, 1.0, 2.0], low=[0.0, 0.0, 2.5], high=[4.0, 4.0, 4.0]
    )
    assert display.coverage_ == pytest.approx(2 / 3)
    assert list(display.truth) == [1, 2, 3]
    low, high = display.coverage_interval_
    assert low < 2 / 3 < high


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plotting.SpectrumDisplay.from_predictions([1, 2], [1]),
        lambda: plotting.KernelMatrixDisplay.from_predictions(np.ones((2, 3)), [0, 1]),
        lambda: plotting.MapDisplay.from_predictions(np.ones((3, 2)), [0, 1]),
        lambda: plotting.LabelCurveDisplay.from_predictions([1, 2], [0.5]),
        lambda: plotting.ReliabilityDisplay.from_predictions([0], np.ones((2, 2)), [0]),
        lambda: plotting.IntervalDisplay.from_predictions([1], low=[0, 1], high=[1]),
    ],
)
def test_shapes_that_do_not_fit_are_refused(draw) -> None:
    with pytest.raises(ValueError, match=r"shape|one|each|needs|but"):
        draw()


def test_own_axes_are_used() -> None:
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    display = plotting.LabelCurveDisplay.from_predictions([1, 2], [0.5, 0.6], ax=ax)
    assert display.ax_ is ax


def test_without_matplotlib_the_extra_is_named() -> None:
    code = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError("not installed", name="matplotlib")
sys.meta_path.insert(0, Hide())
from mercer.plotting import LabelCurveDisplay
try:
    LabelCurveDisplay.from_predictions([1], [0.5])
except ImportError as error:
    print(error)
"""
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "mercer[plot]" in said.stdout
