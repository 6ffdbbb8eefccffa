"""What learners from pairs share: evidence, a basis, and a core in the end."""

from typing import Any, Self

from sklearn.utils import Tags

from mercer._labels import Labels
from mercer._typing import ArrayLike, FloatArray, SparseArray
from mercer.graphs.neighbors import Graph
from mercer.learners._base import SpectralLearner
from mercer.learners._pair_evidence import PairFamily, gather_pairs, pair_family
from mercer.pairs import Pairs
from mercer.spectrum.kernel import SpectralKernel


class PairLearner(SpectralLearner):
    """Learns the core of a kernel in a basis from labels, pairs, or both.

    Subclasses write `_check_parameters`, `_default_basis` and `_learn`, which sets
    `core_` and `certificate_` once `basis_` is fitted and `pairs_` are known.
    """

    core_: FloatArray  # (r, r)
    pairs_: Pairs

    def fit(
        self,
        X: ArrayLike | SparseArray | Graph,
        y: ArrayLike | None = None,
        *,
        pairs: Any = None,
    ) -> Self:
        """Learn the kernel from labels, pairs, or both.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features), or Graph
            All points, in pairs or not.
        y : array-like of shape (n,), default=None
            Labels; every two labelled points are a pair. -1, None and NaN mark
            unlabelled points. For more than 2,000 labels pass a sample,
            ``pairs=Pairs.from_labels(y, n_pairs=...)``, instead.
        pairs : Pairs or what `as_pairs` reads, default=None
            E.g. a tuple (must_link, cannot_link) of lists of row numbers.
        """
        self._check_parameters()
        n = self._check_size(X)
        evidence = gather_pairs(n, y, pairs, type(self).__name__)
        return self._learn_from(self.fitted_basis(X), evidence)

    def learn(
        self, basis: Any, labels: Labels | None = None, *, pairs: Any = None
    ) -> Self:
        """Learn the kernel in a basis that is fitted already; it is kept, not copied.

        Parameters
        ----------
        basis : fitted basis
        labels : Labels, optional
            Labels of the points that the basis was fitted to.
        pairs : Pairs or what `as_pairs` reads, optional
        """
        self._check_parameters()
        codes = None if labels is None else labels.codes
        name = type(self).__name__
        return self._learn_from(
            basis, gather_pairs(len(basis.vectors_), codes, pairs, name)
        )

    def _learn_from(self, basis: Any, pairs: Pairs) -> Self:
        self.pairs_ = pairs
        self._take_basis(basis)
        self._learn(pair_family(basis, pairs))
        self.kernel_ = SpectralKernel(basis, self.core_)
        return self

    def fit_transform(
        self,
        X: ArrayLike | SparseArray | Graph,
        y: ArrayLike | None = None,
        *,
        pairs: Any = None,
    ) -> FloatArray:
        """Fit and return the features of the training rows, with no search."""
        return self.fit(X, y, pairs=pairs).kernel_.features()

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _learn(self, family: PairFamily) -> None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True  # or pairs, which tags cannot say
        return tags
