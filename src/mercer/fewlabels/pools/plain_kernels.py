"""Principal directions of plain kernels, known from a sample, at any points."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import gen_batches
from sklearn.utils.extmath import randomized_svd

from mercer._base.ranges import all_equal
from mercer._base.typing import FloatArray, IntArray
from mercer.kernels.parametric import RBF
from mercer.spectrum.base import BasisCertificate, BasisMixin
from mercer.spectrum.kernel_pairs import landmark_pairs

# Limits of work. Directions of less than this share of the largest value are left out:
# the default rule weighs directions by that share or its square.
SMALL = 0.01
LANDMARKS = 300  # of the Gaussian kernel; its leading directions need no more
_EXACT_UP_TO = 1000  # columns
_BATCH = 65_536  # rows evaluated at a time


@dataclass(frozen=True, slots=True, eq=False)
class PlainKernel:
    """Directions of a centred kernel; columns have unit variance over the sample."""

    name: str  # "linear" or "gaussian"
    values: FloatArray  # (r,) descending
    center: FloatArray  # (d,)
    landmarks: FloatArray  # (L, d) times `root`, around the centre; linear: none
    root: float  # square root of gamma; 1 for the linear kernel
    offset: FloatArray  # (L,)
    weights: FloatArray  # (L, r), or (d, r)
    residual: float  # of the eigenproblem of the sample

    def at(self, X: Any) -> FloatArray:
        """Return the columns at points, (m, r), in single precision."""
        # Times the root before single precision: gamma itself may overflow there.
        Q = np.asarray((X - self.center) * self.root, dtype=np.float32)
        if self.name == "linear":
            product: FloatArray = Q @ self.weights
            return product
        K = Q @ (2 * self.landmarks.T)
        K -= np.einsum("ij,ij->i", Q, Q)[:, None]
        K -= np.einsum("ij,ij->i", self.landmarks, self.landmarks)
        np.exp(np.minimum(K, 0.0, out=K), out=K)
        K -= self.offset
        return K @ self.weights


class SampledBasis(BasisMixin):
    """The directions of a plain kernel as a basis of points that may be many."""

    def __init__(self, kernel: PlainKernel) -> None:
        self.kernel = kernel

    def fit(self, X: Any, y: object = None) -> Self:
        """Evaluate the directions at the rows of X; y is ignored."""
        self.vectors_ = self.extend(X)
        self.values_ = self.kernel.values
        self.certificate_ = BasisCertificate(
            method="sample",
            reason="plain kernels change slowly",
            residual=self.kernel.residual,
            orthogonality=0.0,
            gap=np.inf,
            cuts_repeated_value=False,
        )
        return self

    def extend(self, X: Any) -> FloatArray:
        """Return the directions at points, (m, r)."""
        blocks = [self.kernel.at(X[rows]) for rows in gen_batches(len(X), _BATCH)]
        return np.concatenate(blocks)


def plain_kernels(
    sample: FloatArray, r: int, *, n_landmarks: int, rng: np.random.Generator
) -> list[PlainKernel]:
    """Return the linear and the Gaussian kernel of a sample; none if it is one point.

    Parameters
    ----------
    sample : ndarray of shape (n, d)
        Points that stand for all.
    r : int
        At most this many directions of each.
    n_landmarks : int
        Landmarks of the Gaussian kernel, whose width is the mean distance.
    rng : numpy.random.Generator
        Draws the landmarks.
    """
    if all_equal(sample):
        return []
    center = sample.mean(axis=0)
    S = sample - center
    return [_linear(S, center, r), _gaussian(S, center, r, n_landmarks, rng)]


def linear_landmarks(n: int, d: int) -> int | None:
    """Return how many landmarks span a linear kernel; None: as `GramBasis` decides.

    Examples
    --------
    >>> linear_landmarks(1000, 20), linear_landmarks(1000, 5000)
    (20, None)
    """
    return d if d <= min(LANDMARKS, n) else None


def _linear(S: FloatArray, center: FloatArray, r: int) -> PlainKernel:
    d = S.shape[1]
    if d <= _EXACT_UP_TO:
        values, V = eigh(S.T @ S, subset_by_index=[max(d - r, 0), d - 1])
        values, V = values[::-1], V[:, ::-1]
    else:
        _, roots, Vt = randomized_svd(S, min(r, *S.shape), random_state=0)
        values, V = roots**2, Vt.T
    kept = _large(values)
    values, V = values[:kept], V[:, :kept]
    none = np.empty((0, d))
    E = S.T @ (S @ V) - V * values
    return PlainKernel(
        "linear",
        values,
        center,
        none,
        1.0,
        none[:, 0],
        _unit(V / np.sqrt(values), S),
        float(np.linalg.norm(E, axis=0).max()),
    )


def _gaussian(
    S: FloatArray,
    center: FloatArray,
    r: int,
    n_landmarks: int,
    rng: np.random.Generator,
) -> PlainKernel:
    kernel: Any = RBF("mean_distance").resolve(S)

    def columns(rows: IntArray) -> FloatArray:
        return np.asarray(kernel(S, S[rows]))

    count = min(n_landmarks, len(S))
    pairs = landmark_pairs(
        columns, np.ones(len(S)), min(r, count), count, centered=True, rng=rng
    )
    kept = _large(pairs.values)
    root = float(np.sqrt(kernel.gamma))
    return PlainKernel(
        "gaussian",
        pairs.values[:kept],
        center,
        (S[pairs.landmarks] * root).astype(np.float32),
        root,
        pairs.offset.astype(np.float32),
        _unit(pairs.weights[:, :kept], S),
        pairs.residual,
    )


def _unit(weights: FloatArray, S: FloatArray) -> FloatArray:
    """Return weights of columns of unit variance, not of unit norm, over a sample."""
    scaled: FloatArray = (np.sqrt(len(S)) * weights).astype(np.float32)
    return scaled


def _large(values: FloatArray) -> int:
    return int(np.count_nonzero(values >= SMALL * values[0]))
