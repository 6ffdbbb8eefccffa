"""What a fitted model knows of sources."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer._base.typing import ArrayLike, FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.evidence.sources import Sources
from mercer.evidence.weighing import cautious
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.rule import Rule
from mercer.judging.sources import SourceReport, report_sources
from mercer.machines._sizes import with_classes
from mercer.model.beliefs import Believed, believe, joined_classes
from mercer.model.fitted import FittedModel
from mercer.model.parts import ClassSizes, Learned, Machine


class SourcedModel(FittedModel):
    """Rules, language models and colleagues that `UnifiedKernelMachine` learns from."""

    _learn: Any
    _learned: Any
    _machine: Any

    def source_report(self) -> SourceReport:
        """Return how reliable each source is, and what the sources rest on.

        Returns
        -------
        SourceReport
            For each source its accuracy with a 95% interval, its coverage, and how
            often it contradicts the others; which are worse than chance, and which
            copy each other.
        """
        self._check_rows()
        if self.believed_ is None and self.sources_ is not None:
            msg = (
                "the sources and labels name fewer than two classes, so nothing can be "
                "told of the sources; label a row of another class."
            )
            raise ValueError(msg)
        if self.believed_ is None:
            msg = "the model has no sources; give them by fit(X, y, sources=...)."
            raise ValueError(msg)
        found = self.believed_
        even = np.broadcast_to(found.alike, found.said.shape)
        return report_sources(
            found.weighed, self.labels_.codes, log_prior=even, opinion=found.said
        )

    def _take_votes(
        self,
        rows: IntArray,
        votes: ArrayLike,
        source: str,
        class_sizes: ClassSizes | None,
    ) -> None:
        """Take votes of one source on rows, and refit."""
        before = self.sources_
        now = before
        if now is None:
            now = Sources.read({source: np.full(len(self.ids_), None)})
        self.sources_ = now.told(rows, source, votes if np.ndim(votes) else [votes])
        labels = self.labels_.without(rows[:0])  # and its classes, not those of votes
        try:
            self._learn(labels, class_sizes)
        except BaseException:
            self.sources_ = before  # nothing was told
            raise

    def _believed(self, labels: Labels, sources: Sources, machine: Machine) -> Believed:
        labels, sources = joined_classes(labels, sources)

        def learned(taught: Labels, rows: IntArray | None, rule: Rule) -> Learned:
            # A class that few votes name may be nowhere the likeliest.
            known = with_classes(machine, labels.classes, taught.classes)
            if isinstance(known, LeaveOneOutRLS):
                known = clone(known).set_params(rule=rule)
            found: Learned = self._learned(taught, known, rows)
            return found

        return believe(
            learned,
            labels,
            sources,
            rule=self._rule,
            points=self._X,
            seed=self._seed,
        )

    def _of_classes(self, beliefs: FloatArray, classes: NDArray[Any]) -> FloatArray:
        """Return beliefs in the order of `classes_`; 0 for classes not among these."""
        found = np.zeros((len(beliefs), len(self.classes_)))
        found[:, np.searchsorted(self.classes_, classes)] = beliefs
        return found

    def _log_beliefs(self, rows: IntArray) -> FloatArray:
        """Return what is believed of labelled rows without their own labels."""
        found: Any = self.believed_
        prior = cautious(found.model[rows])
        votes = found.weighed.sources.take(rows).votes
        return np.asarray(prior + found.weighed.reliability.evidence(votes))
