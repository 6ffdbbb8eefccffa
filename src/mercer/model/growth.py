"""Whether rows that join a table lie where its rows are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from mercer._base.html import Shown
from mercer.fewlabels.rule import DEFAULT, Rule


@dataclass(frozen=True)
class Growth(Shown):
    """Rows that joined since the basis was made, and how many lie far from it."""

    n_added: int = 0
    n_far: int = 0  # lonelier than all but 1% of the points the basis was made from
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


def judge_growth(pool: Any, X: Any, before: Growth, rule: Rule = DEFAULT) -> Growth:
    """Tell whether added rows have drifted from those a pool was fitted to.

    A row is far if the distance to its tenth neighbour is larger than that of all but
    1% of the fitted points. Rows from the same source are far with that probability;
    the chance of the number found is that of a binomial distribution.

    Parameters
    ----------
    pool : KernelPool or AnchorPool
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
