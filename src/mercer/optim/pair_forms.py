r"""The linear map between weights of pairs and symmetric matrices.

Pair p = {i, j} with sign :math:`T_p` has the form
:math:`S_p = T_p (e_i e_j^\top + e_j e_i^\top)/2`, so that
:math:`\langle S_p, K\rangle = T_p K_{ij}`. Inside a basis, K = U M U^T, the form of the
same pair on M is :math:`U^\top S_p U`. The solvers see the two maps below and nothing
else of a pair.
"""

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse

from mercer._base.typing import FloatArray, IntArray, SparseArray


@dataclass(frozen=True, slots=True, eq=False)
class EntryForms:
    """Pairs as entries of an n x n matrix.

    Examples
    --------
    >>> import numpy as np
    >>> forms = EntryForms(np.array([0]), np.array([1]), np.array([-1.0]), 2)
    >>> forms.margins(np.eye(2), np.array([[1.0, 0.25], [0.25, 1.0]]))
    array([-0.25])
    """

    first: IntArray
    second: IntArray
    signs: FloatArray
    side: int

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.signs)

    def combine(self, weights: FloatArray) -> SparseArray:
        """Return the sum of weights[p] S_p, sparse."""
        half = sparse.coo_array(
            (weights * self.signs / 2, (self.first, self.second)),
            shape=(self.side, self.side),
        ).tocsr()
        return half + half.T

    def less(
        self, weights: FloatArray, penalty: FloatArray | SparseArray
    ) -> FloatArray:
        """Return combine(weights) - penalty, dense and new."""
        A: FloatArray = np.negative(_dense(penalty))
        half = weights * self.signs / 2
        np.add.at(A, (self.first, self.second), half)
        np.add.at(A, (self.second, self.first), half)
        return A

    def apply(self, weights: FloatArray, Q: FloatArray) -> FloatArray:
        """Return combine(weights) @ Q."""
        image: FloatArray = self.combine(weights) @ Q
        return image

    def margins(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return T_p times the symmetrised entry of left right^T."""
        i, j = self.first, self.second
        # Blocks keep the gathered rows in cache instead of four m x r copies.
        block = max(1, 2**20 // max(1, left.shape[1]))
        answer = np.empty(len(i))
        for start in range(0, len(i), block):
            a, b = i[start : start + block], j[start : start + block]
            answer[start : start + block] = np.einsum(
                "pr,pr->p", left[a], right[b]
            ) + np.einsum("pr,pr->p", left[b], right[a])
        answer *= self.signs / 2
        return answer

    def stacked(self) -> SparseArray:
        """Return the forms as sparse rows, (n_pairs, side²)."""
        n, m = self.side, self.n_pairs
        columns = [self.first * n + self.second, self.second * n + self.first]
        return sparse.csr_array(
            (
                np.tile(self.signs / 2, 2),
                (np.tile(np.arange(m), 2), np.hstack(columns)),
            ),
            shape=(m, n * n),
        )


@dataclass(frozen=True, slots=True, eq=False)
class BasisForms:
    """Pairs as forms on the r x r core of a basis; made by `over`.

    Examples
    --------
    >>> import numpy as np
    >>> U = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> forms = BasisForms.over(U, np.array([0]), np.array([2]), np.array([1.0]))
    >>> forms.combine(np.array([2.0]))
    array([[1.2, 0.8],
           [0.8, 0. ]])
    """

    rows: FloatArray  # (t, r) values of the basis at the points in pairs
    entries: EntryForms  # the pairs, between these rows

    @classmethod
    def over(
        cls, vectors: FloatArray, first: IntArray, second: IntArray, signs: FloatArray
    ) -> Self:
        """Take the rows of `vectors`, (n, r), that occur in pairs."""
        points, ends = np.unique(np.concatenate([first, second]), return_inverse=True)
        m = len(signs)
        entries = EntryForms(ends[:m], ends[m:], signs, len(points))
        return cls(np.ascontiguousarray(vectors[points]), entries)

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.entries.n_pairs

    @property
    def side(self) -> int:
        """Side r of the core."""
        return int(self.rows.shape[1])

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return the sum of weights[p] U^T S_p U."""
        core: FloatArray = self.rows.T @ (self.entries.combine(weights) @ self.rows)
        return (core + core.T) / 2

    def less(
        self, weights: FloatArray, penalty: FloatArray | SparseArray
    ) -> FloatArray:
        """Return combine(weights) - penalty."""
        return self.combine(weights) - _dense(penalty)

    def apply(self, weights: FloatArray, Q: FloatArray) -> FloatArray:
        """Return combine(weights) @ Q, from the right if Q is narrow."""
        if Q.shape[1] >= self.side // 2:
            return self.combine(weights) @ Q
        image: FloatArray = self.rows.T @ self.entries.apply(weights, self.rows @ Q)
        return image

    def margins(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return T_p times the symmetrised entry of U left right^T U^T."""
        # Through r x r where the factors are wide: one product with the rows, not two.
        if left.shape[1] < self.side // 2:
            return self.entries.margins(self.rows @ left, self.rows @ right)
        return self.entries.margins(self.rows @ (left @ right.T), self.rows)

    def stacked(self) -> FloatArray:
        """Return the forms as dense rows, (n_pairs, side²)."""
        i, j = self.rows[self.entries.first], self.rows[self.entries.second]
        rows = np.einsum("p,pi,pj->pij", self.entries.signs / 2, i, j)
        symmetric: FloatArray = rows + rows.transpose(0, 2, 1)
        return symmetric.reshape(self.n_pairs, -1)


PairForms: TypeAlias = EntryForms | BasisForms


def _dense(penalty: Any) -> FloatArray:
    matrix: FloatArray = penalty.toarray() if sparse.issparse(penalty) else penalty
    return matrix
