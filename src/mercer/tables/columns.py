"""What can be told of a single column, and done to it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._typing import FloatArray
from mercer.tables.table import TableError

if TYPE_CHECKING:
    import pandas as pd


def apply_steps(steps: list[Any], column: "pd.Series[Any]") -> FloatArray:
    """Return what fitted steps of skrub and scikit-learn make of a column."""
    value: Any = column
    for step in steps:
        is_of_one_column = hasattr(step, "__single_column_transformer__")
        value = step.transform(value if is_of_one_column else value.to_frame())
    return np.asarray(value, dtype=np.float32)


def is_flag(values: FloatArray) -> bool:
    """Tell whether all numbers that are there are 0 or 1."""
    return bool(np.isin(values[~np.isnan(values)], (0, 1)).all())


def is_text(column: "pd.Series[Any]", n_words: float) -> bool:
    """Tell texts from categories: so many words a cell, and hardly two alike."""
    import pandas as pd

    if not (pd.api.types.is_string_dtype(column) or column.dtype == object):
        return False
    filled = column.dropna()
    if len(filled) == 0 or not isinstance(filled.iloc[0], str):
        return False
    sample = filled.iloc[:: max(len(filled) // 500, 1)].astype(str)
    words = sample.str.split().str.len().mean()
    return bool(words >= n_words and sample.nunique() > 0.5 * len(sample))


def strings_of(column: "pd.Series[Any]") -> list[str]:
    """Return the cells as strings, empty ones as nothing."""
    return [value if isinstance(value, str) else "" for value in column]


def as_floats(block: Any) -> Any:
    """Return numbers of single or double precision."""
    return (
        block if block.dtype in (np.float32, np.float64) else block.astype(np.float32)
    )


def check_numbers(name: str, block: Any, source: str) -> None:
    """Raise, with the row, unless all vectors hold finite numbers."""
    if block.dtype.kind not in "biuf":
        msg = f"{source}: the vectors in {name!r} hold {block.dtype}, not numbers."
        raise TableError(msg)
    if block.dtype.kind == "f" and not np.isfinite(block.sum()):
        wrong = ~np.isfinite(block).all(axis=1)
        if wrong.any():
            row = int(np.argmax(wrong)) + 1
            msg = f"{source}: the vector in row {row}, {name!r}, holds NaN or infinity."
            raise TableError(msg)
