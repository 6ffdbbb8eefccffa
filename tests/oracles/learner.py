"""A learner that is nothing but the interface machines rely on."""

from sklearn.base import BaseEstimator

from mercer.spectrum.filters import diffusion
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.kernel import SpectralKernel


class DiffusionLearner(BaseEstimator):
    def __init__(self, n_neighbors=3, n_components=None):
        self.n_neighbors = n_neighbors
        self.n_components = n_components

    def fit(self, X, y=None):
        self.basis_ = GraphBasis(self.n_components, n_neighbors=self.n_neighbors).fit(X)
        self.kernel_ = SpectralKernel(self.basis_, diffusion(self.basis_.values_))
        return self
