"""A few random inputs per estimator; `make fuzz` tries as many as there is time for."""

import pytest
from hypothesis import HealthCheck, given, settings

from .cases import Case, cases
from .promises import jobs, keeps_promises


@pytest.mark.parametrize("name", jobs())
@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(case=cases)
def test_any_input_is_refused_or_answered(name: str, case: Case) -> None:
    keeps_promises(name, case)


def test_a_broken_promise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Case(0, 8, 2, 0, "float64", "array", "none", 2, 1.0, "int")
    assert keeps_promises("RBF kernel", broken) == "answered"
    monkeypatch.setattr(
        "mercer.kernels.parametric.RBF._gram", lambda self, X, Z: -(X @ X.T)
    )
    with pytest.raises(AssertionError):
        keeps_promises("RBF kernel", broken)


@pytest.mark.parametrize(
    ("name", "case"),
    [
        # What `make fuzz` has found; each is a line, so that it stays fixed.
        (
            "Polynomial kernel",
            Case(0, 6, 1, 51, "float64", "array", "none", 2, 0.3, "int"),
        ),
        ("AverageKernel", Case(0, 6, 1, 77, "float64", "array", "none", 2, 0.0, "int")),
        (
            "UnifiedKernelMachine",
            Case(0, 6, 1, 85, "float64", "array", "none", 2, 0.3, "int"),
        ),
    ],
)
def test_what_was_found_is_refused_now(name: str, case: Case) -> None:
    assert keeps_promises(name, case) == "refused"
