import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.exceptions import DisconnectedGraphWarning, NotPSDError
from mercer.graphs.image_distances import TangentDistance
from mercer.kernels.parametric import RBF
from mercer.kernels.sets import gaussian_set
from mercer.machines.annealed import AnnealedKernelMachine
from mercer.machines.annealed_graph import GraphAnnealedKernelMachine
from mercer.persist import load, save
from mercer.spectrum.graph_kernels import IMAGE_METRICS, laplacian_kernels

FEW = [RBF(gamma=g) for g in (10.0, 0.3, 0.03)]
QUICK = {"tol": 1e-4, "final_temperature": 1e-4}
MACHINES = [
    AnnealedKernelMachine(FEW, **QUICK),
    AnnealedKernelMachine(FEW, beta=0, **QUICK),
    AnnealedKernelMachine(FEW, loss="logistic", **QUICK),
    AnnealedKernelMachine(FEW, loss="hinge", **QUICK),
    GraphAnnealedKernelMachine(n_neighbors=(3, 8), random_state=0, **QUICK),
    GraphAnnealedKernelMachine(
        n_neighbors=(3, 8), n_components=5, random_state=0, **QUICK
    ),
]

REPEATED = "a row of weight 0 is an unlabelled point; see test_weights.py"


@parametrize_with_checks(
    [
        AnnealedKernelMachine(FEW, **QUICK),
        GraphAnnealedKernelMachine(n_neighbors=(3, 8), random_state=0, **QUICK),
    ],
    expected_failed_checks=lambda _: {
        "check_classifiers_classes": "labels -1 and 1, and -1 means unlabelled",
        "check_sample_weight_equivalence_on_dense_data": REPEATED,
        "check_sample_weight_equivalence_on_sparse_data": REPEATED,
    },
)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.DisconnectedGraphWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def blobs(n_classes=2, n=60, seed=0, n_labeled=2):
    X, truth = make_blobs(
        n, n_features=3, centers=n_classes, cluster_std=1.5, random_state=seed
    )
    y = np.full(n, -1)
    for c in range(n_classes):
        y[np.flatnonzero(truth == c)[:n_labeled]] = c
    return X, y, truth


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_clusters_are_labelled_and_new_points_agree(machine, n_classes):
    X, y, truth = blobs(n_classes)
    fitted = clone(machine).fit(X, y)
    assert (fitted.transduction_ == truth).mean() >= 0.9
    known = y >= 0
    np.testing.assert_array_equal(fitted.transduction_[known], y[known])
    again = fitted.predict(X)
    np.testing.assert_array_equal(again[~known], fitted.transduction_[~known])
    near = X + 0.01
    assert (fitted.predict(near) == truth).mean() >= 0.9
    shape = (60,) if n_classes == 2 else (60, n_classes)
    assert fitted.decision_function(near).shape == shape


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_weights_are_on_the_simplex_with_a_certificate(machine):
    X, y, _ = blobs()
    fitted = clone(machine).fit(X, y)
    assert fitted.weights_.min() >= 0
    assert fitted.weights_.sum() == pytest.approx(1)
    assert fitted.certificate_.gap <= 1e-4
    assert fitted.certificate_.ratio_residual <= 1e-6
    assert fitted.certificate_.change <= 1e-4


def test_objective_never_increases_within_a_temperature():
    X, y, _ = blobs()
    fitted = AnnealedKernelMachine(**QUICK).fit(X, y)
    paths = fitted.annealing_.objectives
    assert fitted.certificate_.n_temperatures == len(paths)
    assert fitted.certificate_.n_rounds == sum(map(len, paths))
    for path in paths:
        assert np.diff(path).max(initial=0) <= 1e-9


def test_function_solves_the_weighted_ridge_problem():
    X, y, _ = blobs()
    fitted = AnnealedKernelMachine(FEW, gamma=0.2, beta=0.05).fit(X, y)
    K = sum(w * k(X) for w, k in zip(fitted.weights_, FEW, strict=True))
    targets = np.where(y == 1, 1.0, -1.0)
    targets[y < 0] = 2 * fitted.annealing_.P[:, 1] - 1
    noise = np.where(y < 0, 0.2 / 0.05, 0.2)
    f = K @ np.linalg.solve(K + np.diag(noise), targets)
    scores = fitted.decision_function(X) + fitted.threshold_[0]
    np.testing.assert_allclose(scores, f, atol=1e-6)


