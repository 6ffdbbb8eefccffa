"""MKLpy's own kernel lists, cross-validation and learners with ours."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from mercer.kernels.aligning import alignment
from mercer.learners.combination import AverageKernel, CenteredAlignmentKernel
from mercer.learners.parameter_free import ParameterFreeKernel

pytest.importorskip("MKLpy", reason="pip install --group interop")

X, y = load_breast_cancer(return_X_y=True)
X, y = minmax_scale(X[:200]), y[:200]


@pytest.fixture(scope="module")
def kernels():
    """Return homogeneous polynomial kernels, made by MKLpy."""
    from MKLpy.generators import HPK_generator

    return HPK_generator(X, degrees=range(1, 6)).to_list()


@pytest.mark.parametrize("learner", [AverageKernel, CenteredAlignmentKernel])
def test_ours_in_their_cross_validation(learner, kernels) -> None:
    from MKLpy.model_selection import cross_val_score

    estimator = make_pipeline(learner("precomputed"), SVC(kernel="precomputed"))
    scores = cross_val_score(kernels, y, estimator, n_folds=3, random_state=0)
    assert len(scores) == 3
    assert min(scores) > 0.9


def test_average_equals_theirs(kernels) -> None:
    """MKLpy does not scale kernels, so they are given with a mean diagonal of one."""
    from MKLpy.algorithms import AverageMKL
    from MKLpy.model_selection import train_test_split

    scaled = [K / K.diagonal().mean() for K in kernels]
    train, test, known, hidden = train_test_split(
        scaled, y, test_size=0.4, random_state=0
    )
    # Scaled again on the training rows alone, for both.
    means = [K.diagonal().mean() for K in train]
    train = [K / m for K, m in zip(train, means, strict=True)]
    test = [K / m for K, m in zip(test, means, strict=True)]
    theirs = AverageMKL(learner=SVC(C=10)).fit(train, known)
    ours = AverageKernel("precomputed").fit(train, known)
    machine = SVC(C=10, kernel="precomputed").fit(ours.transform(train), known)
    assert np.allclose(
        machine.decision_function(ours.transform(test)),
        np.ravel(theirs.decision_function(test)),
        atol=1e-5,
    )
    assert np.mean(theirs.predict(test) == hidden) > 0.9


@pytest.mark.filterwarnings("ignore:The use of `x.T`:UserWarning")  # in their code
def test_learned_kernels_in_their_learner() -> None:
    import torch
    from MKLpy.algorithms import EasyMKL

    labels = np.where(np.arange(200) % 10 == 0, y, -1)
    few = np.flatnonzero(labels >= 0)
    learned = ParameterFreeKernel(random_state=0).fit(X, labels).kernel_(X)
    plain = X @ X.T
    both = [torch.from_numpy(np.ascontiguousarray(K)) for K in (learned, plain)]
    train = [K[few][:, few] for K in both]
    test = [K[:, few] for K in both]
    model = EasyMKL().fit(train, labels[few])
    weights = np.asarray(model.solution.weights)
    assert weights.sum() == pytest.approx(1)
    assert np.mean(model.predict(test) == y) > 0.85


def test_alignment_equals_theirs(kernels) -> None:
    from MKLpy.metrics import alignment as theirs

    for first, second in pairwise(kernels):
        ours = alignment(first.numpy(), second.numpy())
        assert ours == pytest.approx(float(theirs(first, second)), rel=1e-10)
