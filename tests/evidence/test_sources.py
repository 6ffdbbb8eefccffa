import numpy as np
import pandas as pd
import pytest

from mercer.evidence.sources import Not, Sources
from mercer.persist import load, save


def hard(sources, name):
    """Return the class that a source votes for on each row, None where it abstains."""
    votes = sources.votes.toarray()
    columns = np.flatnonzero(sources.source == sources.names.index(name))
    found = []
    for row in votes[:, columns]:
        at = np.flatnonzero(row)
        is_one = len(at) == 1
        c = columns[at[0]] if is_one else None
        value = sources.classes[sources.answer[c]] if is_one else None
        found.append(Not(value) if is_one and sources.denied[c] else value)
    return found


@pytest.mark.parametrize(
    "given",
    [
        {"a": ["x", None, "y"], "b": [None, "y", float("nan")]},
        pd.DataFrame({"a": ["x", None, "y"], "b": [None, "y", None]}),
        {"a": np.array(["x", -1, "y"], dtype=object), "b": [None, "y", -1]},
    ],
)
def test_columns_of_strings(given):
    sources = Sources.read(given)
    assert sources.names == ("a", "b")
    assert sources.classes.tolist() == ["x", "y"]
    assert hard(sources, "a") == ["x", None, "y"]
    assert hard(sources, "b") == [None, "y", None]
    assert sources.n_votes.tolist() == [2, 1]
    assert sources.votes.nnz == 3  # nothing is stored where they abstain


def test_numbers_floats_beside_nan_and_one_column():
    sources = Sources.read(np.array([[0, 2], [np.nan, 2], [-1, np.nan]]))
    assert sources.names == ("source 0", "source 1")
    assert sources.classes.tolist() == [0, 2]
    assert sources.classes.dtype.kind == "i"
    assert Sources.read([0, 1, -1]).shape == (3, 1)
    assert Sources.read([[0], [1]], names=["llm"]).names == ("llm",)


def test_denials_and_shares():
    shares = pd.DataFrame({"ham": [0.2, 0.0, np.nan], "spam": [0.8, 0.0, np.nan]})
    sources = Sources.read({"no": [Not("spam"), None, "ham"], "llm": shares})
    assert hard(sources, "no") == [Not("spam"), None, "ham"]
    assert sources.n_votes.tolist() == [2, 1]
    votes = sources.votes.toarray()
    mine = sources.source == 1
    for label, weights in {"ham": [0.2, 0, 0], "spam": [0.8, 0, 0]}.items():
        at = mine & (sources.classes[sources.answer] == label)
        np.testing.assert_allclose(votes[:, at].ravel(), weights, atol=1e-6)


@pytest.mark.parametrize(
    ("sure", "names", "sizes"),
    [
        # even thirds; a value is never in two levels
        (np.arange(100) / 100, ["0 to 0.32", "0.33 to 0.65", "0.66 to 0.99"], None),
        # two values, one of them rare
        ([0.5] * 15 + [0.9] * 85, ["0.5", "0.9"], [15, 85]),
        # too rare to be a level
        ([0.5] * 5 + [0.9] * 95, ["0.5 to 0.9"], [100]),
        ([0.7] * 100, ["0.7"], [100]),
    ],
)
def test_confidence_splits_a_source_into_levels(sure, names, sizes):
    votes = np.arange(100) % 2
    sources = Sources.read({"bot": votes}, confidence={"bot": sure})
    assert sources.names == tuple(f"bot at {name}" for name in names)
    if sizes is not None:
        assert sources.n_votes.tolist() == sizes
    assert sources.n_votes.sum() == 100
    np.testing.assert_array_equal(
        (sources.votes @ np.eye(2)[sources.answer]).argmax(axis=1), votes
    )


def test_votes_without_a_confidence_are_a_level_and_few_votes_one():
    sure = np.where(np.arange(40) < 5, np.nan, np.linspace(0, 1, 40))
    sources = Sources.read({"bot": np.arange(40) % 2}, confidence={"bot": sure})
    assert sources.names == ("bot at 0.128 to 1", "bot")
    assert sources.n_votes.tolist() == [35, 5]


