"""Pools of several views side by side; the labels decide how much each counts."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import FLOATS, checked_points
from mercer._base.mixins import TakesSparse
from mercer._base.random import as_generator
from mercer._base.rows import stacked
from mercer._base.tensors import joined, torch
from mercer._base.typing import FloatArray, RandomState
from mercer.backends.torch.trees import TorchColumns
from mercer.backends.torch.vectors import DeviceVectors
from mercer.fewlabels.pools.anchor_features import AnchorColumns, AnchorFeatures
from mercer.fewlabels.pools.base import Member, PoolBase, certificate_of
from mercer.fewlabels.pools.choice import PoolPlan
from mercer.fewlabels.pools.view import View, read_views
from mercer.fewlabels.rule import Rule
from mercer.fewlabels.trees import ArrayColumns, Columns
from mercer.spectrum.features import Features


class ViewPool(TakesSparse, PoolBase):
    """One pool for each view, side by side.

    Embeddings, words and numbers are compared in different ways, and in one distance
    the view with most columns, or the noisiest one, drowns the others. Each view is
    therefore a pool of its own, and the labels weigh its kernels as they do any.

    Parameters
    ----------
    views : dict of names to columns, or sequence of View
    plan : PoolPlan
        Which pools are made, and how many directions they have.
    rule : Rule, optional
        Several views have the graphs `Rule.view_graphs` or `Rule.view_anchors` each; a
        single one has all.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    pools_ : tuple of Pool
        One for each view that has kernels.
    vectors_ : ndarray, DeviceVectors or AnchorColumns of shape (n, r)
    blocks_ : tuple of Block
        Those of all pools; `Block.view` tells which view.
    certificate_ : BasisCertificate
        The worst of the pools.

    Examples
    --------
    >>> from mercer.fewlabels.pools.choice import plan_pool
    >>> X = np.random.default_rng(0).standard_normal((40, 5))
    >>> views = {"text": slice(0, 3), "numbers": [3, 4]}
    >>> pool = ViewPool(views, plan_pool(X, 2), random_state=0).fit(X)
    >>> [block.name for block in pool.blocks_ if block.view == "numbers"]
    ['numbers: graph 10', 'numbers: linear', 'numbers: density']
    >>> bool(np.allclose(pool.extend(X), pool.vectors_))
    True
    """

    pools_: tuple[Any, ...]
    n_components = None
    scaling = "auto"
    scales_ = None
    _own: Any  # (n, d) columns of the points that trees ask about; None: sparse
    _known: tuple[View, ...]

    def __init__(
        self,
        views: Mapping[str, Any] | Sequence[View],
        plan: PoolPlan,
        *,
        rule: Rule | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.views = views
        self.plan = plan
        self.rule = rule
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the pool of every view.

        Parameters
        ----------
        X : array-like, sparse array or tensor of shape (n, n_features)
        y : ignored
        """
        X = self._checked(X, reset=True)
        self._known = read_views(self.views, X.shape[1])
        several, rule = self._with_kernels, self._rule
        if len(several) > 1:
            graphs, anchors = rule.view_graphs, rule.view_anchors
            rule = replace(rule, graphs=graphs, nearest_anchors=anchors)
        pools = []
        rngs = as_generator(self.random_state).spawn(len(several))
        for view, rng in zip(several, rngs, strict=True):
            pool: Any = self.plan.make(rng, rule)
            if view.metric == "cosine":
                pool.set_params(scaling="never")
            pools.append(pool.fit(view.of(X)).set_params(random_state=None))
        self.pools_, self._own = tuple(pools), self._asked(X)
        self._join()
        names = [view.name for view in several]
        members = [
            Member(name, "laplacian", None, pool.values_, None, pool.certificate_)
            for name, pool in zip(names, pools, strict=True)
        ]
        said = ", ".join(
            f"{name} ({pool.certificate_.reason})"
            for name, pool in zip(names, pools, strict=True)
        )
        self.certificate_ = certificate_of(members, f"views: {said}")
        return self

    @property
    def _with_kernels(self) -> list[View]:
        return [view for view in self._known if view.kernels]

    def _join(self) -> None:
        """Put the columns of all pools side by side."""
        self.vectors_ = _joined([pool.vectors_ for pool in self.pools_])
        self.values_ = np.concatenate([pool.values_ for pool in self.pools_])
        places, blocks = _places(self.pools_), []
        for view, pool, place in zip(
            self._with_kernels, self.pools_, places, strict=True
        ):
            for block in pool.blocks_:
                start, width = place[block.columns.start], len(block.values)
                at = slice(int(start), int(start) + width)
                name = block.name  # of a single view, as without views
                if len(self.pools_) > 1:
                    name = f"{view.name}: {name}"
                which = {"name": name, "view": view.name}
                blocks.append(replace(block, columns=at, prior=view.prior, **which))
        self.blocks_ = tuple(blocks)
        if hasattr(self, "_moments"):
            del self._moments

    def extend(self, X: Any) -> FloatArray:
        """Return the values of all directions at new points, (m, r).

        Parameters
        ----------
        X : array-like, sparse array or tensor of shape (m, n_features)
        """
        check_is_fitted(self, "vectors_")
        X = self._checked(X, reset=False)
        extended = np.empty((X.shape[0], self.vectors_.shape[1]))
        for view, pool, place in zip(
            self._with_kernels, self.pools_, _places(self.pools_), strict=True
        ):
            extended[:, place] = pool.extend(view.of(X))
        return extended

    def columns(self, X: Any = None) -> Columns | None:
        """Return points as trees see them: the columns of the views for trees.

        None where there are none, or where the points are sparse.

        Parameters
        ----------
        X : array-like or tensor of shape (m, n_features), optional
            New points; its own when left out.
        """
        check_is_fitted(self, "vectors_")
        own = self._own if X is None else self._asked(self._checked(X, reset=False))
        if own is None:
            return None
        kind = TorchColumns if self._is_on_device else ArrayColumns
        return kind(own)

    @property
    def _is_on_device(self) -> bool:
        return isinstance(self.vectors_, DeviceVectors)

    def _asked(self, X: Any) -> Any:
        asked = [view.positions(X.shape[1]) for view in self._known if view.trees]
        if issparse(X) or not asked:
            return None
        return X[:, np.unique(np.concatenate(asked))]

    def grown(self, X: Any) -> Self:
        """Return the pool with further rows, which join by extension.

        Parameters
        ----------
        X : array-like, sparse array or tensor of shape (m, n_features)
        """
        check_is_fitted(self, "vectors_")
        X = self._checked(X, reset=False)
        larger = copy(self)
        larger.pools_ = tuple(
            pool.grown(view.of(X))
            for view, pool in zip(self._with_kernels, self.pools_, strict=True)
        )
        if self._own is not None:
            larger._own = stacked(self._own, self._asked(X))
        larger._join()
        return larger

    def log_density(self, X: Any = None) -> FloatArray:
        """Return the sum of the logarithms of the densities in all views, (m,).

        Parameters
        ----------
        X : array-like, sparse array or tensor of shape (m, n_features), optional
            New points; those it was fitted to when left out.
        """
        if X is not None:
            X = self._checked(X, reset=False)
        parts = [
            pool.log_density(None if X is None else view.of(X))
            for view, pool in zip(self._with_kernels, self.pools_, strict=True)
        ]
        return np.asarray(np.sum(parts, axis=0))

    def without_rows(self) -> Self:
        """Return a pool that extends to new points and forgets its own if it can."""
        slim = copy(self)
        slim.pools_ = tuple(pool.without_rows() for pool in self.pools_)
        slim._join()
        if self._own is not None:
            slim._own = self._own[: len(slim.vectors_)]
        return slim

    def weighted(self, root: FloatArray) -> Features:
        """Return the features U R of the training points, without a copy of U."""
        if not isinstance(self.vectors_, AnchorColumns):
            return super().weighted(root)
        squares = np.empty(len(self.values_))
        for block in self.blocks_:
            squares[block.columns] = np.diag(block.covariance)
        return AnchorFeatures(self.vectors_, root, (np.zeros(len(squares)), squares))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file holds: the pools, whose columns are joined again."""
        state = dict(super().__getstate__())
        for name in ("vectors_", "values_", "blocks_", "_moments"):
            state.pop(name, None)
        if "_own" in state and self._own is not None and self._is_on_device:
            state["_own"] = self._own.cpu().numpy()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what a file holds, and join the columns."""
        super().__setstate__(state)
        if "pools_" not in state:
            return
        self._join()
        if self._own is not None and self._is_on_device:
            device = self.vectors_.tensor.device
            self._own = torch().as_tensor(self._own, device=device)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return checked_points(
            X, self, reset=reset, dtype=FLOATS, at_least=2, tensors=True
        )


