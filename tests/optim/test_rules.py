import numpy as np
import pytest

from mercer.evidence.sources import Not, Sources
from mercer.optim.rules import rule_evidence


def evidence(columns, n_classes, known=None, weights=None):
    sources = Sources.read(columns).with_classes(np.arange(n_classes))
    n, m = sources.shape[0], len(sources.names)
    return rule_evidence(
        sources.votes,
        sources.source,
        sources.answer,
        sources.denied,
        known=np.full(n, -1) if known is None else np.asarray(known),
        n_classes=n_classes,
        weights=np.ones(m) if weights is None else np.asarray(weights, float),
    )


def test_it_is_that_of_bayes_rule_by_hand():
    """Right of 0.8 before labels; fires on a tenth of twenty rows, two classes."""
    votes = np.where(np.arange(20) < 2, 0, -1)
    found = evidence({"a": votes}, 2)
    fires = 2 * 0.1 * np.array([0.8, 0.2])
    np.testing.assert_allclose(found[0], np.log(fires))
    np.testing.assert_allclose(found[5], np.log(1 - fires))
    known = np.where(np.arange(20) < 2, 1, -1)  # twice wrong
    right = 16 * 0.8 / (16 + 2)
    fires = 2 * 0.1 * np.array([right, 1 - right])
    np.testing.assert_allclose(evidence({"a": votes}, 2, known)[0], np.log(fires))


def test_a_denial_speaks_for_all_other_classes():
    votes = np.full(20, -1, dtype=object)
    votes[:2] = [Not(0), Not(0)]
    right = 1 / 3 + 0.6 * 2 / 3
    fires = 3 * 0.1 * np.array([1 - right, right / 2, right / 2])
    np.testing.assert_allclose(evidence({"a": votes}, 3)[0], np.log(fires))


@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_rule_that_always_fires_says_nothing(n_classes):
    found = evidence({"a": np.zeros(30, int)}, n_classes)
    np.testing.assert_allclose(found - found[:, :1], 0, atol=1e-9)


def test_rules_add_up_by_their_weights_and_others_say_nothing():
    one, two = np.where(np.arange(20) < 2, 0, -1), np.where(np.arange(20) < 5, 1, -1)
    apart = evidence({"a": one}, 2), evidence({"b": two}, 2)
    both = evidence({"a": one, "b": two}, 2, weights=[0.5, 1.0])
    np.testing.assert_allclose(both, 0.5 * apart[0] + apart[1])
    several = np.arange(20) % 2
    mixed = evidence({"a": one, "c": several}, 2, weights=[1.0, 0.0])
    np.testing.assert_allclose(mixed, apart[0])
    assert not evidence({"c": several}, 2, weights=[0.0]).any()