def test_supervised_machine_ignores_unlabelled_points():
    X, y, _ = blobs()
    known = y >= 0
    whole = AnnealedKernelMachine(FEW, beta=0).fit(X, y)
    alone = AnnealedKernelMachine(FEW).fit(X[known], y[known])
    np.testing.assert_allclose(whole.weights_, alone.weights_, atol=1e-6)
    np.testing.assert_allclose(
        whole.decision_function(X), alone.decision_function(X), atol=1e-6
    )
    assert whole.annealing_ is None


def test_graph_machine_without_unlabelled_loss_is_ridge_on_the_pseudo_inverse():
    X, y, _ = blobs(n_labeled=5)
    fitted = GraphAnnealedKernelMachine(n_neighbors=(8,), beta=0, gamma=0.3).fit(X, y)
    W = fitted.kernels_[0].basis.graph_.adjacency.toarray()
    K = np.linalg.pinv(np.diag(W.sum(axis=1)) - W)
    known = np.flatnonzero(y >= 0)
    t = np.where(y[known] == 1, 1.0, -1.0)
    system = K[np.ix_(known, known)] + 0.3 * np.eye(len(known))
    f = K[:, known] @ np.linalg.solve(system, t)
    np.testing.assert_allclose(fitted.decision_function(X), f, atol=1e-6)


def test_truncated_bases_agree_with_full_ones_when_nothing_is_cut():
    X, y, _ = blobs()
    full = GraphAnnealedKernelMachine(n_neighbors=(6,), **QUICK).fit(X, y)
    many = GraphAnnealedKernelMachine(n_neighbors=(6,), n_components=59, **QUICK)
    np.testing.assert_allclose(
        full.decision_function(X), many.fit(X, y).decision_function(X), atol=1e-6
    )


def test_class_ratio_is_met_and_matters():
    X, y, truth = blobs(n=90)
    X, y, truth = X[:75], y[:75], truth[:75]
    share = truth[y < 0].mean()
    fitted = AnnealedKernelMachine(FEW, class_ratio=share, **QUICK).fit(X, y)
    found = (fitted.transduction_[y < 0] == 1).mean()
    assert found == pytest.approx(share, abs=1.5 / 71)
    np.testing.assert_allclose(fitted.class_ratio_, [1 - share, share])
    skewed = AnnealedKernelMachine(FEW, class_ratio=0.25, **QUICK).fit(X, y)
    assert (skewed.transduction_[y < 0] == 1).mean() == pytest.approx(0.25, abs=0.02)
    default = AnnealedKernelMachine(FEW, **QUICK).fit(X, y)
    np.testing.assert_allclose(default.class_ratio_, [0.5, 0.5])


