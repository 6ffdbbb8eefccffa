"""The loop of questions: refusals, and what counts as a change."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from mercer import UnifiedKernelMachine, learn_actively
from mercer.active.loop import History, Round
from mercer.active.strategies import QUERIES
from mercer.judging.outlook import Outlook


@pytest.fixture(scope="module")
def model_and_truth():
    X, truth = make_blobs(40, centers=3, random_state=0)
    y = np.full(40, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[0]] = c
    return UnifiedKernelMachine(random_state=0).fit(X, y), truth


def copy_of(model):
    return model.with_labels(model.labels_.given())


@pytest.mark.parametrize("query", QUERIES)
def test_excluded_rows_are_not_asked_about(model_and_truth, query):
    model = copy_of(model_and_truth[0]).set_params(query=query)
    free = np.setdiff1d(np.arange(40), model.labeled_)
    left = free[::3]
    asked = model.ask(40, exclude=np.setdiff1d(free, left))
    np.testing.assert_array_equal(np.sort(asked), left)
    # A labelled row may be among them too.
    assert len(model.ask(40, exclude=np.arange(40))) == 0


def test_a_callable_query_is_asked_for_more_and_filtered(model_and_truth):
    model = copy_of(model_and_truth[0])
    free = np.setdiff1d(np.arange(40), model.labeled_)
    model.set_params(query=lambda model, n, rng: free[:n])
    np.testing.assert_array_equal(model.ask(2, exclude=free[[0, 2]]), free[[1, 3]])


def test_excluded_ids_are_checked(model_and_truth):
    with pytest.raises(ValueError, match="there is no row 99"):
        model_and_truth[0].ask(exclude=[99])


@pytest.mark.parametrize("unknown", [-1, None, float("nan")])
def test_a_refused_question_is_not_asked_again(model_and_truth, unknown):
    model = copy_of(model_and_truth[0])
    history = learn_actively(model, lambda rows: [unknown] * len(rows), batch_size=5)
    asked = np.concatenate([r.asked for r in history.rounds])
    free = np.setdiff1d(np.arange(40), model.labeled_)
    np.testing.assert_array_equal(np.sort(asked), free)
    assert not history.has_converged()
    assert model.labeled_.size == 3


def test_refusals_among_answers_are_remembered(model_and_truth):
    model, truth = copy_of(model_and_truth[0]), model_and_truth[1]
    silent = set(range(0, 40, 2))

    def answer(rows):
        return [-1 if row in silent else truth[row] for row in rows]

    history = learn_actively(model, answer, batch_size=3, patience=40)
    asked = np.concatenate([r.asked for r in history.rounds])
    assert len(asked) == len(set(asked.tolist())) == 37
    assert all(r.n_answered == np.sum(r.asked % 2) for r in history.rounds)
    assert set(model.labeled_.tolist()) >= set(range(1, 40, 2))


def test_rounds_without_answers_do_not_end_the_loop():
    quiet = Round(np.array([7]), np.array([1]), n_labeled=5, changed=0.0)
    silent = Round(np.array([8]), np.array([-1]), n_labeled=5, changed=0.0)
    assert not History((quiet, quiet, silent)).has_converged()
    assert History((quiet, silent, quiet, quiet)).has_converged()


class Contrary:
    """Each answer is news at the asked rows and nowhere else."""

    ids_ = np.arange(10)
    labeled_ = np.array([0])

    def __init__(self):
        self.transduction_ = np.zeros(10, int)
        self.next = 0

    def ask(self, n, *, exclude=()):
        self.next += 1
        return np.array([self.next])

    def tell(self, rows, labels):
        self.transduction_ = self.transduction_.copy()
        self.transduction_[rows] = labels


def test_asked_rows_do_not_count_as_changed():
    history = learn_actively(Contrary(), lambda rows: [1] * len(rows), max_rounds=8)
    assert [r.changed for r in history.rounds] == [0.0] * 3


class Promising:
    """A model whose next labels bring less and less."""

    def __init__(self, most_gains):
        self.left = list(most_gains)
        self.ids_, self.transduction_ = np.arange(50), np.zeros(50)
        self.labeled_ = np.arange(0)

    def ask(self, n, exclude=()):
        return np.array([len(self.labeled_)])

    def tell(self, rows, labels):
        self.labeled_ = np.append(self.labeled_, rows)

    def outlook(self, n_more):
        assert n_more == 10
        most = self.left.pop(0)
        return None if most is None else Outlook(10, 0.8, 0.805, 0.8, 0.8 + most)


@pytest.mark.parametrize(("min_gain", "n_rounds"), [(0.05, 3), (0.02, 5), (1e-9, 6)])
def test_the_loop_goes_on_until_ten_labels_are_known_to_bring_too_little(
    min_gain, n_rounds
):
    """Not when no prediction changed: none ever does here."""
    model = Promising([None, 0.2, 0.04, 0.03, 0.01, 0.01, 0.01])
    history = learn_actively(model, lambda rows: [1], min_gain=min_gain, max_rounds=6)
    assert len(history) == n_rounds
    assert "10 more labels: +0.5% (+0.0% to" in history._repr_html_()
    assert len(learn_actively(Promising([]), lambda rows: [1], max_rounds=6)) == 3


def test_easy_classes_need_few_labels_and_hard_ones_more():
    lengths = []
    for spread in (0.5, 4.0):
        X, truth = make_blobs(
            200, centers=[[0, 0], [6, 6]], cluster_std=spread, random_state=0
        )
        y = np.full(200, -1)
        y[[np.flatnonzero(truth == c)[0] for c in (0, 1)]] = [0, 1]
        model = UnifiedKernelMachine(random_state=0).fit(X, y)
        assert model.outlook() is None  # two labels
        history = learn_actively(
            model, truth.__getitem__, batch_size=10, max_rounds=8, min_gain=0.04
        )
        lengths.append(len(history))
    assert lengths[0] < lengths[1]


def test_the_expected_gain_is_that_of_the_curve():
    X, truth = make_blobs(200, centers=3, cluster_std=3.0, random_state=0)
    y = np.where(np.arange(200) < 60, truth, -1)
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    now, later = model.outlook(10), model.outlook(100)
    assert now.low <= now.then <= now.high
    assert 0 <= now.gain <= later.gain
    assert now == model.outlook(10)  # the same labels, the same answer


def test_a_listener_hears_of_every_round(model_and_truth):
    model, truth = copy_of(model_and_truth[0]), model_and_truth[1]
    heard = []

    class Listener:
        def stage(self, name):
            heard.append(name)

        def advance(self, share):
            heard.append(share)

        def note(self, message):
            heard.append(message)

    learn_actively(
        model,
        lambda rows: truth[rows],
        batch_size=4,
        max_rounds=4,
        tol=-1.0,  # nothing is enough
        progress=Listener(),
    )
    labels = [3, 7, 11, 15]
    assert heard[::2] == [f"round {k + 1}, {n} labels" for k, n in enumerate(labels)]
    assert heard[1::2] == [0.0, 0.25, 0.5, 0.75]
