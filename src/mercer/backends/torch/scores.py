"""Scores of points against classes on a device, in double precision as on the host."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.tensors import sides, to_numpy, torch
from mercer._base.typing import FloatArray, IntArray
from mercer.optim.leads import stepped

_SORTED_AT_A_TIME = 2**27  # leads


@dataclass(frozen=True, slots=True, eq=False)
class TorchScores:
    """Scores in a tensor: `mercer.spectrum.scores.Scores` on a device.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> TorchScores(torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 2.0]])).decide()
    array([ 0, -1,  1])
    """

    values: Any  # (n, C)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of classes."""
        n, C = self.values.shape
        return int(n), int(C)

    def decide(self, b: FloatArray | None = None, *, tol: float = 1e-8) -> IntArray:
        """Return the class with the largest score plus offset, (n,); -1 in a tie."""
        if self.values.shape[1] == 1:
            return np.zeros(len(self.values), np.intp)
        moved = self.values if b is None else self.values + self._like(b)
        columns = moved.T.contiguous()
        first, second, best = top_two(columns)
        best[first - second <= tol * columns.abs().max()] = -1
        decision: IntArray = best.int().cpu().numpy().astype(np.intp)
        return decision

    def leads(self) -> "TorchLeads":
        """Return the leads of the classes, for offsets that change."""
        return TorchLeads(self.values)

    def rows(self, rows: IntArray) -> FloatArray:
        """Return the scores of some points on the host, (m, C)."""
        some: FloatArray = to_numpy(self.take(rows).values)
        return some

    def take(self, rows: IntArray) -> "TorchScores":
        """Return the scores of some points, where all of them are."""
        at = torch().as_tensor(np.asarray(rows), device=self.values.device)
        return TorchScores(self.values[at])

    def moved(self, b: FloatArray) -> "TorchScores":
        """Return the scores plus an offset per class."""
        return TorchScores(self.values + self._like(b))

    def times(self, A: FloatArray) -> "TorchScores":
        """Return the product with a matrix, for A of shape (C, k)."""
        return TorchScores(self.values @ self._like(A))

    def combined(
        self, a: float, other: "TorchScores | None" = None, b: float = 1.0
    ) -> "TorchScores":
        """Return a times these scores, plus b times others."""
        values = a * self.values
        if other is not None:
            values.add_(other.values, alpha=b)
        return TorchScores(values)

    def log_centred(self, added: float) -> "TorchScores":
        """Return the logarithms of the scores plus a number, less their mean."""
        values = (self.values + added).log_()
        values -= values.mean(dim=1, keepdim=True)
        return TorchScores(values)

    def mean(self) -> FloatArray:
        """Return the mean of the scores of each class, (C,)."""
        means: FloatArray = to_numpy(self.values.mean(dim=0))
        return means

    def mean_squares(self) -> FloatArray:
        """Return the mean square of the scores of each class, (C,)."""
        squares: FloatArray = to_numpy((self.values * self.values).mean(dim=0))
        return squares

    def to_numpy(self) -> FloatArray:
        """Return all scores on the host, (n, C)."""
        values: FloatArray = to_numpy(self.values)
        return values

    def _like(self, b: FloatArray) -> Any:
        return torch().as_tensor(b, dtype=self.values.dtype, device=self.values.device)


class TorchLeads:
    """Leads of the classes over each other, for offsets that change.

    Parameters
    ----------
    scores : tensor of shape (n, C)
    """

    def __init__(self, scores: Any) -> None:
        self.columns = scores.T.contiguous()  # (C, n)

    def matched(
        self, b: FloatArray, places: IntArray, part: FloatArray, max_iter: int
    ) -> FloatArray:
        """Return offsets at which the leads between two places are zero, (C,).

        Nothing waits for the device: steps after the last are not taken.

        Parameters
        ----------
        b, places, part, max_iter
            As in `mercer.spectrum.scores.Leads`.
        """
        t = torch()
        put, take = sides(self.columns)
        offsets, at, where = put(b), put(places), put(part)
        done = t.zeros((), dtype=t.bool, device=self.columns.device)
        for _ in range(max_iter):
            step, is_still = stepped(offsets, self._at(offsets, at), where)
            offsets = offsets + t.where(done, 0.0, step)
            done = done | is_still
        found: FloatArray = take(offsets)
        return found

    def _at(self, b: Any, places: Any) -> Any:
        """Return the leads at given places in ascending order, (C, 2)."""
        t = torch()
        C, n = self.columns.shape
        lead = self.columns + b[:, None]
        first, best = lead.max(dim=0)
        lead.scatter_(0, best[None], -t.inf)
        second = lead.amax(dim=0)
        lead -= first
        lead.scatter_(0, best[None], (first - second)[None])
        step = max(1, _SORTED_AT_A_TIME // n)
        found = [
            lead[c : c + step].sort(dim=1).values.gather(1, places[c : c + step])
            for c in range(0, C, step)
        ]
        return found[0] if len(found) == 1 else t.cat(found)


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


def one_hot(decision: Any, n_classes: int) -> Any:
    """Return 1 where a point is in a class, (n, C); in a row of a tie all are 0."""
    t = torch()
    classes = t.arange(n_classes, device=decision.device)
    return (decision[:, None] == classes).float()
