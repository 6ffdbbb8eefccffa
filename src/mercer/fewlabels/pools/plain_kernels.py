"""Principal directions of points: the linear kernel of a pool."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from sklearn.utils.extmath import randomized_svd

from mercer._base.ranges import all_equal
from mercer._base.tensors import column_signs, in_double, sides
from mercer._base.typing import FloatArray
from mercer.fewlabels.pools import base
from mercer.kernels.parametric import Linear
from mercer.spectrum.base import BasisCertificate
from mercer.spectrum.gram import (
    DEFAULT_LANDMARKS,
    EXACT_UP_TO,
    KernelMap,
    gram_directions,
)
from mercer.spectrum.kernel_pairs import RANK_TOL

# Limit of work: of a sample, directions of less than this share of the largest value
# are left out; the default rule weighs directions by that share.
SMALL = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class LinearMap:
    """Principal directions at any points; unit variance over those they are of."""

    values: FloatArray  # (r,) of the centred Gram matrix, descending
    center: FloatArray  # (d,)
    weights: FloatArray  # (d, r)
    certificate: BasisCertificate

    def at(self, X: Any) -> Any:
        """Return the columns at points, (m, r), an array or a tensor as they are."""
        X = in_double(X)  # weights are large where the variance is small
        put, _ = sides(X)
        return (X - put(self.center)) @ put(self.weights)


def linear_kernel(
    X: Any, r: int, rng: np.random.Generator
) -> tuple[LinearMap | KernelMap, FloatArray, BasisCertificate] | None:
    """Return map, values and certificate of the linear kernel; None of equal points.

    For many points, unless these are sparse, a sample tells the directions.

    Parameters
    ----------
    X : array, tensor or sparse array of shape (n, d)
    r : int
        At most this many directions.
    rng : numpy.random.Generator
        Draws the sample, or landmarks among sparse points.
    """
    n = X.shape[0]
    if not issparse(X):
        found = linear_map(X, r, rng)
        return None if found is None else (found, found.values, found.certificate)
    if all_equal(X):
        return None
    most = None if n <= EXACT_UP_TO else DEFAULT_LANDMARKS
    of_gram = gram_directions(X, Linear(), r, n_landmarks=most, centered=True, rng=rng)
    return of_gram.map, of_gram.values, of_gram.certificate


def linear_map(X: Any, r: int, rng: np.random.Generator) -> LinearMap | None:
    """Return the principal directions of dense points; None if these are equal.

    Parameters
    ----------
    X : array or tensor of shape (n, d)
    r, rng
        As in `linear_kernel`.
    """
    is_sample = X.shape[0] > base.SAMPLED_ABOVE
    if is_sample:
        X = X[np.sort(rng.choice(X.shape[0], base.SAMPLED_ABOVE, replace=False))]
    if all_equal(X):
        return None
    S = in_double(X)
    put, take = sides(S)
    center = take(S.mean(0))
    S = S - put(center)
    n, d = S.shape
    of_columns = d <= min(n, EXACT_UP_TO)
    if of_columns or n <= EXACT_UP_TO:
        gram = take(S.T @ S if of_columns else S @ S.T)
        m = len(gram)
        values, V = eigh(gram, subset_by_index=[max(m - r, 0), m - 1])
        values, V = values[::-1], V[:, ::-1]
    else:
        V, roots, _ = randomized_svd(take(S), min(r, n, d), random_state=0)
        values = roots**2
    least = SMALL if is_sample else RANK_TOL
    kept = int(np.count_nonzero(values >= least * values[0]))
    values, V = values[:kept], V[:, :kept]
    if not of_columns:
        V = take(S.T @ put(V)) / np.sqrt(values)
    V = V * column_signs(V)
    error = take(S.T @ (S @ put(V))) - V * values
    proof = BasisCertificate(
        method="sample" if is_sample else "principal directions",
        reason="directions of variance change slowly",
        residual=float(np.linalg.norm(error, axis=0).max()),
        orthogonality=0.0,
        gap=np.inf,
        cuts_repeated_value=False,
    )
    return LinearMap(values, center, np.sqrt(n / values) * V, proof)
