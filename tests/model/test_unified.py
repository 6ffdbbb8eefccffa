"""The unified kernel machine."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.active.loop import learn_actively
from mercer.active.strategies import EXPLORING, QUERIES
from mercer.evidence.pairs import Pairs
from mercer.exceptions import NearlyConstantKernelWarning
from mercer.fewlabels import AutoKernel, LeaveOneOutRLS
from mercer.fewlabels.pools.anchors import AnchorPool
from mercer.graphs.neighbors import neighbor_graph
from mercer.learners.combination import AverageKernel
from mercer.learners.decaying import DecayingKernel
from mercer.learners.filter_kernel import FilterKernel
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.laplacian import LapRLS
from mercer.machines.rls import RLSClassifier
from mercer.model.estimator import UnifiedKernelMachine
from mercer.model_selection import SemiSupervisedKFold
from mercer.spectrum.graph import GraphBasis

MINUS_ONE = "y holds -1 as a class; here -1 means unlabelled"
REPEATED = (
    "repeated rows are further points of the table; see fewlabels/test_weights.py"
)
WAIVED = {
    "check_sample_weight_equivalence_on_dense_data": REPEATED,
    "check_sample_weight_equivalence_on_sparse_data": REPEATED,
    "check_classifiers_classes": MINUS_ONE,
    "check_supervised_y_no_nan": "NaN means unlabelled; a model without labels asks",
}


@pytest.mark.filterwarnings("ignore:the labelled rows have a mean sample_weight")
@parametrize_with_checks(
    [UnifiedKernelMachine(random_state=0)],
    expected_failed_checks=lambda _: WAIVED,
)
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, truth = make_blobs(
        240, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=1.0, random_state=0
    )
    y = np.full(len(X), -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[:2]] = c
    return X, y, truth


def test_a_column_of_labels_warns_once(blobs) -> None:
    X, y, truth = blobs
    model = UnifiedKernelMachine(random_state=0)
    with pytest.warns(DataConversionWarning) as caught:
        model.fit(X, y[:, None])
    assert len(caught) == 1
    asked = model.ask(2)
    model.tell(asked, truth[asked])
    assert len(model.labeled_) == 8


LEARNERS = ["auto", ParameterFreeKernel(random_state=0), DecayingKernel(decay=2.0)]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize(
    "machine", ["klr", "rls", "svm", RLSClassifier(C=10.0)], ids=str
)
def test_learners_and_machines_plug_in(blobs, learner, machine) -> None:
    X, y, truth = blobs
    model = UnifiedKernelMachine(learner, machine, random_state=0).fit(X, y)
    assert np.mean(model.transduction_ == truth) > 0.95
    known = y != -1
    np.testing.assert_array_equal(model.transduction_[known], y[known])
    assert np.mean(model.predict(X + 0.01) == truth) > 0.95
    assert model.transform(X[:3]).shape[0] == 3


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_many_rows_are_taken_a_batch_at_a_time(
    blobs, learner, kind, monkeypatch
) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(learner, random_state=0).fit(kind(X), y)
    sizes: list[int] = []
    represent = type(model.machine_).represent
    monkeypatch.setattr(
        type(model.machine_),
        "represent",
        lambda self, X: (sizes.append(X.shape[0]), represent(self, X))[1],
    )
    new = kind(X + 0.01)
    names = ("predict", "predict_proba", "decision_function", "transform")
    whole = {name: getattr(model, name)(new) for name in names}
    assert max(sizes) == 240
    sizes.clear()
    monkeypatch.setattr("mercer._base.rows.BATCH", 100)
    for name in names:
        found = getattr(model, name)(new)
        np.testing.assert_allclose(found, whole[name], rtol=1e-6, atol=1e-9)
    assert max(sizes) == 100


def test_basis_is_given_to_a_learner_without_one(blobs) -> None:
    X, y, _ = blobs
    basis = GraphBasis(n_components=7, random_state=0)
    model = UnifiedKernelMachine(ParameterFreeKernel(), basis=basis).fit(X, y)
    assert model.learner_.basis_.vectors_.shape == (len(X), 7)


@pytest.mark.parametrize("query", QUERIES)
def test_ask_names_unlabelled_rows_and_tell_learns_them(blobs, query) -> None:
    X, y, truth = blobs
    model = UnifiedKernelMachine(query=query, random_state=0).fit(X, y)
    rows = model.ask(5)
    assert len(set(rows)) == 5
    assert (y[rows] == -1).all()
    told = clone(model).fit(X, y).tell(rows, truth[rows])
    np.testing.assert_array_equal(told.transduction_[rows], truth[rows])
    assert not set(told.ask(5)) & set(rows)


@pytest.mark.parametrize("query", EXPLORING)
def test_of_many_candidates_some_are_drawn(blobs, query, monkeypatch) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(query=query, random_state=0).fit(X, y)
    monkeypatch.setattr("mercer.active.strategies.MOST_CANDIDATES", 10)
    asked = [tuple(model.ask(3)) for _ in range(3)]
    assert len(set(asked)) == 3  # others are drawn each time
    model._n_asked = 0
    assert [tuple(model.ask(3)) for _ in range(3)] == asked
    assert len(set(model.ask(25))) == 25
    assert (y[model.ask(25)] == -1).all()


def test_tell_equals_a_fresh_fit_on_the_same_labels(blobs) -> None:
    X, y, truth = blobs
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    rows = model.ask(3)
    model.tell(rows, truth[rows])
    more = y.copy()
    more[rows] = truth[rows]
    fresh = UnifiedKernelMachine(random_state=0).fit(X, more)
    np.testing.assert_allclose(
        model.predict_proba(X), fresh.predict_proba(X), atol=1e-6
    )


def test_a_new_class_can_be_told(blobs) -> None:
    X, y, truth = blobs
    y = np.where(y == 2, -1, y)
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    rows = np.flatnonzero(truth == 2)[:2]
    model.tell(rows, [2, 2])
    assert list(model.classes_) == [0, 1, 2]
    assert np.mean(model.transduction_ == truth) > 0.95


def test_nan_in_a_list_of_names_is_no_class(blobs) -> None:
    X, y, _ = blobs
    names = ["abc"[c] if c >= 0 else float("nan") for c in y]
    model = UnifiedKernelMachine(random_state=0).fit(X, names)
    model.tell([10, 11], ["a", float("nan")])
    assert list(model.classes_) == ["a", "b", "c"]


def test_row_labels_of_frames_survive_any_order(blobs) -> None:
    X, y, truth = blobs
    names = np.array([f"row{i}" for i in range(len(X))])
    frame = pd.DataFrame(X, columns=["a", "b"], index=names)
    words = np.array(["x", "y", "z"], dtype=object)
    labels = np.where(y == -1, None, words[y])
    model = UnifiedKernelMachine(random_state=0).fit(frame, labels)
    order = np.random.default_rng(0).permutation(len(X))
    moved = UnifiedKernelMachine(random_state=0).fit(frame.iloc[order], labels[order])
    assert list(model.ask(4)) == list(moved.ask(4))
    truth_of = dict(zip(names, words[truth], strict=True))
    asked = model.ask(2)
    model.tell(asked, [truth_of[name] for name in asked])
    assert [model.transduction_[list(names).index(a)] for a in asked] == [
        truth_of[a] for a in asked
    ]
    with pytest.raises(ValueError, match="no row 'row999'"):
        model.tell(["row999"], ["x"])
    with pytest.raises(ValueError, match="no row 7"):
        model.tell([7], ["x"])


def test_polars_and_sparse_input_agree_with_arrays(blobs) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    frame = UnifiedKernelMachine(random_state=0).fit(pl.DataFrame(X), y)
    np.testing.assert_array_equal(model.transduction_, frame.transduction_)
    thin = UnifiedKernelMachine(random_state=0).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(model.transduction_, thin.transduction_)


def test_features_have_names_and_come_as_frames(blobs) -> None:
    X, y, _ = blobs
    rows = pd.DataFrame(X, columns=["a", "b"], index=np.arange(len(X)) + 500)
    model = UnifiedKernelMachine(random_state=0).set_output(transform="pandas")
    learned = model.fit_transform(rows, y)
    names = model.get_feature_names_out()
    assert names[0] == "unifiedkernelmachine0"
    assert list(learned.columns) == list(names)
    assert list(learned.index) == list(rows.index)
    again = model.transform(rows)
    np.testing.assert_allclose(again, learned, atol=1e-10)
    assert list(again.columns) == list(names)


def test_pairs_are_evidence(blobs) -> None:
    X, y, truth = blobs
    pairs = Pairs.from_labels(truth, n_pairs=60, random_state=0)
    model = UnifiedKernelMachine(random_state=0).fit(X, y, pairs=pairs)
    assert np.mean(model.transduction_ == truth) > 0.95


@pytest.mark.parametrize("machine", ["klr", "rls"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_explanations_add_up_to_the_decision(blobs, machine, n_classes) -> None:
    X, y, _ = blobs
    if n_classes == 2:
        y = np.where(y == 2, -1, y)
    model = UnifiedKernelMachine(machine=machine, random_state=0).fit(X, y)
    explanation = model.explain(X[:10])
    decision = model.decision_function(X[:10]).reshape(10, -1)
    np.testing.assert_allclose(explanation.decision(), decision, atol=1e-6)
    pulls = explanation.top(0, n=2)
    assert pulls[0].amount >= pulls[1].amount
    assert pulls[0].label == model.predict(X[:1])[0]


def test_in_pipelines_and_cross_validation(blobs) -> None:
    X, y, _ = blobs
    model = make_pipeline(StandardScaler(), UnifiedKernelMachine(random_state=0))
    cv = SemiSupervisedKFold(2, random_state=0)
    assert cross_val_score(model, X, y, cv=cv).mean() == 1.0


def test_a_graph_stands_for_the_points(blobs) -> None:
    X, y, truth = blobs
    graph = neighbor_graph(X, 10, rng=np.random.default_rng(0))
    model = UnifiedKernelMachine(ParameterFreeKernel(), random_state=0).fit(graph, y)
    assert np.mean(model.transduction_ == truth) > 0.95
    assert not hasattr(model, "n_features_in_")


def test_active_loop_stops_when_nothing_changes(blobs) -> None:
    X, y, truth = blobs
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    history = learn_actively(model, lambda ids: truth[ids], max_rounds=30)
    assert 3 <= len(history) < 30
    assert history.has_converged()
    assert history.rounds[-1].n_labeled == np.sum(y != -1) + len(history)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learner": "best"}, "learner must be 'auto'"),
        ({"machine": "tree"}, "machine must be one of auto, klr, rls, svm"),
    ],
)
def test_unknown_parts_are_named(blobs, arguments, message) -> None:
    X, y, _ = blobs
    with pytest.raises(ValueError, match=message):
        UnifiedKernelMachine(**arguments).fit(X, y)


def test_frames_are_predicted_without_warnings(blobs) -> None:
    X, y, _ = blobs
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = UnifiedKernelMachine(random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.copy()))
    assert model.predict_proba(frame.iloc[:2]).shape == (2, 3)


@pytest.mark.parametrize("learner", ["auto", ParameterFreeKernel(random_state=0)])
def test_a_copy_in_single_precision_is_the_same_point(blobs, learner) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(learner, random_state=0).fit(X, y)
    exact = model.predict_proba(X)
    np.testing.assert_allclose(exact, model.training_proba(), rtol=1e-12)
    for copy in (X.astype(np.float32), X + 1e-12):
        np.testing.assert_allclose(model.predict_proba(copy), exact, atol=1e-5)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        ([10, 11], [0], "2 rows named, 1 label given; give one for each"),
        ([10, 10], [0, 1], "appears twice"),
        ([999], [0], "no row 999"),
    ],
)
def test_answers_that_do_not_fit_change_nothing(blobs, rows, labels, message) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    before = model.training_proba()
    with pytest.raises(ValueError, match=message):
        model.tell(rows, labels)
    np.testing.assert_array_equal(model.training_proba(), before)


def test_answers_keep_their_kind(blobs) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    assert 7 in model.tell([10], [7.0]).classes_
    for labels in ([np.nan, 1], [None, 1.0], [1.0, 1.0]):  # floats, were whole numbers
        assert model.tell([0, 4], labels).classes_.dtype.kind == "i"
    words = np.array(["x", "y", "z"])[np.maximum(y, 0)].astype(object)
    words[y == -1] = None
    model = UnifiedKernelMachine(random_state=0).fit(X, words)
    assert "a longer word" in model.tell([10], ["a longer word"]).classes_


def test_learners_without_a_basis_plug_in(blobs) -> None:
    X, y, truth = blobs
    model = UnifiedKernelMachine(AverageKernel(), "klr", random_state=0).fit(X, y)
    rows = model.ask(2)
    model.tell(rows, truth[rows])
    np.testing.assert_array_equal(model.transduction_[rows], truth[rows])


def test_adjacency_is_cross_validated_by_rows_and_columns(blobs) -> None:
    X, y, _ = blobs
    W = neighbor_graph(X, 10, rng=np.random.default_rng(0)).adjacency
    basis = GraphBasis(20, affinity="precomputed", random_state=0)
    learner = ParameterFreeKernel(basis)
    cv = SemiSupervisedKFold(2, random_state=0)
    for model in (RLSClassifier(learner), UnifiedKernelMachine(learner, "rls")):
        assert cross_val_score(model, W, y, cv=cv).mean() == 1.0


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"basis": "graph"}, ValueError, "basis must be 'auto'"),
        ({"basis": GraphBasis()}, TypeError, "another learner, such as Para"),
        ({"machine": LapRLS()}, TypeError, "LapRLS deforms a given kernel"),
        (
            {"learner": AverageKernel(), "basis": GraphBasis()},
            ValueError,
            "takes none",
        ),
        ({"machine": StandardScaler()}, TypeError, "must be a kernel machine"),
    ],
)
def test_parts_that_do_not_fit_are_refused(blobs, arguments, kind, message) -> None:
    X, y, _ = blobs
    with pytest.raises(kind, match=message):
        UnifiedKernelMachine(**arguments).fit(X, y)


def test_pairs_need_a_learner_that_takes_them(blobs) -> None:
    X, y, truth = blobs
    pairs = Pairs.from_labels(truth, n_pairs=10, random_state=0)
    with pytest.raises(TypeError, match="for pairs use PairwiseKernel"):
        UnifiedKernelMachine(ParameterFreeKernel()).fit(X, y, pairs=pairs)


def test_a_model_without_labels_asks_and_learns_from_answers(blobs) -> None:
    X, _, truth = blobs
    model = UnifiedKernelMachine(random_state=0).fit(X, np.full(len(X), -1))
    assert model.training_proba().shape == (len(X), 0)
    with pytest.raises(ValueError, match="no row has a label yet"):
        model.predict(X)
    first = model.ask(3)
    assert len(np.unique(truth[first])) == 3  # one of each cluster
    model.tell(first[:1], truth[first[:1]])
    assert set(model.predict(X)) == set(truth[first[:1]])
    np.testing.assert_array_equal(model.predict_proba(X[:2]), [[1.0], [1.0]])
    assert first[0] not in model.ask(5, exclude=first[1:])
    model.tell(first[1:], truth[first[1:]])
    assert np.mean(model.transduction_ == truth) > 0.95


def test_minus_one_and_one_are_still_a_trap(blobs) -> None:
    X, _, truth = blobs
    with pytest.raises(ValueError, match="-1 means unlabelled"):
        UnifiedKernelMachine().fit(X, np.where(truth == 0, 1, -1))


def test_a_column_of_text_is_named() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": ["1", "2", "3"], "color": ["red", "blue", None]})
    model = UnifiedKernelMachine(random_state=0)
    with pytest.raises(ValueError, match=r"column 'color' of X holds 'red'.*learn"):
        model.fit(frame, [0, 1, -1])
    model.fit(np.arange(6.0).reshape(3, 2), [0, 1, -1])
    with pytest.raises(ValueError, match=r"column 1 of X holds 'red'"):
        model.predict([["1", "red"]])


def test_fit_transform_of_a_learner_without_a_basis(blobs) -> None:
    """It returned the kernel values with the labelled points."""
    X, y, _ = blobs
    model = UnifiedKernelMachine(AverageKernel())
    Phi = model.fit_transform(X, y)
    assert Phi.shape == (len(X), len(model.get_feature_names_out()))
    np.testing.assert_array_equal(Phi, model.transform(X))


def test_row_labels_of_several_levels(blobs) -> None:
    X, y, truth = blobs
    index = pd.MultiIndex.from_product([range(24), range(10)])
    model = UnifiedKernelMachine(random_state=0).fit(pd.DataFrame(X, index=index), y)
    for row in (model.ask(2), list(model.ask(2)), [(3, 4)], (3, 5), model.ask()[0]):
        one = isinstance(row, tuple)
        places = index.get_indexer([row] if one else list(row))
        model.tell(row, truth[places[0]] if one else truth[places])
        assert np.isin(places, model.labeled_).all()
    first = model.ask()[0]
    assert model.ask(exclude=first)[0] != first
    with pytest.raises(ValueError, match=r"no row \(3, 99\)"):
        model.tell((3, 99), 0)
    with pytest.raises(ValueError, match="no row 3"):
        model.tell(3, 0)


def test_a_query_of_your_own_may_have_nothing_to_ask(blobs) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(query=lambda model, n, rng: []).fit(X, y)
    assert model.ask(3).tolist() == []


@pytest.mark.parametrize(
    "question",
    [
        lambda model: model.ask(),
        lambda model: model.tell(0, 1),
        lambda model: model.add_rows([[0.0, 0.0]]),
        lambda model: model.with_labels([]),
        lambda model: model.training_proba(),
        lambda model: model.label_distributions_,
        lambda model: model.held_out_proba(np.array([0])),
        lambda model: model.explain([[0.0, 0.0]]),
        lambda model: model.suspicious_labels(),
        lambda model: model.outlook(),
    ],
)
def test_a_model_without_rows_says_that_it_has_none(blobs, question) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    slim = model.without_rows()
    with pytest.raises(ValueError, match="made by `without_rows` and predicts only"):
        question(slim)
    expected = model.predict_proba(X)
    np.testing.assert_array_equal(slim.without_rows().predict_proba(X), expected)


def test_class_sizes_may_come_with_labels() -> None:
    X, truth = make_moons(100, noise=0.3, random_state=0)
    y = np.where(np.arange(100) < 8, truth, -1)
    few, many = ({0: share, 1: 1 - share} for share in (0.2, 0.8))
    told = {
        name: UnifiedKernelMachine(class_sizes=sizes, random_state=0).fit(X, y)
        for name, sizes in (("few", few), ("many", many))
    }
    apart = UnifiedKernelMachine(
        machine=LeaveOneOutRLS(class_sizes=many), random_state=0
    ).fit(X, y)
    for model in (
        told["few"].with_labels(y, class_sizes=many),
        told["few"].with_labels(y, machine=LeaveOneOutRLS(class_sizes=many)),
        apart,
    ):
        shares = model.training_proba()
        if model.class_sizes == few:  # those of the model hold for every machine
            expected = told["few"].training_proba()
        else:
            expected = told["many"].training_proba()
        np.testing.assert_allclose(shares, expected)
    assert told["few"].class_sizes == few
    model = told["few"].tell([9], [truth[9]], class_sizes=many)
    model.tell([10], [truth[10]])  # which keeps it
    more = np.where(np.isin(np.arange(100), [*range(8), 9, 10]), truth, -1)
    again = told["many"].with_labels(more)
    np.testing.assert_allclose(model.training_proba(), again.training_proba())
    # Sizes that fail leave the model as it was.
    with pytest.raises(ValueError, match="class_sizes names the class 2"):
        model.tell([11], [truth[11]], class_sizes={0: 1.0, 2: 1.0})
    assert model.class_sizes == many
    assert 11 not in model.labeled_
    model.tell([11], [truth[11]])
    assert 11 in model.labeled_


def test_how_labels_were_drawn_reaches_the_machine() -> None:
    X, truth = make_moons(100, noise=0.3, random_state=0)
    y = np.where(np.arange(100) < 8, truth, -1)
    model = UnifiedKernelMachine(labels_drawn="at random", random_state=0).fit(X, y)
    machine = LeaveOneOutRLS(labels_drawn="at random")
    apart = UnifiedKernelMachine(machine=machine, random_state=0).fit(X, y)
    plain = UnifiedKernelMachine(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.training_proba(), apart.training_proba())
    assert np.abs(model.training_proba() - plain.training_proba()).max() > 1e-3


@pytest.mark.parametrize(
    ("machine", "given"),
    [("klr", {"labels_drawn": "at random"}), ("svm", {"labels_drawn": "per class"})],
)
def test_what_a_machine_does_not_take_is_refused(machine, given) -> None:
    model = UnifiedKernelMachine(machine=machine, **given)
    with pytest.raises(TypeError, match=r"takes no labels_drawn; leave it out"):
        model.fit([[0.0], [1.0]], [0, 1])


def test_rows_come_in_parts_where_they_can_join() -> None:
    """Any other learner raised at the second call."""
    assert hasattr(UnifiedKernelMachine(), "partial_fit")
    assert hasattr(UnifiedKernelMachine(AutoKernel()), "partial_fit")
    assert not hasattr(UnifiedKernelMachine(ParameterFreeKernel()), "partial_fit")
    X, truth = make_moons(60, noise=0.1, random_state=0)
    paired = UnifiedKernelMachine(random_state=0)
    paired.fit(X, truth, pairs=Pairs.from_labels(truth, n_pairs=20, random_state=0))
    assert not hasattr(paired, "partial_fit")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_equal_points_are_told_of(kind: Any) -> None:
    X, y = np.full((12, 2), 3.0), np.arange(12) % 3 - 1
    message = "all training points are eq"
    with pytest.warns(NearlyConstantKernelWarning, match=message) as found:
        UnifiedKernelMachine(random_state=0).fit(kind(X), y)
    assert [w.filename for w in found if message in str(w.message)] == [__file__]


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_another_number_of_labels_is_told_before_a_basis_is_made(kind: Any) -> None:
    made = []

    class Basis(GraphBasis):
        def fit(self, X: Any, y: Any = None) -> Any:
            made.append(X)
            return super().fit(X)

    model = UnifiedKernelMachine(FilterKernel(), basis=Basis())
    with pytest.raises(ValueError, match="X has 12 rows and y has 11"):
        model.fit(kind(np.arange(24.0).reshape(12, 2)), np.arange(11) % 2)
    assert made == []


@pytest.mark.parametrize("unknown", [-1, None, np.nan])
def test_a_label_taken_back_leaves_the_kind_of_the_others(unknown: Any) -> None:
    X, y = make_blobs(30, random_state=0)
    y[12:] = -1
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    model.tell([3], [unknown])
    assert model.classes_.dtype.kind == "i"
    assert model.predict(X[:2]).dtype.kind == "i"
    assert set(np.arange(12)) - set(model.labeled_) == {3}


@pytest.mark.parametrize("as_table", [np.asarray, pd.DataFrame])
def test_a_row_that_is_not_there_is_named(as_table: Any) -> None:
    X, y = make_blobs(30, random_state=0)
    model = UnifiedKernelMachine(random_state=0).fit(as_table(X), y)
    with pytest.raises(ValueError, match="there is no row 30; the row ids are 0 to 29"):
        model.tell([30], [1])
    named = pd.DataFrame(X, index=[f"r{i}" for i in range(30)])
    model = UnifiedKernelMachine(random_state=0).fit(named, y)
    with pytest.raises(ValueError, match="no row 'r30'; the row ids are 'r0', 'r1'"):
        model.tell(["r30"], [1])


@pytest.mark.parametrize(
    "options",
    [{}, {"views": {"left": [0, 1], "right": [2]}}, {"basis": AnchorPool(20)}],
    ids=["graphs", "views", "anchors"],
)
def test_sparse_points_are_taken_by_a_model_of_dense_ones(options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + 4 * np.eye(3)[np.arange(60) % 3]
    y = np.where(np.arange(60) < 12, np.arange(60) % 3, -1)
    model = UnifiedKernelMachine(random_state=0, **options).fit(X, y)
    new = sparse.csr_array(X + 0.01)
    np.testing.assert_array_equal(
        model.predict_proba(new), model.predict_proba(X + 0.01)
    )
    assert model.explain(new[:2]).contributions.shape[0] == 2
    assert model.add_rows(new).transduction_.shape == (120,)
