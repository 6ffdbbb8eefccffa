"""Results show themselves in a notebook, in words and with nothing unescaped."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn import config_context

from mercer import (
    GraphBasis,
    KernelLogisticRegression,
    Pairs,
    PairwiseKernel,
    ParameterFreeKernel,
    UnifiedKernelMachine,
)
from mercer._base.html import Shown, meanings
from mercer.active.loop import History, Round
from mercer.judging.suspicion import SuspiciousLabels
from mercer.machines import LapSVM, RLSClassifier, SimpleMKL
from mercer.model.advice import does_unlabeled_help

PAIRS = Pairs.from_index([(0, 1)], [(0, 3)], n_points=6)
X = np.array([[0.0], [0.1], [0.3], [5.0], [5.2], [5.3]])


@dataclass(frozen=True)
class Record(Shown):
    relative_gap: float
    name: str


def test_fields_are_words_and_text_is_escaped() -> None:
    html = Record(1e-9, "<script>alert(1)</script>")._repr_html_()
    assert "relative gap" in html
    assert "1e-09" in html
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_what_a_field_means_stands_beside_it() -> None:
    html = RLSClassifier().fit(X, [0, -1, -1, 1, -1, -1]).certificate_._repr_html_()
    rank = next(line for line in html.split("<tr>") if ">rank<" in line)
    assert "Numerical rank of the features." in rank
    assert meanings(Record) == {}


@pytest.mark.parametrize(
    "thing",
    [
        GraphBasis(3, n_neighbors=2).fit(X).certificate_,
        ParameterFreeKernel().fit(X, [0, -1, -1, 1, -1, -1]).certificate_,
        PairwiseKernel().fit(X, pairs=PAIRS).certificate_,
        KernelLogisticRegression().fit(X, [0, -1, -1, 1, -1, -1]).certificate_,
        RLSClassifier().fit(X, [0, -1, -1, 1, -1, -1]).certificate_,
        LapSVM().fit(X, [0, -1, -1, 1, -1, -1]).certificate_,
        SimpleMKL().fit(X, [0, -1, 0, 1, 1, -1]).certificate_,
        ParameterFreeKernel().fit(X, [0, -1, -1, 1, -1, -1]).kernel_,
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_certificates_and_kernels_are_tables(thing) -> None:
    bundle = thing._repr_mimebundle_()
    assert type(thing).__name__ in bundle["text/html"]
    assert bundle["text/html"].count("<tr>") >= 4
    assert bundle["text/plain"] == repr(thing)


def test_a_ranking_is_shown_row_by_row_and_cut() -> None:
    n = 25
    given, suggested = np.array(["a"] * n), np.array(["b"] * n)
    support = np.linspace(0, 1, n)
    others = (support, 1 - support, 1 - support, 0.0)
    ranking = SuspiciousLabels(np.arange(n), given, suggested, *others)
    html = ranking._repr_html_()
    assert html.count("<tr>") == 21
    assert "5 more rows" in html
    assert "14 of 25 labels look wrong" in html


def test_a_history_counts_questions() -> None:
    one = Round(np.array([7, 8]), np.array([1, 0]), n_labeled=5, changed=0.25)
    html = History((one, one))._repr_html_()
    assert "predictions changed" in html
    assert "25.0%" in html


@pytest.fixture(scope="module", name="model")
def fitted_model() -> UnifiedKernelMachine:
    y = ["<b>low</b>", "<b>low</b>", None, "high", "high", None]
    return UnifiedKernelMachine(random_state=0).fit(X, y)


def test_a_model_says_what_it_learned_above_the_diagram(model) -> None:
    html = model._repr_mimebundle_()["text/html"]
    assert model._repr_html_().startswith(model._summary())
    summary = html[: html.index("<style")]  # where scikit-learn's diagram starts
    assert summary == model._summary()
    assert "0 of 4 predicted wrong" in summary
    assert "2: &lt;b&gt;low&lt;/b&gt;, high" in summary
    assert "<b>low" not in summary
    assert "neighbour graphs, because 6 points" in summary
    sure = model.training_proba()[[2, 5]].max(axis=1).mean()
    assert f"{sure:.0%}" in summary


def test_a_model_before_fit_and_as_text_is_what_scikit_learn_shows(model) -> None:
    assert UnifiedKernelMachine()._summary() == ""
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


def test_a_model_of_other_parts_and_one_without_rows_are_shown(model) -> None:
    y = [0, 0, -1, 1, 1, -1]
    other = UnifiedKernelMachine(ParameterFreeKernel(random_state=0), "klr").fit(X, y)
    assert "labelled" in other._summary()
    assert "largest weights" not in other._summary()
    assert "rows" not in model.without_rows()._facts()


def test_the_kernels_of_the_pool_are_listed_by_weight(model) -> None:
    evidence = model.learner_.certificate_
    rows = evidence._repr_html_().split("<tr>")[2:]
    assert evidence.names[int(evidence.weights.argmax())] in rows[0]
    assert len(rows) == min(len(evidence.names), 20)
    assert "predicted wrong" in model.machine_.certificate_._repr_html_()


def test_an_explanation_names_the_strongest_row_first(model) -> None:
    explanation = model.explain(X[:1])
    first = explanation._repr_html_().split("<tr>")[2]
    assert f">{explanation.top()[0].id}<" in first
    assert "supports" in explanation._repr_html_()


def test_advice_gives_its_answer() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 2)) + 6 * (np.arange(40) % 2)[:, None]
    y = np.where(np.arange(40) < 20, np.arange(40) % 2, -1)
    advice = does_unlabeled_help(points, y, n_splits=2, n_repeats=1)
    html = advice._repr_html_()
    assert advice.answer in html
    assert "held-out labels" in html
