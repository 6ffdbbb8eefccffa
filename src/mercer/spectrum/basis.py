"""What a basis is, and the choice of one by the size and kind of the data."""

from dataclasses import replace
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer._base.typing import ArrayLike, FloatArray, RandomState, SparseArray
from mercer.graphs.neighbors import Graph
from mercer.spectrum.anchor import AnchorBasis
from mercer.spectrum.base import BasisCertificate, BasisMixin
from mercer.spectrum.features import Features
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis

# Above this many points the anchor graph's linear time pays.
GRAPH_UP_TO = 300_000


@runtime_checkable
class Basis(Protocol):
    """Directions over the data, most important first, and their values elsewhere.

    An estimator: after `fit(X)` it has the attributes below. `fit_transform` returns
    `vectors_`, and `extend` at a training point returns that point's row of them.
    """

    vectors_: FloatArray  # (n, r) columns, orthonormal where `is_orthonormal`
    values_: FloatArray  # (r,) Laplacian values ascending, or kernel ones descending
    certificate_: BasisCertificate

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Compute the directions over the rows of X."""

    def extend(self, X: ArrayLike) -> FloatArray:
        """Return the values of the directions at new points, (m, r)."""

    @property
    def is_orthonormal(self) -> bool:
        """Whether the columns of `vectors_` are orthonormal."""

    def weighted(self, root: FloatArray) -> Features:
        """Return the features U R of the training points."""


def make_basis(basis: Any = "auto", **params: Any) -> Any:
    """Return a basis to be fitted.

    Parameters
    ----------
    basis : {"auto", "graph", "anchor", "gram"}, estimator or None, default="auto"
        An estimator is returned as it is, None means "auto".
    **params
        Parameters of the basis that is made, e.g. `n_components`; none beside an
        estimator.

    Returns
    -------
    estimator

    Examples
    --------
    >>> make_basis("graph", n_components=20)
    GraphBasis(n_components=20)
    """
    makers = {
        "auto": AutoBasis,
        "graph": GraphBasis,
        "anchor": AnchorBasis,
        "gram": GramBasis,
    }
    if basis is None:
        basis = "auto"
    if not isinstance(basis, str):
        if not hasattr(basis, "extend"):
            msg = (
                f"basis must be one of {sorted(makers)} or an estimator with `extend`, "
                f"got {basis!r}."
            )
            raise TypeError(msg)
        if params:
            msg = (
                f"an estimator is used as it is: set them on the estimator in place of "
                f"passing {sorted(params)}."
            )
            raise TypeError(msg)
        return basis
    if basis not in makers:
        msg = f"basis must be one of {sorted(makers)} or an estimator, got {basis!r}."
        raise ValueError(msg)
    return makers[basis](**params)


class AutoBasis(BasisMixin):
    """A basis chosen by the number of points and by sparsity.

    Parameters
    ----------
    n_components : int or None, default=50
        Directions at most.
    random_state : int, Generator, RandomState or None, default=None
        Handed on to the basis that is chosen.

    Attributes
    ----------
    basis_ : GraphBasis or AnchorBasis
        What was chosen; `vectors_`, `values_` and `certificate_` are its own, with
        the reason for the choice in `certificate_.reason`.

    Notes
    -----
    A ready-made graph, sparse rows (with the cosine distance, which suits counts of
    words) and up to 300,000 dense rows: `GraphBasis`. More dense rows: `AnchorBasis`.
    The number of features does not decide: both costs are proportional to it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> AutoBasis(n_components=3, random_state=0).fit(X).certificate_.reason
    'GraphBasis: 30 points are few enough for a neighbour graph'
    """

    def __init__(
        self, n_components: int | None = 50, *, random_state: RandomState = None
    ) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: ArrayLike | SparseArray | Graph, y: object = None) -> Self:
        """Choose a basis and fit it.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features), or Graph
        y : ignored
        """
        chosen, reason = _choose(X)
        chosen.set_params(
            n_components=self.n_components, random_state=self.random_state
        )
        self.basis_ = chosen.fit(X)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.basis_, name):
                setattr(self, name, getattr(self.basis_, name))
        self.vectors_, self.values_ = self.basis_.vectors_, self.basis_.values_
        reason = f"{type(chosen).__name__}: {reason}"
        self.certificate_ = replace(self.basis_.certificate_, reason=reason)
        return self

    def extend(self, X: ArrayLike | SparseArray) -> FloatArray:
        """Return `basis_.extend(X)`, the directions at new points, (m, r)."""
        check_is_fitted(self, "basis_")
        extended: FloatArray = self.basis_.extend(X)
        return extended

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _choose(X: Any) -> tuple[Any, str]:
    if isinstance(X, Graph):
        return GraphBasis(), "a graph was given"
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    n = shape[0] if shape else 0
    if issparse(X):
        return GraphBasis(metric="cosine"), f"{n:,} sparse rows, compared by angle"
    if n > GRAPH_UP_TO:
        return AnchorBasis(), f"{n:,} points are too many for a neighbour graph"
    return GraphBasis(), f"{n:,} points are few enough for a neighbour graph"
