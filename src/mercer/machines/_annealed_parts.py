"""Pieces of the annealed machines: class shares, kernels in training, prediction.

Kernels come as matrices or as features of the training points. Either view gives the
solver its stack, the machine its function f, and the values of f in training.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.checks import check_number
from mercer._base.html import Shown
from mercer._base.ranges import all_equal
from mercer._base.typing import ArrayLike, BoolArray, FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.exceptions import DisconnectedGraphWarning, NearlyConstantKernelWarning
from mercer.kernels.base import Kernel
from mercer.kernels.composite import Weighted
from mercer.machines._maps import ROUNDING
from mercer.machines._sizes import numbers_of
from mercer.optim.convex_losses import Loss
from mercer.optim.kernel_stack import FactoredStack, KernelStack, dense_stack
from mercer.spectrum.kernel import SpectralKernel

# Less than this share of the largest kernel value is rounding error of eigenvectors.
_REACH = 1e-10


@dataclass(frozen=True, slots=True)
class AnnealedCertificate(Shown):
    """How the machine knows that it is right.

    Parameters
    ----------
    gap : float
        Relative duality gap of the kernel weights at the end; 0 is optimal.
    ratio_residual : float
        Largest error of a class share.
    change : float
        Largest last change of the soft labels at a temperature.
    n_temperatures : int
        Temperatures gone through.
    n_rounds : int
        Rounds over all temperatures.
    """

    gap: float
    ratio_residual: float
    change: float
    n_temperatures: int
    n_rounds: int


def class_shares(class_ratio: float | ArrayLike | None, labels: Labels) -> FloatArray:
    """Return the share of each class among the unlabelled points, (n_classes,)."""
    n_classes = len(labels.classes)
    if class_ratio is None:
        return labels.prior()
    shares = numbers_of(class_ratio)
    if shares.ndim == 0 and n_classes == 2:
        check_number(float(shares), "class_ratio", above=0)
        shares = np.array([1 - float(shares), float(shares)])
    inside = (shares > 0) & (shares < 1)
    if shares.shape != (n_classes,) or not inside.all() or abs(shares.sum() - 1) > 1e-8:
        one = "one share inside (0, 1), or " if n_classes == 2 else ""
        msg = (
            f"class_ratio must be {one}{n_classes} shares inside (0, 1) that sum to 1, "
            f"got {class_ratio!r}."
        )
        raise ValueError(msg)
    return shares


@dataclass(frozen=True, eq=False)
class MatrixFunction:
    """f from kernel values with all training points."""

    kernel: Weighted  # of the kernels in use
    points: Any
    coef: FloatArray  # (n, m)
    labeled: IntArray

    def __call__(self, X: Any) -> tuple[FloatArray, BoolArray]:
        """Return f, (m, q), and whether any labelled point reaches the point."""
        return self.of(self.kernel(X, self.points))

    def of(self, K: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return what a call returns, from kernel values with the training points."""
        return K @ self.coef, _reached(K[:, self.labeled])


@dataclass(frozen=True, eq=False)
class MatrixView:
    """Any kernels, with their matrices over the training points."""

    kernels: list[Kernel]
    points: Any
    K: FloatArray  # (N, n, n)

    def is_constant(self) -> bool:
        """Tell whether no kernel tells two training points apart."""
        return all(all_equal(K, rtol=ROUNDING) for K in self.K)

    def stack(
        self, noise: FloatArray, rows: IntArray | slice, loss: Loss
    ) -> KernelStack:
        """Return the kernels over some training points."""
        return dense_stack(self.K[:, rows][:, :, rows], noise, loss)

    def function(
        self, weights: FloatArray, coef: FloatArray, labeled: IntArray
    ) -> MatrixFunction:
        """Return f = sum_j weights_j K_j coef."""
        used = np.flatnonzero(weights)
        kernel = Weighted([self.kernels[j] for j in used], weights[used])
        return MatrixFunction(kernel, self.points, coef, labeled)

    def in_training(
        self, weights: FloatArray, coef: FloatArray, labeled: IntArray
    ) -> tuple[FloatArray, BoolArray]:
        """Return f and reach of the training points."""
        K = np.tensordot(weights, self.K, axes=1)
        return self.function(weights, coef, labeled).of(K)


