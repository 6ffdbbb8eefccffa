"""The pool of kernels of points on a device."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from mercer._typing import FloatArray
from mercer.backends._torch import to_numpy, torch
from mercer.backends.torch_basis import DeviceBasis, basis_of
from mercer.backends.torch_search import TorchSearch
from mercer.kernels.parametric import RBF, Linear
from mercer.spectrum.gram import GramBasis

Kind: TypeAlias = Literal["laplacian", "kernel", "density"]

_SAMPLE = 8192  # rows whose Gram matrices give the directions of plain kernels
_LANDMARKS = 300
_ROWS = 2**17


@dataclass(frozen=True, eq=False)
class DeviceGram:
    """Principal directions of a kernel over a sample, at any point of a device."""

    points: Any  # (m, d) landmarks
    gamma: float | None  # None: the linear kernel
    offset: Any  # taken off kernel values, (m,) or a number
    weights: Any  # (m, r)
    values: FloatArray  # (r,)
    basis: GramBasis

    @classmethod
    def of(cls, sample: Any, basis: GramBasis) -> "DeviceGram":
        """Fit a basis to rows on the host and move it to their device."""
        t = torch()
        basis = basis.fit(to_numpy(sample))
        kernel: Any = basis._kernel
        move = {"dtype": t.float64, "device": sample.device}
        return cls(
            t.as_tensor(basis._points, **move),
            getattr(kernel, "gamma", None),
            t.as_tensor(np.asarray(basis._offset), **move),
            t.as_tensor(basis._weights, **move),
            basis.values_,
            basis,
        )

    def at(self, X: Any) -> Any:
        """Return the directions at rows, (m, r)."""
        t = torch()
        parts = []
        for start in range(0, len(X), _ROWS):
            x = X[start : start + _ROWS].double()
            if self.gamma is None:
                K = x @ self.points.T
            else:
                squares = (x * x).sum(dim=1)[:, None] - 2 * x @ self.points.T
                squares += (self.points * self.points).sum(dim=1)
                K = t.exp(-self.gamma * squares.clamp_(min=0))
            parts.append(((K - self.offset) @ self.weights).float())
        return t.cat(parts)


@dataclass(frozen=True, eq=False)
class DevicePool:
    """Columns of all kernels over the points of a device, and what extends them."""

    search: TorchSearch
    graphs: tuple[tuple[int, DeviceBasis], ...]  # sizes, ascending
    grams: tuple[tuple[str, DeviceGram], ...]
    vectors: Any  # (n, r) centred
    mean: Any  # (r,)
    smallest: float  # what stands for the distance 0 between equal points
    density_neighbor: int

    @classmethod
    def of(
        cls,
        X: Any,
        sizes: tuple[int, ...],
        n_components: int,
        density_neighbor: int,
        *,
        device: str | None,
        rng: np.random.Generator,
    ) -> "DevicePool":
        """Search the neighbours once and compute every basis."""
        t = torch()
        search = TorchSearch.prepare(X, device=device, rng=rng)
        points = search.points.X
        n = len(points)
        sizes = tuple(sorted({min(int(k), n - 1) for k in sizes}))
        found = search.neighbors(min(max(sizes[-1], density_neighbor), n - 1))
        graphs = tuple((k, _graph(search, found, n_components, k, rng)) for k in sizes)
        grams: list[tuple[str, DeviceGram]] = []
        if bool((points != points[:1]).any()):
            rows = rng.choice(n, min(n, _SAMPLE), replace=False)
            sample = points[t.as_tensor(rows, device=points.device)]
            for name, kernel in (("linear", Linear()), ("gaussian", RBF(_RULE))):
                plain = GramBasis(
                    n_components,
                    kernel=kernel,
                    centered=True,
                    n_landmarks=_LANDMARKS,
                    random_state=rng,
                )
                grams.append((name, DeviceGram.of(sample, plain)))
        positive = found.distances[found.distances > 0]
        smallest = float(positive.min()) if len(positive) else 1.0
        columns = [basis.vectors for _, basis in graphs]
        columns += [gram.at(points) for _, gram in grams]
        columns.append(_log_density(found.distances, density_neighbor, smallest))
        U = t.cat([column.float() for column in columns], dim=1)
        mean = U.mean(dim=0, dtype=t.float64).float()
        U -= mean
        return cls(search, graphs, tuple(grams), U, mean, smallest, density_neighbor)

    def columns(self) -> Iterator[tuple[str, Kind, slice, FloatArray, int]]:
        """Yield name, kind, columns, values and neighbours of each block."""
        start = 0
        for k, basis in self.graphs:
            columns = slice(start, start + basis.vectors.shape[1])
            yield f"graph {k}", "laplacian", columns, basis.pairs.values, k
            start = columns.stop
        for name, gram in self.grams:
            columns = slice(start, start + len(gram.values))
            yield name, "kernel", columns, gram.values, 0
            start = columns.stop
        yield "density", "density", slice(start, start + 1), np.ones(1), 0

    def covariance(self, columns: slice) -> FloatArray:
        """Return the covariance of some columns over the points, (r, r)."""
        U = self.vectors[:, columns]
        moments: FloatArray = to_numpy(U.T @ U) / len(U)
        return moments

    def extend(self, X: Any) -> FloatArray:
        """Return the values of all directions at new points, (m, r)."""
        t = torch()
        points = self.search.points.X
        X = t.as_tensor(X, dtype=points.dtype, device=points.device)
        width = min(max(self.graphs[-1][0], self.density_neighbor), len(points))
        ids, distances = self.search.query(X, width)
        columns = [
            basis.extended(ids[:, :k], distances[:, :k]) for k, basis in self.graphs
        ]
        columns += [gram.at(X) for _, gram in self.grams]
        columns.append(_log_density(distances, self.density_neighbor, self.smallest))
        U = t.cat([column.float() for column in columns], dim=1) - self.mean
        density = self.vectors[:, -1]
        U[:, -1] = U[:, -1].clamp(float(density.min()), float(density.max()))
        values: FloatArray = to_numpy(U)
        return values


_RULE = "mean_distance"


def _graph(
    search: TorchSearch, found: Any, r: int, k: int, rng: np.random.Generator
) -> DeviceBasis:
    return basis_of(search, found, r, k, weights="self_tuning", walk=True, rng=rng)


def _log_density(distances: Any, k: int, smallest: float) -> Any:
    scale = distances[:, min(k, distances.shape[1]) - 1].clamp(min=smallest)
    return -scale.log()[:, None]
