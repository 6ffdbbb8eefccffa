import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.model_selection import cross_validate

from mercer import UnifiedKernelMachine, load, save
from mercer.evidence.sources import Sources

SEEN = 200


def noisy(y, right, rng, cover=1.0):
    wrong = np.where(rng.random(len(y)) < right, y, 1 - y)
    return np.where(rng.random(len(y)) < cover, wrong, -1)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(SEEN + 100, noise=0.2, random_state=0)
    rng = np.random.default_rng(0)
    votes = {
        "llm": noisy(y, 0.8, rng, 0.6),
        "rule": np.where((X[:, 1] > 0.8) & (rng.random(len(y)) < 0.8), 0, -1),
        "anna": noisy(y, 0.7, rng, 0.8),
        "ben": noisy(y, 0.2, rng),
    }
    return X, y, pd.DataFrame(votes)


@pytest.fixture(scope="module")
def told(moons):
    X, y, votes = moons
    labels = np.where(np.arange(SEEN) < 8, y[:SEEN], -1)
    return UnifiedKernelMachine(random_state=0).fit(
        X[:SEEN], labels, sources=votes[:SEEN]
    )


def test_sources_add_to_labels_and_labels_to_sources(moons, told):
    X, y, votes = moons
    rest = np.arange(8, SEEN)
    without = UnifiedKernelMachine(random_state=0).fit(
        X[:SEEN], np.where(np.arange(SEEN) < 8, y[:SEEN], -1)
    )
    alone = told.believed_.weighed.reliability.evidence(
        Sources.read(votes[:SEEN]).votes
    )
    right = (told.transduction_ == y[:SEEN])[rest].mean()
    assert right > (without.transduction_ == y[:SEEN])[rest].mean() + 0.05
    assert right > (alone.argmax(axis=1) == y[:SEEN])[rest].mean() + 0.05
    assert (told.predict(X[SEEN:]) == y[SEEN:]).mean() > 0.9
    np.testing.assert_allclose(told.training_proba().sum(axis=1), 1)
    assert (told.transduction_[:8] == y[:8]).all()


def test_without_a_true_label_it_works_and_says_what_it_rests_on(moons):
    X, y, votes = moons
    good = votes[["llm", "anna"]][:SEEN]
    model = UnifiedKernelMachine(random_state=0).fit(X[:SEEN], None, sources=good)
    voted = good.max(axis=1) >= 0
    agreed = np.array(
        [row[row >= 0].mean() if any(row >= 0) else 0.5 for row in good.to_numpy()]
    )
    majority = np.where(agreed == 0.5, 0.5, (agreed > 0.5) == y[:SEEN])
    assert voted.mean() < 0.95
    assert (model.transduction_ == y[:SEEN]).mean() > majority.mean() + 0.03
    assert len(model.labeled_) == 0
    assert "without a true label" in model.source_report().rests_on
    assert len(model.ask(3)) == 3


def test_the_report_names_the_adversary_and_holds_the_accuracies(moons, told):
    _, y, votes = moons
    report = told.source_report()
    assert [s.name for s in report.sources] == ["llm", "rule", "anna", "ben"]
    for source in report.sources:
        given = votes[source.name].to_numpy()[:SEEN]
        voted = given >= 0
        right = (given == y[:SEEN])[voted].mean()
        assert source.low - 1e-9 <= right <= source.high + 1e-9
        assert source.n_votes == voted.sum()
        assert source.coverage == pytest.approx(voted.mean())
        assert source.n_checked == voted[:8].sum()
    assert [s.is_worse_than_chance for s in report.sources] == [
        False, False, False, True,
    ]  # fmt: skip
    assert any("ben is worse than chance" in text for text in report.warnings)
    assert report.n_true == 8
    assert "8 true labels" in report.rests_on
    worst = report.disputed[0]
    assert len(set(votes.iloc[worst]) - {-1}) == 2
    assert "llm" in report._repr_html_()


def test_a_copy_is_named(moons):
    X, y, votes = moons
    rng = np.random.default_rng(1)
    many = votes.assign(
        eve=noisy(y, 0.9, rng), dan=noisy(y, 0.85, rng), echo=votes["ben"]
    )
    model = UnifiedKernelMachine(random_state=0).fit(
        X, np.where(np.arange(len(y)) < 8, y, -1), sources=many
    )
    by_name = {s.name: s for s in model.source_report().sources}
    assert by_name["echo"].copies == ("ben",)
    assert by_name["eve"].copies == ()
    assert any("more than independent" in w for w in model.source_report().warnings)


