"""Methods that label all points from a few labels; each imports what it needs."""

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


def label_spreading_knn(X: Any, y: Any) -> Any:
    """scikit-learn's LabelSpreading on a neighbour graph."""
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading(kernel="knn").fit(X, y).transduction_


def label_spreading_rbf(X: Any, y: Any) -> Any:
    """scikit-learn's LabelSpreading on a Gaussian kernel, its own default width."""
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading().fit(X, y).transduction_


def label_propagation_knn(X: Any, y: Any) -> Any:
    """scikit-learn's LabelPropagation on a neighbour graph."""
    from sklearn.semi_supervised import LabelPropagation

    return LabelPropagation(kernel="knn").fit(X, y).transduction_


def self_training(X: Any, y: Any) -> Any:
    """scikit-learn's SelfTrainingClassifier around a logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    inner = LogisticRegression(max_iter=1000)
    return SelfTrainingClassifier(inner).fit(X, y).predict(X)


def _supervised(model: Any, X: Any, y: Any) -> Any:
    known = y >= 0
    return model.fit(X[known], y[known]).predict(X)


def nearest_label(X: Any, y: Any) -> Any:
    """Take the class of the nearest labelled point."""
    from sklearn.neighbors import KNeighborsClassifier

    return _supervised(KNeighborsClassifier(1), X, y)


def logistic_regression(X: Any, y: Any) -> Any:
    """Fit a logistic regression to the labelled points."""
    from sklearn.linear_model import LogisticRegression

    return _supervised(LogisticRegression(max_iter=1000), X, y)


def svc(X: Any, y: Any) -> Any:
    """Fit a support vector machine to the labelled points."""
    from sklearn.svm import SVC

    return _supervised(SVC(), X, y)


def random_forest(X: Any, y: Any) -> Any:
    """Fit a random forest to the labelled points."""
    from sklearn.ensemble import RandomForestClassifier

    return _supervised(RandomForestClassifier(random_state=0, n_jobs=1), X, y)


def laplace(X: Any, y: Any) -> Any:
    """Laplace learning of graphlearning."""
    return graphs.run(X, y, "laplace")


def poisson(X: Any, y: Any) -> Any:
    """Poisson learning of graphlearning."""
    return graphs.run(X, y, "poisson")


def poisson_mbo(X: Any, y: Any) -> Any:
    """PoissonMBO of graphlearning, given the class sizes of the labels."""
    return graphs.run(X, y, "poisson_mbo")
