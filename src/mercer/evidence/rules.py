"""Rules that guess the class of rows."""

from typing import Any

import numpy as np

from mercer._base.checks import is_empty


def applied(rule: Any, table: Any) -> list[Any]:
    """Return the vote of a rule on every row, None where it says nothing.

    Parameters
    ----------
    rule : callable or (class, str)
        A function of a row; or a class, and the condition under which a row is of it,
        as `pandas.DataFrame.eval` reads it. A condition is code, as a function is:
        take none from strangers.
    table : data frame or iterable of rows

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"amount": [-5, 20], "text": ["refund", "hello"]})
    >>> applied(("complaint", "amount < 0 or text.str.contains('angry')"), table)
    ['complaint', None]
    """
    is_frame = hasattr(table, "to_dict") and hasattr(table, "columns")
    if callable(rule):
        return [rule(row) for row in (table.to_dict("records") if is_frame else table)]
    label, condition = rule
    if not is_frame:
        msg = f"the condition {condition!r} needs a data frame; give a function."
        raise TypeError(msg)
    fires = np.asarray(table.eval(condition, engine="python"))
    if fires.shape != (len(table),) or not all(
        isinstance(fire, bool | np.bool_) or is_empty(fire) for fire in fires
    ):
        msg = f"the condition {condition!r} must be true or false for every row."
        raise ValueError(msg)
    return [label if not is_empty(fire) and fire else None for fire in fires]
