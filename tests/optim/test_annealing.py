import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer.optim.annealing import solve_annealed
from mercer.optim.kernel_stack import FactoredStack, dense_stack
from oracles.annealed import LOSSES as CONVEX
from oracles.annealed import free_energy

GAMMA, BETA = 0.1, 0.2


def blobs(n_classes=2, each=20, seed=0):
    rng = np.random.default_rng(seed)
    centers = 3 * np.eye(n_classes, 3)
    X = np.vstack([c + rng.standard_normal((each, 3)) for c in centers])
    truth = np.repeat(np.arange(n_classes), each)
    codes = np.full(len(X), -1)
    codes[np.arange(n_classes) * each] = np.arange(n_classes)
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    K = np.array([np.exp(-squared / s) for s in (0.1, 1.0, 10.0, 100.0)])
    return K, codes, truth


LOSSES = ["squared", "logistic", "hinge"]


def anneal(K, codes, n_classes=2, stack=None, loss="squared", **settings):
    noise = np.where(codes >= 0, GAMMA, GAMMA / BETA)
    stack = dense_stack(K, noise, loss) if stack is None else stack(noise)
    return solve_annealed(
        stack,
        codes,
        loss=loss,
        n_classes=n_classes,
        gamma=GAMMA,
        beta=BETA,
        ratio=np.full(n_classes, 1 / n_classes),
        weights=np.eye(len(K))[0],
        **settings,
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_objective_never_increases_within_a_temperature(n_classes, loss):
    K, codes, _ = blobs(n_classes)
    end = anneal(K, codes, n_classes, loss=loss, tol=1e-5, final_temperature=1e-5)
    assert len(end.objectives) == len(end.temperatures)
    assert any(len(path) > 2 for path in end.objectives)
    for path in end.objectives:
        assert np.diff(path).max(initial=0) <= 1e-10


@pytest.mark.parametrize("loss", LOSSES)
def test_reported_objective_is_the_free_energy_of_the_paper(loss):
    K, codes, _ = blobs()
    end = anneal(K, codes, loss=loss, final_temperature=0.1)
    literal = free_energy(
        np.tensordot(end.weights, K, axes=1),
        codes,
        end.coef,
        end.P,
        gamma=GAMMA,
        beta=BETA,
        temperature=end.temperatures[-1],
        loss=loss,
    )
    assert end.objectives[-1][-1] == pytest.approx(literal, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_soft_labels_are_stationary_at_the_last_temperature(n_classes, loss):
    K, codes, _ = blobs(n_classes)
    end = anneal(K, codes, n_classes, loss=loss, final_temperature=0.1)
    f = (np.tensordot(end.weights, K, axes=1) @ end.coef)[codes < 0]
    gain = np.vectorize(lambda m: CONVEX[loss](-m) - CONVEX[loss](m))(f)
    slope = BETA * (gain if n_classes > 2 else np.hstack([0 * f, gain]))
    # Minus the slope of the loss, less T log P, is one number for each row and class.
    rest = slope - end.temperatures[-1] * np.log(end.P)
    rest -= rest.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(rest, np.tile(rest[0], (len(rest), 1)), atol=1e-6)


def test_temperatures_follow_the_schedule():
    K, codes, _ = blobs()
    end = anneal(K, codes, start_temperature=8.0, cooling=2.0, final_temperature=1.0)
    np.testing.assert_allclose(end.temperatures, [8, 4, 2, 1])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_clusters_are_found_from_one_label_each(n_classes, loss):
    K, codes, truth = blobs(n_classes)
    end = anneal(K, codes, n_classes, loss=loss, tol=1e-5, final_temperature=1e-3)
    hidden = codes < 0
    assert (end.P.argmax(axis=1) == truth[hidden]).mean() >= 0.95
    assert end.ratio_residual <= 1e-6
    # Labels have hardened, and a poor first kernel has been left.
    assert np.minimum(end.P, 1 - end.P).max() <= 1e-3
    assert end.weights[0] < 0.5


def test_features_give_the_same_machine_as_their_matrices():
    K, codes, _ = blobs()
    features = []
    for k in K:
        values, vectors = np.linalg.eigh(k)
        features.append(vectors * np.sqrt(np.maximum(values, 0)))
    dense = anneal(K, codes)
    factored = anneal(K, codes, stack=lambda noise: FactoredStack(features, noise))
    np.testing.assert_allclose(factored.weights, dense.weights, atol=1e-5)
    np.testing.assert_allclose(factored.coef, dense.coef, atol=1e-4)


def test_order_of_points_does_not_matter():
    K, codes, _ = blobs()
    order = np.random.default_rng(0).permutation(len(codes))
    one = anneal(K, codes)
    other = anneal(K[:, order][:, :, order], codes[order])
    np.testing.assert_allclose(other.coef, one.coef[order], atol=1e-5)


def test_unfinished_rounds_warn():
    K, codes, _ = blobs()
    with pytest.warns(ConvergenceWarning, match="soft labels still changed"):
        anneal(K, codes, max_rounds=1)
