"""The whole sentence as one estimator: kernel, machine, and the next question."""

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import Tags, check_scalar, get_tags
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import FLOATS, checked_points
from mercer._base.nested import NestedParameters
from mercer._base.proba import probabilities
from mercer._base.random import as_generator
from mercer._base.ranges import all_equal
from mercer._base.rows import in_batches, stacked
from mercer._base.tensors import is_tensor
from mercer._base.threads import threads_for
from mercer._base.typing import ArrayLike, FloatArray, IntArray, RandomState
from mercer.active.cold import MOST_UNSEEN, cold_rows, unseen_share
from mercer.active.strategies import EXPLORING, ask_rows
from mercer.evidence.labels import Labels
from mercer.evidence.row_names import (
    check_once,
    check_unique,
    named_rows,
    positions_of,
    row_ids,
    warn_if_reordered,
)
from mercer.evidence.score import LabeledScoreMixin
from mercer.exceptions import DriftWarning, NearlyConstantKernelWarning
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.pools.dask import gather, is_dask, lazily
from mercer.graphs.neighbors import Graph
from mercer.graphs.points import n_points
from mercer.machines._sizes import with_classes
from mercer.machines.base import KernelMachine
from mercer.machines.prior import PriorMachine
from mercer.model.growth import Growth, judge_growth
from mercer.model.judged import JudgedModel
from mercer.model.parts import new_learner, new_machine
from mercer.model.view import ModelView
from mercer.spectrum.features import Features


