"""Clusters in a learned kernel."""

import warnings

import numpy as np
from sklearn.cluster import KMeans

from mercer._base.random import as_generator
from mercer._base.ranges import unit_rows
from mercer._base.typing import ArrayLike, FloatArray, IntArray, RandomState
from mercer.evidence.pairs import Pairs
from mercer.exceptions import BrokenLinksWarning
from mercer.kernels.spec import Featured
from mercer.learners._pair_blend import blend
from mercer.learners.pairwise import PairwiseKernel
from mercer.neighbors.exact import DensePoints
from mercer.optim.linked_kmeans import linked_kmeans
from mercer.spectrum.kernel import SpectralKernel

_FOLDS = 5  # of pairs


def cluster(
    kernel: Featured,
    n_clusters: int,
    X: ArrayLike | None = None,
    *,
    pairs: Pairs | None = None,
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
        Number of clusters.
    X : array-like of shape (m, n_features), default=None
        Points to cluster; None is the training points.
    pairs : Pairs, optional
        Links between these points that the clusters must keep. Must-links always are;
        cannot-links that cannot be kept, because points that must be together say
        otherwise or there are too few clusters, are named in a `BrokenLinksWarning`.
        Without it a learned kernel makes links likely and promises nothing. With it
        the kernel is one voice of three, the others being diffusion on the graph of its
        basis and the columns in a linear metric: few pairs make a poor kernel.
        Their shares are those that predict left-out pairs, half of the first two given
        to the columns, in which classes are rounder.
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
    >>> from sklearn.metrics import rand_score
    >>> from mercer.learners.pairwise import PairwiseKernel
    >>> X = np.r_[np.linspace(0, 1, 20), np.linspace(5, 6, 20)][:, None]
    >>> learner = PairwiseKernel().fit(X, pairs=([(0, 5), (25, 39)], [(3, 30)]))
    >>> found = cluster(learner.kernel_, 2, random_state=0)
    >>> rand_score(np.repeat([0, 1], 20), found)
    1.0
    """
    if not hasattr(kernel, "features"):
        msg = (
            "cluster takes a learned kernel, such as FilterKernel().fit(X).kernel_; "
            f"{type(kernel).__name__} has no features."
        )
        raise TypeError(msg)
    if pairs is not None:
        rng = as_generator(random_state)
        rows = _rows_by_pairs(kernel, X, pairs, rng)
        return _keeping(rows, n_clusters, pairs, n_init, rng)
    rows = unit_rows(kernel.features(X))
    seed = int(as_generator(random_state).integers(2**31))
    model = KMeans(n_clusters, n_init=n_init, random_state=seed)
    return np.asarray(model.fit_predict(rows), dtype=np.intp)


def _keeping(
    rows: FloatArray,
    n_clusters: int,
    pairs: Pairs,
    n_init: int,
    rng: np.random.Generator,
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


def _rows_by_pairs(
    kernel: Featured, X: ArrayLike | None, pairs: Pairs, rng: np.random.Generator
) -> FloatArray:
    """Return features of the points: a blend, if the kernel is one learned from pairs.

    How far the learned part can be trusted is measured with pairs left out, by the
    default learner in the same basis.
    """
    if not isinstance(kernel, SpectralKernel) or kernel.core.ndim == 1:
        return np.asarray(unit_rows(kernel.features(X)))
    n = len(kernel.basis.vectors_)
    same = pairs.signs > 0
    fewest = int(min(same.sum(), (~same).sum()))
    if pairs.n_points != n or fewest == 0:
        return np.asarray(unit_rows(kernel.features(X)))

    def learn(some: Pairs) -> Featured:
        return PairwiseKernel().learn(kernel.basis, pairs=some).kernel_

    found = blend(
        kernel,
        learn,
        _columns_of(kernel, X),
        np.column_stack([pairs.first, pairs.second]),
        same,
        n_folds=min(_FOLDS, fewest),
        seed=int(rng.integers(2**31)),
    )
    return found.kernel.for_clusters().features()


def _columns_of(kernel: SpectralKernel, X: ArrayLike | None) -> FloatArray | None:
    """Return the columns of the training points, from X or the basis, if known."""
    if X is None:
        index = getattr(kernel.basis, "index_", None)
        points = getattr(index, "points", None)
        X = points.X if isinstance(points, DensePoints) else None
    return None if X is None else np.asarray(X, dtype=np.float64)
