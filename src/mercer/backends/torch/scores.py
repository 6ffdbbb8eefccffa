"""Scores of points against classes on a device: leads, decisions and sums.

The twins of `mercer.fewlabels.sizes` for tensors, one entry per point and class; only
numbers per class come to the host. All of it is in double precision, as on the host.
"""

from typing import Any

import numpy as np

from mercer._base.tensors import to_numpy, torch
from mercer._base.typing import FloatArray, IntArray

_SORTED_AT_A_TIME = 2**27  # leads


class Leads:
    """By how much classes are ahead, for offsets that change.

    Parameters
    ----------
    scores : tensor of shape (n, C)
    """

    def __init__(self, scores: Any) -> None:
        self.columns = scores.T.contiguous()  # (C, n)

    def at(self, b: FloatArray, places: IntArray) -> FloatArray:
        """Return the leads at given places in ascending order, (C, 2).

        Parameters
        ----------
        b : ndarray of shape (C,)
            Offsets of the classes.
        places : int ndarray of shape (C, 2)
        """
        t = torch()
        C, n = self.columns.shape
        device = self.columns.device
        lead = self.columns + like(b, self.columns)[:, None]
        first, second, best = top_two(lead)
        lead -= first
        lead.scatter_(0, best[None], (first - second)[None])
        at = t.as_tensor(places, device=device)
        step = max(1, _SORTED_AT_A_TIME // n)
        found = [
            lead[c : c + step].sort(dim=1).values.gather(1, at[c : c + step])
            for c in range(0, C, step)
        ]
        values: FloatArray = to_numpy(t.cat(found))
        return values


def like(b: FloatArray, scores: Any) -> Any:
    """Return numbers of the host as a tensor where the scores are."""
    return torch().as_tensor(b, dtype=scores.dtype, device=scores.device)


def top_two(columns: Any) -> tuple[Any, Any, Any]:
    """Return the largest and the second entry of columns, and where the first is.

    Parameters
    ----------
    columns : tensor of shape (C, n)
        C >= 2. It is as before when this returns.
    """
    t = torch()
    first, best = columns.max(dim=0)
    columns.scatter_(0, best[None], -t.inf)
    second = columns.max(dim=0).values
    columns.scatter_(0, best[None], first[None])
    return first, second, best


def decide(scores: Any, *, tol: float, undecided: int) -> Any:
    """Return the class with the largest score, or `undecided` in a tie, (n,)."""
    if scores.shape[1] == 1:
        return scores.argmax(dim=1)
    columns = scores.T.contiguous()
    first, second, best = top_two(columns)
    best[first - second <= tol * columns.abs().max()] = undecided
    return best


def class_counts(decision: Any, n_classes: int) -> IntArray:
    """Return how many points each class has, (C,); negative codes are in none."""
    counts = decision[decision >= 0].bincount(minlength=n_classes)
    found: IntArray = counts.cpu().numpy()
    return found


def one_hot(decision: Any, n_classes: int) -> Any:
    """Return 1 where a point is in a class, (n, C); in a row of a tie all are 0."""
    t = torch()
    classes = t.arange(n_classes, device=decision.device)
    return (decision[:, None] == classes).float()


def mean_squares(scores: Any) -> FloatArray:
    """Return the mean square of each column, (C,)."""
    squares: FloatArray = to_numpy((scores * scores).mean(dim=0))
    return squares


def rows_of(scores: Any, rows: IntArray) -> FloatArray:
    """Return some rows, on the host."""
    some: FloatArray = to_numpy(taken(scores, rows))
    return some


def taken(scores: Any, rows: IntArray) -> Any:
    """Return some rows, where all of them are."""
    return scores[torch().as_tensor(np.asarray(rows), device=scores.device)]


def placed(decision: Any, rows: IntArray, codes: IntArray) -> Any:
    """Return a decision in which some points have given classes."""
    t = torch()
    index = t.as_tensor(np.asarray(rows), device=decision.device)
    decision[index] = t.as_tensor(np.asarray(codes), device=decision.device)
    return decision
