import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from mercer.evidence.sources import Not, Sources
from mercer.optim.copies import count_once
from mercer.optim.row_classes import BETTER, FIRST, mixed
from mercer.optim.sources import solve_sources
from oracles.sources import dawid_skene, log_evidence, log_evidence_with_opinion


def noisy(y, right, rng, n_classes=None):
    C = n_classes or int(y.max()) + 1
    wrong = (y + rng.integers(1, C, len(y))) % C
    return np.where(rng.random(len(y)) < right, y, wrong)


def solve(sources, n_classes, **options):
    options.setdefault("weights", np.ones(len(sources.names)))
    parts = (sources.votes, sources.source, sources.answer, sources.denied)
    return solve_sources(*parts, n_classes=n_classes, **options)


def copies(sources):
    return count_once(sources.votes, sources.source, sources.answer, sources.denied)


def drawn(seed):
    """Votes with abstentions, denials, a rule of one answer, and weights."""
    rng = np.random.default_rng(seed)
    C, n = int(rng.integers(2, 5)), int(rng.integers(5, 40))
    columns = {}
    for s in range(int(rng.integers(1, 6))):
        votes = rng.integers(-1, C, n).astype(object)
        if s == 1:
            votes = np.where(votes == 0, 0, -1).astype(object)
        if s == 2:
            votes[:3] = [Not(0), Not(1), Not(1)]
        columns[f"s{s}"] = votes
    sources = Sources.read(columns).with_classes(np.arange(C))
    known = np.where(rng.random(n) < 0.2, rng.integers(0, C, n), -1)
    log_prior = np.log(rng.dirichlet(np.ones(C), n)) if seed % 2 else None
    weights = rng.uniform(0.2, 1.0, len(sources.names))
    options = {"known": known, "log_prior": log_prior, "weights": weights}
    if seed % 4 == 1:
        options["opinion"] = rng.dirichlet(np.ones(C), n)
    return sources, C, options


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_the_bound_never_falls_and_beliefs_are_a_fixed_point(seed):
    sources, C, options = drawn(seed)
    found = solve(sources, C, **options)
    assert found.residual <= 1e-6
    rounding = 1e-9 * (1 + np.abs(found.bounds).max())
    assert np.diff(found.bounds).min(initial=0.0) >= -rounding
    np.testing.assert_allclose(found.beliefs.sum(axis=1), 1)
    free = np.flatnonzero(options["known"] < 0)
    if options["log_prior"] is not None:
        prior = options["log_prior"]
        if "opinion" in options:
            prior = mixed(found.trust, prior, options["opinion"])
        again = softmax(prior + found.evidence(sources.votes), axis=1)
        np.testing.assert_allclose(found.beliefs[free], again[free], atol=1e-5)
    held = np.flatnonzero(options["known"] >= 0)
    assert (found.beliefs[held].argmax(axis=1) == options["known"][held]).all()
    assert (found.beliefs[held].max(axis=1) == 1).all()


@pytest.mark.parametrize("C", [2, 3])
def test_the_bound_is_below_the_evidence_and_near_it(C):
    """The evidence is summed over all classes of seven rows, an independent oracle."""
    rng = np.random.default_rng(C)
    y = np.arange(7) % C
    columns = [noisy(y, right, rng, C) for right in (0.9, 0.8, 0.7)]
    for votes in columns:
        votes[:C] = np.arange(C)  # every source gives every answer
    sources = Sources.read(np.column_stack(columns))
    found = solve(sources, C)
    right = found.accuracy
    alpha = [10 * (np.eye(C) * a + (1 - np.eye(C)) * (1 - a) / (C - 1)) for a in right]
    evidence, posterior = log_evidence(columns, alpha, C)
    assert found.bounds[-1] <= evidence + 1e-9
    assert evidence - found.bounds[-1] < 1.5  # nats; guessing loses 7 log C more
    assert (found.beliefs.argmax(axis=1) == posterior.argmax(axis=1)).all()
    np.testing.assert_allclose(found.beliefs, posterior, atol=0.15)


