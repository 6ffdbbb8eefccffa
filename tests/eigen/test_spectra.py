"""Graphs with known spectra: a small part of benchmarks/spectra.py."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from mercer.eigen import smallest as eigen
from mercer.spectrum.graph import GraphBasis

FILE = Path(__file__).parents[2] / "benchmarks" / "spectra.py"


@pytest.fixture(scope="module")
def spectra():
    spec = spec_from_file_location("spectra", FILE)
    module = sys.modules["spectra"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["spectra"]


@pytest.fixture(params=["default", "search"])
def thresholds(request, monkeypatch):
    if request.param == "search":
        monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
        monkeypatch.setattr(eigen, "SMALL_COMPONENT", 0)
    return request.param


@pytest.mark.usefixtures("thresholds")
@pytest.mark.parametrize(
    ("name", "m", "r"),
    [("ring 40", 100, 120), ("path 6", 200, 250), ("torus 6", 50, 70)],
)
def test_copies_of_a_graph(spectra, name: str, m: int, r: int) -> None:
    """Values 4 times too large were returned for these, with a clean certificate."""
    parts = {
        "ring 40": lambda: spectra.regular("ring", spectra.ring(40)),
        "path 6": lambda: spectra.normalized_path(6),
        "torus 6": lambda: spectra.regular(
            "torus", spectra.product(spectra.ring(6), spectra.ring(6))
        ),
    }
    assert spectra.judge(spectra.copies(parts[name](), m), r, 0) == "right"


@pytest.mark.parametrize(("d", "r"), [(11, 20), (11, 12), (11, 40)])
def test_gaps_of_hypercubes(spectra, d: int, r: int) -> None:
    known = spectra.regular("cube", spectra.cube(d))
    assert spectra.judge(known, r, 0) == "right"


def test_a_gap_that_ends_above_the_cut_of_the_filter(spectra) -> None:
    """The filter does not order values above its cut: the cut was taken for one."""
    known = spectra.regular("cube", spectra.cube(13))
    assert spectra.judge(known, 14, 14) == "right"
    assert spectra.run(1, 4000, 100_123) == {"right": 1}


def test_many_values_beside_a_heavy_edge(spectra) -> None:
    """Rounding of the heavy edge was taken for a failure, and LAPACK is less exact."""
    assert spectra.judge(spectra.heavy_edge(1400, 5e8, 90), 150, 0) == "right"


@pytest.mark.parametrize(
    ("n", "weight"), [(300, 1e6), (300, 1e9), (2000, 1e6), (2000, 1e9), (6000, 1e6)]
)
def test_a_heavy_edge(spectra, n: int, weight: float) -> None:
    known = spectra.heavy_edge(n, weight, n // 3)
    W = known.W
    basis = GraphBasis(6, affinity="precomputed", laplacian="combinatorial")
    values = basis.set_params(random_state=0).fit(W).values_
    np.testing.assert_allclose(values, known.values[:6], rtol=1e-5, atol=1e-10)


@pytest.mark.parametrize("first", [0, 100])
def test_random_graphs(spectra, first: int) -> None:
    """Every decision of the solver meets some of these; none may be wrong."""
    verdicts = spectra.run(40, 1000, first)
    wrong = {name: m for name, m in verdicts.items() if name != "right"}
    assert wrong == {}


def test_the_judge_notices_a_wrong_spectrum(spectra) -> None:
    known = spectra.regular("ring", spectra.ring(50))
    values = known.values.copy()
    values[4] *= 1.001
    other = spectra.Known(known.name, known.W, known.kind, values)
    assert spectra.judge(other, 7, 0) == "a value"
    swollen = np.r_[known.values[:7], 1.1 * known.values[7:]]
    other = spectra.Known(known.name, known.W, known.kind, swollen)
    assert spectra.judge(other, 7, 0) == "the gap"
