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


def sound(exponent: int, dtype: str, container: str) -> Case:
    return Case(0, 6, 2, exponent, dtype, container, "none", 2, 0.5, "int")


# What `make fuzz` has found and is answered now.
ANSWERED = [
    ("GraphBasis", sound(-38, "float32", "sparse")),
    ("AutoKernel", sound(0, "float64", "frame")),
    ("AnchorPool", sound(-19, "float64", "array")),
    ("UnifiedKernelMachine", sound(85, "float64", "array")),
    ("UnifiedKernelMachine", sound(154, "float64", "array")),
]


@pytest.mark.parametrize(("name", "case"), ANSWERED)
def test_what_was_found_is_answered_now(name: str, case: Case) -> None:
    assert keeps_promises(name, case) == "answered"


# What it has found and is refused now, with the exponent that shows it.
REFUSED = [
    ("Polynomial kernel", 51),
    ("AverageKernel", 77),
]


@pytest.mark.parametrize(("name", "exponent"), REFUSED)
def test_what_was_found_is_refused_now(name: str, exponent: int) -> None:
    case = Case(0, 6, 1, exponent, "float64", "array", "none", 2, 0.3, "int")
    assert keeps_promises(name, case) == "refused"
