"""Probabilities from similarities of pairs."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from mercer._base.typing import BoolArray, FloatArray


def calibrate(scores: FloatArray, same: BoolArray) -> tuple[float, float, float]:
    """Return slope and offset of the logistic curve through held-out scores, its loss.

    With the targets of Platt (1999), which keep few or separable pairs from certainty.
    """
    n_same, n_other = int(same.sum()), int((~same).sum())
    target = np.where(same, (n_same + 1) / (n_same + 2), 1 / (n_other + 2))
    scale = float(np.std(scores)) or 1.0
    z = scores / scale

    def loss(line: FloatArray) -> tuple[float, FloatArray]:
        f = line[0] * z + line[1]
        rest = expit(f) - target
        value = float((np.logaddexp(0, f) - target * f).sum())
        return value, np.array([rest @ z, rest.sum()])

    start = np.array([0.0, np.log((n_same + 1) / (n_other + 1))])
    best = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None), (None, None)]
    )
    return float(best.x[0] / scale), float(best.x[1]), float(best.fun)
