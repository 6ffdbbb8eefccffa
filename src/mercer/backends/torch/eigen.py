r"""Smallest eigenpairs of a normalised Laplacian on a device.

Subspace iteration with a block wider than the number of pairs, whose columns are
filtered by a Chebyshev polynomial of the matrix. A block as wide as this cannot skip
one of several equal values, as a Krylov space grown from a few vectors can.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.tensors import generator, torch
from mercer._base.typing import FloatArray
from mercer.backends.torch.files import InFiles
from mercer.backends.torch.graph import TorchGraph
from mercer.eigen.policy import OnFailure, exact_enough, first_inexact, settle

UPPER = 2.0  # no eigenvalue of a normalised Laplacian is above
# Of the smallest value that a filter raises. With 8 the vectors of 13 of 320 sets were
# not orthogonal any more, in single precision.
_GROWTH = 6.0
_MOST_DEGREE = 500
_LOCKED = 0.1  # pairs more exact than asked for by this factor are left alone
_ROUNDS = 30
_PATIENCE = 10  # rounds before one that does not help is the last
_SINGLE = 2e-5  # residuals that single precision is sure to reach
_FIRST_CUT = 1.0  # the mean of all values; few lie far below it


@dataclass(frozen=True, eq=False)
class TorchEigenpairs(InFiles):
    """The r smallest eigenpairs of a Laplacian."""

    values: FloatArray  # (r,) ascending, on the host
    vectors: Any  # (n, r) tensor, orthonormal columns; float32 but of few points
    next_value: float  # smallest value outside the vectors
    residual: float  # largest |L u - value u|
    method: str
    note: str = ""  # why pairs are fewer or less exact than asked for
    floor: float = 0.0  # no eigenvalue outside the vectors is below it...
    failure: float = 0.0  # ... but for this probability


class Laplacian:
    """L = I - S as products with blocks of vectors; S has the graph's pattern."""

    def __init__(self, graph: TorchGraph) -> None:
        t = torch()
        n = graph.n_points
        self.n = n
        self.device = graph.columns.device
        entries = graph.normalized()
        self.kernel = None
        if self.device.type == "cuda":
            self.kernel = _kernel()
        if self.kernel is None:
            columns = graph.columns.long()
            with warnings.catch_warnings():
                # Warnings that sparse tensors are in beta, and checks we do not need.
                warnings.simplefilter("ignore", UserWarning)
                self.S = t.sparse_csr_tensor(graph.starts, columns, entries, (n, n))
        self.parts = graph.starts, graph.columns, entries
        self.n_products = 0.0  # with one vector each

    def recur(self, X: Any, Y: Any, a: float, b: float, c: float) -> Any:
        """Return a L X + b X + c Y, in the place of Y."""
        self.n_products += X.shape[1]
        # L X = X - S X
        if self.kernel is not None:
            return self.kernel(*self.parts, X, Y, -a, a + b, c)
        product = self.S @ X
        return Y.mul_(c).add_(product, alpha=-a).add_(X, alpha=a + b)

    def filter(self, X: Any, degree: int, low: float) -> Any:
        """Apply the Chebyshev polynomial that is small on [low, 2]; X is used up."""
        t = torch()
        radius, centre = (UPPER - low) / 2, (UPPER + low) / 2
        before = X
        now = self.recur(X, t.zeros_like(X), 1 / radius, -centre / radius, 0.0)
        for _ in range(degree - 1):
            before = self.recur(now, before, 2 / radius, -2 * centre / radius, -1.0)
            before, now = now, before
        return now


def _kernel() -> Any:
    """Return the fused product, where Triton is there."""
    try:
        from mercer.backends.torch.products import recur
    except ImportError:
        return None
    return recur