def test_with_many_votes_it_is_dawid_and_skene():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 4000)
    confusions = rng.dirichlet(np.ones(3), (4, 3)) * 0.5 + 0.5 * np.eye(3)
    votes = np.column_stack(
        [[rng.choice(3, p=confusions[s, c]) for c in y] for s in range(4)]
    )
    T, confusion = dawid_skene(votes, 3)
    sources = Sources.read(votes)
    found = solve(sources, 3)
    assert np.abs(found.beliefs - T).mean() < 0.02
    for s in range(4):
        np.testing.assert_allclose(
            np.exp(found.answers[sources.source == s]).T, confusion[s], atol=0.04
        )


def test_few_votes_leave_a_source_at_its_accuracy():
    """Ten votes of prior per class: one odd vote in a class does not make a rule."""
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(300, int), np.ones(300, int), 2]
    by_class = np.array([0.95, 0.65, 0.8])[y]  # one accuracy would not do
    columns = [noisy(y, by_class, rng, 3) for _ in range(4)]
    columns[0][-1] = 0  # its only vote on the third class is wrong
    sources = Sources.read(np.column_stack(columns))
    found = solve(sources, 3, known=np.where(np.arange(601) == 600, y, -1))
    P = np.exp(found.answers[sources.source == 0])
    assert P[2, 2] > 0.6
    loose = solve(sources, 3, known=np.where(np.arange(601) == 600, y, -1), tied=0.5)
    assert np.exp(loose.answers[sources.source == 0])[2, 2] < 0.3


@pytest.mark.parametrize("kind", ["none", "perfect", "random", "all abstain"])
def test_one_source_of_each_kind(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    said = {
        "none": np.full(300, -1),
        "all abstain": np.full(300, -1),
        "perfect": y,
        "random": rng.integers(0, 3, 300),
    }[kind]
    columns = {"a": said}
    if kind != "none":
        columns["b"] = np.full(300, -1) if kind == "all abstain" else noisy(y, 0.8, rng)
    sources = Sources.read(columns).with_classes(np.arange(3))
    known = np.where(np.arange(300) < 30, y, -1)
    found = solve(sources, 3, known=known)
    right = (found.beliefs.argmax(axis=1) == y)[30:].mean()
    if kind in ("none", "all abstain"):
        shares = np.bincount(y[:30], minlength=3) + 1
        np.testing.assert_allclose(found.shares, shares / shares.sum(), atol=5e-3)
        np.testing.assert_allclose(found.beliefs[40], found.shares, atol=0.02)
    else:
        assert right > (0.95 if kind == "perfect" else 0.75)
        first = found.accuracy[0]
        assert first > 0.95 if kind == "perfect" else abs(first - 1 / 3) < 0.1


def test_twenty_true_labels_turn_adversaries_round():
    """Without them two adversaries of three sources are believed."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    columns = [noisy(y, right, rng) for right in (0.8, 0.1, 0.1)]
    sources = Sources.read(np.column_stack(columns))
    known = np.where(np.arange(600) < 20, y, -1)
    blind, told = solve(sources, 2), solve(sources, 2, known=known)
    assert (blind.beliefs.argmax(axis=1) == y).mean() < 0.3
    assert (told.beliefs.argmax(axis=1) == y).mean() > 0.9
    assert (told.accuracy > 0.5).tolist() == [True, False, False]


def test_the_silence_of_a_rule_with_one_answer_speaks():
    """A rule that fires on nine tenths of a class, and hardly elsewhere."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    fires = rng.random(1000) < np.where(y == 0, 0.9, 0.05)
    rule, anna = np.where(fires, 0, -1), noisy(y, 0.7, rng)
    sources = Sources.read({"rule": rule, "anna": anna})
    found = solve(sources, 2, known=np.where(np.arange(1000) < 100, y, -1))
    silent = ~fires & (np.arange(1000) >= 100)
    assert (found.beliefs[silent, 1] > 0.5).mean() > 0.95
    assert found.silence[1] - found.silence[0] > 1


def test_a_prior_of_rows_decides_where_nobody_votes():
    sources = Sources.read({"a": [0, 1, None, None]})
    log_prior = np.log([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [0.2, 0.8]])
    found = solve(sources, 2, log_prior=log_prior)
    np.testing.assert_allclose(found.beliefs[2:], np.exp(log_prior[2:]))


def test_a_warning_where_it_does_not_converge():
    sources, C, options = drawn(3)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        solve(sources, C, **options, max_iter=1)


@pytest.mark.parametrize("C", [2, 5])
def test_copies_count_as_one_and_independent_sources_as_they_are(C):
    rng = np.random.default_rng(0)
    y = rng.integers(0, C, 800)
    honest = [noisy(y, right, rng) for right in (0.65, 0.7, 0.75)]
    same = [np.where(rng.random(800) < 0.9, honest[0], noisy(y, 0.65, rng))]
    same.append(np.where(rng.random(800) < 0.9, honest[0], noisy(y, 0.65, rng)))
    weights = copies(Sources.read(np.column_stack(honest))).weights
    assert weights.tolist() == [1, 1, 1]  # three alone cannot be told
    found = copies(Sources.read(np.column_stack([*honest, *same])))
    assert found.weights[[0, 3, 4]].sum() < 1.5
    assert found.weights[[1, 2]].min() > 0.8
    np.testing.assert_array_equal(found.dependence, found.dependence.T)


@pytest.mark.parametrize("cover", [1.0, 0.3])
def test_good_sources_are_not_taken_for_copies(cover):
    wrong = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 600)
        columns = [noisy(y, right, rng) for right in (0.95, 0.9, 0.8, 0.7, 0.6)]
        columns = [np.where(rng.random(600) < cover, votes, -1) for votes in columns]
        found = copies(Sources.read(np.column_stack(columns)))
        wrong += np.count_nonzero(found.dependence) // 2
    assert wrong <= 4  # of 200 pairs