class UnifiedKernelMachine(
    JudgedModel,
    ModelView,
    NestedParameters,
    LabeledScoreMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Predicts unlabelled rows from a few labels, and says which row to label next.

    A kernel is learned from all rows, and a classifier from the labelled ones. The
    defaults need no tuning. In y, -1, None and NaN mark a row without a label.

    Parameters
    ----------
    learner : "auto" or learner, default="auto"
        What turns evidence into a kernel. "auto" is `AutoKernel`, or `PairwiseKernel`
        where pairs are given.
    machine : {"auto", "klr", "rls", "svm"} or kernel machine, default="auto"
        What is trained on the learned kernel. "auto" is `LeaveOneOutRLS`, which sets
        its own ridge, slope, offsets and class sizes. A machine of your own needs a
        parameter `kernel` and a method ``solve(kernel, labels, *, features=None)``, as
        those of `mercer.machines` have. A classifier that has only `fit` goes after a
        learner in a pipeline.
    query : str or callable, default="fill"
        Which points `ask` names: "fill" for those expected to remove most errors,
        "predict" for the same without the row's own, "reduction", "entropy", "margin",
        "least_confidence", "variance", "diverse" or "random" (see
        `mercer.active.strategies`), or a callable that takes the model, n and a
        generator and returns positions of rows
        (`mercer.active.skactiveml.from_skactiveml` makes one of any strategy there).
    basis : "auto" or basis, default="auto"
        Given to a learner that takes `basis=` and has none of its own. "auto" lets the
        learner choose: the default one takes neighbour graphs, or anchor graphs for
        many points; `basis_.certificate_.reason` says which and why.
    memory : float, optional
        Bytes that the default learner may use; three quarters of what is free when
        left out.
    random_state : int, Generator, RandomState or None, default=None
        For the default learner and the query; a given learner has its own.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    transduction_ : ndarray of shape (n,)
        Given labels, and predictions for the unlabelled points.
    learner_, machine_ : fitted learner and machine
    kernel_ : the learned kernel
    labeled_ : ndarray of int
        Positions of the labelled rows.
    ids_ : ndarray of shape (n,)
        Row labels of a data frame, else positions: what `ask` returns.
    growth_ : Growth
        Rows that joined by `add_rows`, and whether they had drifted.

    Notes
    -----
    Hoi, Lyu and Chang (KDD 2006), section 3. Their UKLR (figure 6) is
    ``UnifiedKernelMachine(DecayingKernel(decay=2), "klr", "entropy")``. Entropy is not
    the default query here: with a handful of labels the most uncertain points are
    often noise or lie close together, and on one of the paper's four data sets random
    questions were better. "fill" weighs what a label tells about other rows against the
    error of the row itself, and was ahead with few and with many questions, on the rows
    at hand and on new ones (docs/trust.md). While more than a quarter of the labels are
    the only one of their class, typical rows are asked about instead: there may be
    classes that nobody has named.

    Where a part of a graph has no label, machines on graph kernels warn. The default
    learner does not: its pool holds plain kernels, which reach every point.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, truth = make_moons(200, noise=0.05, random_state=0)
    >>> y = np.where(np.isin(np.arange(200), [0, 1, 2, 3]), truth, -1)
    >>> model = UnifiedKernelMachine(random_state=0).fit(X, y)
    >>> float(np.mean(model.transduction_ == truth))
    1.0
    >>> row = model.ask()                          # the most useful question
    >>> model.tell(row, truth[row]).labeled_.size  # and its answer
    5
    """

    def __init__(
        self,
        learner: Any = "auto",
        machine: Any = "auto",
        query: Any = "fill",
        basis: Any = "auto",
        *,
        memory: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.learner = learner
        self.machine = machine
        self.query = query
        self.basis = basis
        self.memory = memory
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: Labels | ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        pairs: Any = None,
    ) -> Self:
        """Learn the kernel and train the machine.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n, n_features)
            All points, labelled or not. Of a Dask array or data frame all points
            shape the kernel, and the labelled rows with 100,000 others come to this
            process: `ids_`, `transduction_`, `ask` and `tell` are about these.
            `predict` of a Dask array is lazy.
        y : array-like of shape (n,) or (n, n_classes)
            Labels; -1, None and NaN mark unlabelled points. Without a label, or with
            one class, the model can still `ask`. A Dask array where X is one, too. With
            two columns or more, the shares of the classes in each row, as of several
            annotators (`mercer.active.answer_shares`); zeros where there is no label.
        sample_weight : array-like of shape (n,), optional
            A label of weight 2 counts as one given twice, one of weight 0 is none.
        pairs : Pairs, optional
            Points that belong together or apart.
        """
        warn_if_reordered(X, y)
        self._seed = int(as_generator(self.random_state).integers(2**31))
        self._learner = new_learner(
            self.learner, self.basis, pairs, self._seed, self.memory
        )
        self._machine = new_machine(self.machine)
        self._pairs, self._n_asked = pairs, 0
        self._X: Any = None  # kept where the learner has no basis
        self.basis_: Any = None
        self._points: Any = None  # for a new basis; not saved with the model
        self.growth_ = Growth()
        if is_dask(X):
            if sample_weight is not None:
                msg = "sample_weight is not taken with a Dask array."
                raise ValueError(msg)
            return self._fit_dask(X, y)
        points = self._checked(X, reset=True)
        labels = Labels.read(y, n=n_points(points), weights=sample_weight)
        labels.warn_of_weights()
        self.ids_ = row_ids(X, n_points(points))
        if hasattr(self._learner, "learn"):
            self.basis_ = self._learner.fitted_basis(points, labels)
            self._points = points
            is_array = isinstance(points, np.ndarray) or issparse(points)
            if is_array and all_equal(points):
                msg = "all training points are equal: nothing tells classes apart."
                warnings.warn(msg, NearlyConstantKernelWarning, stacklevel=2)
        else:
            self._X = points
        self._learn(labels)
        return self

    def _fit_dask(self, X: Any, y: Any) -> Self:
        if not isinstance(self._learner, AutoKernel) or self._learner.basis is not None:
            msg = (
                "a Dask array takes the default learner and basis, without pairs; for "
                "others bring the rows into memory."
            )
            raise TypeError(msg)
        found = gather(X, y, rng=np.random.default_rng(self._seed))
        self.basis_, self.ids_ = found.pool, found.ids
        self.n_features_in_ = found.pool.n_features_in_
        self._learn(Labels.read(found.y))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of points, (m,)."""
        check_is_fitted(self, "machine_")
        return self._of_rows(X, "predict", self.machine_.predict, self.classes_[:0])

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probability of every class, (m, n_classes).

        A machine without probabilities gives those of its decision values.
        """
        check_is_fitted(self, "machine_")
        none = np.empty((0, len(self.classes_)))
        return self._of_rows(X, "predict_proba", _proba_of(self.machine_), none)

    def training_proba(self) -> FloatArray:
        """Return the probabilities of the training rows, (n, n_classes)."""
        self._check_rows()
        if self._X is None:
            return np.asarray(self.machine_.training_proba_)
        return in_batches(_proba_of(self.machine_), self._X)

    @property
    def label_distributions_(self) -> FloatArray:
        """Class probabilities of the training rows, labels as given, (n, n_classes)."""
        found = np.array(self.training_proba())
        found[self.labeled_] = self.labels_.one_hot()
        return found

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return decision values, (m,) for two classes, else (m, n_classes)."""
        check_is_fitted(self, "machine_")
        X = self._checked(X, reset=False)
        with threads_for(n_points(X)):
            return in_batches(self.machine_.decision_function, X)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return features whose inner products are the learned kernel, (m, r).

        Of a Dask array they are lazy.
        """
        check_is_fitted(self, "machine_")
        none = np.empty((0, self._n_features_out))
        return self._of_rows(X, "transform", self.learner_.transform, none)

    def _of_rows(
        self, X: Any, name: str, method: Callable[[Any], Any], none: NDArray[Any]
    ) -> NDArray[Any]:
        """Return what a method says of rows; of a Dask array when that is computed."""
        if is_dask(X):
            lazy: NDArray[Any] = lazily(self, name, X, none)
            return lazy
        X = self._checked(X, reset=False)
        with threads_for(n_points(X)):
            return in_batches(method, X)

    def fit_transform(self, X: ArrayLike, y: ArrayLike, **evidence: Any) -> FloatArray:
        """Fit and return the features of the training rows, without a search."""
        self.fit(X, y, **evidence)
        if self.features_ is None or is_dask(X):
            return self.transform(X)
        return self.features_.rows(np.arange(len(self.ids_)))

    def ask(self, n: int = 1, *, exclude: ArrayLike = ()) -> NDArray[Any]:
        """Return the ids of the unlabelled rows most worth a label.

        Parameters
        ----------
        n : int, default=1
            How many; fewer when fewer are unlabelled.
        exclude : array-like, default=()
            Ids of rows not to ask about: nobody could label them.
        """
        self._check_rows()
        check_unique(self.ids_)
        check_scalar(n, "n", Integral, min_val=1)
        excluded = positions_of(named_rows(exclude, self.ids_), self.ids_)
        self._n_asked += 1
        rng = np.random.default_rng([self._seed, self._n_asked])
        if self._looks_for_classes():
            rows = cold_rows(
                self._features,
                int(n),
                n_points=len(self.ids_),
                asked=np.union1d(self.labeled_, excluded),
                rng=rng,
            )
        elif callable(self.query):
            asked = self.query(self, int(n) + len(excluded), rng)
            rows = np.asarray(asked, dtype=np.intp)
            rows = rows[~np.isin(rows, excluded)][:n]
        else:
            with threads_for(len(self.ids_)):
                rows = ask_rows(
                    self.query,
                    int(n),
                    proba=self.training_proba(),
                    features_of=self._features,
                    labeled=self.labeled_,
                    rng=rng,
                    excluded=excluded,
                )
        ids: NDArray[Any] = self.ids_[rows]
        return ids

    def _looks_for_classes(self) -> bool:
        """Tell whether many rows may be of classes that have no label yet."""
        if len(self.classes_) < 2:
            return True
        if callable(self.query) or self.query not in EXPLORING:
            return False
        given = self.transduction_[self.labeled_]
        return unseen_share(np.unique(given, return_counts=True)[1]) > MOST_UNSEEN

    def tell(self, rows: ArrayLike, labels: ArrayLike, *, machine: Any = None) -> Self:
        """Take labels and refit; the basis is kept.

        Parameters
        ----------
        rows : array-like of shape (m,)
            Ids, as `ask` returns them.
        labels : array-like of shape (m,)
            Their labels; new classes are allowed.
        machine : str or kernel machine, optional
            What is trained from now on, in place of the present one: a new class may
            have a known size, as of `LeaveOneOutRLS(class_sizes=...)`.
        """
        self._check_rows()
        ids = named_rows(rows, self.ids_)
        positions = positions_of(ids, self.ids_)
        check_once(positions, ids)
        self._learn(self.labels_.told(positions, labels), machine)
        return self

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
        if not hasattr(self.basis_, "grown"):
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
        before = Growth() if self.growth_.is_renewed else self.growth_
        growth = judge_growth(self.basis_, points, before)
        known = getattr(self, "_points", None)
        every = None if known is None else stacked(known, points)
        if growth.has_drifted and every is not None:
            growth = replace(growth, is_renewed=True)
            basis = self._learner.fitted_basis(every, labels)
        else:
            basis = self.basis_.grown(points)
            if growth.has_drifted:
                warnings.warn(f"{growth}.", DriftWarning, stacklevel=2)
        basis.certificate_ = replace(basis.certificate_, note=str(growth))
        self.basis_, self.ids_ = basis, ids
        self._points, self.growth_ = every, growth
        self._learn(labels)
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Self:
        """Fit at the first call, `add_rows` at later ones.

        Parameters
        ----------
        X, y : as in `fit` and `add_rows`
        classes : ignored
            A class that was not there before is welcome.
        """
        if hasattr(self, "machine_"):
            return self.add_rows(X, y)
        return self.fit(X, y)

    def with_labels(self, y: Labels | ArrayLike, *, machine: Any = None) -> Self:
        """Return a model of the same points with other labels; the basis is shared.

        Parameters
        ----------
        y : Labels or array-like of shape (n,)
            Labels; -1, None and NaN mark unlabelled points.
        machine : str or kernel machine, optional
            What is trained in place of the present one.
        """
        self._check_rows()
        n = len(self.ids_)
        labels = self.labels_.told(np.arange(n), y)
        other = copy(self)
        other._points = getattr(self, "_points", None)
        other._learn(labels, machine)
        return other

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
        left = np.isin(self.classes_, labels.classes)
        proba = np.zeros((len(test), len(self.classes_)))
        if left.sum() < 2:
            proba[:, left] = 1.0
            return proba
        unfitted = with_classes(self._machine, self.classes_, labels.classes)
        _, _, machine = self._learned(labels, rows, unfitted)
        if self._X is None:
            places = test if rows is None else np.searchsorted(rows, test)
            proba[:, left] = machine.training_proba_[places]
        else:
            proba[:, left] = in_batches(_proba_of(machine), self._X[test])
        return proba

    def without_rows(self) -> Self:
        """Return a model that predicts new points and forgets its own where it can.

        Neighbour graphs need their points to place new ones; anchor graphs do not. The
        copy cannot `ask`, `tell` or `explain`.
        """
        check_is_fitted(self, "machine_")
        slim = copy(self)
        slim.machine_, slim.learner_ = copy(self.machine_), copy(self.learner_)
        vars(slim.machine_).pop("training_proba_", None)
        if self.basis_ is not None:
            basis = self.basis_.without_rows()
            kernel = replace(self.kernel_, basis=basis)
            slim.basis_ = slim.learner_.basis_ = basis
            slim.kernel_ = slim.learner_.kernel_ = slim.machine_.kernel_ = kernel
            slim.machine_._map = self.machine_._map.with_kernel(kernel)
        slim.features_ = None
        slim.transduction_, slim.ids_ = self.transduction_[:0], self.ids_[:0]
        slim.labels_ = self.labels_.take(np.arange(0))
        slim.machine_.transduction_ = slim.transduction_
        return slim

    def _learn(self, labels: Labels, spec: Any = None) -> None:
        """Learn from labels, with another machine where one is given."""
        unfitted = self._machine if spec is None else new_machine(spec)
        learner, features, machine = self._learned(labels, None, unfitted)
        self._machine = unfitted
        if spec is not None:
            self.machine = spec
        self.learner_, self.machine_ = learner, machine
        self.kernel_, self.features_ = learner.kernel_, features
        self.labels_ = labels
        self.classes_, self.labeled_ = labels.classes, labels.labeled
        self.transduction_ = machine.transduction_

    def _learned(
        self, labels: Labels, rows: IntArray | None, unfitted: Any
    ) -> tuple[Any, Features | None, Any]:
        """Return a learner, its features and a fitted machine for other labels."""
        with threads_for(len(labels.codes)):
            return self._learned_from(labels, rows, unfitted)

    def _learned_from(
        self, labels: Labels, rows: IntArray | None, unfitted: Any
    ) -> tuple[Any, Features | None, Any]:
        evidence = {} if self._pairs is None else {"pairs": self._pairs}
        learner, machine = clone(self._learner), clone(unfitted)
        if self.basis_ is None:
            y = labels.given()
            learner.fit(self._X, y, **evidence)
            told = labels if isinstance(machine, KernelMachine) else y
            machine.set_params(kernel=learner.kernel_).fit(self._X, told)
            return learner, None, machine
        learner.learn(self.basis_, labels, **evidence)
        if len(labels.classes) < 2:
            machine = PriorMachine()
        features = learner.kernel_.at_training()
        some = {}
        if rows is not None:
            features, labels = features.take(rows), labels.take(rows)
            some = {"rows": rows} if isinstance(machine, KernelMachine) else {}
        return (
            learner,
            features,
            machine.solve(learner.kernel_, labels, features=features, **some),
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.learner_.get_feature_names_out())

    def _features(self, rows: IntArray) -> FloatArray:
        """Return features of training rows; kernel values where there are none."""
        if self.features_ is not None:
            return self.features_.rows(rows)
        if hasattr(self.kernel_, "features"):
            return np.asarray(self.kernel_.features())[rows]
        return np.asarray(self.machine_.similarity(self._X[rows]))

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, Graph):
            return X
        if is_tensor(X):
            return self._checked_tensor(X, reset=reset)
        return checked_points(X, self, reset=reset, dtype=FLOATS)

    def _checked_tensor(self, X: Any, *, reset: bool) -> Any:
        """Check the shape of a PyTorch tensor, which stays on its device."""
        known = None if reset else getattr(self, "n_features_in_", None)
        if X.ndim != 2 or known not in (None, X.shape[1]):
            wanted = "two axes" if known is None else f"{known} columns"
            msg = f"X has the shape {tuple(X.shape)}; give a tensor with {wanted}."
            raise ValueError(msg)
        if reset:
            self.n_features_in_ = int(X.shape[1])
        return X

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: the points are in the basis as far as it needs them.

        The features are those of the kernel at the points of the basis.
        """
        state = dict(super().__getstate__())
        state.pop("_points", None)
        if state.get("features_") is not None:
            del state["features_"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "kernel_" in state and "features_" not in state:
            self.features_ = self.kernel_.at_training()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if not isinstance(self.learner, str):
            tags.input_tags.pairwise = get_tags(self.learner).input_tags.pairwise
        return tags


def _proba_of(machine: Any) -> Callable[[Any], Any]:
    """Return what gives probabilities of rows, of any machine."""
    if hasattr(machine, "predict_proba"):
        predict_proba: Callable[[Any], Any] = machine.predict_proba
        return predict_proba
    return lambda X: probabilities(machine.decision_function(X))