def test_votes_of_a_row_do_not_come_back_as_the_models_own_belief(moons):
    """One row is voted wrong by all; its neighbours are voted right."""
    X, y, _ = moons
    votes = np.column_stack([y[:SEEN]] * 2)
    clear = UnifiedKernelMachine(random_state=0).fit(X[:SEEN], y[:SEEN])
    row = int(clear.training_proba().max(axis=1).argmax())
    votes[row] = 1 - y[row]
    model = UnifiedKernelMachine(random_state=0).fit(X[:SEEN], None, sources=votes)
    assert model.believed_.model[row, y[row]] > 0.9


def test_labels_and_votes_are_told_later(moons, told):
    X, y, votes = moons
    model = UnifiedKernelMachine(random_state=0).fit(
        X[:SEEN], np.where(np.arange(SEEN) < 8, y[:SEEN], -1)
    )
    assert model.sources_ is None
    for name in votes:
        column = votes[name].to_numpy()[:SEEN]
        rows = np.flatnonzero(column >= 0)
        model.tell(rows, column[rows], source=name)
    np.testing.assert_allclose(model.training_proba(), told.training_proba())
    assert (model.labels_.codes == told.labels_.codes).all()
    row = model.ask()
    model.tell(row, y[row])
    assert len(model.labeled_) == 9
    assert model.sources_.shape == (SEEN, 4)
    model.tell([9], 1, source="carl")
    assert model.sources_.names[-1] == "carl"


def test_rows_in_dispute_are_asked_about(moons):
    X, y, _ = moons
    rng = np.random.default_rng(3)
    votes = np.column_stack([noisy(y, 0.8, rng) for _ in range(3)])
    labels = np.where(np.arange(len(y)) < 20, y, -1)
    model = UnifiedKernelMachine(query="entropy", random_state=0)
    model.fit(X, labels, sources=votes)
    divided = votes.min(axis=1) != votes.max(axis=1)
    doubt = 1 - model.training_proba().max(axis=1)
    assert doubt[20:][divided[20:]].mean() > 1.5 * doubt[20:][~divided[20:]].mean()
    assert divided[model.ask(10)].mean() > divided[20:].mean() + 0.2


def test_a_wrong_true_label_is_suspicious(moons):
    X, y, votes = moons
    given = np.where(np.arange(SEEN) < 40, y[:SEEN], -1)
    strong = np.column_stack([y[:SEEN], votes["anna"][:SEEN]])
    model = UnifiedKernelMachine(random_state=0).fit(X[:SEEN], y[:SEEN])
    row = int(model.training_proba()[:40].max(axis=1).argmax())
    given[row] = 1 - given[row]
    model = UnifiedKernelMachine(random_state=0)
    model.fit(X[:SEEN], given, sources=strong)
    assert model.suspicious_labels().ids[0] == row


def test_classes_that_only_sources_know(moons):
    X, y, _ = moons
    names = np.array(["a", "b"], dtype=object)[y]
    labels = [*names[:4], *[None] * (len(y) - 4)]
    model = UnifiedKernelMachine(random_state=0)
    votes = names.copy()
    far = X[:, 0] > 1.5
    votes[far] = "c"
    model.fit(X, labels, sources={"old column": votes})
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba(X[:2]).shape == (2, 3)
    assert (model.transduction_[far] == "c").mean() > 0.8


def test_all_abstain_is_as_without_sources(moons):
    X, y, _ = moons
    labels = np.where(np.arange(SEEN) < 8, y[:SEEN], -1)
    plain = UnifiedKernelMachine(random_state=0).fit(X[:SEEN], labels)
    silent = UnifiedKernelMachine(random_state=0).fit(
        X[:SEEN], labels, sources=np.full((SEEN, 2), -1)
    )
    rest = np.arange(8, SEEN)
    assert (plain.transduction_ == silent.transduction_)[rest].all()


@pytest.fixture(scope="module")
def groups():
    X, y = make_blobs(240, centers=5, cluster_std=2.0, random_state=3)
    labels = np.where(np.arange(240) < 20, y, -1)
    return X, y, UnifiedKernelMachine(random_state=0).fit(X, labels)


