"""Events folded into the present state."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.app.studio.ledger import Event, Ledger


def told(*events: tuple[object, ...]) -> Ledger:
    """Fold (who, kind, item, label or undone event) into a ledger."""
    ledger = Ledger()
    for seq, (who, kind, item, value) in enumerate(events, start=1):
        field = "undoes" if kind == "undo" else "label"
        ledger.add(Event(seq, 0.0, who, kind, f"t{seq}", item, **{field: value}))  # type: ignore[arg-type]
    return ledger


def test_later_answer_of_the_same_person_counts() -> None:
    ledger = told(("ann", "answer", "a", 0), ("ann", "answer", "a", 1))
    assert ledger.label_of("a") == 1


def test_undo_brings_back_what_was_before() -> None:
    ledger = told(
        ("ann", "answer", "a", 0), ("ann", "answer", "a", 1), ("ann", "undo", None, 2)
    )
    assert ledger.label_of("a") == 0
    assert ledger.last_of("ann") == ledger.events[0]


def test_most_people_decide_and_a_tie_is_no_label() -> None:
    answers = [("ann", "answer", "a", 0), ("ben", "answer", "a", 1)]
    tie = told(*answers)
    assert tie.label_of("a") is None
    assert list(tie.disagreements().values()) == [{"ann": 0, "ben": 1}]
    assert told(*answers, ("cid", "answer", "a", 1)).label_of("a") == 1


def test_answer_ends_a_skip_and_skips_can_be_asked_again() -> None:
    ledger = told(("ann", "skip", "a", None), ("ann", "skip", "b", None))
    assert set(ledger.skips) == {"a", "b"}
    ledger.add(Event(3, 0.0, "ann", "answer", "t3", "a", label=0))
    assert set(ledger.skips) == {"b"}
    ledger.add(Event(4, 0.0, "ann", "reask", "t4"))
    assert not ledger.skips


def test_undo_does_not_bring_back_a_skip_that_was_asked_again() -> None:
    ledger = told(
        ("ann", "skip", "a", None),
        ("ann", "reask", None, None),
        ("ann", "answer", "a", 0),
        ("ann", "undo", None, 3),
    )
    assert not ledger.skips
    assert not ledger.answers


@pytest.mark.parametrize("kind", ["answer", "skip"])
def test_undoing_one_person_leaves_the_others(kind: str) -> None:
    ledger = told(
        ("ann", kind, "a", 0), ("ben", "answer", "a", 1), ("ann", "undo", None, 1)
    )
    assert ledger.label_of("a") == 1


acts = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.integers(0, 2)),
    max_size=12,
)


@given(acts=acts, n_undone=st.integers(0, 12))
def test_undoing_the_last_acts_equals_never_doing_them(
    acts: list[tuple[str, str, int]], n_undone: int
) -> None:
    """Label 2 stands for a skip; one person undoes everything from some act on."""
    events: list[tuple[object, ...]] = [
        (who, "skip" if label == 2 else "answer", item, label)
        for who, item, label in acts
    ]
    ledger = told(*events)
    for k in range(n_undone):
        last = ledger.last_of("a")
        if last is None:
            break
        seq = len(events) + k + 1
        ledger.add(Event(seq, 0.0, "a", "undo", f"t{seq}", undoes=last.seq))
    own = [k for k, e in enumerate(events) if e[0] == "a"]
    gone = set(own[max(len(own) - n_undone, 0) :])
    kept = told(*(e for k, e in enumerate(events) if k not in gone))
    for item in "xy":
        assert ledger.label_of(item) == kept.label_of(item)
        assert ledger.skips.get(item, {}).keys() == kept.skips.get(item, {}).keys()
