"""What a fitted model has, declared once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import FLOATS, checked_points
from mercer._base.threads import using_threads
from mercer._base.typing import FloatArray, IntArray, Points
from mercer.evidence.labels import Labels
from mercer.evidence.sources import Sources
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.graphs.neighbors import Graph
from mercer.spectrum.features import Features


class FittedModel:
    """The attributes of a fitted `UnifiedKernelMachine`, and their checks."""

    rule: Rule | None
    n_jobs: int | None
    learner_: Any
    machine_: Any
    kernel_: Any
    features_: Features | None  # None where the learner has no basis
    labels_: Labels
    classes_: NDArray[Any]
    labeled_: IntArray
    ids_: NDArray[Any]
    sources_: Sources | None
    believed_: Any  # where there are sources
    _is_sparse: bool = True  # the points that it was fitted to, as far as is known
    _X: Any  # points, kept where the learner has no basis
    _seed: int

    @property
    def transduction_(self) -> NDArray[Any]:
        """Given labels, and predictions for the unlabelled points, (n,)."""
        check_is_fitted(self, "machine_")
        with using_threads(self.n_jobs):
            found: NDArray[Any] = (self.believed_ or self.machine_).transduction_
        return found

    @property
    def _rule(self) -> Rule:
        return DEFAULT if self.rule is None else self.rule

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: the points are in the basis as far as it needs them.

        The features are those of the kernel at the points of the basis.
        """
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_points", None)
        if state.get("features_") is not None:
            del state["features_"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[misc]
        if "kernel_" in state and "features_" not in state:
            self.features_ = self.kernel_.at_training()

    def _check_rows(self) -> None:
        """Raise unless the model is fitted and has its training rows."""
        check_is_fitted(self, "machine_")
        if not len(self.ids_):
            msg = (
                "the model was made by `without_rows` and predicts only; keep the one "
                "that it was made from for questions about its rows."
            )
            raise ValueError(msg)

    def _check_two_classes(self) -> None:
        self._check_rows()
        if len(self.classes_) < 2:
            msg = "at least two classes are needed; label a row of another class."
            raise ValueError(msg)

    def _features(self, rows: IntArray) -> FloatArray:
        """Return features of training rows; kernel values where there are none."""
        if self.features_ is not None:
            return self.features_.rows(rows)
        if hasattr(self.kernel_, "features"):
            return np.asarray(self.kernel_.features())[rows]
        return np.asarray(self.machine_.similarity(self._X[rows]))

    def _checked(self, X: Points | Graph, *, reset: bool) -> Any:
        if isinstance(X, Graph):
            return X
        points = checked_points(X, self, reset=reset, dtype=FLOATS, tensors=True)
        if reset:
            self._is_sparse = issparse(points)
        elif issparse(points) and not self._is_sparse:
            points = points.toarray()  # as those it was fitted to
        return points

    @property
    def _n_features_out(self) -> int:
        return len(self.learner_.get_feature_names_out())
