"""Rounds of questions and answers, and when to stop asking."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.html import Shown
from mercer._base.progress import Progress, watching
from mercer.evidence.reading import is_labeled, read_column


@dataclass(frozen=True, eq=False)
class Round:
    """One batch of questions, its answers, and what it changed."""

    asked: NDArray[Any]  # row ids
    answers: NDArray[Any]
    n_labeled: int  # after the answers
    changed: float  # share of the other predictions that are different now
    outlook: Any = None  # `Outlook` of the next ten labels, where it was asked for

    @property
    def n_answered(self) -> int:
        """How many of the questions got a label; -1, None and NaN are none."""
        return int(is_labeled(self.answers).sum())


@dataclass(frozen=True, eq=False)
class History(Shown):
    """What was asked, in order; row ids do not depend on the order of rows.

    Parameters
    ----------
    rounds : tuple of Round
        Each has rows, answers, the number of labels and the share of predictions that
        changed.

    See Also
    --------
    learn_actively : The loop that returns it.

    Examples
    --------
    >>> quiet = Round(np.array([7]), np.array([1]), n_labeled=5, changed=0.0)
    >>> History((quiet, quiet, quiet)).has_converged()
    True
    """

    rounds: tuple[Round, ...] = ()

    def __len__(self) -> int:
        return len(self.rounds)

    def _facts(self) -> dict[str, Any]:
        return {
            "round": [i + 1 for i in range(len(self))],
            "questions": [len(r.asked) for r in self.rounds],
            "labels": [r.n_labeled for r in self.rounds],
            "predictions changed": [f"{r.changed:.1%}" for r in self.rounds],
            "expected gain": [
                "" if r.outlook is None else str(r.outlook) for r in self.rounds
            ],
        }

    def has_converged(self, *, tol: float = 0.0, patience: int = 3) -> bool:
        """Tell whether answers have stopped changing predictions.

        Parameters
        ----------
        tol : float, default=0.0
            Share of predictions that may still change in a round.
        patience : int, default=3
            Rounds in a row that must stay within it; those without any answer do not
            count.
        """
        last = [r for r in self.rounds if r.n_answered][-patience:]
        return len(last) == patience and all(r.changed <= tol for r in last)

    def is_not_worth_more(self, min_gain: float) -> bool:
        """Tell whether the next labels are known to bring less than a gain.

        That is when the upper end of the 95% interval of what they are expected to
        bring is below it; with few labels nothing is known, and asking continues.

        Parameters
        ----------
        min_gain : float
            In accuracy, 0.01 for one point.
        """
        outlook = self.rounds[-1].outlook if self.rounds else None
        return outlook is not None and bool(outlook.most_gain < min_gain)


def learn_actively(
    model: Any,
    answer: Callable[[NDArray[Any]], Sequence[Any]],
    *,
    batch_size: int = 1,
    max_rounds: int = 100,
    tol: float = 0.0,
    patience: int = 3,
    min_gain: float | None = None,
    progress: Progress | None = None,
) -> History:
    """Ask, take the answers and learn again until more questions are not worth it.

    Parameters
    ----------
    model : UnifiedKernelMachine
        Fitted; anything with `ask`, `tell`, `ids_` and `transduction_`
        is enough, and with `min_gain` also `outlook`.
    answer : callable
        Given row ids, returns their labels; -1, None or NaN where nobody knows. Such
        a row is not asked about again.
    batch_size : int, default=1
        Questions per round: 1 in figure 6 of Hoi et al. (2006), 10 in its section 6.3.
    max_rounds : int, default=100
        Rounds at the most.
    tol, patience : float and int
        See `History.has_converged`; step 5 of Hoi et al. (2006), section 3. Not used
        with `min_gain`.
    min_gain : float, optional
        Stop when ten more labels are known to bring less accuracy than this, 0.01 for
        one point (`History.is_not_worth_more`). Each round then also predicts hidden
        labels, which takes about 14 refits; ask in batches.
    progress : Progress, optional
        Told how many labels there are, and the share of the rounds that is done. By
        default a line in a notebook, and nothing elsewhere.

    Returns
    -------
    History
        The model itself holds the new labels.

    See Also
    --------
    choose_rows : One batch of questions.
    UnifiedKernelMachine.ask : The questions of a fitted model.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer.model.estimator import UnifiedKernelMachine
    >>> X, truth = make_moons(60, noise=0.1, random_state=0)
    >>> y = np.full(60, -1)
    >>> y[[0, 1]] = truth[[0, 1]]
    >>> model = UnifiedKernelMachine(random_state=0).fit(X, y)
    >>> history = learn_actively(model, lambda rows: truth[rows], max_rounds=3)
    >>> len(history), history.rounds[-1].n_labeled
    (3, 5)
    """
    history = History()
    refused: list[Any] = []
    with watching(progress) as watcher:
        for k in range(max_rounds):
            watcher.stage(f"round {k + 1}, {len(model.labeled_):,} labels")
            watcher.advance(k / max_rounds)
            step = _round(model, answer, batch_size, refused, min_gain is not None)
            if step is None:
                break
            history = History((*history.rounds, step))
            if min_gain is None:
                is_enough = history.has_converged(tol=tol, patience=patience)
            else:
                is_enough = history.is_not_worth_more(min_gain)
            if is_enough:
                break
    return history


def _round(
    model: Any,
    answer: Callable[[NDArray[Any]], Sequence[Any]],
    batch_size: int,
    refused: list[Any],
    looks_ahead: bool,
) -> Round | None:
    """Ask and tell once; None when no row is left to ask about."""
    asked = model.ask(batch_size, exclude=refused)
    if len(asked) == 0:
        return None
    before = model.transduction_
    answers, known = read_column(answer(asked))
    refused.extend(asked[~known].tolist())
    if known.any():
        model.tell(asked[known], answers[known])
    is_other = ~np.isin(model.ids_, asked)
    different = (before != model.transduction_)[is_other]
    return Round(
        asked,
        answers,
        n_labeled=len(model.labeled_),
        changed=float(np.mean(different)) if len(different) else 0.0,
        outlook=model.outlook(10) if looks_ahead else None,
    )
