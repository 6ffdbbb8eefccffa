"""Methods that label all points from a few labels; each imports what it needs."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from mercer_studies.bench import graphs


def mercer_default(X: Any, y: Any) -> Any:
    """Mercer's default."""
    from mercer import UnifiedKernelMachine

    return UnifiedKernelMachine(random_state=0).fit(X, y).transduction_


def mercer_graph(X: Any, y: Any) -> Any:
    """One neighbour graph, learned weights, least squares."""
    from mercer import GraphBasis, ParameterFreeKernel, UnifiedKernelMachine

    learner = ParameterFreeKernel(GraphBasis(50, random_state=0))
    return UnifiedKernelMachine(learner, "rls", random_state=0).fit(X, y).transduction_


def _of_sklearn(module: str, name: str, **options: Any) -> Callable[[Any, Any], Any]:
    """Return what labels all points by a classifier that is imported when it is run."""

    def run(X: Any, y: Any) -> Any:
        model = getattr(import_module(f"sklearn.{module}"), name)(**options)
        if module == "semi_supervised":
            return model.fit(X, y).transduction_
        known = y >= 0
        return model.fit(X[known], y[known]).predict(X)

    return run


def self_training(X: Any, y: Any) -> Any:
    """scikit-learn's SelfTrainingClassifier around a logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    inner = LogisticRegression(max_iter=1000)
    return SelfTrainingClassifier(inner).fit(X, y).predict(X)


label_spreading_knn = _of_sklearn("semi_supervised", "LabelSpreading", kernel="knn")
# On a Gaussian kernel of its own default width.
label_spreading_rbf = _of_sklearn("semi_supervised", "LabelSpreading")
label_propagation_knn = _of_sklearn("semi_supervised", "LabelPropagation", kernel="knn")
nearest_label = _of_sklearn("neighbors", "KNeighborsClassifier", n_neighbors=1)
logistic_regression = _of_sklearn("linear_model", "LogisticRegression", max_iter=1000)
svc = _of_sklearn("svm", "SVC")
random_forest = _of_sklearn(
    "ensemble", "RandomForestClassifier", random_state=0, n_jobs=1
)
laplace = partial(graphs.run, name="laplace")
poisson = partial(graphs.run, name="poisson")
poisson_mbo = partial(graphs.run, name="poisson_mbo")  # given the sizes of the labels
