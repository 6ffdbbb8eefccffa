"""The pool of kernels of points on a device."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from mercer._base.tensors import to_numpy, torch
from mercer._base.typing import FloatArray
from mercer.backends.torch.basis import DeviceBasis, basis_of
from mercer.backends.torch.search import TorchSearch
from mercer.backends.torch.vectors import column_sums
from mercer.fewlabels.pools.plain_kernels import (
    LANDMARKS,
    PlainKernel,
    linear_landmarks,
    plain_kernels,
)
from mercer.kernels.parametric import RBF, Linear
from mercer.spectrum.gram import GramBasis

Kind: TypeAlias = Literal["laplacian", "kernel", "density"]

_ROWS = 2**17


@dataclass(frozen=True, eq=False)
class DeviceGram:
    """Principal directions of a kernel over a sample, at any point of a device."""

    center: Any  # (d,) taken off points, which are
    root: float  # then multiplied by this
    points: Any  # (m, d) landmarks, as the points are then
    gamma: float | None  # None: the linear kernel
    offset: Any  # taken off kernel values, (m,) or a number
    weights: Any  # (m, r)
    values: FloatArray  # (r,)
    lost_trace: float

    @classmethod
    def of_basis(cls, sample: Any, basis: GramBasis) -> "DeviceGram":
        """Fit a basis to rows on the host and move it to their device."""
        basis = basis.fit(to_numpy(sample))
        kernel: Any = basis._kernel
        return cls(
            0.0,
            1.0,
            _moved(basis._points, sample),
            getattr(kernel, "gamma", None),
            _moved(basis._offset, sample),
            _moved(basis._weights, sample),
            basis.values_,
            basis.certificate_.lost_trace,
        )

    @classmethod
    def of_plain(cls, sample: Any, kernel: PlainKernel) -> "DeviceGram":
        """Move the directions of a sample to its device."""
        is_linear = kernel.name == "linear"
        d = sample.shape[1]
        return cls(
            _moved(kernel.center, sample),
            kernel.root,
            _moved(np.eye(d) if is_linear else kernel.landmarks, sample),
            None if is_linear else 1.0,
            _moved(np.zeros(d) if is_linear else kernel.offset, sample),
            _moved(kernel.weights, sample),
            kernel.values,
            0.0,
        )

    def at(self, X: Any) -> Any:
        """Return the directions at rows, (m, r)."""
        t = torch()
        parts = []
        for start in range(0, len(X), _ROWS):
            x = (X[start : start + _ROWS].double() - self.center) * self.root
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
        sampled_above: int,
        tol: float,
        work_per_edge: float,
        device: str | None,
        rng: np.random.Generator,
    ) -> "DevicePool":
        """Search the neighbours once and compute every basis.

        The plain kernels of more than `sampled_above` points are known from as many;
        `tol` and `work_per_edge` are those of the eigenvectors of the graphs.
        """
        t = torch()
        plain_rng = rng.spawn(1)[0]  # whatever the graphs draw, as on the host
        search = TorchSearch.prepare(X, device=device, rng=rng)
        points = search.points.X
        n = len(points)
        sizes = tuple(sorted({min(int(k), n - 1) for k in sizes}))
        found = search.neighbors(min(max(sizes[-1], density_neighbor), n - 1))
        graphs = tuple(
            (
                k,
                basis_of(
                    search,
                    found,
                    n_components,
                    k,
                    weights="self_tuning",
                    walk=True,
                    tol=tol,
                    on_failure="rough",
                    most_work=work_per_edge * 2 * n * k,  # counted both ways
                    rng=rng,
                ),
            )
            for k in sizes
        )
        grams = _grams(points, n_components, sampled_above, plain_rng)
        positive = found.distances[found.distances > 0]
        smallest = float(positive.min()) if len(positive) else 1.0
        columns = [basis.vectors for _, basis in graphs]
        columns += [gram.at(points) for _, gram in grams]
        columns.append(_log_density(found.distances, density_neighbor, smallest))
        number = columns[0].dtype
        U = t.cat([column.to(number) for column in columns], dim=1)
        del columns  # they are large
        mean = (column_sums(U)[0] / n).to(number)
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
        number = self.vectors.dtype
        U = t.cat([column.to(number) for column in columns], dim=1) - self.mean
        density = self.vectors[:, -1]
        U[:, -1] = U[:, -1].clamp(float(density.min()), float(density.max()))
        values: FloatArray = to_numpy(U)
        return values


_RULE = "mean_distance"


def _grams(
    points: Any, r: int, sampled_above: int, rng: np.random.Generator
) -> list[tuple[str, DeviceGram]]:
    """Return the directions of the plain kernels, as the pool of the host has them."""
    if not bool((points != points[:1]).any()):
        return []
    n, d = points.shape
    if n > sampled_above:
        drawn = np.sort(rng.choice(n, sampled_above, replace=False))
        sample = points[torch().as_tensor(drawn, device=points.device)]
        return [
            (kernel.name, DeviceGram.of_plain(sample, kernel))
            for kernel in plain_kernels(
                to_numpy(sample), r, n_landmarks=LANDMARKS, rng=rng
            )
        ]
    return [
        (
            name,
            DeviceGram.of_basis(
                points,
                GramBasis(
                    r, kernel=kernel, centered=True, n_landmarks=count, random_state=rng
                ),
            ),
        )
        for name, kernel, count in (
            ("linear", Linear(), linear_landmarks(n, d)),
            ("gaussian", RBF(_RULE), min(LANDMARKS, n)),
        )
    ]


def _moved(values: Any, like: Any) -> Any:
    t = torch()
    return t.as_tensor(np.asarray(values), dtype=t.float64, device=like.device)


def _log_density(distances: Any, k: int, smallest: float) -> Any:
    scale = distances[:, min(k, distances.shape[1]) - 1].clamp(min=smallest)
    return -scale.log()[:, None]