@dataclass(frozen=True, eq=False)
class FeatureFunction:
    """f from the features of each kernel in use; no n x n matrix is made."""

    kernels: list[SpectralKernel]
    reads: list[FloatArray]  # (r_j, m) weight_j Φ_jᵀ coef
    seen: list[FloatArray]  # (l, r_j) features of the labelled points

    def __call__(self, X: Any) -> tuple[FloatArray, BoolArray]:
        """Return f, (m, q), and whether any labelled point reaches the point."""
        return self.of([kernel.features(X) for kernel in self.kernels])

    def of(self, features: list[FloatArray]) -> tuple[FloatArray, BoolArray]:
        """Return what a call returns, from the features of the points."""
        f: FloatArray = sum(
            (F @ read for F, read in zip(features, self.reads, strict=True)),
            start=np.zeros((len(features[0]), self.reads[0].shape[1])),
        )
        reached = np.zeros(len(f), dtype=bool)
        for F, labeled in zip(features, self.seen, strict=True):
            reached |= _reached(F @ labeled.T)
        return f, reached


@dataclass(frozen=True, eq=False)
class FeatureView:
    """Kernels fitted on the training points, with their features."""

    kernels: list[SpectralKernel]
    features: list[FloatArray]  # (n, r_j) each

    def is_constant(self) -> bool:
        """Tell whether no kernel tells two training points apart."""
        return all(all_equal(F, rtol=ROUNDING) for F in self.features)

    def stack(
        self, noise: FloatArray, rows: IntArray | slice, loss: Loss
    ) -> KernelStack:
        """Return the kernels over some training points, in the smaller form."""
        features = [F[rows] for F in self.features]
        narrow = sum(F.shape[1] for F in features) < len(features[0])
        if narrow and loss == "squared":
            return FactoredStack(features, noise)
        return dense_stack(np.stack([F @ F.T for F in features]), noise, loss)

    def function(
        self, weights: FloatArray, coef: FloatArray, labeled: IntArray
    ) -> FeatureFunction:
        """Return f = sum_j weights_j K_j coef."""
        used = np.flatnonzero(weights)
        return FeatureFunction(
            [self.kernels[j] for j in used],
            [weights[j] * (self.features[j].T @ coef) for j in used],
            [self.features[j][labeled] for j in used],
        )

    def in_training(
        self, weights: FloatArray, coef: FloatArray, labeled: IntArray
    ) -> tuple[FloatArray, BoolArray]:
        """Return f and reach of the training points."""
        features = [self.features[j] for j in np.flatnonzero(weights)]
        return self.function(weights, coef, labeled).of(features)


def _reached(K: FloatArray) -> BoolArray:
    largest = np.abs(K).max(axis=1, initial=0.0)
    reached: BoolArray = largest > _REACH * largest.max(initial=0.0)
    return reached


def middle_threshold(
    f: FloatArray, positive: BoolArray, otherwise: FloatArray
) -> FloatArray:
    """Return the threshold half-way between two sets of values, if it parts them.

    Once labels have hardened every threshold between the sets gives the same shares.
    """
    if positive.all() or not positive.any() or f[~positive].max() > f[positive].min():
        return otherwise
    return np.array([(f[~positive].max() + f[positive].min()) / 2])


def warn_of_unreached(lost: BoolArray, *, indistinct: bool) -> None:
    """Tell how many points get the class ratio, and why."""
    category: type[UserWarning] = DisconnectedGraphWarning
    why = (
        "are not reached by any labelled point (label one of them, or add a kernel "
        "that is not 0 there)"
    )
    if indistinct:
        category = NearlyConstantKernelWarning
        why = (
            "cannot be told apart (all training points are equal, or every kernel is "
            "constant over them)"
        )
    msg = f"{lost.sum()} of {len(lost)} points {why} and get the class ratio."
    warnings.warn(msg, category, stacklevel=5)
