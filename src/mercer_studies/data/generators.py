"""Artificial data of the papers: X and y with classes 0 and 1, from a random state."""

from numbers import Integral

import numpy as np
from scipy.stats import norm
from sklearn.utils import check_scalar

from mercer._base.checks import check_number
from mercer._base.random import as_generator
from mercer._base.typing import FloatArray, IntArray, RandomState


def make_g50c(
    n_samples: int = 550,
    *,
    n_features: int = 50,
    bayes_error: float = 0.05,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw from two Gaussians of unit covariance with a given Bayes error.

    Both classes are equally probable, with means :math:`\pm m (1, \dots, 1)`,
    :math:`m = \Phi^{-1}(1 - \text{error}) / \sqrt{d}`: the best rule, the sign of
    the sum of the features, errs with probability `bayes_error`.

    References
    ----------
    Mao and Tsang, "Parameter-free spectral kernel learning", UAI 2010, section 6.1.

    Examples
    --------
    >>> X, y = make_g50c(random_state=0)
    >>> X.shape
    (550, 50)
    """
    _check_count(n_samples, "n_samples")
    _check_count(n_features, "n_features")
    check_number(bayes_error, "bayes_error", above=0, at_most=0.5)
    rng = as_generator(random_state)
    y = rng.integers(2, size=n_samples)
    mean = norm.isf(bayes_error) / np.sqrt(n_features)
    X = rng.standard_normal((n_samples, n_features)) + mean * (2 * y[:, None] - 1)
    return X, y


def make_chessboard(
    n_samples: int = 100, *, side: int = 4, random_state: RandomState = None
) -> tuple[FloatArray, IntArray]:
    """Draw uniformly from a chessboard; the class is the colour of the square.

    Each square has side 1.

    Notes
    -----
    Zhuang, Tsang and Hoi (ICML 2009), Table 1, give the sizes (100 points, 2 classes,
    2 features) and not the number of squares; 4 is a choice.

    Examples
    --------
    >>> X, y = make_chessboard(6, random_state=0)
    >>> np.floor(X).sum(axis=1) % 2 == y
    array([ True,  True,  True,  True,  True,  True])
    """
    _check_count(n_samples, "n_samples")
    _check_count(side, "side")
    X = as_generator(random_state).uniform(0, side, size=(n_samples, 2))
    return X, np.floor(X).sum(axis=1).astype(np.intp) % 2


def make_double_spiral(
    n_samples: int = 100,
    *,
    turns: float = 2.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw from two spirals that wind about each other in three dimensions.

    A point is :math:`(t \cos a, t \sin a, t)` plus Gaussian noise, where t is the
    square root of a uniform number (so that points are spread evenly along the arms)
    and :math:`a = 2 \pi \cdot \text{turns} \cdot t`, turned by half a circle for
    class 1.

    Class 0 gets the odd point. Neighbouring arms are ``1 / (2 * turns)`` apart.

    Notes
    -----
    Zhuang, Tsang and Hoi (ICML 2009), Table 1, give the sizes (100 points, 2 classes,
    3 features) and no formula; the height t is our third feature.

    Examples
    --------
    >>> X, y = make_double_spiral(random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((100, 3), [50, 50])
    """
    _check_count(n_samples, "n_samples")
    check_number(turns, "turns", above=0)
    check_number(noise, "noise", at_least=0)
    rng = as_generator(random_state)
    y = np.arange(n_samples) % 2
    t = np.sqrt(rng.uniform(size=n_samples))
    angle = 2 * np.pi * turns * t + np.pi * y
    X = np.column_stack([t * np.cos(angle), t * np.sin(angle), t])
    return X + noise * rng.standard_normal(X.shape), y


def _check_count(value: int, name: str) -> None:
    check_scalar(value, name, Integral, min_val=1)
