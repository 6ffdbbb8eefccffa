"""Artificial data of the papers: X and y with classes 0 and 1, from a random state."""

import numpy as np
from scipy.stats import norm

from mercer._base.random import as_generator
from mercer._base.typing import FloatArray, IntArray, RandomState


def make_g50c(
    n_samples: int = 550, *, random_state: RandomState = None
) -> tuple[FloatArray, IntArray]:
    r"""Draw from two Gaussians of unit covariance with a Bayes error of 5%.

    Both classes are equally probable, with means :math:`\pm m (1, \dots, 1)` in 50
    dimensions, :math:`m = \Phi^{-1}(0.95) / \sqrt{50}`: the best rule, the sign of
    the sum of the features, errs with probability 0.05.

    References
    ----------
    Mao and Tsang, "Parameter-free spectral kernel learning", UAI 2010, section 6.1.

    Examples
    --------
    >>> X, y = make_g50c(random_state=0)
    >>> X.shape
    (550, 50)
    """
    rng = as_generator(random_state)
    y = rng.integers(2, size=n_samples)
    mean = norm.isf(0.05) / np.sqrt(50)
    X = rng.standard_normal((n_samples, 50)) + mean * (2 * y[:, None] - 1)
    return X, y


def make_chessboard(
    n_samples: int = 100, *, random_state: RandomState = None
) -> tuple[FloatArray, IntArray]:
    """Draw uniformly from a chessboard of 4 x 4 squares; their colour is the class.

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
    X = as_generator(random_state).uniform(0, 4, size=(n_samples, 2))
    return X, np.floor(X).sum(axis=1).astype(np.intp) % 2


def make_double_spiral(
    n_samples: int = 100, *, random_state: RandomState = None
) -> tuple[FloatArray, IntArray]:
    r"""Draw from two spirals that wind about each other in three dimensions.

    A point is :math:`(t \cos a, t \sin a, t)`, where t is the square root of a uniform
    number (so that points are spread evenly along the arms) and :math:`a = 4 \pi t`,
    turned by half a circle for class 1.

    Class 0 gets the odd point. Neighbouring arms are a quarter apart.

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
    y = np.arange(n_samples) % 2
    t = np.sqrt(as_generator(random_state).uniform(size=n_samples))
    angle = 4 * np.pi * t + np.pi * y
    return np.column_stack([t * np.cos(angle), t * np.sin(angle), t]), y
