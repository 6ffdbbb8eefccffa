"""Whatever a user passes as `pairs`."""

from typing import TypeAlias

import numpy as np
from scipy import sparse

from mercer._base.typing import ArrayLike
from mercer.evidence.pairs.constraints import Pairs
from mercer.evidence.pairs.ends import as_ends

# What learners take as `pairs=`.
PairsLike: TypeAlias = Pairs | tuple[ArrayLike, ArrayLike] | ArrayLike


def as_pairs(pairs: PairsLike, n_points: int) -> Pairs:
    """Read whatever a user passes as `pairs`.

    Parameters
    ----------
    pairs : Pairs, tuple, array or data frame
        A tuple is (must_link, cannot_link); an array has rows (i, j, sign) or is a
        square matrix T of signs.
    n_points : int
        Number of points the pairs must refer to.

    Examples
    --------
    >>> as_pairs(([(0, 1)], [(1, 2)]), 3).signs.tolist()
    [1.0, -1.0]
    """
    if isinstance(pairs, Pairs):
        if pairs.n_points != n_points:
            msg = f"pairs are over {pairs.n_points} points, X has {n_points} rows."
            raise ValueError(msg)
        return pairs
    if isinstance(pairs, tuple) and len(pairs) == 2:
        return Pairs.from_index(*pairs, n_points=n_points)
    if hasattr(pairs, "columns"):
        return Pairs.from_frame(pairs, n_points=n_points)
    shape = np.shape(pairs)
    if sparse.issparse(pairs) or (len(shape) == 2 and shape == (n_points, n_points)):
        found = Pairs.from_matrix(pairs)
        return as_pairs(found, n_points)
    if len(shape) == 2 and shape[1] == 3:
        rows = np.asarray(pairs)
        ends = as_ends(rows[:, :2], "pairs")
        return Pairs(ends[:, 0], ends[:, 1], rows[:, 2].astype(np.float64), n_points)
    msg = (
        "pairs must be Pairs, a tuple (must_link, cannot_link), rows (i, j, sign), a "
        f"square matrix T or a data frame; got {type(pairs).__name__} of shape {shape}."
    )
    raise TypeError(msg)
