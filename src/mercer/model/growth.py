"""Whether rows that join a table lie where its rows are."""

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.stats import binom
from sklearn.utils.metaestimators import available_if

from mercer._base.html import Shown
from mercer._base.rows import stacked
from mercer._base.threads import with_n_jobs
from mercer._base.typing import ArrayLike, Points
from mercer.evidence.labels import Labels
from mercer.evidence.row_names import positions_of, row_ids, warn_if_reordered
from mercer.exceptions import DriftWarning
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.pools.base import Pool, PoolBase
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.model.fitted import FittedModel


@dataclass(frozen=True)
class Growth(Shown):
    """Rows that joined since the basis was made, and how many lie far from it."""

    n_added: int = 0
    n_far: int = 0  # farther from their neighbours than 99% of the basis' points
    chance: float = 1.0  # of this many or more, did they come from the same source
    has_drifted: bool = False
    is_renewed: bool = False

    def __str__(self) -> str:
        far = f"{self.n_far} of {self.n_added} added rows lie far from the fitted ones"
        if not self.has_drifted:
            return f"{far}, as expected; they joined by extension"
        if self.is_renewed:
            return f"{far} (chance {self.chance:.1g}); the basis was made again"
        return (
            f"{far} (chance {self.chance:.1g}); they joined by extension, as the "
            "points of the basis are not kept. Fit again with all rows"
        )


def judge_growth(pool: Pool, X: Points, before: Growth, rule: Rule = DEFAULT) -> Growth:
    """Tell whether added rows have drifted from those a pool was fitted to.

    A row is far if the distance to its tenth neighbour is larger than that of all but
    1% of the fitted points. Rows from the same source are far with that probability;
    the chance of the number found is that of a binomial distribution.

    Parameters
    ----------
    pool : Pool
        Fitted.
    X : array-like of shape (m, n_features)
        Rows to add.
    before : Growth
        Of rows that joined earlier, which are counted with them.
    rule : Rule, optional
        The share that counts as far, and the chance below which it is drift.
    """
    edge = np.quantile(pool.log_density(), rule.far_share)
    density = pool.log_density(X)
    n_added = before.n_added + len(density)
    n_far = before.n_far + int((density < edge).sum())
    chance = float(binom.sf(n_far - 1, n_added, rule.far_share))
    return Growth(n_added, n_far, chance, has_drifted=chance < rule.drift_chance)


def grow(
    basis: Pool,
    points: Points | None,
    more: Points,
    labels: Labels,
    before: Growth,
    learner: AutoKernel,
    rule: Rule = DEFAULT,
) -> tuple[Pool, Points | None, Growth]:
    """Let rows join a basis, or make it again where they have drifted.

    Parameters
    ----------
    basis : Pool
        Fitted.
    points, more : array, sparse array or tensor
        The points of the basis, None where they are not kept, and those to add.
    labels : Labels
        Of all of them.
    before : Growth
    learner : AutoKernel
        Makes the basis again.
    rule : Rule, optional

    Returns
    -------
    basis : Pool
    points : array, sparse array, tensor or None
        All of them.
    growth : Growth
    """
    growth = judge_growth(basis, more, Growth() if before.is_renewed else before, rule)
    every = None if points is None else stacked(points, more)
    if growth.has_drifted and every is not None:
        growth = replace(growth, is_renewed=True)
        basis = learner.fitted_basis(every, labels)
    else:
        basis = basis.grown(more)
        if growth.has_drifted:
            warnings.warn(f"{growth}.", DriftWarning, stacklevel=4)
    basis.certificate_ = replace(basis.certificate_, note=str(growth))
    return basis, every, growth


def _takes_rows(model: "GrowingModel") -> bool:
    """Tell whether rows may join a model: they join pools of kernels alone."""
    learner = getattr(model, "_learner", model.learner)
    return isinstance(learner, AutoKernel) or (
        isinstance(learner, str) and learner == "auto"
    )


class GrowingModel(FittedModel):
    """Rows that join `UnifiedKernelMachine`."""

    basis_: Any
    growth_: Growth
    _points: Any  # for a new basis; not saved with the model
    learner: Any
    _learner: Any  # not fitted
    _learn: Any
    fit: Any

    @with_n_jobs
    def add_rows(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Let further rows join the table, and refit the machine.

        The rows join by extension. When they have drifted from the rows that the basis
        was made from, the basis is made again from all of them; `growth_` says which,
        and why.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (m, n_features)
            Rows; of a data frame the row labels are their ids, else they are numbered
            on.
        y : array-like of shape (m,), optional
            Their labels; -1, None and NaN mark unlabelled ones, as all are by default.
        """
        self._check_rows()
        if not isinstance(self.basis_, PoolBase):
            msg = "rows are added to the default basis only; fit again with all rows."
            raise TypeError(msg)
        points = self._checked(X, reset=False)
        m, n = points.shape[0], len(self.ids_)
        ids = np.concatenate([self.ids_, row_ids(X, m, first=n)])
        positions_of(ids[n:], ids)  # no row label twice
        labels = self.labels_.padded(m)
        if y is not None:
            warn_if_reordered(X, y)
            labels = labels.told(np.arange(n, n + m), y)
        before = dict(vars(self))
        self.basis_, self._points, self.growth_ = grow(
            self.basis_,
            getattr(self, "_points", None),
            points,
            labels,
            self.growth_,
            self._learner,
            self._rule,
        )
        self.ids_ = ids
        if self.sources_ is not None:
            self.sources_ = self.sources_.padded(m)
        try:
            self._learn(labels)
        except BaseException:
            vars(self).update(before)  # no row joined
            raise
        return self

    @available_if(_takes_rows)  # type: ignore[untyped-decorator]
    @with_n_jobs
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Self:
        """Fit at the first call, `add_rows` at later ones, with the default learner.

        Parameters
        ----------
        X, y : as in `fit` and `add_rows`
        classes : ignored
            A class that was not there before is welcome.
        """
        if hasattr(self, "machine_"):
            return self.add_rows(X, y)
        fitted: Self = self.fit(X, y)
        return fitted
