"""The default learner: many kernels, weighed by what they say of held-out labels."""

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from mercer._base.mixins import TakesSparse
from mercer._base.threads import using_threads
from mercer._base.typing import RandomState
from mercer.evidence.labels import Labels
from mercer.fewlabels.pools.base import Pool, PoolBase
from mercer.fewlabels.pools.choice import plan_pool
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.fewlabels.pools.view import read_views
from mercer.fewlabels.pools.views import ViewPool
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.weigh import weigh_pool
from mercer.graphs.neighbors import Graph
from mercer.learners.base import LabelLearner

_NO_POOL = (
    "AutoKernel weighs the kernels of a KernelPool; got {!r}. For this basis take "
    "another learner, such as ParameterFreeKernel()."
)


class AutoKernel(TakesSparse, LabelLearner):
    r"""A kernel from a pool, :math:`K = \sum_m w_m K_m`, that needs no tuning.

    The pool holds graph kernels of two sizes, a linear kernel, and the density (see
    `KernelPool`). Each is judged by ridge
    regression on the labelled points with one label left out at a time, in closed form:

    .. math:: w_m \propto \pi_m \sum_\lambda \exp(-\ell_m(\lambda)),

    :math:`\ell` the *summed* log-loss of the held-out labels. The sum makes the weights
    nearly those of the prior at ten labels and nearly those of one kernel at a hundred.

    Parameters
    ----------
    basis : KernelPool, AnchorPool, TorchPool or None, default=None
        None chooses by the size and kind of the data and by memory (`choose_pool`);
        ``basis_.certificate_.reason`` says which and why.
    views : dict of names to columns, or sequence of View, optional
        Groups of columns with a similarity of their own, such as an embedding, the
        words of a text and numbers: ``{"text": slice(0, 300), "numbers": [300, 301]}``.
        Each has kernels of its own, which the labels weigh (`ViewPool`); `View` also
        says whether angles count. By default all columns are one view.
    rule : Rule, optional
        Members of the pool and their priors. A `basis` without a rule of its own gets
        this one.
    memory : float, optional
        Bytes that the pool may use; three quarters of what is free when left out.
    random_state : int, Generator, RandomState or None, default=None
        For the default pool.

    Attributes
    ----------
    kernel_ : SpectralKernel
        Unit variance over the training points.
    weights_ : ndarray of shape (r,)
        Weights of the columns of the basis.
    basis_ : fitted KernelPool, AnchorPool or TorchPool
    certificate_ : PoolEvidence
        Loss and weight of every kernel of the pool.

    See Also
    --------
    UnifiedKernelMachine : Adds a machine and questions.
    KernelPool : Its basis for up to 100,000 points.
    AnchorPool : Its basis for more points.
    LeaveOneOutRLS : The machine made for it.

    Notes
    -----
    A graph kernel has weights :math:`(\tau/(\gamma_j + \tau))^5`, whose sum is the
    number of classes, and one more for each further part of the graph. Scores are
    compared after the mean over *all* points is taken off, with the offset that was
    fitted without the held-out label: a fold that lost a label of a class would
    otherwise count against that class whatever the kernel. A label alone in its class
    cannot be left out; with one label per class the prior decides.

    New labels cost little: ``learn(learner.basis_, labels)`` factors only small
    matrices of the labelled points.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> X, truth = make_moons(200, noise=0.05, random_state=0)
    >>> y = np.full(200, -1)
    >>> for c in (0, 1):
    ...     y[np.flatnonzero(truth == c)[:3]] = c
    >>> learner = AutoKernel(random_state=0).fit(X, y)
    >>> float(learner.certificate_.weights.sum().round(6))
    1.0
    """

    basis: Pool | None
    basis_: Pool

    def __init__(
        self,
        basis: Pool | None = None,
        *,
        views: Any = None,
        rule: Rule | None = None,
        memory: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.basis = basis
        self.views = views
        self.rule = rule
        self.memory = memory
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.basis, PoolBase | None):
            raise TypeError(_NO_POOL.format(self.basis))

    def _check_basis(self, basis: Any) -> None:
        if not isinstance(basis, PoolBase):
            raise TypeError(_NO_POOL.format(basis))

    def fitted_basis(self, X: Any, labels: Labels | None = None) -> Any:
        """Return a pool fitted to X; its certificate says which one.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
        labels : Labels, optional
            The more classes, the more directions.
        """
        if self.views is not None and (self.basis is not None or isinstance(X, Graph)):
            given = "a graph" if self.basis is None else f"basis={self.basis!r}"
            msg = f"views are groups of columns of points; {given} takes none."
            raise TypeError(msg)
        if self.rule is not None and getattr(self.basis, "rule", self) is None:
            ruled = clone(self).set_params(basis__rule=self.rule)
            return ruled.fitted_basis(X, labels)
        if self.basis is not None or isinstance(X, Graph):
            return super().fitted_basis(X, labels)
        self._check_size(X)
        n_classes = 0 if labels is None else len(labels.classes)
        views = () if self.views is None else read_views(self.views, X.shape[1])
        n_views = max(sum(view.kernels for view in views), 1)
        plan = plan_pool(
            X, n_classes, memory=self.memory, rule=self._rule, n_views=n_views
        )
        pool: Any = plan.make(self.random_state, self.rule)
        if self.views is not None:
            pool = ViewPool(
                self.views, plan, rule=self.rule, random_state=self.random_state
            )
        with using_threads():
            pool.fit(X)
        why = f"{plan}; {pool.certificate_.reason}"
        pool.certificate_ = replace(pool.certificate_, reason=why)
        return pool

    @property
    def takes_dask(self) -> bool:
        """Whether it learns from a Dask array: by default kernels of all columns."""
        return self.basis is None and self.views is None

    def _default_basis(self, n_labeled: int) -> KernelPool:
        return KernelPool(rule=self.rule, random_state=self.random_state)

    def _learn(self, labels: Labels) -> None:
        self.weights_, self.certificate_ = weigh_pool(
            self.basis_.vectors_[labels.labeled],
            labels,
            self.basis_.blocks_,
            rule=self._rule,
        )

    @property
    def _rule(self) -> Rule:
        return DEFAULT if self.rule is None else self.rule
