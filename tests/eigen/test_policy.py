"""What becomes of pairs that are not certain: one policy for every solver."""

import numpy as np
import pytest

from mercer.eigen.policy import exact_enough, first_inexact, settle
from mercer.exceptions import EigenpairError


def test_certain_pairs_are_kept_whatever_is_asked():
    for on_failure in ("raise", "fewer", "rough"):
        found = settle(4, 4, "never said", on_failure)
        assert (found.kept, found.note, found.is_rough) == (4, "", False)


def test_uncertain_pairs_are_refused_left_out_or_kept():
    with pytest.raises(EigenpairError, match="they crowd; ask for at most 3 direct"):
        settle(3, 4, "they crowd", "raise")
    fewer, rough = settle(3, 4, "they crowd", "fewer"), settle(3, 4, "why", "rough")
    assert (fewer.kept, fewer.is_rough) == (3, False)
    assert fewer.note == "3 of 4 directions: they crowd"
    assert (rough.kept, rough.is_rough) == (4, True)
    assert rough.note == "3 of 4 directions are certain: why"


def test_residuals_count_as_shares_of_the_last_value_wanted():
    values = np.array([0.1, 0.2, 0.5, 9.0])
    residuals = np.array([0.0049, 0.0051, 0.0050, 0.0])
    none = np.zeros(4)
    exact = exact_enough(values, residuals, 3, 0.01, none)
    np.testing.assert_array_equal(exact, [True, False, True, True])
    assert first_inexact(exact, residuals, 0.01) == (
        1,
        "pair 2 has the residual 5.1e-03, above 1e-02 of the last value",
    )
    assert exact_enough(values, residuals, 3, 0.01, none + 0.0051).all()
    assert first_inexact(np.ones(4, bool), residuals, 0.01) == (4, "")