def _places(pools: Sequence[Any]) -> list[Any]:
    """Return where the columns of each pool are among those of all.

    Columns of anchor graphs are kept as ties and small matrices, and come before all
    that are written out.
    """
    widths = [len(pool.values_) for pool in pools]
    if not isinstance(pools[0].vectors_, AnchorColumns):
        ends = np.cumsum(widths)
        return [np.arange(e - w, e) for e, w in zip(ends, widths, strict=True)]
    dense = [pool.vectors_.dense.shape[1] for pool in pools]
    tied = [w - q for w, q in zip(widths, dense, strict=True)]
    firsts = np.cumsum([0, *tied]), sum(tied) + np.cumsum([0, *dense])
    return [
        np.r_[firsts[0][i] : firsts[0][i + 1], firsts[1][i] : firsts[1][i + 1]]
        for i in range(len(pools))
    ]


def _joined(parts: Sequence[Any]) -> Any:
    """Return columns of the same points side by side, of whatever kind they are."""
    first = parts[0]
    if isinstance(first, DeviceVectors):
        return DeviceVectors(joined([part.tensor for part in parts], axis=1))
    if not isinstance(first, AnchorColumns):
        return np.hstack(parts)
    split = [len(part.mean) - part.dense.shape[1] for part in parts]
    means = [part.mean[:k] for part, k in zip(parts, split, strict=True)]
    means += [part.mean[k:] for part, k in zip(parts, split, strict=True)]
    return AnchorColumns(
        tuple(Z for part in parts for Z in part.ties),
        tuple(T for part in parts for T in part.maps),
        np.hstack([part.dense for part in parts]),
        np.concatenate(means),
    )