def test_copies_among_rules_with_one_answer():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    fires = [rng.random(2000) < np.where(y == 0, 0.4, 0.05) for _ in range(4)]
    columns = [np.where(f, 0, -1) for f in (*fires, fires[0])]
    found = copies(Sources.read(np.column_stack(columns)))
    assert found.weights[[0, 4]].max() < 0.6
    assert found.weights[1:4].min() > 0.9


def test_copies_do_not_win_by_number():
    """Four that copy one of 60 % against three honest ones."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    first = noisy(y, 0.6, rng)
    columns = [noisy(y, 0.75, rng) for _ in range(3)] + [first] * 4
    sources = Sources.read(np.column_stack(columns))
    weights = copies(sources).weights
    counted = solve(sources, 2, weights=weights).beliefs.argmax(axis=1)
    plain = solve(sources, 2).beliefs.argmax(axis=1)
    assert (counted == y).mean() > 0.82
    assert (plain == y).mean() < 0.65


def test_one_source_is_taken_for_equally_good_in_all_classes():
    """Any exchange of classes fits votes that nothing else speaks about."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    known = np.where(np.arange(300) < 20, y, -1)
    for votes in (rng.integers(0, 4, 300), noisy(y, 0.7, rng, 4)):
        found = solve(Sources.read(votes), 4, known=known)
        P = found.answers
        np.testing.assert_allclose(P, P[0, 0] * np.eye(4) + P[0, 1] * (1 - np.eye(4)))
        assert (np.diff(found.bounds) > -1e-8 * np.abs(found.bounds[:-1])).all()
    # with many true labels, errors by class are seen
    known = np.where(np.arange(300) < 200, y, -1)
    swap = np.array([0, 1, 3, 2])
    own = [np.where(rng.random(300) < 0.9, swap[y], y) for _ in range(3)]
    P = solve(Sources.read(np.column_stack(own)), 4, known=known).answers
    assert P[3, 2] > P[2, 2] + 1


