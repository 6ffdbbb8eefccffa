"""What a person passes as X: points, or a graph of them."""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse

from mercer._base.ranges import all_equal
from mercer.exceptions import NearlyConstantKernelWarning
from mercer.graphs.neighbors import Graph


def n_points(X: Any) -> int:
    """Return the number of points in an array or a graph."""
    if isinstance(X, Graph):
        return X.n_points
    shape = shape_of(X)
    return int(shape[0]) if shape else 0


def shape_of(X: Any) -> tuple[int, ...]:
    """Return the shape of anything that can be made an array."""
    return tuple(X.shape if hasattr(X, "shape") else np.asarray(X).shape)


def refuse_graph(X: Any, who: str, instead: str) -> None:
    """Raise if X is a graph where points are compared."""
    if isinstance(X, Graph):
        msg = f"X is a Graph, and {who} compares points. Give the points, or {instead}."
        raise TypeError(msg)


def refuse_equal_points(X: Any, who: str) -> None:
    """Raise if all rows of X are equal where kernels are chosen by them."""
    if all_equal(X):
        msg = (
            f"all {X.shape[0]} points are equal, and {who} weighs kernels by how they "
            "tell points apart; give points that differ."
        )
        raise ValueError(msg)


def warn_of_equal_points(X: Any) -> None:
    """Warn whoever called `fit` of a model if all rows of an array are equal."""
    if (isinstance(X, np.ndarray) or issparse(X)) and all_equal(X):
        msg = "all training points are equal: nothing tells classes apart."
        warnings.warn(msg, NearlyConstantKernelWarning, stacklevel=4)
