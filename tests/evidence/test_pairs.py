import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.evidence.pairs import Pairs, as_pairs


def as_set(pairs):
    ends = zip(pairs.first, pairs.second, pairs.signs, strict=True)
    return {(int(i), int(j), int(s)) for i, j, s in ends}


def test_index_pairs_are_sorted_and_kept_once():
    pairs = Pairs.from_index([(3, 1), (1, 3)], [(0, 2)], n_points=4)
    assert as_set(pairs) == {(1, 3, 1), (0, 2, -1)}
    assert len(pairs) == 2


def test_order_given_does_not_matter():
    one = Pairs.from_index([(0, 1), (2, 3)], [(1, 2)], n_points=4)
    two = Pairs.from_index([(3, 2), (1, 0)], [(2, 1)], n_points=4)
    for name in ("first", "second", "signs"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_labels_give_all_pairs_of_labelled_points():
    pairs = Pairs.from_labels(["a", None, "b", "a"])
    assert as_set(pairs) == {(0, 3, 1), (0, 2, -1), (2, 3, -1)}


@given(n=st.integers(2, 40), seed=st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_sampled_pairs_are_distinct_and_true(n, seed):
    y = np.random.default_rng(seed).integers(0, 3, n)
    total = n * (n - 1) // 2
    pairs = Pairs.from_labels(y, n_pairs=total // 2, random_state=seed)
    assert len(pairs) == total // 2
    np.testing.assert_array_equal(pairs.signs > 0, y[pairs.first] == y[pairs.second])
    assert as_set(pairs) <= as_set(Pairs.from_labels(y))
    assert len(Pairs.from_labels(y)) == total


def test_more_pairs_than_there_are():
    with pytest.raises(ValueError, match="3 labelled points have 3 pairs"):
        Pairs.from_labels([0, 0, 1], n_pairs=4)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frame(library):
    frames = pytest.importorskip(library)
    columns = {"first": [0, 2], "second": [1, 0], "same": [True, False]}
    frame = frames.DataFrame(columns)
    expected = {(0, 1, 1), (0, 2, -1)}
    assert as_set(Pairs.from_frame(frame, n_points=3)) == expected
    assert as_set(as_pairs(frame, 3)) == expected


@pytest.mark.parametrize("library", ["pandas", "polars", None])
def test_data_frame_with_other_names_says_which(library):
    columns = {"a": [0], "b": [1], "same": [1]}
    if library:
        columns = pytest.importorskip(library).DataFrame(columns)
        with pytest.raises(ValueError, match=r"\['first', 'second'\] are missing"):
            as_pairs(columns, 2)
    with pytest.raises(ValueError, match=r"columns \['a', 'b', 'same'\]"):
        Pairs.from_frame(columns, n_points=2)
    named = Pairs.from_frame(columns, n_points=2, first="a", second="b")
    assert named.signs.tolist() == [1.0]


def test_data_frame_answers_must_be_yes_or_no():
    frame = {"first": [0], "second": [1], "same": ["maybe"]}
    with pytest.raises(ValueError, match="must hold True/False"):
        Pairs.from_frame(frame, n_points=2)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_matrix_round_trip(form):
    pairs = Pairs.from_labels([0, 1, -1, 0, 1])
    assert as_set(Pairs.from_matrix(form(pairs.matrix().toarray()))) == as_set(pairs)


def test_matrix_is_symmetric_with_zero_diagonal():
    T = Pairs.from_index([(0, 1)], [(1, 2)], n_points=3).matrix().toarray()
    np.testing.assert_array_equal(T, [[0, 1, 0], [1, 0, -1], [0, -1, 0]])


def test_matrix_must_be_symmetric_and_square():
    with pytest.raises(ValueError, match="symmetric"):
        Pairs.from_matrix(np.array([[0, 1], [0, 0]]))
    with pytest.raises(ValueError, match=r"square, got shape \(1, 2\)"):
        Pairs.from_matrix(np.array([[0, 1]]))
    with pytest.raises(ValueError, match=r"\(1, 1\) links a point to itself"):
        Pairs.from_matrix(np.diag([0, 1]))


@given(seed=st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_closure_is_what_brute_force_infers(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 12)
    pairs = Pairs.from_labels(y, n_pairs=12, random_state=seed)
    T = pairs.matrix().toarray()
    while True:  # apply both rules to every triple until nothing is new
        new = T.copy()
        for i, j, k in np.ndindex(12, 12, 12):
            if i != k and T[i, j] == 1 and T[j, k] != 0:
                new[i, k] = new[k, i] = T[j, k]
        if np.array_equal(new, T):
            break
        T = new
    np.testing.assert_array_equal(pairs.closure().matrix().toarray(), T)


def test_closure_is_idempotent_and_keeps_lone_pairs():
    pairs = Pairs.from_index([(0, 1)], [(1, 2), (3, 4)], n_points=6)
    closed = pairs.closure()
    assert as_set(closed.closure()) == as_set(closed)
    assert as_set(pairs) < as_set(closed)


def test_contradiction_names_a_shortest_chain():
    pairs = Pairs.from_index(
        [(0, 1), (1, 2), (2, 3), (0, 4), (4, 3)], [(3, 0), (5, 0)], n_points=6
    )
    (wrong,) = pairs.contradictions()
    assert wrong.pair == (0, 3)
    assert wrong.chain == ((0, 4), (4, 3))
    with pytest.raises(ValueError, match=r"cannot-link \(0, 3\).* 0 -> 4 -> 3"):
        pairs.closure()


def test_same_pair_linked_both_ways_is_a_contradiction():
    pairs = Pairs.from_index([(0, 1)], [(1, 0)], n_points=2)
    assert pairs.contradictions()[0].chain == ((0, 1),)
    with pytest.raises(ValueError, match=r"\(0, 1\) are linked both ways"):
        pairs.matrix()


def test_consistent_pairs_have_no_contradiction():
    assert Pairs.from_labels([0, 1, 0, 1, 2]).contradictions() == ()


@pytest.mark.parametrize("ratio", [1.0, 0.7, 0.3])
def test_components_ratio_is_met(ratio):
    y = np.random.default_rng(0).integers(0, 3, 200)
    pairs = Pairs.by_components(y, ratio, random_state=1)
    assert pairs.n_components == round(ratio * 200)
    np.testing.assert_array_equal(pairs.signs > 0, y[pairs.first] == y[pairs.second])


def test_components_leave_unlabelled_points_alone():
    y = np.r_[np.repeat([0, 1], 20), np.full(60, -1)]
    pairs = Pairs.by_components(y, 0.5, random_state=0)
    assert pairs.n_points == 100
    assert pairs.n_components == 20 + 60
    assert pairs.second.max() < 40


def test_one_component_per_class_is_the_least():
    y = [0, 1] * 10
    assert Pairs.by_components(y, 0.1, random_state=0).n_components == 2
    with pytest.raises(ValueError, match="1 components of 20 labelled points in 2"):
        Pairs.by_components(y, 0.05)


def test_same_seed_same_pairs():
    y = [0, 1, 2] * 20
    one, two = (Pairs.by_components(y, random_state=5) for _ in range(2))
    assert as_set(one) == as_set(two)


def test_pairs_add_and_index():
    one = Pairs.from_index([(0, 1)], n_points=4)
    both = one + Pairs.from_index([(0, 1)], [(2, 3)], n_points=4)
    assert as_set(both) == {(0, 1, 1), (2, 3, -1)}
    assert as_set(both[both.signs < 0]) == {(2, 3, -1)}
    with pytest.raises(ValueError, match="over 4 and over 5 points"):
        one + Pairs.from_index([(0, 1)], n_points=5)


@pytest.mark.parametrize(
    ("must", "message"),
    [
        ([(0, 1), (2, 2)], r"pairs\[1\] = \(2, 2\) links a point to itself"),
        ([(0, 5)], r"pairs\[0\] = \(0, 5\) is outside the 5 points 0 to 4"),
        ([(-1, 0)], r"pairs\[0\] = \(-1, 0\) is outside"),
        ([(0, 1, 2)], r"must_link must have shape \(n_pairs, 2\)"),
        ([(0.5, 1.0)], "whole row numbers"),
    ],
)
def test_bad_index_pairs(must, message):
    with pytest.raises(ValueError, match=message):
        Pairs.from_index(must, n_points=5)


def test_what_counts_as_pairs():
    expected = {(0, 1, 1), (1, 2, -1)}
    given_as = [
        ([(0, 1)], [(1, 2)]),
        [[0, 1, 1], [1, 2, -1]],
        Pairs.from_index([(0, 1)], [(1, 2)], n_points=4).matrix(),
        Pairs.from_index([(0, 1)], [(1, 2)], n_points=4),
    ]
    for pairs in given_as:
        assert as_set(as_pairs(pairs, 4)) == expected
    with pytest.raises(TypeError, match="pairs must be Pairs"):
        as_pairs("0-1", 4)
    with pytest.raises(ValueError, match="over 4 points, X has 5 rows"):
        as_pairs(given_as[-1], 5)
    with pytest.raises(ValueError, match="signs must be"):
        as_pairs([[0, 1, 2]], 4)


def test_no_pairs():
    empty = Pairs.from_index(n_points=3)
    assert len(empty) == 0
    assert empty.n_components == 3
    assert len(empty.closure()) == 0


@pytest.mark.parametrize("ends", [[("a", "b")], [("1", "2")], [(0.5, 2)], [({}, 1)]])
def test_ends_that_are_no_row_numbers_are_refused(ends):
    with pytest.raises(ValueError, match="must_link must hold whole row numbers"):
        Pairs.from_index(ends, [], n_points=5)
