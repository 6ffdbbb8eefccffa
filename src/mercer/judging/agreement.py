"""How well people agree, beyond what chance would give."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two people on the items that both labelled."""

    first: str
    second: str
    n_items: int
    share: float  # of equal labels
    kappa: float | None  # None where chance alone gives full agreement


def cohen_kappa(first: Sequence[int], second: Sequence[int]) -> float | None:
    r"""Return :math:`(p_o - p_e) / (1 - p_e)` of two people (Cohen 1960).

    :math:`p_o` is the share of equal labels and :math:`p_e` what two people who label
    at random, each with their own shares, would reach.

    Examples
    --------
    >>> cohen_kappa([0, 0, 1, 1], [0, 0, 1, 0])
    0.5
    """
    n = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    of_first, of_second = Counter(first), Counter(second)
    expected = sum(of_first[c] * of_second[c] for c in of_first) / n**2
    return _beyond(observed, expected)


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float | None:
    """Return the agreement of several people (Fleiss 1971).

    Parameters
    ----------
    counts : sequence of sequences of int
        For each item how many people chose each class. Items that fewer than two
        people labelled do not count; the number of people may differ.
    """
    judged = [row for row in counts if sum(row) > 1]
    if not judged:
        return None
    total = sum(map(sum, judged))
    expected = sum((sum(column) / total) ** 2 for column in zip(*judged, strict=True))
    equal = [sum(c * (c - 1) for c in r) / (sum(r) * (sum(r) - 1)) for r in judged]
    return _beyond(sum(equal) / len(equal), expected)


def agreements(answers: Mapping[str, Mapping[str, int]]) -> list[Agreement]:
    """Return the agreement of every two people with an item in common.

    Parameters
    ----------
    answers : mapping
        From items to the class that each person gave.
    """
    people = sorted({who for given in answers.values() for who in given})
    found = []
    for a, b in combinations(people, 2):
        both = [(g[a], g[b]) for g in answers.values() if a in g and b in g]
        if both:
            first, second = zip(*both, strict=True)
            share = sum(x == y for x, y in both) / len(both)
            kappa = cohen_kappa(first, second)
            found.append(Agreement(a, b, len(both), share, kappa))
    return found


def _beyond(observed: float, expected: float) -> float | None:
    if expected >= 1:
        return None
    return (observed - expected) / (1 - expected)
