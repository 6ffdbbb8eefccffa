"""The two losses of the Laplacian machines."""

import numpy as np
from scipy.linalg import solve

from mercer._labels import Labels
from mercer._typing import FloatArray
from mercer.machines._base import Solution, targets_of
from mercer.machines._laplacian import LaplacianMachine
from mercer.optim.ridge import RLS, solve_rls
from mercer.optim.svm import SVM, solve_svm


class LeastSquares(LaplacianMachine):
    """The squared loss."""

    certificate_: RLS

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        Phi = self._map.labeled
        C = 1 / (self._ambient * len(Phi))
        fit = self.certificate_ = solve_rls(Phi, targets_of(labels), C=C)
        return Solution(fit.coef, fit.dual_coef, np.zeros(fit.coef.shape[1]))

    def _decide(
        self, K_held: FloatArray, K: FloatArray, targets: FloatArray, gamma_A: float
    ) -> FloatArray:
        ridge = gamma_A * len(K) * np.eye(len(K))
        alpha: FloatArray = solve(K + ridge, targets, assume_a="pos")
        return K_held @ alpha


class Hinge(LaplacianMachine):
    """The hinge loss, with an intercept."""

    certificate_: SVM

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        fit = self._machine(self._map.gram, targets_of(labels), self._ambient)
        self.certificate_ = fit
        coef = self._map.labeled.T @ fit.dual_coef
        return Solution(coef, fit.dual_coef, fit.intercept)

    def _decide(
        self, K_held: FloatArray, K: FloatArray, targets: FloatArray, gamma_A: float
    ) -> FloatArray:
        fit = self._machine(K, targets, gamma_A)
        return K_held @ fit.dual_coef + fit.intercept

    @staticmethod
    def _machine(K: FloatArray, targets: FloatArray, gamma_A: float) -> SVM:
        signs = np.where(targets > 0, 1.0, -1.0)
        return solve_svm(K, signs, C=1 / (2 * gamma_A * len(K)))
