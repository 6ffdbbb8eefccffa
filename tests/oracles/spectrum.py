"""Dense references for bases and their eigenpairs, and graphs hard for them."""

import numpy as np
from scipy import sparse

from mercer.graphs.neighbors import Graph


def dense_laplacian(W: sparse.csr_array, kind: str) -> np.ndarray:
    """The Laplacian from its definition, entry by entry."""
    A = W.toarray()
    d = A.sum(axis=1)
    n = len(d)
    if kind == "combinatorial":
        return np.diag(d) - A
    L = np.eye(n)
    for i in range(n):
        for j in range(n):
            if A[i, j] > 0:
                L[i, j] -= A[i, j] / (
                    np.sqrt(d[i] * d[j]) if kind == "normalized" else d[i]
                )
    return L


def smallest_values(L: np.ndarray) -> np.ndarray:
    return np.linalg.eigvalsh(L)


def spectral_projector(L: np.ndarray, r: int) -> np.ndarray:
    """Projector on the r smallest eigenvectors; the caller minds the gap."""
    _, vectors = np.linalg.eigh(L)
    return vectors[:, :r] @ vectors[:, :r].T


def projector(U: np.ndarray) -> np.ndarray:
    return U @ U.T


def grid_graph(rows: int, columns: int) -> Graph:
    """A grid: a square one has every mode twice, along rows and along columns."""

    def path(m: int) -> sparse.csr_array:
        return sparse.diags_array([np.ones(m - 1)] * 2, offsets=[-1, 1])

    W = sparse.kron(sparse.eye_array(rows), path(columns)) + sparse.kron(
        path(rows), sparse.eye_array(columns)
    )
    return Graph.from_adjacency(W.tocsr())


def copies(graph: Graph, m: int) -> Graph:
    """m equal components: every eigenvalue m times."""
    return Graph.from_adjacency(sparse.block_diag([graph.adjacency] * m).tocsr())


def blobs(n_blobs: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Clouds so far apart that no neighbour is in another cloud."""
    centres = 100.0 * np.arange(n_blobs)[:, None] * np.array([[1.0, 0.5, 0.2]])
    return np.vstack([c + rng.standard_normal((size, 3)) for c in centres])
