"""Principal directions of plain kernels, known from a sample, at any points."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from sklearn.utils.extmath import randomized_svd

from mercer._base.ranges import all_equal
from mercer._base.tensors import in_double, sides
from mercer._base.typing import FloatArray, IntArray
from mercer.fewlabels.pools import base
from mercer.kernels.parametric import RBF, Linear
from mercer.spectrum.base import BasisCertificate
from mercer.spectrum.gram import (
    DEFAULT_LANDMARKS,
    EXACT_UP_TO,
    KernelMap,
    gram_directions,
)
from mercer.spectrum.kernel_pairs import RANK_TOL, landmark_pairs

# Limits of work. Directions of less than this share of the largest value are left out:
# the default rule weighs directions by that share or its square.
SMALL = 0.01
LANDMARKS = 300  # of the Gaussian kernel; its leading directions need no more
_EXACT_UP_TO = 1000  # columns

# Of centred points: gamma, and what returns columns of their Gram matrix.
Gaussian: TypeAlias = Callable[[Any], tuple[float, Callable[[IntArray], Any]]]


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

    @property
    def certificate(self) -> BasisCertificate:
        """How well the directions are known."""
        return BasisCertificate(
            method="sample",
            reason="plain kernels change slowly",
            residual=self.residual,
            orthogonality=0.0,
            gap=np.inf,
            cuts_repeated_value=False,
        )

    def at(self, X: Any) -> FloatArray:
        """Return the columns at points, (m, r), in single precision.

        The last product is in double precision: its weights are large, and the order
        of the points would change the fifth digit.
        """
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
        found: FloatArray = (K @ self.weights.astype(np.float64)).astype(np.float32)
        return found


def gaussian_of(S: FloatArray) -> tuple[float, Callable[[IntArray], FloatArray]]:
    """Return gamma and the columns of the Gaussian kernel of points."""
    kernel: Any = RBF("mean_distance").resolve(S)
    return float(kernel.gamma), lambda rows: np.asarray(kernel(S, S[rows]))


def plain_kernels(
    sample: Any,
    r: int,
    *,
    n_landmarks: int,
    rng: np.random.Generator,
    gaussian: Gaussian = gaussian_of,
    least: float = SMALL,
) -> list[PlainKernel]:
    """Return the linear and the Gaussian kernel of a sample; none if it is one point.

    Parameters
    ----------
    sample : ndarray or tensor of shape (n, d)
        Points that stand for all, in double precision.
    r : int
        At most this many directions of each.
    n_landmarks : int
        Landmarks of the Gaussian kernel, whose width is the mean distance.
    rng : numpy.random.Generator
        Draws the landmarks.
    gaussian : callable, optional
        The Gaussian kernel of the sample, where it is a tensor.
    least : float, optional
        Directions of less than this share of the largest value are left out.
    """
    if all_equal(sample):
        return []
    center = sample.mean(0)
    S, center = sample - center, sides(sample)[1](center)
    return [
        _linear(S, center, r, least),
        _gaussian(S, center, r, n_landmarks, rng, gaussian(S), least),
    ]


def kernels_of(
    X: Any,
    r: int,
    rng: np.random.Generator,
    to_host: Callable[[Any], Any] | None = None,
    gaussian: Gaussian = gaussian_of,
) -> Iterator[tuple[str, KernelMap | PlainKernel, FloatArray, BasisCertificate]]:
    """Yield name, map, values and certificate of the linear and the Gaussian kernel.

    None if the points are equal. For many points, unless these are sparse, the kernels
    are known from a sample (`plain_kernels`).

    Parameters
    ----------
    X : array, tensor or sparse array of shape (n, d)
    r : int
        At most this many directions of each.
    rng : numpy.random.Generator
    to_host, gaussian : callable, optional
        Of a tensor: what makes an array of it, and its Gaussian kernel.
    """
    n, d = X.shape
    if n > base.SAMPLED_ABOVE and not issparse(X):
        drawn = np.sort(rng.choice(n, base.SAMPLED_ABOVE, replace=False))
        sample = X[drawn] if to_host is None else in_double(X[drawn])
        for plain in plain_kernels(
            sample, r, n_landmarks=LANDMARKS, rng=rng, gaussian=gaussian
        ):
            yield plain.name, plain, plain.values, plain.certificate
        return
    if to_host is not None and n > EXACT_UP_TO:
        for plain in plain_kernels(
            in_double(X), r, n_landmarks=LANDMARKS, rng=rng, gaussian=gaussian,
            least=RANK_TOL,
        ):  # fmt: skip
            proof = replace(plain.certificate, method="principal directions")
            yield plain.name, plain, plain.values, proof
        return
    X = X if to_host is None else to_host(X)
    if all_equal(X):
        return
    most = None if n <= EXACT_UP_TO else DEFAULT_LANDMARKS
    whole: tuple[tuple[str, Any, int | None], ...] = (
        # The columns span a linear kernel: these suffice where they are few.
        ("linear", Linear(), d if d <= min(LANDMARKS, n) else most),
        ("gaussian", RBF("mean_distance"), min(LANDMARKS, n)),
    )
    for name, kernel, count in whole:
        found = gram_directions(
            X, kernel.resolve(X), r, n_landmarks=count, centered=True, rng=rng
        )
        yield name, found.map, found.values, found.certificate


def _linear(S: Any, center: FloatArray, r: int, least: float) -> PlainKernel:
    put, take = sides(S)
    d = S.shape[1]
    if d <= _EXACT_UP_TO:
        values, V = eigh(take(S.T @ S), subset_by_index=[max(d - r, 0), d - 1])
        values, V = values[::-1], V[:, ::-1]
    else:
        _, roots, Vt = randomized_svd(take(S), min(r, *S.shape), random_state=0)
        values, V = roots**2, Vt.T
    kept = _large(values, least)
    values, V = values[:kept], V[:, :kept]
    none = np.empty((0, d))
    E = take(S.T @ (S @ put(V))) - V * values
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
    S: Any,
    center: FloatArray,
    r: int,
    n_landmarks: int,
    rng: np.random.Generator,
    gaussian: tuple[float, Callable[[IntArray], Any]],
    least: float,
) -> PlainKernel:
    put, take = sides(S)
    gamma, columns = gaussian
    count = min(n_landmarks, len(S))
    pairs = landmark_pairs(
        columns, put(np.ones(len(S))), min(r, count), count, centered=True, rng=rng
    )
    kept = _large(pairs.values, least)
    root = float(np.sqrt(gamma))
    return PlainKernel(
        "gaussian",
        pairs.values[:kept],
        center,
        (take(S[put(pairs.landmarks)]) * root).astype(np.float32),
        root,
        pairs.offset.astype(np.float32),
        _unit(pairs.weights[:, :kept], S),
        pairs.residual,
    )


def _unit(weights: FloatArray, S: Any) -> FloatArray:
    """Return weights of columns of unit variance, not of unit norm, over a sample."""
    scaled: FloatArray = (np.sqrt(len(S)) * weights).astype(np.float32)
    return scaled


def _large(values: FloatArray, least: float) -> int:
    return int(np.count_nonzero(values >= least * values[0]))
