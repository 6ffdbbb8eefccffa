"""Kernel learning, classifier and query strategy in one estimator."""

from copy import copy
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_scalar, get_tags

from mercer._base.mixins import NestedParameters
from mercer._base.random import as_generator
from mercer._base.rows import is_dask
from mercer._base.threads import with_n_jobs
from mercer._base.typing import ArrayLike, IntArray, Points, RandomState
from mercer.evidence.labels import Labels, LabelsDrawn
from mercer.evidence.pairs.constraints import Pairs
from mercer.evidence.reading import UNLABELED
from mercer.evidence.row_names import (
    check_once,
    check_unique,
    named_rows,
    positions_of,
    row_ids,
    warn_if_reordered,
)
from mercer.evidence.score import LabeledScoreMixin
from mercer.evidence.sources import Sources, SourcesLike
from mercer.fewlabels.pools.base import Pool
from mercer.fewlabels.pools.dask import gather
from mercer.fewlabels.pools.view import Views
from mercer.fewlabels.rule import Rule
from mercer.graphs.points import n_points, warn_of_equal_points
from mercer.model.beliefs import joined_classes
from mercer.model.growth import GrowingModel, Growth
from mercer.model.judged import JudgedModel
from mercer.model.parts import (
    ClassSizes,
    Learned,
    Learner,
    Machine,
    Query,
    learn,
    new_learner,
    new_machine,
)
from mercer.model.predictions import Predictions
from mercer.model.questions import rows_to_ask
from mercer.model.view import ModelView
from mercer.spectrum.base import Basis


