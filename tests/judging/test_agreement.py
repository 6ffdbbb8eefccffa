"""Agreement beyond chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from mercer.judging.agreement import agreements, cohen_kappa, fleiss_kappa

two_people = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=20
)


@given(pairs=two_people)
def test_cohen_equals_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    found = cohen_kappa(first, second)
    if len({*first, *second}) == 1:
        assert found is None
    else:
        assert found == pytest.approx(cohen_kappa_score(first, second))


def test_fleiss_of_the_published_example() -> None:
    """Fleiss (1971): fourteen people, ten subjects, five classes."""
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    assert fleiss_kappa(counts) == pytest.approx(0.210, abs=5e-4)


def test_items_of_one_person_do_not_count() -> None:
    assert fleiss_kappa([[1, 0], [0, 1]]) is None
    both = [[2, 0], [1, 1], [0, 2]]
    assert fleiss_kappa([*both, [1, 0]]) == fleiss_kappa(both)


def test_only_common_items_are_compared() -> None:
    answers = {"x": {"ann": 0, "ben": 0}, "y": {"ann": 0, "ben": 1}, "z": {"ann": 1}}
    (found,) = agreements(answers)
    assert (found.first, found.second, found.n_items) == ("ann", "ben", 2)
    assert found.share == 0.5
