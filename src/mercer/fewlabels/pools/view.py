"""Columns that belong together: an embedding, the words of a text, numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from mercer._base.checks import check_choice, check_number
from mercer._base.ranges import unit_rows
from mercer._base.typing import IntArray

Metric: TypeAlias = Literal["euclidean", "cosine"]


@dataclass(frozen=True, eq=False)
class View:
    """A group of columns with a similarity of its own.

    Parameters
    ----------
    name : str
        What the report calls it.
    columns : slice or sequence of int
        Positions among the columns of X. Views may share columns.
    metric : {"euclidean", "cosine"}, default="euclidean"
        With "cosine" rows are brought to length 1 first: what counts is the angle
        between them, as is usual for embeddings and words.
    kernels : bool, default=True
        Whether kernels are made of these columns.
    trees : bool, default=True
        Whether random trees may ask about them.
    prior : float, default=1.0
        How much its kernels count before there are labels, against those of the other
        views.

    See Also
    --------
    KernelPool : The kernels of one view or of all columns.

    Examples
    --------
    >>> View("text", slice(2, None), metric="cosine").positions(5)
    array([2, 3, 4])
    """

    name: str
    columns: slice | Iterable[int]
    metric: Metric = "euclidean"
    kernels: bool = True
    trees: bool = True
    prior: float = 1.0

    def positions(self, n_columns: int) -> IntArray:
        """Return the positions of its columns among all of X.

        Parameters
        ----------
        n_columns : int
            Number of columns of X.
        """
        metrics = ("euclidean", "cosine")
        check_choice(self.metric, f"metric of view {self.name!r}", metrics)
        check_number(self.prior, f"prior of view {self.name!r}", above=0)
        asked = self.columns if isinstance(self.columns, slice) else [*self.columns]
        try:
            found = np.arange(n_columns)[asked]
        except IndexError as error:
            msg = (
                f"view {self.name!r}: columns must be a slice or positions below "
                f"{n_columns}, the number of columns of X; got {self.columns!r}."
            )
            raise ValueError(msg) from error
        if not len(found) or len(np.unique(found)) < len(found):
            what = "names a column twice" if len(found) else "has no columns"
            msg = f"view {self.name!r} {what}: {self.columns!r}."
            raise ValueError(msg)
        return found

    def of(self, X: Any) -> Any:
        """Return its columns of points, of length 1 if angles count.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n, n_features)
            All columns.
        """
        at = self.positions(X.shape[1])
        # Neighbouring columns are not copied.
        is_block = at[-1] - at[0] == len(at) - 1 and (np.diff(at) == 1).all()
        some = X[:, slice(at[0], at[-1] + 1) if is_block else at]
        return unit_rows(some) if self.metric == "cosine" else some


Views: TypeAlias = Mapping[str, slice | Iterable[int]] | Iterable[View]


def read_views(views: Views, n_columns: int) -> tuple[View, ...]:
    """Return views in one form, or raise unless they hold all columns.

    Parameters
    ----------
    views : mapping of names to columns, or iterable of View
    n_columns : int
        Columns of X.

    Examples
    --------
    >>> [v.name for v in read_views({"text": slice(0, 3), "numbers": [3, 4]}, 5)]
    ['text', 'numbers']
    >>> read_views({"text": slice(0, 3)}, 5)
    Traceback (most recent call last):
    ValueError: views: columns 3, 4 are in no view; name them, or leave them out of X.
    """
    if isinstance(views, Mapping):
        views = [View(str(name), columns) for name, columns in views.items()]
    is_list = isinstance(views, Iterable) and not isinstance(views, str)
    found = tuple(views) if is_list else ()
    if not found or not all(isinstance(view, View) for view in found):
        msg = (
            'views must be a dict such as {"text": slice(0, 300), "numbers": [300, '
            f"301]}}, or a list of View; got {views!r}."
        )
        raise TypeError(msg)
    names = [view.name for view in found]
    if len(set(names)) < len(names):
        msg = f"views: two have one name; got {names}."
        raise ValueError(msg)
    if not any(view.kernels for view in found):
        msg = "views: all of them are for trees; kernels need one."
        raise ValueError(msg)
    held = np.concatenate([view.positions(n_columns) for view in found])
    lacking = np.setdiff1d(np.arange(n_columns), held)
    if len(lacking):
        said = ", ".join(map(str, lacking[:5].tolist()))
        said += ", ..." if len(lacking) > 5 else ""
        msg = (
            f"views: columns {said} are in no view; name them, or leave them out of X."
        )
        raise ValueError(msg)
    return found
