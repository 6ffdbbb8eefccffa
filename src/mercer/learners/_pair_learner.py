"""What learners from pairs share: evidence, a basis, and a core in the end."""

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.utils import Tags

from mercer._base.typing import ArrayLike, FloatArray, SparseArray
from mercer.evidence.labels import Labels
from mercer.evidence.pairs import ContradictionWarning, Pairs, as_pairs, describe
from mercer.evidence.pairs.read import PairsLike
from mercer.graphs.neighbors import Graph
from mercer.learners.base import SpectralLearner
from mercer.optim.pair_forms import BasisForms, EntryForms, PairForms
from mercer.spectrum.base import Basis
from mercer.spectrum.kernel import SpectralKernel

# All pairs of this many labels, two million, still fit and are far more than needed.
_MOST_LABELS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class PairFamily:
    """The kernels that compete, and the pairs as forms on them."""

    name: str
    forms: PairForms
    penalty: FloatArray  # L on the matrices the forms act on
    lift: FloatArray | None  # columns U of the basis where the forms act on entries

    def core(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        """Return M of the kernel with these eigenpairs, exactly symmetric."""
        inside = vectors if self.lift is None else self.lift.T @ vectors
        root = inside * np.sqrt(values)
        M: FloatArray = root @ root.T
        return (M + M.T) / 2


def pair_family(basis: Basis, pairs: Pairs) -> PairFamily:
    """Return the kernels spanned by a fitted basis; with r = n, all kernels."""
    U: FloatArray = basis.vectors_
    n, r = U.shape
    penalty = smoothness(basis.values_)
    if r < n:
        forms = BasisForms.over(U, pairs.first, pairs.second, pairs.signs)
        name = f"kernels in the span of {r} directions over {n} points"
        return PairFamily(name, forms, np.diag(penalty), None)
    entries = EntryForms(pairs.first, pairs.second, pairs.signs, n)
    return PairFamily(f"all kernels on {n} points", entries, (U * penalty) @ U.T, U)


def smoothness(values: FloatArray) -> FloatArray:
    """Return what a direction costs: its Laplacian value, or 1 - kernel value / top."""
    return values if values[0] <= values[-1] else 1 - values / values[0]


def gather_pairs(
    n: int, y: ArrayLike | None, pairs: PairsLike | None, who: str
) -> Pairs:
    """Join the evidence of labels and pairs; warn where it contradicts itself."""
    found = Pairs.from_index(n_points=n)
    labelled = 0
    if y is not None:
        labelled = len(Labels.read(y, n=n).labeled)
    if labelled > _MOST_LABELS:
        msg = (
            f"y has {labelled} labels, which make {labelled * (labelled - 1) // 2} "
            "pairs; draw some: pairs=Pairs.from_labels(y, n_pairs=100_000)."
        )
        raise ValueError(msg)
    if y is not None and labelled > 0:
        found = found + Pairs.from_labels(y)
    if pairs is not None:
        found = found + as_pairs(pairs, n)
    if len(found) == 0:
        raise ValueError(_no_evidence(y, pairs, who))
    if wrong := found.contradictions():
        warnings.warn(describe(wrong), ContradictionWarning, stacklevel=3)
    return found


def default_budget(pairs: Pairs) -> float:
    """Return n² times the share of must-links, counting one more pair of each kind."""
    share = (len(pairs.must_link) + 1) / (len(pairs) + 2)
    return share * pairs.n_points**2


def default_weight(pairs: Pairs) -> float:
    """Return 1, or less where there are more than four pairs per point."""
    return min(1.0, 4 * pairs.n_points / len(pairs))


def _no_evidence(y: ArrayLike | None, pairs: PairsLike | None, who: str) -> str:
    if y is None and pairs is None:
        return (
            f"{who} has no evidence: it requires y to be passed, but the target y is "
            "None, or pairs=(must_link, cannot_link)."
        )
    return (
        f"{who} has no evidence: there are no pairs, and y has less than two labels. "
        "Pass pairs=(must_link, cannot_link), or label two points."
    )


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
        pairs: PairsLike | None = None,
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
        self,
        basis: Basis,
        labels: Labels | None = None,
        *,
        pairs: PairsLike | None = None,
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
        n, codes = len(basis.vectors_), None if labels is None else labels.codes
        evidence = gather_pairs(n, codes, pairs, type(self).__name__)
        return self._learn_from(basis, evidence)

    def _learn_from(self, basis: Basis, pairs: Pairs) -> Self:
        self.pairs_ = pairs
        self._take_basis(basis)
        self._learn(pair_family(basis, pairs))
        self.kernel_ = SpectralKernel(basis, self.core_)
        return self

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _learn(self, family: PairFamily) -> None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True  # or pairs, which tags cannot say
        return tags
