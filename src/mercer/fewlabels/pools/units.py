"""Columns in mixed units: when to put them on one scale."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from mercer._base.rows import thinned
from mercer._base.tensors import column_deviations, column_range, in_double, on_host
from mercer._base.typing import FloatArray
from mercer.fewlabels.rule import DEFAULT, Rule

# Beyond these, squares overflow or vanish: points are multiplied by a power of two.
_USUAL = (1e-100, 1e100)
# Limits of work: rows whose correlations, and whose deviations, stand for all.
_CORRELATED, SCALED_BY = 10_000, 100_000
Scaling: TypeAlias = Literal["auto", "always", "never"]


def units_for(
    X: Any, scaling: Scaling, rule: Rule = DEFAULT
) -> tuple[bool, FloatArray | None]:
    """Return whether to take square roots, and what to divide columns by.

    The second is of shape (d,), or None to leave columns as they are.

    Parameters
    ----------
    X : array, tensor or sparse array of shape (n, d)
    scaling : {"auto", "always", "never"}
        "auto" takes roots of shares (`are_shares`), leaves columns of 0 and 1 as they
        are, and divides others where they share the variance less evenly than
        `Rule.even_columns`.
    rule : Rule, optional
    """
    below = {"auto": rule.even_columns, "always": np.inf, "never": 0.0}
    if scaling not in below:
        msg = f"scaling must be one of {list(below)}, got {scaling!r}."
        raise ValueError(msg)
    as_roots = scaling == "auto" and are_shares(X, rule)
    if as_roots or (scaling == "auto" and are_binary(X)):
        return as_roots, None
    return False, column_scales(X, below=below[scaling], rule=rule)


def say_units(scales: FloatArray | None, as_roots: bool = False) -> str:
    """Return what was done to the columns."""
    if as_roots:
        return "columns are shares of a whole: their square roots"
    return "columns " + ("as given" if scales is None else "scaled to unit variance")


def are_shares(X: Any, rule: Rule = DEFAULT) -> bool:
    """Tell whether columns are many shares of a whole: none negative, sums alike.

    Their distance is that of square roots (Hellinger's): a difference of 1% counts for
    more where there is little. Percentages are often rounded, so that sums vary a
    little, but much less than they would if the columns had nothing to do with each
    other.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    rule : Rule, optional
        How much sums may vary, and how many parts are many.

    Examples
    --------
    >>> X = np.random.default_rng(0).dirichlet(np.full(30, 0.1), size=50)
    >>> are_shares(X), are_shares(X[:, :25]), are_shares(-X)
    (True, False, False)
    """
    if (
        issparse(X)
        or X.shape[1] < rule.many_parts
        or not 0 <= float(X.min()) <= float(X.max()) < _USUAL[1]
    ):
        return False
    X = in_double(X)
    apart = float((column_deviations(X) ** 2).sum())
    return float(column_deviations(X.sum(1)) ** 2) < rule.alike_sums * apart


def are_binary(X: Any) -> bool:
    """Tell whether all columns are 0 or 1, which have one unit, however rare 1 is.

    Examples
    --------
    >>> are_binary(np.array([[0.0, 1.0]])), are_binary(np.array([[0.0, 2.0]]))
    (True, False)
    """
    return not issparse(X) and bool(((X == 0) | (X == 1)).all())


def evenness(variances: FloatArray) -> float:
    r"""Return how evenly columns share the variance, from 0 (one has it all) to 1.

    :math:`(m - 1) / (d - 1)` for d columns, of which
    :math:`m = (\sum_j v_j)^2 / \sum_j v_j^2` are effective. Pixels, genes and points of
    a curve have one unit and are rather even; columns in mixed units are not.

    Examples
    --------
    >>> evenness(np.ones(4))
    1.0
    >>> round(evenness(np.array([1e6, 1.0, 1.0, 1.0])), 3)
    0.0
    """
    d, squares = len(variances), float((variances**2).sum())
    if d == 1 or squares == 0:
        return 1.0
    effective = float(variances.sum()) ** 2 / squares
    return (effective - 1.0) / (d - 1.0)


def are_unrelated(X: FloatArray, rule: Rule = DEFAULT) -> bool:
    """Tell whether columns look like principal components, or like noise to each other.

    Principal components have one unit. They are uncorrelated, and in rows that were not
    there when they were found, as good as that, centred and of falling variance. And
    where five columns or more are correlated by chance alone, no column supports
    another: divided by their deviations, columns of small noise would hide the others.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    rule : Rule, optional
        What counts as chance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 3)) @ rng.standard_normal((3, 3))
    >>> X -= X.mean(axis=0)
    >>> turned = X @ np.linalg.svd(X, full_matrices=False)[2].T
    >>> are_unrelated(X), are_unrelated(turned), are_unrelated(turned + 5)
    (False, True, False)
    """
    X = np.asarray(on_host(thinned(X, _CORRELATED)), dtype=np.float64)
    deviations = X.std(axis=0)
    varies = _vary(np.abs(X).max(axis=0), deviations)
    X, deviations = X[:, varies], deviations[varies]
    error, d = 1 / np.sqrt(len(X)), X.shape[1]
    if d < 2:
        return False
    means = X.mean(axis=0)
    Z = (X - means) / deviations
    apart = (Z.T @ Z / len(Z))[np.triu_indices(d, 1)]
    correlation = np.sqrt(np.mean(apart**2))
    if d >= rule.unrelated_columns and correlation <= rule.unrelated_within * error:
        return True
    is_centred = (np.abs(means) <= 5 * error * deviations).all()
    is_falling = (deviations[1:] <= (1 + 5 * error) * deviations[:-1]).all()
    return bool(correlation <= 2 * error and is_centred and is_falling)


def column_scales(X: Any, *, below: float, rule: Rule = DEFAULT) -> FloatArray | None:
    """Return what to divide columns by, (d,), or None to leave them as they are.

    Parameters
    ----------
    X : array, tensor or sparse array of shape (n, d)
        Points. Sparse ones are counts or weights of words, which have one unit.
    below : float
        Columns whose `evenness` is less are divided by their standard deviations,
        unless they are principal components or unrelated, see `are_unrelated`.
    rule : Rule, optional
        Which columns are unrelated.

    Examples
    --------
    >>> X = np.array([[1.0, 1000.0], [2.0, 3000.0], [3.0, 2000.0]])
    >>> (X / column_scales(X, below=0.4)).std(axis=0).round(6)
    array([1., 1.])
    >>> column_scales(X / [1.0, 1000.0], below=0.4) is None
    True
    """
    if issparse(X):
        return None
    lowest, highest = column_range(X)
    peaks = np.maximum(highest, -lowest)
    exponents = np.where(_is_usual(peaks), 0, np.frexp(peaks)[1])
    if exponents.any():
        X = on_host(X)
    usual = np.ldexp(X, -exponents) if exponents.any() else X
    deviations: FloatArray = np.ldexp(column_deviations(usual), exponents)
    largest = float(deviations.max())
    # Relative to the largest: squares of squares must not overflow.
    if largest == 0 or evenness((deviations / largest) ** 2) >= below:
        return None
    varies = _vary(peaks, deviations)
    if exponents.any():  # all by one factor, which leaves their ratios
        usual = np.ldexp(X, -int(np.frexp(peaks.max())[1]))
    if not varies.any() or (below < np.inf and are_unrelated(usual, rule)):
        return None
    return np.where(varies, deviations, np.where(exponents == 0, 1.0, peaks))


def _is_usual(peaks: FloatArray) -> NDArray[np.bool_]:
    """Tell which columns have squares that neither overflow nor vanish, (d,)."""
    return np.asarray((peaks == 0) | ((peaks >= _USUAL[0]) & (peaks <= _USUAL[1])))


def _vary(peaks: FloatArray, deviations: FloatArray) -> NDArray[np.bool_]:
    """Tell which columns vary by more than rounding, (d,)."""
    return np.asarray(deviations > 1e-12 * peaks)
