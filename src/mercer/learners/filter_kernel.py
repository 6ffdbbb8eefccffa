"""Kernels that reshape a spectrum without labels."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from mercer._base.checks import check_same_length
from mercer._base.typing import ArrayLike, FloatArray, RandomState, SparseArray
from mercer.evidence.labels import Labels
from mercer.graphs.neighbors import Graph
from mercer.kernels.parametric import RBF
from mercer.learners.base import SpectralLearner, check_laplacian_values
from mercer.spectrum import filters
from mercer.spectrum.base import Basis
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.kernel import SpectralKernel

_LAPLACIAN: dict[str, Callable[..., FloatArray]] = {
    "diffusion": filters.diffusion,
    "gaussian_field": filters.gaussian_field,
    "polynomial": filters.polynomial,
}
_ANY: dict[str, Callable[..., FloatArray]] = {
    "cluster": filters.cluster,
    "truncated": filters.truncated,
}


class FilterKernel(SpectralLearner):
    r"""The kernel :math:`\sum_i g(\gamma_i) u_i u_i^\top` of a given filter g.

    Parameters
    ----------
    filter : str or callable, default="diffusion"
        A function of `mercer.spectrum.filters` by name ("diffusion",
        "gaussian_field" or "polynomial" of Laplacian values; "cluster" or
        "truncated"), or a function from the values of the basis to weights >= 0.
    filter_params : dict, optional
        Keyword arguments of the filter. "cluster" and "truncated" keep all
        directions of the basis unless ``filter_params={"n_kept": d}`` is given.
    basis : basis or None, default=None
        None is `GraphBasis()`; for "truncated" it is `GramBasis` of a Gaussian kernel
        whose :math:`2\sigma^2` is the mean squared distance.
    random_state : int, Generator, RandomState or None, default=None
        For the default basis.

    Attributes
    ----------
    kernel_ : SpectralKernel
    weights_ : ndarray of shape (r,)
        As the filter gives them, not rescaled.
    basis_ : fitted basis
    certificate_ : BasisCertificate
        Certificate of the basis. (A filter involves no optimisation.)

    See Also
    --------
    mercer.spectrum.diffusion : A filter of the spectrum.
    DecayingKernel : Weights learned from labels.

    Notes
    -----
    Mao and Tsang (2010), section 4.2, for diffusion and Gaussian field; Hoi, Lyu and
    Chang (KDD 2006), eq. (15) and (16), for cluster and truncated. Labels are not
    used.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.3], [5.0], [5.2], [5.3]])
    >>> learner = FilterKernel("diffusion", {"t": 3.0}).fit(X)
    >>> bool(learner.weights_.max() == 1.0)  # of the constant on each component
    True
    """

    def __init__(
        self,
        filter: str | Callable[..., Any] = "diffusion",
        filter_params: dict[str, Any] | None = None,
        *,
        basis: Basis | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.filter = filter
        self.filter_params = filter_params
        self.basis = basis
        self.random_state = random_state

    def fit(
        self, X: ArrayLike | SparseArray | Graph, y: ArrayLike | None = None
    ) -> Self:
        """Compute the basis and filter its values.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features), or Graph
        y : ignored
        """
        self._check_parameters()
        return self.learn(self.fitted_basis(X))

    def learn(self, basis: Basis, labels: Labels | ArrayLike | None = None) -> Self:
        """Filter the values of a basis that is fitted already; labels are ignored.

        Parameters
        ----------
        basis : Basis
            Fitted.
        labels : ignored
        """
        self._check_parameters()
        if labels is not None:
            codes = Labels.read(labels, min_classes=2).codes
            check_same_length(basis.vectors_, codes, "the basis", "labels")
        self._take_basis(basis)
        self.weights_ = self._filtered(basis.values_)
        self.certificate_ = basis.certificate_
        self.kernel_ = SpectralKernel(basis, self.weights_)
        return self

    def _check_basis(self, basis: Basis) -> None:
        if hasattr(basis, "blocks_"):
            super()._check_basis(basis)  # a random walk's directions can be filtered

    def _check_parameters(self) -> None:
        known = sorted(_LAPLACIAN | _ANY)
        if not callable(self.filter) and self.filter not in known:
            msg = f"filter must be one of {known} or a function, got {self.filter!r}."
            raise ValueError(msg)

    def _filtered(self, values: FloatArray) -> FloatArray:
        params = dict(self.filter_params or {})
        if callable(self.filter):
            return np.asarray(self.filter(values, **params), dtype=np.float64)
        name = f"filter={self.filter!r}"
        if self.filter in _LAPLACIAN:
            check_laplacian_values(values, name)
            return _LAPLACIAN[self.filter](values, **params)
        if self.filter == "truncated" and values[0] < values[-1]:
            msg = (
                f"{name} keeps the values of a kernel, largest first; this basis has "
                "those of a Laplacian. Use GramBasis, or filter='cluster'."
            )
            raise ValueError(msg)
        return _ANY[self.filter](values, **{"n_kept": len(values)} | params)

    def _default_basis(self, n_labeled: int) -> Basis:
        if self.filter == "truncated":
            kernel = RBF(gamma="mean_distance")
            return GramBasis(kernel=kernel, random_state=self.random_state)
        return GraphBasis(random_state=self.random_state)
