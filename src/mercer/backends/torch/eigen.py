r"""Smallest eigenpairs of a normalised Laplacian on a device.

Subspace iteration with a block wider than the number of pairs, whose columns are
filtered by a Chebyshev polynomial of the matrix. A block as wide as this cannot skip
one of several equal values, as a Krylov space grown from a few vectors can.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from mercer._base.tensors import generator, torch
from mercer._base.typing import FloatArray
from mercer.backends.torch.graph import TorchGraph
from mercer.eigen.counting import angle_below_which
from mercer.exceptions import EigenpairError

UPPER = 2.0  # no eigenvalue of a normalised Laplacian is above
_GROWTH = 6.0  # a filter multiplies the smoothest direction by about exp(6) / 2
_ROUNDS = 30
_SMALL = 500  # with at most this many points, the block is the whole space
_MOMENTS = 16  # random vectors that the first cut is estimated from


@dataclass(frozen=True, slots=True, eq=False)
class TorchEigenpairs:
    """The r smallest eigenpairs of a Laplacian."""

    values: FloatArray  # (r,) ascending, on the host
    vectors: Any  # (n, r) tensor, float32, orthonormal columns
    next_value: float  # smallest value outside the vectors
    residual: float  # largest |L u - value u|
    n_products: int  # products of the matrix with the whole block


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
                # Of the beta state of sparse tensors, and of checks we do not need.
                warnings.simplefilter("ignore", UserWarning)
                self.S = t.sparse_csr_tensor(graph.starts, columns, entries, (n, n))
        self.parts = graph.starts, graph.columns, entries
        self.n_products = 0

    def recur(self, X: Any, Y: Any, a: float, b: float, c: float) -> Any:
        """Return a L X + b X + c Y, in the place of Y."""
        self.n_products += 1
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
    tol: float = 2e-4,
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
    tol : float, default=2e-4
        Bound on the residuals, in single precision.

    Returns
    -------
    TorchEigenpairs

    Raises
    ------
    EigenpairError
        If a residual stays above the tolerance.
    """
    t = torch()
    n, c = null.shape
    if c > r:
        return TorchEigenpairs(np.zeros(r), null[:, :r].clone(), 0.0, 0.0, 0)
    L = Laplacian(graph)
    k = r - c
    width = min(n - c, -(-(k + max(8, k // 5)) // 8) * 8)
    if width <= k:
        width = min(n - c, k + 1)
    if n <= _SMALL:
        width = n - c
    draw = generator(rng, L.device)
    Z = t.randn((n, min(width, _MOMENTS)), generator=draw, device=L.device)
    cut = _value_below_which(L, width, _outside(Z, null))
    X = t.randn((n, width), generator=draw, device=L.device)
    X = _orthonormal(_outside(X, null))
    values = np.empty(0)
    residual = np.inf
    for _ in range(_ROUNDS):
        if width < n - c:
            low = float(np.clip(cut, 1e-5, 0.9 * UPPER))
            X = L.filter(X, _degree(low), low)
            X = _orthonormal(_outside(X, null))
        X, values, residuals = _rayleigh_ritz(L, X)
        residual = float(residuals[:k].max(initial=0.0))
        if residual <= tol:
            break
        # The wanted values must lie below the cut, the last of the block about at it.
        cut = max(float(values[-1]), 1.05 * float(values[k - 1])) if k else cut
    if residual > tol:
        msg = (
            f"the {r} smallest eigenpairs have residuals up to {residual:.1e}, above "
            f"{tol:.1e}; ask for fewer directions, or for more neighbours."
        )
        raise EigenpairError(msg)
    next_value = float(values[k]) if k < len(values) else np.inf
    found = np.concatenate([np.zeros(c), np.maximum(values[:k], 0.0)])
    vectors = t.cat([null, X[:, :k]], dim=1)
    return TorchEigenpairs(found, vectors, next_value, residual, L.n_products)


def _degree(low: float) -> int:
    rate = np.arccosh(1 + 2 * low / (UPPER - low))
    return int(np.clip(np.ceil(_GROWTH / rate), 2, 500))


def _outside(X: Any, null: Any) -> Any:
    """Return X without its part along the null vectors."""
    return X - null @ (null.T @ X) if null.shape[1] else X


def _orthonormal(X: Any) -> Any:
    """Orthonormalise columns by their Gram matrix, twice."""
    t = torch()
    for _ in range(2):
        G = (X.T @ X).double().cpu().numpy()
        scale = 1 / np.sqrt(np.maximum(np.diag(G), 1e-300))
        values, V = eigh(scale[:, None] * G * scale)
        values = np.maximum(values, 1e-7 * values[-1])
        V = (scale[:, None] * V) / np.sqrt(values)
        X = X @ t.as_tensor(V, dtype=X.dtype, device=X.device)
    return X


def _rayleigh_ritz(L: Laplacian, X: Any) -> tuple[Any, FloatArray, FloatArray]:
    t = torch()
    LX = L.recur(X, t.zeros_like(X), 1.0, 0.0, 0.0)
    H = (X.T @ LX).double().cpu().numpy()
    values, S = eigh((H + H.T) / 2)
    S = t.as_tensor(S, dtype=X.dtype, device=X.device)
    X, LX = X @ S, LX @ S
    heights = t.as_tensor(values, dtype=X.dtype, device=X.device)
    LX -= X * heights
    return X, values, LX.norm(dim=0).double().cpu().numpy()


def _value_below_which(L: Laplacian, count: int, Z: Any, degree: int = 40) -> float:
    """Estimate the value below which L has `count` eigenvalues.

    See `mercer.eigen.chebyshev.value_below_which`.
    """
    t = torch()
    before = Z.clone()
    now = L.recur(Z, t.zeros_like(Z), -2 / UPPER, 1.0, 0.0)
    products = [(before * before).sum(), (before * now).sum()]
    for _ in range(1, degree):
        products.append((now * now).sum())
        before = L.recur(now, before, -4 / UPPER, 2.0, -1.0)
        before, now = now, before
        products.append((before * now).sum())
    products.append((now * now).sum())
    dots = t.stack(products).double().cpu().numpy() / Z.shape[1]
    moments = 2 * dots
    moments[2::2] -= dots[0]
    moments[3::2] -= dots[1]
    moments[:2] = dots[:2]
    angle, step = angle_below_which(moments, count)
    if angle < 4 * step and degree < 640:
        return _value_below_which(L, count, Z, 2 * degree)
    return float(UPPER * (1 - np.cos(angle)) / 2)