def smallest_pairs(
    graph: TorchGraph,
    r: int,
    *,
    null: Any,
    rng: np.random.Generator,
    tol: float = 1e-7,
    on_failure: OnFailure = "rough",
    most_work: float = np.inf,
) -> TorchEigenpairs:
    """Compute the r smallest eigenpairs of the normalised Laplacian of a graph.

    Parameters
    ----------
    graph : TorchGraph
    r : int
        Number of pairs, less than n.
    null : tensor of shape (n, c)
        Orthonormal basis of the null space; of more than r vectors, any r + 1.
    rng : numpy.random.Generator
        Draws the first block.
    tol : float, default=1e-7
        Residuals must fall below `tol` times the r-th value, or below 2e-5: what
        single precision is sure to reach.
    on_failure : {"raise", "fewer", "rough"}, default="rough"
        What to do where they do not, as in `mercer.eigen.smallest`.
    most_work : float, default=inf
        Multiplications with entries of the Laplacian, about.

    Returns
    -------
    TorchEigenpairs

    Raises
    ------
    EigenpairError
        If residuals stay large and `on_failure` is "raise".
    """
    t = torch()
    n, c = null.shape
    if c > r or c == n:
        following = np.inf if c == n else 0.0
        kept = null[:, :r].clone()
        return TorchEigenpairs(
            np.zeros(kept.shape[1]), kept, following, 0.0, "components"
        )
    L = Laplacian(graph)
    k = r - c
    width = min(n - c, -(-(k + max(8, k // 5)) // 8) * 8)
    draw = generator(rng, L.device)
    most = most_work / len(graph.weights)  # products with a vector
    X = _outside(t.randn((n, width), generator=draw, device=L.device), null)
    X = _orthonormal(X)
    least, best, smallest, q = np.full(width, _SINGLE), np.inf, 0.0, 0
    values, residuals, cut = np.zeros(width), np.full(width, np.inf), _FIRST_CUT
    for round_ in range(_ROUNDS):
        low = float(np.clip(cut, 1e-5, 0.9 * UPPER))
        # Pairs that are exact stay as they are: the others are what a filter raises.
        known = t.cat([null, X[:, :q]], dim=1)
        Y = L.filter(_outside(X[:, q:], known), _degree(low, smallest), low)
        Y = _orthonormal(_outside(Y, known))
        Y, values[q:], residuals[q:] = _rayleigh_ritz(L, Y)
        X = t.cat([X[:, :q], Y], dim=1)
        exact = exact_enough(values, residuals, k, tol, least)[:k]
        worst = float(residuals[:k].max(initial=0.0))
        # Rounding ends what no further round can mend.
        is_stuck = round_ >= _PATIENCE and worst > 0.99 * best
        if exact.all() or is_stuck or L.n_products >= most:
            break
        best = min(best, worst)
        # The wanted values must lie below the cut, the last of the block about at it.
        # It falls with the values found: what is far above them costs few products.
        if k:
            cut = max(float(values[-1]), 1.05 * float(values[k - 1]))
        far = residuals[:k] > _LOCKED * max(tol * float(values[k - 1]), _SINGLE)
        q = int(np.argmax(far)) if far.any() else k
        smallest = float(values[q] - residuals[q]) if q < width else 0.0
    if q:
        X, values, residuals = _rayleigh_ritz(L, X)
        exact = exact_enough(values, residuals, k, tol, least)[:k]
    goal = max(tol, _SINGLE / max(float(values[k - 1]), _SINGLE))
    sure, reason = first_inexact(exact, residuals, goal)
    settled = settle(sure, k, reason, on_failure)
    kept = settled.kept
    next_value = float(values[kept]) if kept < len(values) else np.inf
    return TorchEigenpairs(
        np.concatenate([np.zeros(c), np.maximum(values[:kept], 0.0)]),
        t.cat([null, X[:, :kept]], dim=1),
        next_value,
        float(residuals[:kept].max(initial=0.0)),
        f"filtered subspace on {L.device}",
        settled.note,
    )


def _degree(low: float, smallest: float) -> int:
    """Return the degree that raises the smallest value by about exp(6) / 2."""
    below = low - np.clip(smallest, 0.0, 0.99 * low)
    rate = np.arccosh(1 + 2 * below / (UPPER - low))
    return int(np.clip(np.ceil(_GROWTH / rate), 2, _MOST_DEGREE))


def _outside(X: Any, null: Any) -> Any:
    """Return X without its part along the null vectors."""
    return X - null @ (null.T @ X) if null.shape[1] else X


def _orthonormal(X: Any) -> Any:
    """Orthonormalise columns by their Gram matrix, twice.

    The second time it is near the identity, and nothing waits for the host.
    """
    t = torch()
    G = (X.T @ X).double().cpu().numpy()
    scale = 1 / np.sqrt(np.maximum(np.diag(G), 1e-300))
    values, V = np.linalg.eigh(scale[:, None] * G * scale)  # faster than SciPy's
    values = np.maximum(values, 1e-7 * values[-1])
    V = (scale[:, None] * V) / np.sqrt(values)
    X = X @ t.as_tensor(V, dtype=X.dtype, device=X.device)
    X = X / X.norm(dim=0).clamp(min=1e-30)
    G = (X.T @ X).double()
    eye = t.eye(len(G), dtype=G.dtype, device=G.device)
    found = t.linalg.cholesky_ex(G + 1e-6 * eye)
    T = t.linalg.solve_triangular(found.L.mT, eye, upper=True)
    return X @ t.where(found.info == 0, T, eye).to(X.dtype)


def _rayleigh_ritz(L: Laplacian, X: Any) -> tuple[Any, FloatArray, FloatArray]:
    t = torch()
    LX = L.recur(X, t.zeros_like(X), 1.0, 0.0, 0.0)
    H = (X.T @ LX).double().cpu().numpy()
    values, S = np.linalg.eigh((H + H.T) / 2)
    S = t.as_tensor(S, dtype=X.dtype, device=X.device)
    X, LX = X @ S, LX @ S
    heights = t.as_tensor(values, dtype=X.dtype, device=X.device)
    LX -= X * heights
    return X, values, LX.norm(dim=0).double().cpu().numpy()
