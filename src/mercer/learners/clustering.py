"""Clusters in a learned kernel, and scores that show what a cluster is worth."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import (
    adjusted_rand_score,
    normalized_mutual_info_score,
    rand_score,
)

from mercer._base.random import as_generator
from mercer._base.typing import ArrayLike, FloatArray, IntArray, RandomState
from mercer.exceptions import BrokenLinksWarning
from mercer.optim.linked_kmeans import linked_kmeans

__all__ = [
    "ClusterScores",
    "cluster",
    "cluster_scores",
    "one_cluster_rand_index",
    "rand_index",
    "unit_rows",
]


def cluster(
    kernel: Any,
    n_clusters: int,
    X: ArrayLike | None = None,
    *,
    pairs: Any = None,
    n_init: int = 10,
    random_state: RandomState = None,
) -> IntArray:
    r"""Cluster points by k-means on the unit sphere of a learned kernel.

    Rows of the feature map :math:`\Phi`, :math:`K = \Phi\Phi^\top`, are scaled to
    length 1, which is k-means with the cosine kernel
    :math:`K_{ij} / \sqrt{K_{ii} K_{jj}}`. Without the scaling points with a large
    :math:`K_{ii}`, which are mostly points in many pairs, become clusters of their own.

    Parameters
    ----------
    kernel : SpectralKernel
        Anything with `features(X)`, where X = None means the training points.
    n_clusters : int
    X : array-like of shape (m, n_features), default=None
        Points to cluster; None is the training points.
    pairs : Pairs, default=None
        Links between these points that the clusters must keep. Must-links always are;
        cannot-links that cannot be kept, because points that must be together say
        otherwise or there are too few clusters, are named in a `BrokenLinksWarning`.
        Without it a learned kernel makes links likely and promises nothing.
    n_init : int, default=10
        Starts of k-means; the best counts.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    ndarray of shape (m,)
        Cluster of each point, 0 to n_clusters - 1.

    See Also
    --------
    PairwiseKernel : Learns a kernel from pairs.
    Pairs : Points that belong together or apart.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learners.pairwise import PairwiseKernel
    >>> X = np.r_[np.linspace(0, 1, 20), np.linspace(5, 6, 20)][:, None]
    >>> learner = PairwiseKernel().fit(X, pairs=([(0, 5), (25, 39)], [(3, 30)]))
    >>> found = cluster(learner.kernel_, 2, random_state=0)
    >>> rand_index(np.repeat([0, 1], 20), found)
    1.0
    """
    if not hasattr(kernel, "features"):
        msg = (
            "cluster takes a learned kernel, such as FilterKernel().fit(X).kernel_; "
            f"{type(kernel).__name__} has no features."
        )
        raise TypeError(msg)
    rows = unit_rows(kernel.features(X))
    if pairs is not None:
        return _keeping(rows, n_clusters, pairs, n_init, as_generator(random_state))
    seed = int(as_generator(random_state).integers(2**31))
    model = KMeans(n_clusters, n_init=n_init, random_state=seed)
    return np.asarray(model.fit_predict(rows), dtype=np.intp)


def _keeping(
    rows: FloatArray, n_clusters: int, pairs: Any, n_init: int, rng: np.random.Generator
) -> IntArray:
    if pairs.n_points != len(rows):
        msg = f"pairs are over {pairs.n_points} points, and {len(rows)} are clustered."
        raise ValueError(msg)
    apart = pairs.cannot_link
    found = linked_kmeans(
        rows, n_clusters, pairs.component_labels, apart, n_init=n_init, rng=rng
    )
    if found.broken.any():
        links = [tuple(link) for link in apart[found.broken].tolist()]
        msg = (
            f"{len(links)} of {len(apart)} cannot-links are broken by {n_clusters} "
            f"clusters: {links[:10]}{' ...' if len(links) > 10 else ''}."
        )
        warnings.warn(msg, BrokenLinksWarning, stacklevel=3)
    return found.labels


def unit_rows(features: FloatArray) -> FloatArray:
    """Scale rows to length 1; a row of zeros stays."""
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    scaled: FloatArray = features / np.where(norms > 0, norms, 1.0)
    return scaled


def rand_index(y: ArrayLike, clusters: ArrayLike) -> float:
    r"""Share of pairs of points on which two partitions agree.

    The "clustering accuracy" of Zhuang, Tsang and Hoi (ICML 2009), section 6.2:
    :math:`\sum_{i>j} 1\{1\{c_i=c_j\} = 1\{\hat c_i=\hat c_j\}\} / (0.5 n(n-1))`. It is
    high for no reason where classes are unequal (see `one_cluster_rand_index`).

    Examples
    --------
    >>> rand_index([0, 0, 1, 1], [0, 0, 1, 2])
    0.8333333333333334
    """
    return float(rand_score(y, clusters))


def one_cluster_rand_index(y: ArrayLike) -> float:
    """Rand index of putting all points into one cluster: the bar to clear.

    Examples
    --------
    >>> one_cluster_rand_index([0, 0, 0, 1])
    0.5
    """
    return rand_index(y, np.zeros(len(np.asarray(y)), dtype=int))


@dataclass(frozen=True, slots=True)
class ClusterScores:
    """Agreement of clusters with known classes."""

    rand: float
    one_cluster: float  # Rand index of one cluster for all points
    adjusted_rand: float  # 0 by chance, 1 at best
    mutual_information: float  # normalised by the arithmetic mean of the entropies


def cluster_scores(y: ArrayLike, clusters: ArrayLike) -> ClusterScores:
    """Return the Rand index, its adjusted form, NMI and the one-cluster score.

    Examples
    --------
    >>> cluster_scores([0, 0, 0, 1], [0, 0, 0, 0])
    ClusterScores(rand=0.5, one_cluster=0.5, adjusted_rand=0.0, mutual_information=0.0)
    """
    return ClusterScores(
        rand=rand_index(y, clusters),
        one_cluster=one_cluster_rand_index(y),
        adjusted_rand=float(adjusted_rand_score(y, clusters)),
        mutual_information=float(normalized_mutual_info_score(y, clusters)),
    )
