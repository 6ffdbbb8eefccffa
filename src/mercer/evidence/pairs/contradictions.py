"""Pairs that cannot all be true."""

from dataclasses import dataclass

from scipy.sparse.csgraph import breadth_first_order

from mercer._base.typing import IntArray, SparseArray
from mercer._base.words import counted

__all__ = ["Contradiction", "ContradictionWarning", "describe", "find_contradictions"]


class ContradictionWarning(UserWarning):
    """Some pairs cannot all be true."""


@dataclass(frozen=True)
class Contradiction:
    """A cannot-link pair whose ends are joined by must-links.

    Attributes
    ----------
    pair : tuple of int
        The cannot-link pair (i, j).
    chain : tuple of tuple of int
        Must-links that lead from i to j, in walking order; a shortest such chain.
    """

    pair: tuple[int, int]
    chain: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        steps = " -> ".join(str(i) for i in (self.pair[0], *(j for _, j in self.chain)))
        return f"cannot-link {self.pair} against the must-links {steps}"


def find_contradictions(
    must_graph: SparseArray, component: IntArray, cannot_link: IntArray
) -> tuple[Contradiction, ...]:
    """Find the cannot-links inside a must-link component, with a shortest chain."""
    found = []
    for i, j in cannot_link.tolist():
        if component[i] == component[j]:
            before = breadth_first_order(must_graph, i, directed=False)[1]
            chain, here = [], j
            while here != i:
                chain.append((int(before[here]), here))
                here = int(before[here])
            found.append(Contradiction((i, j), tuple(chain[::-1])))
    return tuple(found)


def describe(wrong: tuple[Contradiction, ...]) -> str:
    """Say in one sentence what is wrong.

    Parameters
    ----------
    wrong : tuple of Contradiction
        As `Pairs.contradictions` returns them.

    Examples
    --------
    >>> from mercer import Pairs
    >>> pairs = Pairs.from_index([(0, 1), (1, 2)], [(0, 2)], n_points=3)
    >>> describe(pairs.contradictions())
    '1 contradictory pair: cannot-link (0, 2) against the must-links 0 -> 1 -> 2.'
    """
    shown = "; ".join(str(each) for each in wrong[:3])
    more = f" (and {len(wrong) - 3} more)" if len(wrong) > 3 else ""
    return f"{counted(len(wrong), 'contradictory pair')}: {shown}{more}."