@pytest.mark.parametrize(
    ("given", "options", "match"),
    [
        ({}, {}, "sources is empty"),
        ({"a": [0, 1], "b": [0]}, {}, "'a'. has 2 rows, sources.'b'. 1"),
        ({"a": [0, 1], "b": ["x", "y"]}, {}, "numbers and some with strings"),
        ({"a": ["x", 1]}, {}, "sources.'a'.: it holds int and str"),
        ({"a": [0, 1]}, {"n": 3}, "inconsistent numbers|X.* 3"),
        ({"a": [0, 1]}, {"confidence": {"b": [1, 1]}}, "confidence names 'b'"),
        ({"a": [0, 1]}, {"confidence": {"a": [90, 1]}}, "between 0 and 1, got 1 to 90"),
        ({"a": np.array([[0.5, 0.6]])}, {}, "sources.'a'.: .*sum to 1"),
        ([[0, 1]], {"names": ["a"]}, "2 columns, names 1"),
        (np.zeros((2, 2, 2)), {}, r"shape \(n, n_sources\), got \(2, 2, 2\)"),
    ],
)
def test_bad_sources_are_named(given, options, match):
    with pytest.raises((ValueError, TypeError), match=match):
        Sources.read(given, **options)


def test_further_votes_replace_those_of_the_same_source():
    sources = Sources.read({"a": ["x", "y", None], "b": ["x", "x", "x"]})
    told = sources.told(np.array([0, 2]), "a", ["z", "x"])
    assert hard(told, "a") == ["z", "y", "x"]
    assert hard(told, "b") == ["x", "x", "x"]
    assert hard(sources, "a") == ["x", "y", None]  # as it was
    assert hard(told.told(np.array([0]), "a", [None]), "a") == [None, "y", "x"]
    assert hard(told.told(np.array([1]), "new", [Not("x")]), "new")[1] == Not("x")
    with pytest.raises(ValueError, match="1 row named, 2 votes given"):
        sources.told(np.array([0]), "a", ["x", "y"])
    with pytest.raises(ValueError, match="shares"):
        sources.told(np.array([0]), "a", np.array([[0.5, 0.5]]))


def test_rows_are_taken_and_added_as_scikit_learn_takes_them():
    from sklearn.utils import _safe_indexing
    from sklearn.utils.validation import _num_samples

    sources = Sources.read({"a": [0, 1, -1], "b": [1, -1, 1]})
    assert _num_samples(sources) == 3
    assert hard(_safe_indexing(sources, [2, 0]), "b") == [1, 1]
    assert hard(_safe_indexing(sources, np.array([False, True, False])), "a") == [1]
    padded = sources.padded(2)
    assert padded.shape == (5, 2)
    assert hard(padded, "a") == [0, 1, None, None, None]
    wide = sources.with_classes(np.array([-5, 0, 1]))
    assert hard(wide, "a") == [0, 1, None]


def test_rules_are_functions_of_rows():
    table = pd.DataFrame({"text": ["refund!", "thanks"], "amount": [3, 500]})
    sources = Sources.from_rules(
        {
            "refund": lambda row: "complaint" if "refund" in row["text"] else None,
            "large": lambda row: "order" if row["amount"] > 100 else None,
        },
        table,
    )
    assert hard(sources, "refund") == ["complaint", None]
    assert hard(sources, "large") == [None, "order"]


def test_memory_is_one_number_of_eight_bytes_per_vote():
    votes = np.random.default_rng(0).integers(0, 3, (1000, 8))
    stored = Sources.read(votes).votes
    assert stored.data.nbytes + stored.indices.nbytes == 8 * votes.size


def test_saved_and_loaded(tmp_path):
    sources = Sources.read({"a": ["x", Not("y"), None]})
    save(sources, tmp_path / "sources.skops")
    again = load(tmp_path / "sources.skops")
    assert again.names == ("a",)
    assert hard(again, "a") == hard(sources, "a")


def test_votes_told_without_a_confidence_replace_those_of_every_level():
    sure = np.array([0.6] * 40 + [0.9] * 30)
    sources = Sources.read({"bot": np.arange(70) % 2}, confidence={"bot": sure})
    assert sources.names == ("bot at 0.6", "bot at 0.9")
    told = sources.told(np.array([3, 50]), "bot", [0, 1])
    assert told.names == sources.names
    assert told.n_votes.tolist() == [41, 29]  # that of row 50 is of the larger level
    assert told.take(np.array([3, 50])).n_votes.tolist() == [2, 0]
    assert sources.told(np.array([50]), "bot", [None]).n_votes.tolist() == [40, 29]
    assert sources.told(np.array([50]), "bo", [1]).n_votes.tolist() == [40, 30, 1]