@pytest.mark.parametrize("kind", ["random", "constant", "adversary"])
def test_a_source_that_knows_nothing_does_not_overrule_true_labels(groups, kind):
    """Classes of the votes were exchanged until they fitted, and the labels ignored."""
    _, y, plain = groups
    votes = {
        "random": np.random.default_rng(0).integers(0, 5, len(y)),
        "constant": np.zeros(len(y), int),
        "adversary": (y + np.random.default_rng(0).integers(1, 5, len(y))) % 5,
    }[kind]
    told = plain.with_labels(plain.labels_.given(), sources=votes)
    before, now = ((m.transduction_ == y)[20:].mean() for m in (plain, told))
    assert now > before - 0.05
    source = told.source_report().sources[0]
    assert source.low - 1e-6 <= (votes == y).mean() <= source.high + 1e-6


def test_without_labels_no_class_swallows_the_others():
    """Shares of the classes, estimated from few votes, ran away to one class."""
    X, y = make_blobs(240, centers=5, cluster_std=3.0, random_state=0)
    rng = np.random.default_rng(0)
    fires = [rng.random(240) < np.where(y == k % 5, 0.3, 0.05) for k in range(10)]
    rules = np.column_stack([np.where(f, k % 5, -1) for k, f in enumerate(fires)])
    by_class = np.array([0.95, 0.4, 0.8, 0.5, 0.6])[y]
    two = [np.where(rng.random(240) < by_class, y, (y + 1) % 5) for _ in range(2)]
    for votes, least in ((rules, 0.4), (np.column_stack(two), 0.8)):
        model = UnifiedKernelMachine(random_state=0).fit(X, None, sources=votes)
        assert (model.transduction_ == y).mean() > least


@pytest.mark.parametrize("seed", [2, 5])
def test_a_class_that_one_vote_names_takes_no_other_rows(seed):
    y = np.random.default_rng(0).integers(0, 2, 60)
    rng = np.random.default_rng(seed)
    anna = np.where(rng.random(60) < 0.9, y, 1 - y)
    anna[3] = -1
    X = (3 * y + rng.standard_normal(60))[:, None]
    votes = {"anna": anna, "rule": np.where(np.arange(60) == 3, 2, -1)}
    model = UnifiedKernelMachine(random_state=0).fit(X, None, sources=votes)
    assert np.count_nonzero(model.transduction_ == 2) <= 1


def test_one_source_that_is_mostly_right_helps(groups):
    _, y, plain = groups
    rng = np.random.default_rng(0)
    votes = np.where(rng.random(len(y)) < 0.75, y, (y + rng.integers(1, 5, len(y))) % 5)
    told = plain.with_labels(plain.labels_.given(), sources=votes)
    right = (told.transduction_ == y)[20:].mean()
    assert right > (plain.transduction_ == y)[20:].mean() + 0.03
    assert right > (votes == y)[20:].mean() + 0.05


def test_saved_loaded_cloned_and_slim(moons, told, tmp_path):
    X = moons[0]
    save(told, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.training_proba(), told.training_proba())
    assert again.source_report().warnings == told.source_report().warnings
    again.tell([50], [1])
    slim = told.without_rows()
    assert slim.sources_ is None
    np.testing.assert_array_equal(slim.predict(X), told.predict(X))


def test_rows_that_join_have_no_votes(moons, told, tmp_path):
    X, y, _ = moons
    save(told, tmp_path / "model.skops")
    model = load(tmp_path / "model.skops").add_rows(X[SEEN:])
    assert model.sources_.shape == (SEEN + 100, 4)
    assert (model.transduction_[SEEN:] == y[SEEN:]).mean() > 0.9


def test_folds_take_their_rows_of_the_sources(moons):
    import sklearn

    X, y, votes = moons
    with sklearn.config_context(enable_metadata_routing=True):
        model = UnifiedKernelMachine(random_state=0).set_fit_request(sources=True)
        for given in (votes, Sources.read(votes)):
            found = cross_validate(
                model, X, y, cv=2, params={"sources": given}, error_score="raise"
            )
            assert found["test_score"].min() > 0.8


@pytest.mark.parametrize(
    ("sources", "kind", "match"),
    [
        (np.zeros((3, 2)), ValueError, "sources"),
        ({"a": ["x"] * 300}, TypeError, "name them in the same way"),
    ],
)
def test_bad_sources_are_refused(moons, sources, kind, match):
    X, y, _ = moons
    with pytest.raises(kind, match=match):
        UnifiedKernelMachine().fit(X, y, sources=sources)


@pytest.mark.parametrize("votes", [np.zeros(300, int), np.full(300, -1)])
def test_of_sources_that_name_one_class_nothing_is_told(moons, votes):
    """It was said that there are no sources."""
    model = UnifiedKernelMachine(random_state=0).fit(moons[0], None, sources=votes)
    with pytest.raises(ValueError, match="fewer than two classes"):
        model.source_report()
    assert len(model.ask(2)) == 2


