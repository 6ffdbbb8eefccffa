"""Random trees on the labelled points, and what they add to the default."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.datasets import load_iris, make_blobs
from sklearn.ensemble import ExtraTreesClassifier

from mercer import UnifiedKernelMachine
from mercer.fewlabels._grow import grow_tree
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.opinion import TreeScores, held_out_opinion
from mercer.fewlabels.pools import choice
from mercer.fewlabels.rule import Rule
from mercer.fewlabels.trees import ArrayColumns, grow_trees
from mercer.kernels import RBF
from mercer.persist import load, save


def problem(seed, count=40, d=5, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, d))
    codes = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5) * (n_classes - 2)
    return X, np.eye(n_classes)[codes], codes


@pytest.mark.parametrize(("d", "tries"), [(2, 0.5), (9, 0.5), (150, 0.5), (9, 1.0)])
def test_votes_are_those_of_extremely_randomised_trees(d, tries) -> None:
    X, Y, codes = problem(0, d=d)
    new = np.random.default_rng(1).standard_normal((300, d))
    most = max(int(d**tries), 1)
    theirs = ExtraTreesClassifier(4000, max_features=most, random_state=0).fit(X, codes)
    votes = grow_trees(X, Y, n_trees=4000, tries=tries).votes(new)
    np.testing.assert_allclose(votes, theirs.predict_proba(new), atol=0.05)


def test_labelled_points_get_their_own_class() -> None:
    X, Y, _ = problem(2)
    np.testing.assert_allclose(grow_trees(X, Y, n_trees=20).votes(X), Y)


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_two_points_share_the_range_between_them_column_by_column(d) -> None:
    rng = np.random.default_rng(d)
    X, new = rng.standard_normal((2, d)), rng.standard_normal((50, d))
    votes = grow_trees(X, np.eye(2), n_trees=4000).votes(new)[:, 1]
    wanted = np.clip((new - X[0]) / (X[1] - X[0]), 0, 1).mean(axis=1)
    np.testing.assert_allclose(votes, wanted, atol=0.02)


def test_two_points_that_swap_columns_are_level_between() -> None:
    X = np.array([[1.0, 0.0, 3.0], [0.0, 1.0, 3.0]])
    votes = grow_trees(X, np.eye(2), n_trees=100).votes(np.array([[1.0, 1.0, 3.0]]))
    np.testing.assert_array_equal(votes, [[0.5, 0.5]])


def test_the_order_of_the_points_changes_nothing() -> None:
    X, Y, _ = problem(3)
    order = np.random.default_rng(0).permutation(len(X))
    new = np.random.default_rng(1).standard_normal((30, X.shape[1]))
    again = grow_trees(X[order], Y[order], n_trees=50).votes(new)
    np.testing.assert_allclose(again, grow_trees(X, Y, n_trees=50).votes(new))


def test_mirrored_points_get_mirrored_votes() -> None:
    X, Y, _ = problem(4)
    new = np.random.default_rng(1).standard_normal((30, X.shape[1]))
    mirrored = grow_trees(-X, Y, n_trees=50).votes(-new)
    np.testing.assert_allclose(mirrored, grow_trees(X, Y, n_trees=50).votes(new))


@pytest.mark.parametrize("kind", ["numbers", "binary", "few values"])
def test_columns_turned_around_or_in_another_order_get_the_same_votes(kind) -> None:
    X, Y, _ = problem(9, count=9, d=6)
    new = np.random.default_rng(1).standard_normal((40, 6))
    if kind != "numbers":  # many columns are equal at nine points
        most = 1.0 if kind == "binary" else 3.0
        X, new = (np.clip(np.ceil(V), 0, most) for V in (X, new))
    votes = grow_trees(X, Y, new, n_trees=60).votes(new)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        order, signs = rng.permutation(6), rng.choice([-1.0, 1.0], 6)
        units = signs * 4.0 ** rng.integers(-2, 3, 6)
        other, other_new = (X * units)[:, order], (new * units)[:, order]
        again = grow_trees(other, Y, other_new, n_trees=60).votes(other_new)
        np.testing.assert_allclose(again, votes, atol=1e-12)
        renamed = rng.permutation(Y.shape[1])
        again = grow_trees(X, Y[:, renamed], new, n_trees=60).votes(new)
        np.testing.assert_allclose(again, votes[:, renamed], atol=1e-12)


def test_signs_and_order_of_columns_change_no_answer_of_the_model() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4))
    truth = (X[:, 0] + X[:, 1] / 2 > 0).astype(int)
    y = np.where(np.arange(90) < 9, truth, -1)
    wanted = UnifiedKernelMachine(random_state=0).fit(X, y).training_proba()
    for order, signs in (([0, 1, 2, 3], [-1, 1, 1, -1]), ([3, 0, 2, 1], [1, 1, 1, 1])):
        other = X[:, order] * signs
        found = UnifiedKernelMachine(random_state=0).fit(other, y).training_proba()
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_a_weight_counts_as_a_repeated_point() -> None:
    X, Y, _ = problem(5)
    twice = np.r_[0, 0, np.arange(1, len(X))]
    weighted = Y.copy()
    weighted[0] *= 2
    new = np.random.default_rng(1).standard_normal((30, X.shape[1]))
    np.testing.assert_allclose(
        grow_trees(X, weighted, n_trees=50).votes(new),
        grow_trees(X[twice], Y[twice], n_trees=50).votes(new),
    )


def test_equal_points_of_several_classes_share_a_leaf() -> None:
    X = np.array([[0.0], [0.0], [0.0], [1.0]])
    Y = np.eye(2)[[0, 0, 1, 1]]
    votes = grow_trees(X, Y, n_trees=10).votes(np.array([[-1.0], [2.0]]))
    np.testing.assert_allclose(votes, [[2 / 3, 1 / 3], [0, 1]])
    equal = grow_trees(X[:3], Y[:3], n_trees=10).votes(X[:1])
    np.testing.assert_allclose(equal, [[2 / 3, 1 / 3]])


def test_tensors_get_the_same_votes() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra 'gpu'")
    from mercer.backends.torch.trees import TorchColumns

    X, Y, _ = problem(6)
    X[3], Y[3] = X[4], np.roll(Y[4], 1)  # a leaf of two classes
    trees = grow_trees(X, Y, n_trees=30)
    new = np.random.default_rng(1).standard_normal((40, X.shape[1]))
    votes = TorchColumns(torch.as_tensor(new)).votes(trees)
    np.testing.assert_allclose(votes.to_numpy(), trees.votes(new))


@pytest.mark.parametrize("d", [1, 4, 60])  # 60: more columns than trees
@pytest.mark.parametrize("n_labels", [4, 300])
def test_many_points_at_once_get_the_votes_of_few(d, n_labels) -> None:
    X, Y, _ = problem(8, count=n_labels, d=max(d, 2))
    X = X[:, :d]
    X[3], Y[3] = X[2], np.roll(Y[2], 1)  # a leaf of two classes
    trees = grow_trees(X, Y, n_trees=50)
    new = np.random.default_rng(1).standard_normal((5000, d))
    at_a_threshold = trees.left[trees.roots] != trees.roots
    for row, root in enumerate(trees.roots[at_a_threshold]):
        new[row, trees.feature[root]] = trees.threshold[root]
    new[-2], new[-1] = -1e308, 1e308
    by_parts = [trees.votes(part) for part in np.array_split(new, 3)]
    np.testing.assert_array_equal(trees.votes(new), np.vstack(by_parts))


def test_scores_are_log_votes_half_way_to_the_label_shares() -> None:
    X, Y, _ = problem(7)
    points = np.random.default_rng(1).standard_normal((60, X.shape[1]))
    columns = ArrayColumns(points)
    fitted, found = TreeScores.fit(columns, X, Y, Rule())
    scores = found.to_numpy()
    np.testing.assert_allclose(fitted.at(columns).to_numpy(), scores)
    votes = fitted.trees.votes(points)
    log = np.log(votes + 2 / (3 * len(X)))
    log -= log.mean(axis=1, keepdims=True)
    shares = np.log(Y.sum(axis=0) + 1)
    wanted = (log.mean(axis=0) + shares - shares.mean()) / 2
    np.testing.assert_allclose(scores.mean(axis=0), wanted)


def few(n_labels=6):
    X, truth = load_iris(return_X_y=True)
    y = np.full(150, -1)
    y[:: 150 // n_labels] = truth[:: 150 // n_labels]
    return X, y


GRAPHS = pytest.mark.parametrize("neighbors_up_to", [100_000, 60])  # or anchors


@GRAPHS
def test_the_decision_is_a_weighted_mean_of_both_opinions(
    neighbors_up_to, monkeypatch
) -> None:
    monkeypatch.setattr(choice, "NEIGHBORS_UP_TO", neighbors_up_to)
    X, y = few()

    def scores(**options):
        rule = Rule(**options)
        kernel = AutoKernel(random_state=0)
        machine = LeaveOneOutRLS(kernel, class_sizes=None, rule=rule).fit(X, y)
        return log_softmax(machine.decision_function(X), axis=1)

    both = scores()
    kernel, trees = scores(trees=0), scores(tree_share=2.0)  # of 6 labels, 3 classes
    share = 0.5 * (1 - 3 / 6)
    assert np.abs(kernel - trees).max() > 0.1
    np.testing.assert_allclose(
        both, log_softmax((1 - share) * kernel + share * trees, axis=1), atol=1e-8
    )


def test_one_label_per_class_grows_no_trees() -> None:
    X, y = few(3)
    with_trees, without = (
        LeaveOneOutRLS(AutoKernel(random_state=0), rule=rule).fit(X, y)
        for rule in (Rule(), Rule(trees=0))
    )
    np.testing.assert_array_equal(
        with_trees.decision_function(X), without.decision_function(X)
    )


def test_what_the_trees_add_is_no_contribution_of_a_labelled_point() -> None:
    X, y = few()
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    found = model.explain(X[:5])
    np.testing.assert_allclose(found.decision(), model.decision_function(X[:5]))
    np.testing.assert_allclose(
        model.explain().decision(), model.decision_function(X), atol=1e-8
    )


@GRAPHS
def test_trees_are_asked_again_after_answers_loading_and_growth(
    neighbors_up_to, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(choice, "NEIGHBORS_UP_TO", neighbors_up_to)
    X, y = few()
    model = UnifiedKernelMachine(random_state=0).fit(X[:120], y[:120])
    save(model, tmp_path / "model.skops")
    model, other = model.tell([7], [0]), load(tmp_path / "model.skops").tell([7], [0])
    np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X))
    for grown in (model, other):
        grown.add_rows(X[120:140], y[120:140])
    np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X))
    rows = np.arange(140)
    np.testing.assert_allclose(
        model.training_proba(), model.predict_proba(X[rows]), atol=1e-5
    )
    alone = model.without_rows()
    np.testing.assert_array_equal(alone.predict_proba(X), model.predict_proba(X))
    assert len(alone.basis_.columns()) == (140 if neighbors_up_to > 60 else 0)


def test_held_out_labels_are_unknown_to_the_trees() -> None:
    X, y = few(12)
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    test = model.labeled_[:4]
    hidden = y.copy()
    hidden[test] = -1
    wanted = model.with_labels(hidden).training_proba()[test]
    np.testing.assert_allclose(model.held_out_proba(test), wanted)
    some = np.flatnonzero((np.arange(150) % 3 > 0) | (y >= 0))
    refitted = model.held_out_proba(test, rows=some)
    assert refitted.shape == wanted.shape
    assert np.isfinite(refitted).all()


def test_a_label_has_no_part_in_the_opinion_on_itself() -> None:
    X, y = make_blobs(120, centers=3, random_state=0)
    labeled = np.arange(0, 120, 4)
    given = np.full(120, -1)
    given[labeled] = y[labeled]
    kernel = UnifiedKernelMachine(random_state=0).fit(X, given).kernel_
    Y = np.eye(3)[y[labeled]]
    scores = held_out_opinion(kernel, labeled, Y)
    assert scores is not None
    assert (scores.argmax(axis=1) == y[labeled]).mean() > 0.9
    other = Y.copy()
    other[7] = np.roll(Y[7], 1)
    changed = held_out_opinion(kernel, labeled, other)
    assert changed is not None
    np.testing.assert_array_equal(changed[7], scores[7])
    assert (changed != scores).any()


def test_trees_judge_any_number_of_labels_of_points_with_columns() -> None:
    X, y = make_blobs(600, centers=2, random_state=0)
    model = UnifiedKernelMachine(random_state=0).fit(X, np.where(X[:, 0] > 0, y, -1))
    some, every = np.arange(500), np.arange(501)
    assert held_out_opinion(model.kernel_, some, np.eye(2)[y[some]]) is not None
    scores = held_out_opinion(model.kernel_, every, np.eye(2)[y[every]])
    assert scores is not None
    assert (scores.argmax(axis=1) == y[every]).mean() > 0.95
    assert held_out_opinion(RBF(), some, np.eye(2)[y[some]]) is None
    two = np.array([0, np.flatnonzero(y != y[0])[0]])  # one label per class
    assert held_out_opinion(model.kernel_, two, np.eye(2)[y[two]]) is None


def test_no_tree_grows_on_the_order_of_columns_of_another(monkeypatch) -> None:
    """Each swaps columns to and fro while it grows, and threads grow several."""
    orders: list[np.ndarray] = []

    def grown(columns, labels, C, order, *rest):
        orders.append(order)
        return grow_tree(columns, labels, C, order, *rest)

    monkeypatch.setattr("mercer.fewlabels._grow.grow_tree", grown)
    X = np.random.default_rng(0).normal(size=(30, 5))
    grow_trees(X, np.eye(3)[np.arange(30) % 3], n_trees=20)
    assert len(orders) == 20
    for i, order in enumerate(orders):
        assert not any(np.shares_memory(order, other) for other in orders[:i])
