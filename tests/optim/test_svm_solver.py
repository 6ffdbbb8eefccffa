import numpy as np
import pytest

from mercer.optim.svm import solve_svm


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_gap_of_the_machine_is_its_distance_from_the_optimum(C):
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((20, 30))
    signs = np.sign(rng.standard_normal((20, 2)))
    fine = solve_svm(Phi @ Phi.T, signs, C=C, tol=1e-9)
    rough = solve_svm(Phi @ Phi.T, signs, C=C, tol=0.5)
    # LIBSVM keeps kernel values in single precision.
    assert fine.gap <= 1e-4 * fine.objective
    assert fine.objective <= rough.objective + 1e-9 <= fine.objective + rough.gap + 1e-9