def test_dask_arrays_are_refused(moons):
    da = pytest.importorskip("dask.array")
    X, y, votes = moons
    with pytest.raises(ValueError, match="sources is not supported for Dask"):
        UnifiedKernelMachine().fit(da.from_array(X), da.from_array(y), sources=votes)


def test_tensors_are_taken(moons):
    torch = pytest.importorskip("torch")
    X, y, votes = moons
    labels = np.where(np.arange(SEEN) < 8, y[:SEEN], -1)
    model = UnifiedKernelMachine(random_state=0)
    model.fit(torch.from_numpy(X[:SEEN]), labels, sources=votes[:SEEN])
    assert (np.asarray(model.transduction_) == y[:SEEN]).mean() > 0.88


@pytest.mark.parametrize("machine", ["klr", "rls"])
def test_other_machines_learn_from_sources(moons, machine):
    X, y, votes = moons
    labels = np.where(np.arange(SEEN) < 8, y[:SEEN], -1)
    model = UnifiedKernelMachine(machine=machine, random_state=0)
    model.fit(X[:SEEN], labels, sources=votes[:SEEN])
    assert (model.transduction_ == y[:SEEN]).mean() > 0.85


@pytest.mark.parametrize("sizes", [{0: 0.45, 1: 0.45, 2: 0.1}, "1 > 0 > 2"])
def test_sizes_may_name_a_class_that_hardly_anyone_votes_for(moons, sizes):
    """Class 2 is nowhere the likeliest: the others share what was told."""
    X, y, votes = moons
    labels = np.where(np.arange(SEEN) < 8, y[:SEEN], -1)
    odd = votes[:SEEN].assign(anna=votes["anna"].where(votes.index != 0, 2))
    model = UnifiedKernelMachine(class_sizes=sizes, random_state=0)
    model.fit(X[:SEEN], labels, sources=odd)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.believed_.taught.classes.tolist() == [0, 1]
    assert (model.transduction_ == y[:SEEN]).mean() > 0.85


def test_many_rows_are_learned_from_some_of_them(moons, monkeypatch):
    """At the limits of work: drawn rows alone carry beliefs, all rows get one."""
    from mercer.model import beliefs

    X, y, votes = moons
    monkeypatch.setattr(beliefs, "MOST_TAUGHT", 60)
    monkeypatch.setattr(beliefs, "ROWS_SEEN", 100)
    labels = np.where(np.arange(len(y)) < 8, y, -1)
    model = UnifiedKernelMachine(random_state=0).fit(X, labels, sources=votes)
    assert len(model.believed_.taught.labeled) <= 68
    assert (model.transduction_ == y).mean() > 0.88


def test_limits_of_work():
    from mercer.evidence import weighing
    from mercer.model import beliefs

    assert beliefs.MOST_TAUGHT == 2_000
    assert beliefs.ROWS_SEEN == weighing.SOME_ROWS == 20_000
    assert beliefs.ROUNDS == 2


def test_beliefs_are_those_of_the_kernel_times_the_votes_one_by_one(moons, told):
    """The last equation of the alternation, vote by vote, and how still it stands."""
    _, _, votes = moons
    believed = told.believed_
    found, sources = believed.weighed.reliability, believed.weighed.sources
    for row in range(8, SEEN):
        p = (1 - 1e-4) * believed.model[row] + 1e-4 / 2
        for c in range(2):
            for column, (s, a) in enumerate(
                zip(sources.source, sources.answer, strict=True)
            ):
                if votes.iloc[row, s] == sources.classes[a]:
                    p[c] *= np.exp(found.answers[column, c])
            p[c] *= np.exp(found.silence[c])
        np.testing.assert_allclose(believed.beliefs[row], p / p.sum(), atol=1e-6)
    assert believed.change < 0.06  # after two rounds
    assert found.residual <= 1e-6
    assert (np.diff(found.bounds) >= -1e-9 * np.abs(found.bounds[:-1])).all()


def test_a_class_that_is_taken_back_is_gone(moons):
    X, y, votes = moons
    labels = np.where(np.arange(SEEN) < 8, y[:SEEN], -1)
    model = UnifiedKernelMachine(random_state=0)
    model.fit(X[:SEEN], labels, sources=votes[["llm"]][:SEEN])
    for source in (None, "llm", "anna"):
        assert model.tell([50], [7], source=source).classes_.tolist() == [0, 1, 7]
        assert model.tell([50], [None], source=source).classes_.tolist() == [0, 1]
    assert model.training_proba().shape == (SEEN, 2)
