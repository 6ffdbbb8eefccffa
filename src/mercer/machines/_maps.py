"""From the `kernel=` of a machine to numbers that its solver understands.

A map holds the features of the labelled points, and represents any other point so
that the decision is a product: by features if the kernel has them, else by kernel
values with the labelled points.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, TypeGuard

import numpy as np
from scipy.linalg import eigh, svd
from scipy.sparse import issparse

from mercer._base.checks import check_finite, check_symmetric
from mercer._base.ranges import all_equal
from mercer._base.tensors import on_host
from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.exceptions import NotPSDError
from mercer.graphs.neighbors import Graph
from mercer.kernels.parametric import Linear
from mercer.kernels.spec import Fittable, as_kernel
from mercer.spectrum.features import Features

# Eigenvectors of a basis are good to about this: less overlap with every labelled
# point is not evidence.
_REACH = 1e-8
# Kernel values or features that differ by less differ by rounding.
ROUNDING = 1e-14
_FIRST = 64


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """A kernel of finite rank; points are represented by their features."""

    kernel: Any
    labeled: FloatArray  # (l, r)

    @cached_property
    def span(self) -> FloatArray:
        """Orthonormal basis of the labelled features, (r, rank)."""
        _, s, Vt = svd(self.labeled, full_matrices=False)
        cut = s.max(initial=0.0) * max(self.labeled.shape) * np.finfo(float).eps
        return np.ascontiguousarray(Vt[s > cut].T)

    @cached_property
    def direction(self) -> FloatArray:
        """One direction of the span, at most as long as 1, (r,)."""
        size = len(self.labeled)
        # Mirrored points do not cancel.
        one: FloatArray = np.cos(np.arange(size)) @ self.labeled
        return one / (np.sqrt(size) * np.linalg.norm(self.labeled) or 1.0)

    @property
    def gram(self) -> FloatArray:
        """Inner products of the labelled features, (l, l)."""
        return self.labeled @ self.labeled.T

    def with_kernel(self, kernel: Any) -> "FeatureMap":
        """Return the map with another kernel of the same features."""
        return replace(self, kernel=kernel)

    def represent(self, X: Any) -> FloatArray:
        """Return the features of new points, (n, r)."""
        features: FloatArray = self.kernel.features(X)
        return features

    def represent_own(self, features: Features, rows: IntArray) -> FloatArray:
        """Return the features of training points, (m, r)."""
        return features.rows(rows)

    def products_of(
        self, features: Features, readout: FloatArray, rows: IntArray | None
    ) -> FloatArray:
        """Return the products of training points with the readout, (n, q)."""
        return features.times(readout)

    def readout(self, coef: FloatArray, dual: FloatArray) -> FloatArray:
        """Return the weights of the features."""
        return coef

    def unreached(self, R: FloatArray) -> BoolArray:
        """Tell which features are orthogonal to all labelled ones."""
        least = _REACH * np.sqrt(np.einsum("ij,ij->i", R, R))
        # One direction of the span shows most points to be reached.
        missed: BoolArray = np.abs(R @ self.direction) <= least
        left = np.flatnonzero(missed)
        if len(left):
            missed[left] = np.linalg.norm(R[left] @ self.span, axis=1) <= least[left]
        return missed

    def unreached_of(self, features: Features) -> BoolArray:
        """Tell which of all points have features orthogonal to all labelled ones."""
        n = features.shape[0]
        _, square = features.moments()
        # No row is longer than the root of the sum of all squares.
        longest = np.sqrt(n * square)
        along = features.times(self.direction[:, None])[:, 0]
        near: BoolArray = np.abs(along) <= _REACH * longest
        left = np.flatnonzero(near)
        near[left] = self.unreached(features.rows(left))
        return near

    def similarity(self, R: FloatArray) -> FloatArray:
        """Return the inner products with the labelled features."""
        return R @ self.labeled.T


@dataclass(frozen=True, eq=False)
class LinearMap(FeatureMap):
    """The linear kernel where there are fewer columns than labelled points."""

    axes: FloatArray  # (d, r) orthonormal, the span of the labelled points

    def represent(self, X: Any) -> FloatArray:
        """Return new points in the span of the labelled ones, (n, r)."""
        return np.asarray(on_host(X), dtype=np.float64) @ self.axes


@dataclass(frozen=True, eq=False)
class GramMap:
    """Any other kernel; points are represented by kernel values, (n, l)."""

    kernel: Any  # None: precomputed, points are rows of kernel values
    points: Any  # the labelled points, or their positions if precomputed
    labeled: FloatArray  # (l, rank), features of the labelled points
    gram: FloatArray  # (l, l)

    def represent(self, X: Any) -> FloatArray:
        """Return the kernel values with the labelled points."""
        if self.kernel is None:
            return np.asarray(on_host(X)[:, self.points], dtype=np.float64)
        values: FloatArray = self.kernel(X, self.points)
        return values

    def products_of(
        self, features: Features, readout: FloatArray, rows: IntArray | None
    ) -> FloatArray:
        """Return the products of training points with the readout, (n, q)."""
        return features.times(readout)

    def readout(self, coef: FloatArray, dual: FloatArray) -> FloatArray:
        """Return the coefficients of the labelled points."""
        return dual

    def unreached(self, R: FloatArray) -> BoolArray:
        """Tell which rows are zero."""
        missed: BoolArray = np.abs(R).max(axis=1, initial=0.0) == 0
        return missed

    def unreached_of(self, features: Features) -> BoolArray:
        """Tell which of all points have no kernel value but 0."""
        weights = np.cos(np.arange(features.shape[1]))[:, None]
        missed: BoolArray = features.times(weights)[:, 0] == 0
        left = np.flatnonzero(missed)  # few, but for rows that cancel
        missed[left] = self.unreached(features.rows(left))
        return missed

    def similarity(self, R: FloatArray) -> FloatArray:
        """Return the kernel values, which represent the point already."""
        return R


class KernelMap(Protocol):
    """What a machine asks of its kernel."""

    @property
    def kernel(self) -> Any:
        """The kernel; None if X holds kernel values."""

    @property
    def labeled(self) -> FloatArray:
        """Features of the labelled points, (l, r)."""

    @property
    def gram(self) -> FloatArray:
        """Kernel values of the labelled points, (l, l)."""

    def represent(self, X: Any) -> FloatArray:
        """Return points as numbers that the decision is a product with, (m, k)."""

    def products_of(
        self, features: Features, readout: FloatArray, rows: IntArray | None
    ) -> FloatArray:
        """Return that product for training points, (n, q).

        Parameters
        ----------
        features : Features
            Of these points.
        readout : ndarray of shape (k, q)
        rows : int ndarray of shape (n,) or None
            Which of the points of the kernel they are; None for all.
        """

    def readout(self, coef: FloatArray, dual: FloatArray) -> FloatArray:
        """Return the other factor of that product, (k, q)."""

    def unreached(self, R: FloatArray) -> BoolArray:
        """Tell which points no labelled point reaches, (m,)."""

    def unreached_of(self, features: Features) -> BoolArray:
        """Tell which of all training points no labelled point reaches, (n,)."""

    def similarity(self, R: FloatArray) -> FloatArray:
        """Return the kernel values with the labelled points, (m, l)."""


def is_learner(kernel: object) -> TypeGuard[Fittable]:
    """Tell a learner, which yields a kernel by `fit`, from a kernel."""
    return hasattr(kernel, "fit") and not isinstance(kernel, type)


def is_precomputed(kernel: object) -> bool:
    """Tell whether X holds kernel values."""
    return isinstance(kernel, str) and kernel == "precomputed"


def make_map(
    spec: Any, X: Any, labeled: IntArray
) -> tuple[KernelMap, FloatArray | None]:
    """Resolve a kernel, or what stands for one, on the training points.

    Returns
    -------
    map : KernelMap
    training : ndarray of shape (n, r) or None
        Representation of all training points, where it was computed on the way.
    """
    if isinstance(X, Graph):
        msg = (
            f"X is a Graph, and kernel={spec!r} compares points. Give the points, or "
            "a learner that works on graphs."
        )
        raise TypeError(msg)
    if is_precomputed(spec):
        return gram_map(None, X, labeled), None
    if hasattr(spec, "features"):
        training = spec.features(X)
        return FeatureMap(spec, training[labeled]), training
    kernel = as_kernel(spec).resolve(X)
    if isinstance(kernel, Linear) and not issparse(X) and X.shape[1] < len(labeled):
        return linear_map(kernel, X[labeled]), None
    return gram_map(kernel, X, labeled), None


def is_constant(features: Features) -> bool:
    """Tell whether all points have the same features, or kernel values."""
    n, r = features.shape
    # Mostly the first few points tell.
    return r > 0 and all(
        all_equal(features.rows(np.arange(m)), rtol=ROUNDING)
        for m in dict.fromkeys((min(n, _FIRST), n))
    )


def linear_map(kernel: Linear, points: Any) -> LinearMap:
    """Return the map of the linear kernel, in columns in place of rows."""
    points = np.asarray(on_host(points), dtype=np.float64)
    name = "The kernel matrix of the labelled points"
    check_finite(np.einsum("ij,ij->i", points, points), name)
    U, s, Vt = svd(points, full_matrices=False)
    kept = s**2 > len(points) * np.finfo(float).eps * s.max(initial=0.0) ** 2
    return LinearMap(kernel, U[:, kept] * s[kept], Vt[kept].T)


def gram_map(kernel: Any, X: Any, labeled: IntArray) -> GramMap:
    """Return the map of any kernel, or of a matrix X of kernel values (None)."""
    points = labeled if kernel is None else X[labeled]
    K = X[np.ix_(labeled, labeled)] if kernel is None else kernel(points)
    name = "X" if kernel is None else "The kernel matrix of the labelled points"
    check_finite(K, name)
    check_symmetric(K, name, rtol=1e-8)
    # The default driver fails on matrices as near to diagonal as narrow kernels give.
    values, vectors = eigh(K, driver="evd")
    scale = np.abs(values).max(initial=0.0)
    if values[0] < -1e-8 * scale:
        msg = (
            f"{name} must be positive semi-definite: its smallest eigenvalue is "
            f"{values[0]:.3g} (the largest is {values[-1]:.3g}). Choose a kernel, or "
            "clip the spectrum."
        )
        raise NotPSDError(msg)
    keep = values > len(K) * np.finfo(float).eps * scale
    return GramMap(kernel, points, vectors[:, keep] * np.sqrt(values[keep]), K)
