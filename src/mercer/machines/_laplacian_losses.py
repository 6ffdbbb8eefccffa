"""The two losses of the Laplacian machines."""

from dataclasses import replace

import numpy as np
from scipy.linalg import solve

from mercer._base.typing import FloatArray
from mercer.evidence.labels import Labels
from mercer.machines._laplacian import LaplacianMachine
from mercer.machines.base import Solution
from mercer.machines.targets import signed_votes, summed, targets_of
from mercer.optim.ridge import RLS, solve_rls
from mercer.optim.svm import SVM, solve_svm


class LeastSquares(LaplacianMachine):
    """The squared loss."""

    certificate_: RLS

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        root = np.sqrt(weights)[:, None]
        C = 1 / (self._ambient * weights.sum())
        fit = solve_rls(root * self._map.labeled, root * targets_of(labels), C=C)
        self.certificate_ = fit
        return Solution(fit.coef, root * fit.dual_coef, np.zeros(fit.coef.shape[1]))

    def _decide(
        self,
        K_held: FloatArray,
        K: FloatArray,
        labels: Labels,
        gamma_A: float,
    ) -> FloatArray:
        weights = labels.weight()
        ridge = np.diag(gamma_A * weights.sum() / weights)
        alpha: FloatArray = solve(K + ridge, targets_of(labels), assume_a="pos")
        return K_held @ alpha


class Hinge(LaplacianMachine):
    """The hinge loss, with an intercept."""

    certificate_: SVM

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        fit = self._machine(self._map.gram, labels, self._ambient)
        self.certificate_ = fit
        coef = self._map.labeled.T @ fit.dual_coef
        return Solution(coef, fit.dual_coef, fit.intercept)

    def _decide(
        self,
        K_held: FloatArray,
        K: FloatArray,
        labels: Labels,
        gamma_A: float,
    ) -> FloatArray:
        fit = self._machine(K, labels, gamma_A)
        return K_held @ fit.dual_coef + fit.intercept

    @staticmethod
    def _machine(K: FloatArray, labels: Labels, gamma_A: float) -> SVM:
        at, signs, weights = signed_votes(labels)
        C = weights / (2 * gamma_A * weights.sum())
        fit = solve_svm(K[at][:, at], signs, C=C)
        return replace(fit, dual_coef=summed(fit.dual_coef, at, len(K)))
