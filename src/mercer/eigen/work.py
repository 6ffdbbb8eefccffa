"""A bound on the arithmetic of an iteration."""

import numpy as np


class Work:
    """Budget of matrix-vector products, with a counter.

    Parameters
    ----------
    most : float, default=inf

    Examples
    --------
    >>> work = Work(10.0)
    >>> work.spend(7.0)
    >>> work.left, work.is_spent
    (3.0, False)
    """

    def __init__(self, most: float = np.inf) -> None:
        self.most = most
        self.spent = 0.0

    def spend(self, amount: float) -> None:
        """Count multiplications."""
        self.spent += amount

    @property
    def left(self) -> float:
        """What may still be spent; 0 when it was more than allowed."""
        return max(self.most - self.spent, 0.0)

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= self.most
