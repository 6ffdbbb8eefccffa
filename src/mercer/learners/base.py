"""What the spectral learners share: a basis, labels, and a kernel in the end."""

from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import check_same_length
from mercer._base.mixins import NestedParameters
from mercer._base.threads import using_threads
from mercer._base.typing import ArrayLike, FloatArray, RandomState, SparseArray
from mercer.backends.torch.vectors import DeviceVectors
from mercer.evidence.labels import Labels
from mercer.evidence.row_names import warn_if_reordered
from mercer.graphs.neighbors import Graph
from mercer.graphs.points import n_points, shape_of
from mercer.spectrum.base import Basis
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.kernel import SpectralKernel


class KernelFeatures(
    NestedParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Learns a kernel in a basis; `transform` returns its features.

    Subclasses write `fit`, which sets `basis_`, `certificate_` and `kernel_`.
    """

    basis_: Basis
    kernel_: SpectralKernel

    def fit(
        self, X: ArrayLike | SparseArray | Graph, y: ArrayLike | None = None
    ) -> Self:
        """Learn the kernel.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features), or Graph
            All points, labelled or not.
        y : array-like of shape (n,), optional
            Labels; -1, None and NaN mark unlabelled points.
        """
        raise NotImplementedError

    def transform(self, X: ArrayLike | SparseArray) -> FloatArray:
        """Return features whose inner products are the kernel, (m, r).

        Parameters
        ----------
        X : array-like or sparse array of shape (m, n_features)
            Points, new or not.
        """
        check_is_fitted(self, "kernel_")
        return self.kernel_.features(X)

    def fit_transform(
        self,
        X: ArrayLike | SparseArray | Graph,
        y: ArrayLike | None = None,
        **evidence: Any,
    ) -> FloatArray:
        """Fit and return the features of the training rows, with no search.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features), or Graph
            All points, labelled or not.
        y : array-like of shape (n,), optional
            Labels; -1, None and NaN mark unlabelled points.
        **evidence : object
            What else `fit` takes, such as ``pairs``.
        """
        return self.fit(X, y, **evidence).kernel_.features()

    @property
    def _n_features_out(self) -> int:
        return int(self.basis_.vectors_.shape[1])


class SpectralLearner(KernelFeatures):
    """Weighs the directions of a basis.

    Subclasses write `_default_basis`, and `fit`, which also sets `weights_`:
    docs/project/architecture.md has an example.

    See Also
    --------
    FilterKernel : The shortest subclass.
    Basis : What a learner works in.
    """

    basis: Basis | None
    weights_: FloatArray  # (r,)

    def _check_size(self, X: Any) -> int:
        """Return the number of points, at least two."""
        n = n_points(X)
        if not isinstance(X, Graph) and len(shape_of(X)) != 2:
            msg = (
                f"X has the shape {shape_of(X)}; give one row per point and one column "
                "per feature. A single feature: X.reshape(-1, 1)."
            )
            raise ValueError(msg)
        if n < 2:
            found = "one sample" if n == 1 else "no sample"
            msg = f"X has {found}; a kernel is learned from two or more points."
            raise ValueError(msg)
        return n

    def _default_basis(self, n_labeled: int) -> Basis:
        raise NotImplementedError

    def fitted_basis(self, X: Any, labels: Labels | None = None) -> Basis:
        """Return the basis that this learner works in, fitted to X.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features), or Graph
        labels : Labels, optional
            The size of a default basis depends on how many there are.
        """
        self._check_size(X)
        n_labeled = 0 if labels is None else len(labels.labeled)
        basis = self._default_basis(n_labeled) if self.basis is None else self.basis
        if isinstance(basis, FrozenEstimator):
            msg = (
                "basis is frozen, and may know other points than X. Give it unfrozen, "
                "or call `learn(basis, labels)`, which takes a fitted basis."
            )
            raise TypeError(msg)
        if not hasattr(basis, "extend"):
            msg = (
                "basis must be an estimator with `extend`, such as GraphBasis(), or "
                f"None for the default; got {basis!r}."
            )
            raise TypeError(msg)
        with using_threads():
            fitted: Basis = clone(basis).fit(X)
        return fitted

    def _take_basis(self, basis: Basis) -> None:
        """Keep a fitted basis, if this learner can work in it."""
        self._check_basis(basis)
        self.basis_ = basis
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(basis, name):
                setattr(self, name, getattr(basis, name))

    def _check_basis(self, basis: Basis) -> None:
        if not getattr(basis, "is_orthonormal", True):
            msg = (
                f"{type(self).__name__} needs orthonormal directions, which "
                f"{type(basis).__name__} does not have. Use AnchorBasis, GramBasis or "
                "GraphBasis with a normalised or combinatorial Laplacian."
            )
            raise TypeError(msg)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        basis = self._default_basis(1) if self.basis is None else self.basis
        tags.input_tags = get_tags(basis).input_tags
        return tags


class LabelLearner(SpectralLearner):
    """Learns the weights of a basis from partly labelled points.

    Subclasses write `_check_parameters` and `_learn`, which sets `weights_` and
    `certificate_` once `basis_` is known.
    """

    random_state: RandomState

    def fit(
        self, X: ArrayLike | SparseArray | Graph, y: ArrayLike | None = None
    ) -> Self:
        """Learn the kernel.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features), or Graph
            All points, labelled or not.
        y : array-like of shape (n,)
            Labels; -1, None and NaN mark unlabelled points.
        """
        warn_if_reordered(X, y)
        self._check_parameters()
        labels = Labels.read(y, n=self._check_size(X), min_classes=2)
        return self.learn(self.fitted_basis(X, labels), labels)

    def learn(self, basis: Basis, labels: Labels | ArrayLike) -> Self:
        """Learn the kernel in a basis that is fitted already; it is kept, not copied.

        Parameters
        ----------
        basis : fitted basis
        labels : Labels or array-like of shape (n,)
            Labels of the points that the basis was fitted to; -1, None and NaN are
            unlabelled.
        """
        self._check_parameters()
        labels = Labels.read(labels, min_classes=2)
        check_same_length(basis.vectors_, labels.codes, "the basis", "labels")
        self._take_basis(basis)
        with using_threads():
            self._learn(labels)
        self.kernel_ = SpectralKernel(basis, self.weights_)
        return self

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _learn(self, labels: Labels) -> None:
        raise NotImplementedError

    def _default_basis(self, n_labeled: int) -> Basis:
        """Return a graph basis with many more directions than labels, or far fewer.

        With about as many directions as labels a machine that interpolates them is
        unstable: at 50 of each, accuracy on USPST falls from 84 to 21 percent. Up to
        250 labels there are ten directions per label, but at least 100 and at most 500;
        beyond, one for five labels.
        """
        wide = min(max(100, 10 * n_labeled), 500)
        r = wide if n_labeled <= 250 else n_labeled // 5
        return GraphBasis(n_components=r, random_state=self.random_state)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def check_laplacian_values(values: FloatArray, who: str) -> None:
    """Raise unless the values ascend, as those of a Laplacian do."""
    if values[0] > values[-1]:
        msg = (
            f"{who} needs the values of a Laplacian, smallest first; this basis has "
            f"those of a kernel ({values[0]:.3g} down to {values[-1]:.3g}). "
            "Use GraphBasis or AnchorBasis."
        )
        raise ValueError(msg)


def unit_mean_diagonal(weights: FloatArray, vectors: Any) -> FloatArray:
    """Scale weights so that k(x, x) is 1 on average over the training points."""
    if isinstance(vectors, DeviceVectors):
        squares = vectors.column_squares()
    else:
        squares = np.einsum("ij,ij->j", vectors, vectors)
    mean = float(weights @ squares) / len(vectors)
    if not mean > 0:
        msg = (
            "no direction of the basis agrees with the labels, so every weight is "
            "zero; take more directions (n_components) or label other points."
        )
        raise ValueError(msg)
    scaled: FloatArray = weights / mean
    return scaled