class UnifiedKernelMachine(
    Predictions,
    GrowingModel,
    JudgedModel,
    ModelView,
    NestedParameters,
    LabeledScoreMixin,
    BaseEstimator,
):
    """Predicts unlabelled rows from a few labels, and suggests which row to label next.

    Semi-supervised and active learning: a kernel is learned from all rows, a classifier
    from the labelled ones. No hyperparameters. In y, -1, None and NaN are unlabelled.

    Parameters
    ----------
    learner : "auto" or learner, default="auto"
        Kernel learner. "auto" is `AutoKernel`, or `PairwiseKernel`
        where pairs are given.
    machine : {"auto", "klr", "rls", "svm"} or kernel machine, default="auto"
        Classifier trained on the learned kernel. "auto" is `LeaveOneOutRLS`, which sets
        its own ridge, slope, offsets and class sizes. A machine of your own needs a
        parameter `kernel` and a method ``solve(kernel, labels, *, features=None)``, as
        those of `mercer.machines` have. A classifier that has only `fit` goes after a
        learner in a pipeline.
    query : str or callable, default="fill"
        Query strategy of `ask`: "fill" for rows expected to remove most errors,
        "fill_new" for the same without the errors of the rows themselves, another of
        `mercer.active.choose_rows`, or a callable that takes the model, n and a
        generator and returns positions of rows
        (`mercer.active.skactiveml.from_skactiveml` makes one of any strategy there).
    basis : "auto" or basis, default="auto"
        Given to a learner that takes `basis=` and has none of its own. "auto" lets the
        learner choose: the default one takes neighbour graphs, or anchor graphs for
        many points; `basis_.certificate_.reason` says which and why.
    class_sizes : dict, array-like, str or "estimate", optional
        Shares of the classes among all rows (class imbalance), if they are known:
        ``{class: share}``, or in the order of `classes_`; in part ``{"a": 0.9}``,
        ``{"a": (0.8, 0.95)}``, ``{"a": "most"}`` or ``"a > b"``, as in
        `LeaveOneOutRLS`. The machine decides where left out.
    labels_drawn : {"at random", "per class"}, optional
        How rows were chosen for labels, if that is known (see `LeaveOneOutRLS`).
    views : dict of names to columns, or sequence of View, optional
        Groups of columns that are compared on their own, as in `AutoKernel`.
    rule : Rule, optional
        The constants of the default (`mercer.fewlabels.rule.Rule`), for the learner,
        its pool and the machine, where these have none of their own.
    memory : float, optional
        Bytes that the default learner may use; three quarters of what is free when
        left out.
    n_jobs : int, optional
        Threads, as in scikit-learn: -1 for one per core; one by default. No result
        depends on it.
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

    See Also
    --------
    AutoKernel : The default learner.
    LeaveOneOutRLS : The default machine.
    mercer.learn : The same model for a table.
    learn_actively : A loop of questions and answers.

    Notes
    -----
    Hoi, Lyu and Chang (KDD 2006), section 3. Their UKLR (figure 6) is
    ``UnifiedKernelMachine(DecayingKernel(decay=2), "klr", "entropy")``. Entropy is not
    the default query here: with a handful of labels the most uncertain points are
    often noise or lie close together, and on one of the paper's four data sets random
    questions were better. "fill" weighs what a label tells about other rows against the
    error of the row itself. In our benchmarks it matched "reduction" for the first 15
    questions and was better after 30 (docs/trust.md). While more than a quarter of the
    labels are the only one of their class, typical rows are asked about instead,
    because there may be classes without a label.

    Where a part of a graph has no label, machines on graph kernels warn. The default
    learner does not: its pool holds a linear kernel, which reaches every point.

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
        learner: Learner | str = "auto",
        machine: Machine | str = "auto",
        query: Query = "fill",
        basis: Basis | Pool | str = "auto",
        *,
        class_sizes: ClassSizes | None = None,
        labels_drawn: LabelsDrawn | None = None,
        views: Views | None = None,
        rule: Rule | None = None,
        memory: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.learner = learner
        self.machine = machine
        self.query = query
        self.basis = basis
        self.class_sizes = class_sizes
        self.labels_drawn = labels_drawn
        self.views = views
        self.rule = rule
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_n_jobs
    def fit(
        self,
        X: ArrayLike,
        y: Labels | ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        *,
        pairs: Pairs | None = None,
        sources: SourcesLike | None = None,
    ) -> Self:
        """Learn the kernel and train the machine.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n, n_features)
            All points, labelled or not. With a Dask array or data frame the kernel is
            learned from all rows; the labelled ones and 100,000 others are loaded, and
            `ids_`, `transduction_`, `ask` and `tell` refer to these.
            `predict` of a Dask array is lazy.
        y : array-like of shape (n,) or (n, n_classes)
            Labels; -1, None and NaN mark unlabelled points. Without a label, or with
            one class, the model can still `ask`. A Dask array if X is one. With
            two columns or more, the shares of the classes in each row, as of several
            annotators (`mercer.active.answer_shares`); zeros where there is no label.
        sample_weight : array-like of shape (n,), optional
            Weight of each label. 2 is equivalent to repeating the label; 0 removes it.
        pairs : Pairs, optional
            Points that belong together or apart.
        sources : mapping, data frame, array-like of shape (n, m) or Sources, optional
            Votes of rules, language models or colleagues, a column for each; -1, None
            and NaN where one abstains (`Sources.read`). y may then be None.
        """
        if y is None and sources is not None:
            y = np.full(n_points(X), UNLABELED)
        warn_if_reordered(X, y)
        self._seed = int(as_generator(self.random_state).integers(2**31))
        choices = self.memory, self.rule, self.views
        self._learner = new_learner(
            self.learner, self.basis, pairs, self._seed, *choices
        )
        self._machine = new_machine(
            self.machine, self.class_sizes, self.labels_drawn, self.rule
        )
        self._pairs, self._n_asked = pairs, 0
        self._X = None  # kept where the learner has no basis
        self.basis_ = None
        self._points = None  # for a new basis; not saved with the model
        self.growth_ = Growth()
        self.sources_ = self.believed_ = None
        if is_dask(X):
            if sample_weight is not None or sources is not None:
                name = "sources" if sample_weight is None else "sample_weight"
                msg = f"{name} is not supported for Dask arrays; give X.compute()."
                raise ValueError(msg)
            return self._fit_dask(X, y)
        points = self._checked(X, reset=True)
        labels = Labels.read(y, n=n_points(points), weights=sample_weight)
        labels.warn_of_weights()
        if sources is not None:
            self.sources_ = Sources.read(sources, n=n_points(points))
        self.ids_ = row_ids(X, n_points(points))
        if hasattr(self._learner, "learn"):
            self.basis_ = self._learner.fitted_basis(points, labels)
            self._points = points
            warn_of_equal_points(points)
        else:
            self._X = points
        self._learn(labels)
        return self

    def _fit_dask(self, X: Points, y: Labels | ArrayLike | None) -> Self:
        if not getattr(self._learner, "takes_dask", False):
            msg = (
                "a Dask array takes the default learner and basis, without pairs and "
                "views; for others bring the rows into memory."
            )
            raise TypeError(msg)
        found = gather(X, y, rule=self.rule, rng=np.random.default_rng(self._seed))
        self.basis_, self.ids_ = found.pool, found.ids
        self.n_features_in_ = found.pool.n_features_in_
        self._learn(Labels.read(found.y))
        return self

    @with_n_jobs
    def ask(self, n: int = 1, *, exclude: ArrayLike = ()) -> NDArray[Any]:
        """Return the ids of the unlabelled rows most worth a label.

        Parameters
        ----------
        n : int, default=1
            Number of rows; fewer if fewer are unlabelled.
        exclude : array-like, default=()
            Ids of rows to skip, such as rows that nobody could label.
        """
        self._check_rows()
        check_unique(self.ids_)
        check_scalar(n, "n", Integral, min_val=1)
        excluded = positions_of(named_rows(exclude, self.ids_), self.ids_)
        self._n_asked += 1
        rng = np.random.default_rng([self._seed, self._n_asked])
        rows = rows_to_ask(self, int(n), excluded, rng)
        ids: NDArray[Any] = self.ids_[rows]
        return ids

    @with_n_jobs
    def tell(
        self,
        rows: ArrayLike,
        labels: ArrayLike,
        *,
        class_sizes: ClassSizes | None = None,
        source: str | None = None,
    ) -> Self:
        """Take labels, or votes of a source, and refit; the basis is kept.

        Parameters
        ----------
        rows : array-like of shape (m,)
            Ids, as `ask` returns them.
        labels : array-like of shape (m,)
            Their labels; new classes are allowed.
        class_sizes : dict, array-like or "estimate", optional
            Shares of the classes from now on, in place of the present ones: a new class
            may have a known size.
        source : str, optional
            Who says so, such as "llm": its votes, which may be wrong.
        """
        self._check_rows()
        ids = named_rows(rows, self.ids_)
        positions = positions_of(ids, self.ids_)
        check_once(positions, ids)
        if source is not None:
            self._take_votes(positions, labels, source, class_sizes)
        else:
            self._learn(self.labels_.told(positions, labels), class_sizes)
        return self

    @with_n_jobs
    def with_labels(
        self,
        y: Labels | ArrayLike,
        *,
        class_sizes: ClassSizes | None = None,
        machine: Machine | str | None = None,
        sources: SourcesLike | None = None,
    ) -> Self:
        """Return a model of the same points with other labels; the basis is shared.

        Parameters
        ----------
        y : Labels or array-like of shape (n,)
            Labels; -1, None and NaN mark unlabelled points.
        class_sizes : dict or array-like, optional
            Shares of the classes in place of the present ones.
        machine : str or kernel machine, optional
            What is trained in place of the present one.
        sources : as in `fit`, in place of the present ones, optional
        """
        self._check_rows()
        n = len(self.ids_)
        labels = self.labels_.told(np.arange(n), y)
        other = copy(self)
        if sources is not None:
            other.sources_ = Sources.read(sources, n=n)
        other._points = getattr(self, "_points", None)
        other._learn(labels, class_sizes, machine)
        return other

    def _learn(
        self,
        labels: Labels,
        class_sizes: ClassSizes | None = None,
        machine: Machine | str | None = None,
    ) -> None:
        """Learn from labels, with other class sizes or another machine where given."""
        spec = self.machine if machine is None else machine
        sizes = self.class_sizes if class_sizes is None else class_sizes
        unfitted = self._machine
        if machine is not None or class_sizes is not None:
            unfitted = new_machine(spec, sizes, self.labels_drawn, self.rule)
        # Nothing is changed before everything is learned: sizes may contradict labels.
        believed, sources = None, self.sources_
        if sources is not None:
            labels, sources = joined_classes(labels, sources)
        if sources is not None and len(labels.classes) > 1:
            believed = self._believed(labels, sources, unfitted)
        found = believed.learned if believed else self._learned(labels, unfitted)
        self.sources_, self.believed_ = sources, believed
        self._machine, self.machine, self.class_sizes = unfitted, spec, sizes
        self.learner_, self.machine_ = found.learner, found.machine
        self.kernel_, self.features_ = found.learner.kernel_, found.features
        self.labels_ = labels
        self.classes_, self.labeled_ = labels.classes, labels.labeled

    def _learned(
        self, labels: Labels, unfitted: Machine, rows: IntArray | None = None
    ) -> Learned:
        """Return fitted parts for other labels."""
        return learn(
            self._learner,
            unfitted,
            labels,
            basis=self.basis_,
            points=self._X,
            pairs=self._pairs,
            rows=rows,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if not isinstance(self.learner, str):
            tags.input_tags.pairwise = get_tags(self.learner).input_tags.pairwise
        return tags