@pytest.mark.parametrize("n_rules", [1, 2])  # of each class
@pytest.mark.parametrize("C", [2, 3, 4])
def test_rules_that_only_contradict_each_other_are_not_taken_for_wrong(C, n_rules):
    """One that is always right and others that never are would explain it best."""
    y = np.arange(400) % C
    rng = np.random.default_rng(0)
    votes = {}
    for c in range(C):
        for k in range(n_rules):
            fires = rng.random(400) < np.where(y == c, 0.8, 0.15)
            votes[f"rule {k} for {c}"] = np.where(fires, c, -1)
    sources = Sources.read(votes)
    even = np.full((400, C), -np.log(C))
    found = solve(sources, C, log_prior=even, max_iter=5000)
    assert (found.beliefs.argmax(axis=1) == y)[sources.voted].mean() > 0.7
    np.testing.assert_array_equal(found.answers.argmax(axis=1), sources.answer)


@pytest.mark.parametrize("n_votes", [9, 10, 120])
def test_sources_that_always_say_the_same_count_as_one(n_votes):
    """Two alone: no other source tells that they agree too often."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    first = np.where(np.arange(120) < n_votes, noisy(y, 0.6, rng), -1)
    found = copies(Sources.read(np.column_stack([first, first, noisy(y, 0.9, rng)])))
    once = 1.0 if n_votes == 9 else 0.5
    assert found.weights.tolist() == [once, once, 1.0]
    other = first.copy()
    other[0] = (first[0] + 1) % 3
    nearly = copies(Sources.read(np.column_stack([first, other])))
    assert nearly.weights.tolist() == [1.0, 1.0]


def test_the_bound_with_an_opinion_is_below_the_evidence_and_near_it():
    """Summed over the classes of five rows, and of which of them the opinion is right.

    One source: the model of one accuracy per source has the higher bound.
    """
    rng = np.random.default_rng(0)
    y = np.array([0, 1, 0, 1, 0])
    votes = [y.copy()]
    opinion = 0.1 + 0.8 * np.eye(2)[y]
    opinion[4] = [0.2, 0.8]
    base = rng.dirichlet([3, 3], 5)
    sources = Sources.read(np.column_stack(votes))
    found = solve(sources, 2, log_prior=np.log(base), opinion=opinion)
    better = FIRST * (1 + BETTER) / 2
    start = (FIRST * BETTER, FIRST * (1 - BETTER))
    right = [(better, FIRST - better)]
    exact = log_evidence_with_opinion(votes, right, base, opinion, start)
    assert found.bounds[-1] <= exact + 1e-9
    assert exact - found.bounds[-1] < 0.5


def test_an_opinion_is_trusted_as_far_as_it_is_borne_out():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    rates = (0.9, 0.4, 0.4, 0.4)
    sources = Sources.read(np.column_stack([noisy(y, r, rng) for r in rates]))
    known = np.where(np.arange(400) < 20, y, -1)
    even = np.full((400, 3), -np.log(3))
    trust, right = [], []
    for rate in (0.34, 0.95):
        opinion = 0.05 + 0.85 * np.eye(3)[noisy(y, rate, rng)]
        found = solve(sources, 3, known=known, log_prior=even, opinion=opinion)
        trust.append(found.trust)
        right.append((found.beliefs.argmax(axis=1) == y).mean())
    assert trust[0] < 0.25
    assert trust[1] > 0.9
    assert right[0] > 0.85  # 0.34 where it is believed
    assert right[1] > 0.93  # 0.9 of the source alone
    assert solve(sources, 3, known=known).trust == 0


def test_an_opinion_without_a_prior_is_refused():
    sources, C, _ = drawn(2)
    opinion = np.full((sources.shape[0], C), 1 / C)
    with pytest.raises(ValueError, match="an opinion needs log_prior"):
        solve(sources, C, opinion=opinion)
