"""Columns that have one value per class, as a copy of the target has.

Such a column was often filled in from the labels, as a code of the class. It makes
hidden labels easy, and says nothing of the other rows. It may also be a fact that
settles the class; then no model is needed. How sure one can be is counted in bits: what
the labels would cost to write down, which the column has reproduced.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

# From this on a column is left out, 50 labels of two even classes. A column that is
# right in 95 of 100 rows agrees with so many by chance in one table of 13.
LEAVES = 50.0
# From this on it is asked about.
ASKS = 20.0
# Labelled rows of a first look at many columns.
_GLANCE = 48


def mirrors(frame: "pd.DataFrame", strings: list[str], codes: IntArray) -> list[str]:
    """Return the columns with one value per class, each of another value.

    Parameters
    ----------
    frame : DataFrame of n rows
        The labelled rows, without the target.
    strings : list of str
        Columns that hold strings.
    codes : ndarray of shape (n,)
        Class of each row.
    """
    numbers = frame.select_dtypes(["number", "bool"])
    Z = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    columns = np.arange(Z.shape[1])
    for rows in (slice(_GLANCE), slice(None)):
        columns = columns[_one_per_class(Z[rows, columns], codes[rows])]
    found = {str(numbers.columns[k]) for k in columns}
    for name in strings:
        values, kinds = frame[name].factorize(use_na_sentinel=True)
        if len(kinds) == len(np.unique(codes)) and values.min(initial=0) >= 0:
            found |= {name} if _one_per_class(values[:, None], codes)[0] else set()
    return [name for name in frame.columns.tolist() if name in found]


def bits(codes: IntArray) -> float:
    """Return what the classes of some rows cost to write down, given their shares.

    Examples
    --------
    >>> bits(np.array([0, 1] * 25))
    50.0
    """
    counts = np.unique(codes, return_counts=True)[1]
    return float(-(counts * np.log2(counts / max(len(codes), 1))).sum())


def _one_per_class(Z: FloatArray | NDArray[Any], codes: IntArray) -> BoolArray:
    """Tell which columns are constant within each class and differ between any two."""
    values = []
    constant = np.ones(Z.shape[1], dtype=bool)
    for c in np.unique(codes):
        part = Z[codes == c]
        constant &= (part == part[0]).all(axis=0)  # False where a cell is empty
        values.append(part[0])
    ordered = np.sort(np.array(values), axis=0)
    return np.asarray(constant & (np.diff(ordered, axis=0) > 0).all(axis=0))
