"""What the unlabelled rows changed, and whether that is supported."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.html import Shown
from mercer._base.rows import take_rows
from mercer._base.typing import ArrayLike, RandomState
from mercer.evidence.labels import Labels
from mercer.judging.hiding import Check, Score, baselines, check_by_hiding
from mercer.model.estimator import UnifiedKernelMachine


@dataclass(frozen=True)
class Advice(Shown):
    """What the unlabelled rows changed, and what held-out labels say of it.

    See Also
    --------
    does_unlabeled_help : Returns it, and has an example.
    """

    check: Check  # cross-validation on the labelled rows
    rival: Score  # the better model of the labelled rows alone
    changed: float  # share of the unlabelled rows that it predicts differently

    @property
    def answer(self) -> str:
        """Say "yes", "no" or "cannot tell": whether the change is supported."""
        if self.rival.lead_low > 0:
            return "yes"
        return "no" if self.rival.lead_high < 0 else "cannot tell"

    def _facts(self) -> dict[str, Any]:
        return {
            "Do the unlabelled rows help?": self.answer,
            **{score.name: f"{score.accuracy:.1%}" for score in self.check.scores},
            f"lead over {self.rival.name}": f"{100 * self.rival.lead:+.1f} points "
            f"({100 * self.rival.lead_low:+.1f} to {100 * self.rival.lead_high:+.1f})",
            "held-out labels": len(self.check.rows),
            "predictions changed": f"{self.changed:.0%}",
        }

    def __str__(self) -> str:
        lines = [f"{score.name}: {score.accuracy:.1%}" for score in self.check.scores]
        lines.append(
            f"The unlabelled rows changed {self.changed:.0%} of the predictions of "
            f"{self.rival.name}. Is that supported? {self.answer.capitalize()}: "
            f"{100 * self.rival.lead:+.1f} points "
            f"({100 * self.rival.lead_low:+.1f} to {100 * self.rival.lead_high:+.1f}) "
            f"on {len(self.check.rows)} held-out labels."
        )
        return "\n".join(lines)


def does_unlabeled_help(
    X: ArrayLike,
    y: ArrayLike,
    *,
    model: UnifiedKernelMachine | None = None,
    n_splits: int = 5,
    n_repeats: int = 4,
    random_state: RandomState = 0,
) -> Advice:
    """Compare learning with and without the unlabelled rows on held-out labels.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        All points.
    y : array-like of shape (n,)
        Labels; -1, None and NaN mark unlabelled points.
    model : UnifiedKernelMachine, optional
        What uses the unlabelled rows; the default one when left out.
    n_splits, n_repeats : int
        Folds of the labelled rows, and how often they are dealt.
    random_state : int, Generator, RandomState or None, default=0
        Deals the folds.

    Returns
    -------
    Advice

    See Also
    --------
    check_by_hiding : The accuracy of one model.

    Notes
    -----
    The check is that of the report (`mercer.judging.check_by_hiding`), and so are the
    baselines: logistic regression and a random forest on the labelled rows. The lead
    over the better of them has a 95% interval by Agresti and Min.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> y[30:] = -1
    >>> advice = does_unlabeled_help(X, y, n_splits=2, n_repeats=2)
    >>> advice.changed > 0.05
    True
    """
    labels = Labels.read(y, min_classes=2)
    if model is None:
        model = UnifiedKernelMachine(random_state=random_state)
    model = model.fit(X, labels)
    check = check_by_hiding(
        model,
        X,
        labels,
        rng=np.random.default_rng(random_state),
        n_splits=n_splits,
        n_repeats=n_repeats,
    )
    if check is None:
        msg = "every class has a single label, so none can be held out; label more."
        raise ValueError(msg)
    rival = max(check.scores[1:], key=lambda score: score.accuracy)
    codes = labels.codes[labels.labeled]
    alone = baselines(len(labels.labeled))[rival.name]
    alone.fit(take_rows(X, labels.labeled), labels.classes[codes])
    rest = np.flatnonzero(labels.codes < 0)
    differs = alone.predict(take_rows(X, rest)) != model.transduction_[rest]
    return Advice(check, rival, float(np.mean(differs)) if len(rest) else 0.0)
