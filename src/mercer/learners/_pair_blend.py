"""What tells pairs of points apart: the learned kernel, the graph and the columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import eigh, svd
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold

from mercer._base.html import Shown
from mercer._base.ranges import unit_rows
from mercer._base.rows import thinned
from mercer._base.typing import ArrayLike, BoolArray, FloatArray, IntArray
from mercer.evidence.pairs import Pairs
from mercer.kernels.base import Kernel
from mercer.kernels.spec import Featured
from mercer.spectrum.filters import diffusion
from mercer.spectrum.kernel import SpectralKernel

# Limit of work: points whose distances tell how far apart points usually are.
_COMPARED = 500
# Plain differences that are added to those of the pairs, so that few change little.
_PLAIN = 3.0
# Steps of diffusion on the graph of all points.
_TIME = 5.0
# Shares are compared in steps of this part.
_STEPS = 4
# How many times the likelihood of left-out pairs counts. Chosen on 14 data sets: with
# one, clusters of 25 links were worse than in the linear metric alone.
_TRUST = 4.0
# Share that the columns get more of, from the other two, where clusters are looked for.
# Chosen on 11 data sets, with 10 to 500 links: the index rose by .01 to .03.
_ROUND = 0.5


@dataclass(frozen=True, eq=False)
class PairMetric:
    r"""Columns in which points of must-links are near, and of cannot-links far.

    :math:`x \mapsto x\, S^{-1/2} Q E^{1/4}` with
    :math:`S^{-1/2} B S^{-1/2} = Q E Q^\top`, for S and B the sums of
    :math:`(x - z)(x - z)^\top / 2` over must-links and over cannot-links, three plain
    differences added to each. S alone is relevant component analysis (Bar-Hillel,
    Hertz, Shental and Weinshall, JMLR 2005).
    """

    directions: FloatArray  # V, (d, r) orthonormal, the span of the differences
    within: FloatArray  # (r, r) the map in this span, the plain one elsewhere
    scale: float

    @classmethod
    def of(cls, points: FloatArray, ends: IntArray, same: BoolArray) -> "PairMetric":
        """Learn the metric from pairs of rows, (m, 2), and which are the same."""
        plain = _PLAIN * (float(np.var(points, axis=0).mean()) or 1.0)
        apart = (points[ends[:, 0]] - points[ends[:, 1]]) / np.sqrt(2 * plain)
        V = svd(apart, full_matrices=False)[2].T
        apart = apart @ V
        S, B = (
            part.T @ part + np.eye(V.shape[1]) for part in (apart[same], apart[~same])
        )
        values, vectors = eigh(S)
        root = (vectors / np.sqrt(values)) @ vectors.T
        ratio, turned = eigh(root @ B @ root)
        within = root @ (turned * np.maximum(ratio, 0) ** 0.25)
        metric = cls(V, within, 1.0)
        return cls(V, within, usual_distance(metric.features(points)))

    def features(self, X: ArrayLike) -> FloatArray:
        """Return the columns of X in this metric."""
        X = np.asarray(X, dtype=np.float64)
        V = self.directions
        inside = X @ V
        scaled: FloatArray = (X + (inside @ self.within - inside) @ V.T) / self.scale
        return scaled


@dataclass(frozen=True, eq=False)
class BlendedKernel(Shown, Kernel):
    r"""Inner products of several features of a point, each with its share.

    .. math:: F(x) = \left(\sqrt{w_1}\, \Phi(x) / \|\Phi(x)\|,\;
        \sqrt{w_2}\, \Psi(x) / \|\Psi(x)\|,\; \sqrt{w_3}\, x W / s\right)

    with the learned features, those of diffusion on the graph of all points, and the
    columns in the metric of the pairs. Squared distances are weighted sums of the
    three.

    Parameters
    ----------
    learned : kernel with features
    free : kernel with features, or None
        Learned from no pair.
    metric : PairMetric or None
    points : ndarray of shape (n, n_features)
        Training points.
    shares : tuple of three floats
        Shares of the three, 0 for those that are not there.
    """

    learned: Featured
    free: Featured | None
    metric: PairMetric | None
    points: FloatArray | None
    shares: tuple[float, float, float]

    def features(self, X: ArrayLike | None = None) -> FloatArray:
        """Return F of new or of the training points."""
        columns = self.points if X is None else X
        parts = [
            np.sqrt(share) * part
            for share, part in zip(
                self.shares,
                (
                    unit_rows(np.asarray(self.learned.features(X))),
                    None if self.free is None else unit_rows(self.free.features(X)),
                    None if self.metric is None else self.metric.features(columns),  # type: ignore[arg-type]
                ),
                strict=True,
            )
            if part is not None
        ]
        return np.hstack(parts)

    def for_clusters(self) -> "BlendedKernel":
        """Return the blend with half of the two other shares given to the columns.

        What tells pairs apart need not be what k-means finds: its clusters are round,
        and classes are rounder in the columns than in features of many directions.
        """
        if self.metric is None:
            return self
        first, second, columns = ((1 - _ROUND) * share for share in self.shares)
        return replace(self, shares=(first, second, columns + _ROUND))

    def __call__(
        self, X: ArrayLike | None = None, Z: ArrayLike | None = None
    ) -> FloatArray:
        """Return the Gram matrix between X and Z (or X); None is the training rows."""
        left = self.features(X)
        right = left if Z is None else self.features(Z)
        return left @ right.T

    def diag(self, X: ArrayLike | None = None) -> FloatArray:
        """Return k(x, x) for each row."""
        features = self.features(X)
        return np.asarray(np.einsum("ij,ij->i", features, features))


@dataclass(frozen=True, eq=False)
class HeldOutBlend:
    """A blend, and the similarities it gave pairs that it had not seen."""

    kernel: BlendedKernel
    scores: FloatArray  # (m,)


def blend(
    learned: Featured,
    learn: Callable[[Pairs], Featured],
    points: FloatArray | None,
    ends: IntArray,
    same: BoolArray,
    *,
    n_folds: int,
    seed: int,
) -> HeldOutBlend:
    """Blend a learned kernel with what is known without pairs, or from few.

    Every division of the whole into quarters is tried on held-out pairs; the shares
    are the mean of all of them, weighed by the fourth power of the likelihood of these
    pairs. Few pairs leave about a third each, many the best division.

    Parameters
    ----------
    learned : kernel
        From all pairs.
    learn : callable
        Returns the kernel from some of them.
    points : ndarray of shape (n, d) or None
        Columns, if there are any.
    ends : ndarray of shape (m, 2)
    same : ndarray of shape (m,)
    n_folds : int
        Less than 2 holds nothing out: equal shares.
    seed : int
        Deals the folds.
    """
    free = _free_of(learned)
    n = _n_points(learned, points)

    def of(
        learned: Featured, ends_seen: IntArray, same_seen: BoolArray, at: IntArray
    ) -> list[FloatArray | None]:
        metric = _metric(points, ends_seen, same_seen)
        return [
            similarity(unit_rows(np.asarray(learned.features())), at),
            None if free is None else similarity(unit_rows(free.features()), at),
            None if metric is None else similarity(metric.features(points), at),  # type: ignore[arg-type]
        ]

    parts = of(learned, ends, same, ends)
    there = [j for j, part in enumerate(parts) if part is not None]
    scores = np.array([parts[j] for j in there])
    if n_folds > 1:
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        for train, test in folds.split(ends, same):
            kernel = learn(links(ends[train], same[train], n))
            held = of(kernel, ends[train], same[train], ends[test])
            scores[:, test] = [held[j] for j in there]
        divisions = _divisions(len(there))
        losses = np.array([calibrate(w @ scores, same)[2] for w in divisions])
        chosen = softmax(-_TRUST * losses) @ divisions
    else:
        chosen = np.full(len(there), 1 / len(there))
    shares = np.zeros(3)
    shares[there] = chosen
    kernel = BlendedKernel(
        learned,
        free,
        _metric(points, ends, same),
        points,
        (float(shares[0]), float(shares[1]), float(shares[2])),
    )
    return HeldOutBlend(kernel, chosen @ scores)


def relearned(learner: Any, points: Any) -> Callable[[Pairs], Any]:
    """Return what learns the kernel again, from other pairs in the same basis."""

    def learn(pairs: Pairs) -> Any:
        again = clone(learner)
        if hasattr(again, "learn") and hasattr(learner, "basis_"):
            return again.learn(learner.basis_, pairs=pairs).kernel_
        return again.fit(points, pairs=pairs).kernel_

    return learn


def links(ends: IntArray, same: BoolArray, n_points: int) -> Pairs:
    """Return the pairs of two points; a point is the same as itself anyway."""
    given = (ends[:, 0] != ends[:, 1]) | ~same
    signs = np.where(same[given], 1.0, -1.0)
    return Pairs(ends[given, 0], ends[given, 1], signs, n_points)


def _free_of(learned: Featured) -> SpectralKernel | None:
    """Return diffusion on the graph of a learned kernel, if it has one."""
    if not isinstance(learned, SpectralKernel):
        return None
    values = learned.basis.values_
    if values[0] > values[-1]:  # of another kernel, whose values fall
        return None
    return SpectralKernel(learned.basis, diffusion(values, t=_TIME))


def _metric(
    points: FloatArray | None, ends: IntArray, same: BoolArray
) -> PairMetric | None:
    return None if points is None else PairMetric.of(points, ends, same)


def _n_points(learned: Featured, points: FloatArray | None) -> int:
    return len(learned.features()) if points is None else len(points)


def _divisions(n_parts: int) -> FloatArray:
    """Return all ways to divide 1 among parts in steps of a quarter."""
    counts = [c for c in product(range(_STEPS + 1), repeat=n_parts) if sum(c) == _STEPS]
    return np.array(counts) / _STEPS


def usual_distance(points: FloatArray) -> float:
    """Return the scale: the root of twice the median squared distance of points."""
    some = np.asarray(thinned(points, _COMPARED), dtype=np.float64)
    squares = euclidean_distances(some, squared=True)
    far = squares[squares > 0]
    return float(np.sqrt(2 * np.median(far))) if len(far) else 1.0


def similarity(F: FloatArray, ends: IntArray) -> FloatArray:
    """Return 1 - half the squared distance of both ends of pairs, (m,).

    Examples
    --------
    >>> similarity(np.eye(3), np.array([[0, 1], [2, 2]]))
    array([0., 1.])
    """
    apart = F[ends[:, 0]] - F[ends[:, 1]]
    near: FloatArray = 1 - np.einsum("ij,ij->i", apart, apart) / 2
    return near


def calibrate(scores: FloatArray, same: BoolArray) -> tuple[float, float, float]:
    """Return slope and offset of the logistic curve through held-out scores, its loss.

    With the targets of Platt (1999), which keep few or separable pairs from certainty.
    """
    n_same, n_other = int(same.sum()), int((~same).sum())
    target = np.where(same, (n_same + 1) / (n_same + 2), 1 / (n_other + 2))
    scale = float(np.std(scores)) or 1.0
    z = scores / scale

    def loss(line: FloatArray) -> tuple[float, FloatArray]:
        f = line[0] * z + line[1]
        rest = expit(f) - target
        value = float((np.logaddexp(0, f) - target * f).sum())
        return value, np.array([rest @ z, rest.sum()])

    start = np.array([0.0, np.log((n_same + 1) / (n_other + 1))])
    best = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None), (None, None)]
    )
    return float(best.x[0] / scale), float(best.x[1]), float(best.fun)
