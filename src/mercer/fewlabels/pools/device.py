"""A pool of kernels of points that PyTorch holds, on a graphics card or not."""

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import FLOATS, checked_points
from mercer._base.random import as_generator
from mercer._base.rows import stacked, thinned
from mercer._base.tensors import as_tensor, to_numpy, told_memory, torch
from mercer._base.typing import FloatArray, RandomState
from mercer.backends.torch.basis import basis_of, equal_points, extended_vectors
from mercer.backends.torch.files import here
from mercer.backends.torch.graph import tuned_weights
from mercer.backends.torch.search import TorchNeighbors, TorchSearch
from mercer.backends.torch.trees import TorchColumns
from mercer.backends.torch.vectors import DeviceVectors, column_sums
from mercer.fewlabels.pools import base
from mercer.fewlabels.pools.base import Member, PoolBase, smallest_positive
from mercer.fewlabels.pools.plain_kernels import LinearMap, linear_map
from mercer.fewlabels.pools.units import SCALED_BY, Scaling, units_for
from mercer.fewlabels.rule import Rule
from mercer.spectrum.base import check_n_components
from mercer.spectrum.directions import certificate_on_device

_ROWS, _NEW_ROWS = 2**17, 2**14  # looked at, and extended to, at a time


class TorchPool(PoolBase):
    """What `KernelPool` is for arrays, for tensors: all large arrays stay in PyTorch.

    Parameters
    ----------
    n_components, n_neighbors, scaling, rule, random_state
        As in `KernelPool`.
    device : str, optional
        Where PyTorch computes, such as "cuda"; by default where the tensor is.

    Attributes
    ----------
    scales_, values_, blocks_, certificate_
        As in `KernelPool`.
    vectors_ : DeviceVectors
        Centred columns, of which rows come as NumPy arrays.

    See Also
    --------
    KernelPool : The same on the processor.
    choose_pool : Chooses between the pools.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> X = torch.arange(8.0)[:, None] * 0.01 + torch.tensor([[0.0]] * 4 + [[1.0]] * 4)
    >>> pool = TorchPool(n_neighbors=(2, 3), random_state=0).fit(X)
    >>> [block.name for block in pool.blocks_]
    ['graph 2', 'graph 3', 'linear', 'density']
    """

    vectors_: DeviceVectors
    _own: Any  # (n, d) points on one scale, those that joined later last
    _device: str

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: tuple[int, ...] | None = None,
        scaling: Scaling = "auto",
        device: str | None = None,
        rule: Rule | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.scaling = scaling
        self.device = device
        self.rule = rule
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:
        """Search the neighbours once and compute every basis.

        Parameters
        ----------
        X : tensor or array-like of shape (n, n_features)
        y : ignored
        """
        X = as_tensor(self._checked(X, reset=True), self.device)
        with told_memory(X):
            return self._fit(X, as_generator(self.random_state))

    def _fit(self, X: Any, rng: np.random.Generator) -> Self:
        t = torch()
        self._device = str(X.device)
        some = thinned(X, SCALED_BY)
        self.as_roots_, self.scales_ = units_for(some, self.scaling, self._rule)
        plain_rng = rng.spawn(1)[0]  # whatever the graphs draw, as on the host
        self._search = TorchSearch.prepare(self._usual(X), rng=rng)
        self._own = self._search.points.X
        n = self._n_fitted = len(self._own)
        sizes = sorted({min(int(k), n - 1) for k in self._graphs})
        self._width = min(max(sizes[-1], self._rule.density_neighbor), n - 1)
        found = self._search.neighbors(self._width)
        near, place = found.in_order()
        members = [self._graph_member(near, place, k, rng) for k in sizes]
        del near
        r = check_n_components(self._directions, n)
        if linear := linear_map(self._own, r, plain_rng):
            columns, known = _in_parts(linear, self._own), linear.certificate
            members.append(
                Member("linear", "kernel", columns, linear.values, linear, known)
            )
        self._smallest = smallest_positive(found.distances)
        density = self._log_density(found.distances)
        members.append(Member("density", "density", density, np.ones(1), None))
        number = members[0].vectors.dtype
        U = t.cat([member.vectors.to(number) for member in members], dim=1)
        members = [replace(member, vectors=None) for member in members]  # are large
        self._mean = column_sums(U)[0] / n
        U -= self._mean.to(number)
        self.vectors_ = DeviceVectors(U)
        self._keep_members(members, lambda at: to_numpy(U[:, at].T @ U[:, at]) / n)
        return self

    def _graph_member(
        self, near: TorchNeighbors, place: Any, k: int, rng: np.random.Generator
    ) -> Member:
        n = self._n_fitted
        basis = basis_of(
            self._search,
            near,
            check_n_components(self._directions, n),
            k,
            weights="self_tuning",
            walk=True,
            tol=base.tolerance(n),
            on_failure="rough",
            most_work=base.WORK_PER_EDGE * 2 * n * k,  # counted both ways
            rng=rng,
        )
        proof = certificate_on_device(basis)
        values, scales = basis.pairs.values, basis.graph.scales[place]
        vectors = basis.vectors[place]
        return Member(f"graph {k}", "laplacian", vectors, values, scales, proof, k)

    def extend(self, X: Any) -> FloatArray:
        """Return the values of all directions at new points, (m, r).

        Parameters
        ----------
        X : tensor or array-like of shape (m, n_features)
        """
        values: FloatArray = to_numpy(self._extended(self._placed(X)))
        return values

    def _extended(self, X: Any) -> Any:
        """Return the centred columns at points that are on one scale."""
        n = self._n_fitted
        ids, distances = self._search.query(X, min(self._width, n))
        fitted = self.vectors_.tensor[:n]
        U = fitted.new_empty((len(X), fitted.shape[1]))
        for block, part in zip(self.blocks_, self._parts, strict=True):
            at, mean = block.columns, self._mean[block.columns]
            if block.kind == "laplacian":
                own, k = (fitted[:, at] + mean).to(U.dtype), block.n_neighbors
                for start in range(0, len(X), _NEW_ROWS):
                    rows = slice(start, start + _NEW_ROWS)
                    near, far = ids[rows, :k], distances[rows, :k]
                    weights = tuned_weights(near, far, part)
                    found = extended_vectors(own, block.values, weights, near, far)
                    U[rows, at] = (found - mean).to(U.dtype)
            elif block.kind == "density":
                U[:, at] = (self._log_density(distances) - mean).to(U.dtype)
            else:
                U[:, at] = (_in_parts(part, X) - mean).to(U.dtype)
        density = fitted[:, -1]
        U[:, -1] = U[:, -1].clamp(float(density.min()), float(density.max()))
        known, same = equal_points(ids, distances)
        U[known] = fitted[same]
        return U

    def columns(self, X: Any = None) -> TorchColumns:
        """Return points as the graphs see them, columns on one scale.

        Parameters
        ----------
        X : tensor or array-like of shape (m, n_features), optional
            New points; the training points when left out.
        """
        check_is_fitted(self, "vectors_")
        return TorchColumns(self._own if X is None else self._placed(X))

    def grown(self, X: Any) -> Self:
        """Return the pool with further rows, which join by extension.

        Parameters
        ----------
        X : tensor or array-like of shape (m, n_features)
        """
        points, larger = self._placed(X), copy(self)
        more = self._extended(points)
        larger._own = stacked(self._own, points)
        larger.vectors_ = DeviceVectors(stacked(self.vectors_.tensor, more))
        return larger

    def log_density(self, X: Any = None) -> FloatArray:
        """Return the logarithm of the density, but for a constant, (m,).

        Parameters
        ----------
        X : tensor or array-like of shape (m, n_features), optional
            New points; those it was fitted to when left out.
        """
        density: FloatArray
        if X is None:
            column = self.vectors_.tensor[: self._n_fitted, -1]
            density = to_numpy(column + self._mean[-1])
            return density
        k = min(self._rule.density_neighbor, self._n_fitted)
        _, distances = self._search.query(self._placed(X), k)
        density = to_numpy(self._log_density(distances))[:, 0]
        return density

    def _placed(self, X: Any) -> Any:
        """Return new points on the device, columns on one scale."""
        check_is_fitted(self, "vectors_")
        X = as_tensor(self._checked(X, reset=False), self._device)
        return self._usual(X.to(self._own.dtype))

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return checked_points(
            X, self, reset=reset, dtype=FLOATS, at_least=2, tensors=True, sparse=False
        )

    def _usual(self, points: Any) -> Any:
        if self.as_roots_:
            return points.clamp(min=0).sqrt()
        if self.scales_ is None:
            return points
        return points / as_tensor(self.scales_, self._device).to(points.dtype)

    def _log_density(self, distances: Any) -> Any:
        k = min(self._rule.density_neighbor, distances.shape[1])
        return -distances[:, k - 1].clamp(min=self._smallest).log()[:, None]

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file holds: arrays, and no search."""
        state = dict(super().__getstate__())
        if "vectors_" in state:
            del state["_search"]
            state["vectors_"] = _on_host(self.vectors_.tensor)
            state["_own"], state["_mean"] = (
                self._own.cpu().numpy(),
                to_numpy(self._mean),
            )
            state["_parts"] = [
                _on_host(part) if block.kind == "laplacian" else part
                for block, part in zip(self.blocks_, self._parts, strict=True)
            ]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what a file holds, to the same device if this machine has it."""
        super().__setstate__(state)
        if "vectors_" not in state:
            return
        t = torch()
        self._device = here(self._device)

        def placed(values: Any) -> Any:
            return t.as_tensor(values, device=self._device)

        self._own, self._mean = placed(self._own), placed(self._mean)
        self.vectors_ = DeviceVectors(placed(state["vectors_"]))
        self._parts = [
            placed(part) if block.kind == "laplacian" else part
            for block, part in zip(self.blocks_, self._parts, strict=True)
        ]
        fitted = self._own[: self._n_fitted]
        self._search = TorchSearch.prepare(fitted, rng=np.random.default_rng(0))


def _in_parts(linear: LinearMap, X: Any) -> Any:
    """Return the columns of the linear kernel at points of a device, (m, r)."""
    parts = [linear.at(X[i : i + _ROWS]).float() for i in range(0, len(X), _ROWS)]
    return torch().cat(parts)


def _on_host(values: Any) -> Any:
    return values.cpu().numpy()