@pytest.mark.parametrize(
    ("loss", "steep"), [("squared", 4), ("logistic", 1), ("hinge", 2)]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_are_the_logits_of_the_soft_labels(n_classes, loss, steep):
    X, y, _ = blobs(n_classes)
    ratio = {2: [0.8, 0.2], 3: [0.6, 0.2, 0.2]}[n_classes]
    machine = AnnealedKernelMachine(
        FEW, loss=loss, class_ratio=ratio, final_temperature=0.5
    )
    fitted = machine.fit(X, y)
    hidden, P = y < 0, fitted.annealing_.P
    logits = fitted.annealing_.temperatures[-1] * np.log(P) / (steep * machine.beta)
    scores = fitted.decision_function(X[hidden])
    if n_classes == 2:
        np.testing.assert_allclose(scores, logits[:, 1] - logits[:, 0], atol=1e-5)
    else:
        np.testing.assert_allclose(
            scores - scores[:, :1], logits - logits[:, :1], atol=1e-5
        )


@pytest.mark.parametrize(
    ("n_classes", "ratio"),
    [(2, 0.0), (2, 1.0), (2, 1.5), (2, [0.3, 0.3]), (3, 0.5), (3, [0.5, 0.5, 0.0])],
)
def test_class_ratio_outside_the_open_interval(n_classes, ratio):
    X, y, _ = blobs(n_classes)
    with pytest.raises(ValueError, match="class_ratio must be"):
        AnnealedKernelMachine(FEW, class_ratio=ratio).fit(X, y)


@pytest.mark.parametrize("graph", [False, True])
def test_trace_normalisation_takes_the_scale_away(graph):
    X, y, _ = blobs()
    if graph:
        machine = GraphAnnealedKernelMachine(n_neighbors=(3, 6), **QUICK)
    else:
        machine = AnnealedKernelMachine([FEW[1], 50 * FEW[2]], **QUICK)
    fitted = machine.set_params(trace_normalized=True).fit(X, y)
    assert fitted.scales_.max() / fitted.scales_.min() > 1.5
    for kernel in fitted.kernels_:
        assert kernel.diag(X).mean() == pytest.approx(1)
    if not graph:
        np.testing.assert_allclose(fitted.scales_, [1, 50])
        plain = AnnealedKernelMachine([FEW[1], FEW[2]], **QUICK).fit(X, y)
        np.testing.assert_allclose(fitted.weights_, plain.weights_, atol=1e-6)


def test_points_out_of_reach_get_the_ratio_and_a_warning():
    X, y, _ = blobs()
    far = X.max() + 1e6
    machine = AnnealedKernelMachine(FEW, class_ratio=0.6, **QUICK).fit(X, y)
    with pytest.warns(DisconnectedGraphWarning, match="1 of 2 points are not reached"):
        scores = machine.decision_function(np.vstack([X[:1], np.full((1, 3), far)]))
    assert scores[1] == pytest.approx(0.2)


def test_default_kernels_are_the_twenty_gaussians():
    X, y, _ = blobs()
    fitted = AnnealedKernelMachine(**QUICK).fit(X, y)
    assert [k.gamma for k in fitted.kernels_] == [k.gamma for k in gaussian_set()]


def test_strings_missing_labels_and_matrices():
    X, y, truth = blobs()
    names = np.array(["no", "yes"], dtype=object)
    words = np.where(y < 0, None, names[np.maximum(y, 0)])
    K = RBF(gamma=0.03)(X)
    fitted = AnnealedKernelMachine([K], **QUICK).fit(X, words)
    assert set(fitted.classes_) == {"no", "yes"}
    assert (fitted.transduction_ == names[truth]).mean() >= 0.9
    np.testing.assert_array_equal(fitted.predict(X)[y < 0], fitted.transduction_[y < 0])


@pytest.mark.parametrize("machine", MACHINES[::2], ids=repr)
def test_saved_machines_predict_the_same(machine, tmp_path):
    X, y, _ = blobs()
    fitted = clone(machine).fit(X, y)
    save(fitted, tmp_path / "machine.skops")
    again = load(tmp_path / "machine.skops")
    scores = fitted.decision_function(X + 0.1)
    np.testing.assert_array_equal(again.decision_function(X + 0.1), scores)


def test_bad_kernels_and_settings():
    X, y, _ = blobs()
    bad = np.eye(60)
    bad[0, 1] = bad[1, 0] = 2.0
    with pytest.raises(NotPSDError, match=r"kernels\[1\] .* smallest eigenvalue is -1"):
        AnnealedKernelMachine([FEW[0], bad]).fit(X, y)
    with pytest.raises(ValueError, match="50 x 50 matrix, but X has 60 rows"):
        AnnealedKernelMachine([np.eye(50)]).fit(X, y)
    with pytest.raises(ValueError, match="at least one kernel"):
        AnnealedKernelMachine([]).fit(X, y)
    with pytest.raises(ValueError, match="gamma must be a finite number above 0"):
        AnnealedKernelMachine(gamma=0).fit(X, y)
    with pytest.raises(
        ValueError, match="loss must be 'squared', 'logistic' or 'hinge'"
    ):
        AnnealedKernelMachine(loss="absolute").fit(X, y)
    with pytest.raises(
        ValueError, match="final_temperature must be a finite number above 0"
    ):
        AnnealedKernelMachine(final_temperature=0.0).fit(X, y)
    with pytest.raises(ValueError, match="are all too many for 60 points"):
        GraphAnnealedKernelMachine(n_neighbors=(60, 70)).fit(X, y)


def test_laplacian_kernels_are_pseudo_inverses_of_each_graph():
    X = np.random.default_rng(0).standard_normal((25, 16))
    rng = np.random.default_rng(0)
    kernels = laplacian_kernels(
        X, n_neighbors=(1, 4), metrics=("euclidean", TangentDistance()), rng=rng
    )
    assert len(kernels) == 4
    assert [k.basis.n_neighbors for k in kernels] == [1, 4, 1, 4]
    for kernel in kernels:
        W = kernel.basis.graph_.adjacency.toarray()
        L = np.diag(W.sum(axis=1)) - W
        np.testing.assert_allclose(kernel(), np.linalg.pinv(L), atol=1e-7)
        np.testing.assert_allclose(kernel(X), kernel(), atol=1e-9)


def test_the_printed_set_has_thirty_kernels():
    X = np.random.default_rng(0).standard_normal((15, 16))
    rng = np.random.default_rng(0)
    assert len(laplacian_kernels(X, metrics=IMAGE_METRICS, rng=rng)) == 30
