"""Results show themselves in a notebook, in words and with nothing unescaped."""

from dataclasses import dataclass

import numpy as np
import pytest

from mercer import GraphBasis, Pairs, PairwiseKernel, ParameterFreeKernel
from mercer._html import N_SHOWN, Shown
from mercer.active.loop import History, Round
from mercer.judging.suspicion import SuspiciousLabels

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


@pytest.mark.parametrize(
    "thing",
    [
        GraphBasis(3, n_neighbors=2).fit(X).certificate_,
        ParameterFreeKernel().fit(X, [0, -1, -1, 1, -1, -1]).certificate_,
        PairwiseKernel().fit(X, pairs=PAIRS).certificate_,
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
    n = N_SHOWN + 5
    given, suggested = np.array(["a"] * n), np.array(["b"] * n)
    support = np.linspace(0, 1, n)
    ranking = SuspiciousLabels(np.arange(n), given, suggested, support, 1 - support)
    html = ranking._repr_html_()
    assert html.count("<tr>") == N_SHOWN + 1
    assert "5 more rows" in html


def test_a_history_counts_questions() -> None:
    one = Round(np.array([7, 8]), np.array([1, 0]), n_labeled=5, changed=0.25)
    html = History((one, one))._repr_html_()
    assert "predictions changed" in html
    assert "25.0%" in html
