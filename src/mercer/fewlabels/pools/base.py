"""What the pools of kernels share: units, blocks and their certificate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self, TypeAlias

import numpy as np
from scipy.sparse import issparse

from mercer._base.checks import FLOATS, check_several, checked_points
from mercer._base.ranges import far_origin, moved, times_power, usual_exponent
from mercer._base.rows import thinned
from mercer._base.typing import FloatArray, IntArray, Points, RandomState
from mercer.fewlabels.pools.units import SCALED_BY, Scaling, say_units, units_for
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.trees import Columns
from mercer.spectrum.base import BasisCertificate, BasisMixin
from mercer.spectrum.features import Features

Kind: TypeAlias = Literal["laplacian", "kernel", "density"]

# Limit of work: the linear kernel of more points is known from this many.
SAMPLED_ABOVE = 10_000
# Limit of precision: residuals of the graphs, as a share of the last eigenvalue. They
# mix directions of nearly equal eigenvalues, which the learners weigh alike.
TOL = 1e-3
# Limit of work: the same for more than 20,000 points. The last values crowd, and the
# learners weigh what is mixed alike.
TOL_OF_MANY, _MANY = 6e-2, 20_000
# Limit of work: multiplications per edge, counted both ways, for the eigenvectors of a
# graph. Most graphs take 1,000 to 10,000. Where groups of points are all but separate,
# their small values would take a hundred times that, and make no difference to the
# learners.
WORK_PER_EDGE = 2e4


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Columns of a pool that come from one basis."""

    name: str  # "graph 5", "linear" or "density"
    kind: Kind
    columns: slice
    values: FloatArray  # (r,) Laplacian values ascending, or kernel values descending
    n_neighbors: int  # 0 for kernels
    covariance: FloatArray  # (r, r) of the columns over the training points
    view: str = ""  # the view that it is made of, if there are any
    prior: float = 1.0  # by which those of its kernels are multiplied


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A basis, before its columns are put beside those of others."""

    name: str
    kind: Kind
    vectors: Any  # (n, r), an array or a tensor
    values: FloatArray  # (r,)
    part: Any  # what a new point needs: scales of a graph, or a map; None: density
    certificate: BasisCertificate | None = None  # None: density
    n_neighbors: int = 0


class Pool(Protocol):
    """Kernels side by side, from which the default learner makes one."""

    vectors_: Any  # (n, r) columns, of which rows are taken as NumPy arrays
    values_: FloatArray
    blocks_: tuple[Block, ...]
    certificate_: BasisCertificate

    @property
    def is_orthonormal(self) -> bool:
        """False: columns of different kernels overlap."""

    def fit(self, X: Points, y: object = None) -> Self:
        """Compute every basis over the rows of X; y is ignored."""

    def extend(self, X: Points) -> FloatArray:
        """Return the values of all directions at new points, (m, r)."""

    def columns(self, X: Points | None = None) -> Columns | None:
        """Return points as trees see them; its own when left out."""

    def log_density(self, X: Points | None = None) -> FloatArray:
        """Return the logarithm of the density, but for a constant, (m,)."""

    def grown(self, X: Points) -> Self:
        """Return the pool with further rows, which join by extension."""

    def without_rows(self) -> Self:
        """Return a pool that extends to new points and forgets its own if it can."""

    def weighted(self, root: FloatArray) -> Features:
        """Return the features of the training points."""


class PoolBase(BasisMixin):
    """A pool of kernels, whose points may be in any units."""

    n_components: int | None
    n_neighbors: tuple[int, ...] | None = None
    scaling: Scaling
    rule: Rule | None
    random_state: RandomState
    blocks_: tuple[Block, ...]
    scales_: FloatArray | None  # (n_features,)
    as_roots_ = False  # square roots are taken: columns are shares of a whole
    _exponent = 0  # of two, by which points are multiplied
    _origin: FloatArray | None = None  # from which they are seen then

    @property
    def is_orthonormal(self) -> bool:
        """False: columns of different kernels overlap."""
        return False

    @property
    def _rule(self) -> Rule:
        return DEFAULT if self.rule is None else self.rule

    @property
    def _directions(self) -> int:
        return self._rule.directions if self.n_components is None else self.n_components

    @property
    def _graphs(self) -> tuple[int, ...]:
        sizes = self._rule.graphs if self.n_neighbors is None else self.n_neighbors
        check_several(sizes, "n_neighbors", above=0, whole=True)
        return sizes

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return checked_points(
            X, self, reset=reset, sparse=False, dtype=FLOATS, at_least=2
        )

    def find_units(self, points: Any) -> Any:
        """Decide by what columns are divided, and return the points divided.

        A sample of the points is enough.
        """
        some = points if issparse(points) else thinned(points, SCALED_BY)
        self.as_roots_, self.scales_ = units_for(some, self.scaling, self._rule)
        if not issparse(points):
            some = np.array([points.min(axis=0), points.max(axis=0)])
        self._exponent = usual_exponent(
            some if self.scales_ is None else some / self.scales_
        )
        self._origin = None
        usual = self._usual(points)
        self._origin = far_origin(usual)
        return moved(usual, self._origin)

    def _usual(self, points: Any) -> Any:
        """Return points with columns on one scale, and of usual sizes."""
        if self.as_roots_:
            points = np.sqrt(np.maximum(points, 0))
        if self.scales_ is not None:
            dtype = points.dtype
            points = np.divide(points, self.scales_, dtype=dtype, casting="same_kind")
        return moved(times_power(points, self._exponent), self._origin)

    def _keep_members(
        self, members: Sequence[Member], covariance: Callable[[slice], FloatArray]
    ) -> None:
        """Keep what is known of members whose columns lie side by side."""
        blocks, start = [], 0
        for member in members:
            at = slice(start, start + len(member.values))
            blocks.append(
                Block(
                    member.name,
                    member.kind,
                    at,
                    member.values,
                    member.n_neighbors,
                    covariance(at),
                )
            )
            start = at.stop
        self.blocks_ = tuple(blocks)
        self.values_ = np.concatenate([block.values for block in blocks])
        self._parts = [member.part for member in members]
        self.certificate_ = certificate_of(
            members, say_units(self.scales_, self.as_roots_)
        )


def certificate_of(members: Sequence[Member], reason: str) -> BasisCertificate:
    """Return the worst of what the certificates of several bases say.

    Parameters
    ----------
    members : sequence of Member
    reason : str
        Why this pool is as it is.
    """
    known = [(member, member.certificate) for member in members if member.certificate]
    proofs = [proof for _, proof in known]
    return BasisCertificate(
        method=", ".join(dict.fromkeys(proof.method for proof in proofs)),
        reason=reason,
        residual=max(proof.residual for proof in proofs),
        orthogonality=max(proof.orthogonality for proof in proofs),
        gap=min(proof.gap for proof in proofs),
        cuts_repeated_value=any(proof.cuts_repeated_value for proof in proofs),
        n_null=max(proof.n_null for proof in proofs),
        recall=min(proof.recall for proof in proofs),
        lost_trace=max(proof.lost_trace for proof in proofs),
        floor=min(p.floor for member, p in known if member.kind == "laplacian"),
        failure=sum(proof.failure for proof in proofs),
        note="; ".join(f"{m.name}: {proof.note}" for m, proof in known if proof.note),
    )


def tolerance(n: int) -> float:
    """Return what residuals of the graphs of n points may be, see `TOL`.

    Examples
    --------
    >>> tolerance(20_000), tolerance(20_001)
    (0.001, 0.06)
    """
    return TOL if n <= _MANY else TOL_OF_MANY


def distance_to(
    k: int, distances: FloatArray, counts: IntArray, equal: IntArray | int = 0
) -> FloatArray:
    """Return the distance to the k-th row, where a neighbour stands for several.

    Parameters
    ----------
    k : int
    distances : ndarray of shape (m, at least j)
        To the nearest neighbours, nearest first.
    counts : int ndarray of shape (m, j)
        Rows that these stand for.
    equal : int ndarray of shape (m,) or int, default=0
        Rows at distance 0 before them.

    Examples
    --------
    >>> distances, counts = np.array([[1.0, 2.0, 3.0]]), np.array([[2, 1, 1]])
    >>> [float(distance_to(k, distances, counts, 1)[0]) for k in (1, 2, 3, 4)]
    [0.0, 1.0, 1.0, 2.0]
    """
    missing = np.broadcast_to(k - np.asarray(equal), len(distances))
    at = (np.cumsum(counts, axis=1) < missing[:, None]).sum(axis=1)
    at = np.minimum(at, counts.shape[1] - 1)
    found = np.take_along_axis(distances, at[:, None], axis=1)[:, 0]
    return np.where(missing > 0, found, 0.0)


def smallest_positive(distances: Any) -> float:
    """Return what stands for the distance 0 between equal points."""
    positive = distances[distances > 0]
    return float(positive.min()) if len(positive) else 1.0
