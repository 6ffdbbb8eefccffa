"""What a fitted model says about its labels, and about what more would bring."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.rows import in_batches, take_rows
from mercer._base.threads import with_n_jobs
from mercer._base.typing import ArrayLike, BoolArray, FloatArray, IntArray
from mercer.evidence.row_names import named_rows, positions_of
from mercer.judging.explanation import Explanation
from mercer.judging.outlook import Outlook, expected_gain
from mercer.judging.prediction_sets import prediction_sets
from mercer.judging.suspicion import SuspiciousLabels, rank_labels
from mercer.machines._sizes import with_classes
from mercer.model.held_out import held_out_scores
from mercer.model.parts import Learned, proba_of
from mercer.model.sourced import SourcedModel
from mercer.model_selection import SemiSupervisedKFold


class JudgedModel(SourcedModel):
    """Questions of trust that `UnifiedKernelMachine` answers."""

    _machine: Any  # not fitted
    _learned: Any
    training_proba: Any
    predict_proba: Any

    @with_n_jobs
    def held_out_proba(
        self, test: IntArray, *, rows: IntArray | None = None
    ) -> FloatArray:
        """Return probabilities of labelled rows from a model without their labels.

        Parameters
        ----------
        test : int ndarray of shape (t,)
            Positions of labelled rows.
        rows : int ndarray, optional
            Positions, ascending, of the rows that the machine sees; all rows when left
            out. The basis has seen all of them.

        Returns
        -------
        ndarray of shape (t, n_classes)
            In the order of `classes_`; 0 for a class that has no other label.
        """
        self._check_rows()
        self._check_two_classes()
        labels = self.labels_.without(test)
        if self.sources_ is not None:
            found = self._believed(labels, self.sources_, self._machine)
            return self._of_classes(found.beliefs[test], found.classes)
        left = np.isin(self.classes_, labels.classes)
        proba = np.zeros((len(test), len(self.classes_)))
        if left.sum() < 2:
            proba[:, left] = 1.0
            return proba
        unfitted = with_classes(self._machine, self.classes_, labels.classes)
        machine = self._learned(labels, unfitted, rows).machine
        if self._X is None:
            places = test if rows is None else np.searchsorted(rows, test)
            proba[:, left] = machine.training_proba_[places]
        else:
            proba[:, left] = in_batches(proba_of(machine), self._X[test])
        return proba

    def outlook(self, n_more: int = 10) -> Outlook | None:
        """Return what further labels are expected to bring, with its uncertainty.

        From a learning curve of the present labels: hidden ones are predicted from four
        fifths and from half of them. None with too few labels.

        Parameters
        ----------
        n_more : int, default=10
        """
        self._check_rows()
        labels = self.labels_
        if len(labels.classes) < 2 or labels.counts().max() < 2:
            return None
        rng = np.random.default_rng([self._seed, len(labels.labeled)])
        return expected_gain(self, labels, rng=rng, n_more=n_more)

    @with_n_jobs
    def suspicious_labels(self) -> SuspiciousLabels:
        """Find label errors: rank labels by how little the other labels support them.

        Every label is left out once, in closed form, by `LeaveOneOutRLS` on the
        learned kernel, and a tenth at a time by trees.
        A label that is alone in its class cannot be judged and is not listed.

        Returns
        -------
        SuspiciousLabels
            All labels, the least supported first, with the probability that each is
            wrong. `looks_wrong` tells which to look at again, `first` the ten to begin
            with where nothing is likely wrong, and `false_alarms` the share of the
            named ones that is expected to be right.
        """
        return rank_labels(*self._held_out_labels())

    def predict_set(
        self,
        X: ArrayLike | None = None,
        *,
        coverage: float = 0.9,
        class_wise: bool = False,
    ) -> BoolArray:
        """Return sets of classes that hold the right one with a stated probability.

        A tenth of the labels at a time is hidden and predicted, which takes ten times
        as long as `tell`. The coverage is that of rows whose class has a label; a label
        that is alone in its class is not counted. Labels must have been drawn at random
        for the coverage to hold: rows that the model asked for are harder than the
        others, and their sets larger than they need be.

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            New points; the training rows when left out.
        coverage : float, default=0.9
            Share of the sets that hold the right class.
        class_wise : bool, default=False
            Keep the coverage within every class; a class of few labels, less than nine
            for 0.9, is then in every set.

        Returns
        -------
        bool ndarray of shape (m, n_classes)
            Which of `classes_` are in the set of each row.

        Examples
        --------
        >>> from sklearn.datasets import make_blobs
        >>> from mercer import UnifiedKernelMachine
        >>> X, y = make_blobs(90, centers=3, random_state=8)
        >>> partly = np.where(np.arange(90) < 30, y, -1)
        >>> model = UnifiedKernelMachine(random_state=0).fit(X, partly)
        >>> model.predict_set(coverage=0.9).sum(axis=1).max()  # one class each
        np.int64(1)
        """
        self._check_two_classes()
        proba = self.training_proba() if X is None else self.predict_proba(X)
        labeled = self.labeled_
        codes = self.labels_.codes[labeled]
        held_out = np.zeros((len(labeled), len(self.classes_)))
        tested = self.labels_.counts()[codes] > 1
        if tested.any():
            folds = SemiSupervisedKFold(10, random_state=self._seed)
            for _, test in folds.split(codes, codes):
                held_out[test] = self.held_out_proba(labeled[test])
        return prediction_sets(
            proba,
            held_out[tested],
            codes[tested],
            coverage=coverage,
            class_wise=class_wise,
        )

    def _held_out_labels(
        self,
    ) -> tuple[FloatArray, IntArray, NDArray[Any], NDArray[Any]]:
        """Return held-out log-probabilities of labels, their codes, ids and classes."""
        self._check_two_classes()
        if self.sources_ is not None:
            rows = self.labeled_
            without = self._log_beliefs(rows)
            return without, self.labels_.codes[rows], self.ids_[rows], self.classes_
        learned = Learned(self.learner_, self.features_, self.machine_)
        held = held_out_scores(learned, self.labels_, self._rule, self._X)
        rows = held.rows[held.counted]
        codes = self.labels_.codes[rows]
        return held.scores[held.counted], codes, self.ids_[rows], self.classes_

    @with_n_jobs
    def explain(
        self, X: ArrayLike | None = None, *, rows: ArrayLike | None = None
    ) -> Explanation:
        """Return which labelled points pull each point to which class.

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            New points.
        rows : array-like of shape (m,), optional
            Ids of training points; all of them when X is left out as well.
        """
        self._check_rows()
        if X is not None and rows is not None:
            msg = "explain got X and rows; give new points, or ids of training points."
            raise ValueError(msg)
        own = np.arange(len(self.ids_))
        if rows is not None:
            own = positions_of(named_rows(rows, self.ids_), self.ids_)
        if X is not None:
            R = self.machine_.represent(self._checked(X, reset=False))
        elif self.features_ is None:
            R = self.machine_.represent(take_rows(self._X, own))
        else:
            R = self.machine_._map.represent_own(self.features_, own)
        found = self.believed_
        labels = self.labels_ if found is None else found.taught
        rows = labels.labeled
        given = labels.classes[labels.codes[rows]]
        return Explanation.of(self.machine_, R, self.ids_[rows], given)
