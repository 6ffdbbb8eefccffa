"""What happens where directions as exact as asked for cannot be had.

A solver tries as hard as the work allows and reports how many of its pairs are certain.
What becomes of the others is decided here, for the processor and for a device.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from mercer._base.typing import BoolArray, FloatArray
from mercer.exceptions import EigenpairError

OnFailure: TypeAlias = Literal["raise", "fewer", "rough"]


@dataclass(frozen=True, slots=True)
class Settled:
    """How many pairs are kept, and why they are fewer or less exact."""

    kept: int
    note: str  # empty if all are as exact as asked for
    is_rough: bool  # all are kept, some of them less exact than asked for


def settle(sure: int, wanted: int, reason: str, on_failure: OnFailure) -> Settled:
    """Decide what becomes of pairs of which the first `sure` are certain.

    Parameters
    ----------
    sure, wanted : int
        Pairs beside the null vectors.
    reason : str
        What keeps the next pair from being certain.
    on_failure : {"raise", "fewer", "rough"}
        Raise, keep the certain ones, or keep all as they are.

    Raises
    ------
    EigenpairError

    Examples
    --------
    >>> settle(5, 5, "", "raise")
    Settled(kept=5, note='', is_rough=False)
    >>> settle(3, 5, "values crowd", "rough").note
    '3 of 5 directions are certain: values crowd'
    """
    if sure >= wanted:
        return Settled(wanted, "", is_rough=False)
    if on_failure == "raise":
        msg = f"{reason}; ask for at most {sure} directions beside the null vectors."
        raise EigenpairError(msg)
    is_rough = on_failure == "rough"
    note = f"{sure} of {wanted} directions{' are certain' * is_rough}: {reason}"
    return Settled(wanted if is_rough else sure, note, is_rough)


def exact_enough(
    values: FloatArray, residuals: FloatArray, k: int, tol: float, least: FloatArray
) -> BoolArray:
    """Tell which residuals are below `tol` times the k-th value, or what rounding adds.

    Parameters
    ----------
    values, residuals : ndarray of shape (m,)
        Values ascending.
    k : int
        Pairs that are wanted.
    tol : float
    least : ndarray of shape (m,)
        Residuals that rounding may have made.
    """
    goal = tol * max(float(values[min(k, len(values)) - 1]), 0.0)
    small: BoolArray = residuals <= np.maximum(goal, least)
    return small


def first_inexact(
    exact: BoolArray, residuals: FloatArray, tol: float
) -> tuple[int, str]:
    """Return how many pairs come before the first inexact one, and what it lacks."""
    if exact.all():
        return len(exact), ""
    first = int(np.argmin(exact))
    return first, (
        f"pair {first + 1} has the residual {residuals[first]:.1e}, above {tol:.0e} of "
        "the last value"
    )
