"""Columns of numbers that rise and fall together: one of them would do."""

import numpy as np
import pandas as pd

from mercer._base.random import draw_rows
from mercer.app.tables.columns import numbers_among
from mercer.app.tables.table import Table

# Rank correlation from which two columns say much the same.
_SAME = 0.9
# Limits of work.
_MOST_COLUMNS, _MOST_ROWS = 60, 2_000
_FEWEST_ROWS = 20


def same_columns(
    table: Table, aside: set[str | None]
) -> tuple[tuple[str, str, float], ...]:
    """Return pairs of columns and their rank correlations, the strongest first.

    Columns `aside` do not count; rows in which either cell is empty are left out.

    Examples
    --------
    >>> from mercer.app.tables.table import as_table
    >>> size = np.arange(30.0)
    >>> other = np.resize([3.0, 1, 2, 0, 7], 30)
    >>> table = as_table({"size": size, "cost": 9 - size**3, "other": other})
    >>> same_columns(table, set())
    (('size', 'cost', -1.0),)
    """
    names = [c for c in numbers_among(table.frame) if c not in aside][:_MOST_COLUMNS]
    rows = draw_rows(np.arange(len(table)), _MOST_ROWS, np.random.default_rng(0))
    Z = table.frame[names].iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):  # a column of one value
        R = pd.DataFrame(Z).corr("spearman", min_periods=_FEWEST_ROWS).to_numpy()
    pairs = np.argwhere(np.triu(np.abs(R) >= _SAME, k=1))
    pairs = pairs[np.argsort(-np.abs(R[tuple(pairs.T)]), kind="stable")]
    return tuple((names[i], names[j], round(float(R[i, j]), 4)) for i, j in pairs)
