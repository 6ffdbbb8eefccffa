"""From which similarity on a pair is called the same."""

from numbers import Real
from typing import Any

import numpy as np

from mercer._base.typing import BoolArray, FloatArray

STRATEGIES = ("accuracy", "f_beta", "max_tpr", "max_tnr")


def check_strategy(
    strategy: Any = "accuracy", min_rate: Any = None, beta: Any = 1.0, **others: Any
) -> None:
    """Raise unless a rule for the threshold is complete."""
    if others:
        msg = (
            f"{', '.join(others)} is not a valid key of the threshold rule; valid keys "
            "are strategy, min_rate and beta."
        )
        raise TypeError(msg)
    if strategy not in STRATEGIES:
        msg = f"strategy must be one of {', '.join(STRATEGIES)}; got {strategy!r}."
        raise ValueError(msg)
    if strategy in {"max_tpr", "max_tnr"}:
        is_number = isinstance(min_rate, Real)
        if not is_number or not 0 <= min_rate <= 1:
            msg = f"{strategy} needs a min_rate within [0, 1]; got {min_rate!r}."
            raise ValueError(msg)
    if strategy == "f_beta" and not isinstance(beta, Real):
        msg = f"f_beta needs a number as beta; got {beta!r}."
        raise ValueError(msg)


def best_cut(
    scores: FloatArray,
    same: BoolArray,
    *,
    strategy: str = "accuracy",
    min_rate: float | None = None,
    beta: float = 1.0,
) -> float:
    """Return the lowest score at which pairs are called the same.

    Parameters
    ----------
    scores : ndarray of shape (m,)
        Similarities of pairs.
    same : ndarray of shape (m,) of bool
        Which of them are the same.
    strategy : {"accuracy", "f_beta", "max_tpr", "max_tnr"}, default="accuracy"
        What is best: most pairs right; the largest F-beta; most of the same ones
        found while at least `min_rate` of the different ones are told (at most
        ``1 - min_rate`` false alarms); most of the different ones told while at least
        `min_rate` of the same ones are found.
    min_rate : float, optional
        The least rate of the last two strategies.
    beta : float, default=1.0
        Of "f_beta"; 0 is precision.

    Returns
    -------
    float
        Half way between two scores; of several as good ones that which calls fewest
        pairs the same, or for "max_tpr" and "f_beta" most.

    Examples
    --------
    >>> scores, same = np.array([3.0, 2.0, 1.0]), np.array([True, True, False])
    >>> best_cut(scores, same)
    1.5
    """
    check_strategy(strategy, min_rate, beta)
    least = 0.0 if min_rate is None else min_rate
    order = np.argsort(-scores, kind="stable")
    ranked, hit = scores[order], same[order]
    # Cut k calls the first k pairs the same; equal scores are not divided.
    whole = np.append(True, np.append(ranked[1:] < ranked[:-1], True))
    whole = whole[: len(ranked) + 1]
    found = np.append(0, np.cumsum(hit))
    alarms = np.append(0, np.cumsum(~hit))
    n_same, n_other = int(same.sum()), int((~same).sum())
    tpr, tnr = found / max(n_same, 1), (n_other - alarms) / max(n_other, 1)
    tpr = tpr if n_same else np.zeros_like(tpr)
    tnr = tnr if n_other else np.zeros_like(tnr)
    if strategy == "accuracy":
        value = found + n_other - alarms
    elif strategy == "f_beta":
        b = beta**2
        value = (1 + b) * found / np.maximum(b * n_same + found + alarms, 1e-12)
    elif strategy == "max_tpr":
        value = np.where(tnr >= least, tpr, -1.0)
    else:
        value = np.where(tpr >= least, tnr, -1.0)
    value = np.where(whole, value, -np.inf)
    best = np.flatnonzero(value >= value.max() - 1e-12)
    k = int(best[-1] if strategy in {"max_tpr", "f_beta"} else best[0])
    above = ranked[k - 1] if k else ranked[0] + 2.0
    below = ranked[k] if k < len(ranked) else ranked[-1] - 2.0
    return float((above + below) / 2)
