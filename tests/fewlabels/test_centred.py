"""How labels are weighed when classes have different numbers of them."""

from dataclasses import replace

import numpy as np

from mercer.fewlabels.centred import fit_centred
from mercer.fewlabels.ridge import solve_loo_ridge
from mercer.fewlabels.rule import DEFAULT
from mercer.spectrum.features import DenseFeatures


def test_a_class_counts_as_if_it_had_five_more_labels() -> None:
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((40, 3))
    Phi = (Phi - Phi.mean(axis=0)) / np.sqrt(3)
    rows, codes = np.arange(8), np.array([0, 0, 0, 0, 0, 0, 1, 1])
    got = fit_centred(
        DenseFeatures.plain(Phi), rows, codes, 2, rule=replace(DEFAULT, ridges=(1.0,))
    )
    share = np.array([6 + 5, 2 + 5]) / (8 + 2 * 5)
    weight = (share * 8 / np.array([6, 2]))[codes]
    K = Phi[rows] @ Phi[rows].T
    alpha = solve_loo_ridge(K, np.eye(2)[codes], ridge=1 / weight).alpha
    alpha -= alpha.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(
        got.dual / np.linalg.norm(got.dual), alpha / np.linalg.norm(alpha), atol=1e-10
    )
