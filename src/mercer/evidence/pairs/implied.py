"""Pairs that follow from others, and pairs that cannot all be true."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from mercer._base.typing import FloatArray, IntArray, SparseArray
from mercer._base.words import counted


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


def close(
    component: IntArray, cannot_link: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return both ends and the sign of every pair that follows.

    Parameters
    ----------
    component : ndarray of shape (n_points,)
        Must-link component of each point: all pairs within are must-links.
    cannot_link : ndarray of shape (m, 2)
        Each holds between all points of two components.
    """
    order = np.argsort(component, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(component))[:-1])
    blocks = [(c, c) for c in range(len(members)) if len(members[c]) > 1]
    apart = np.unique(np.sort(component[cannot_link], axis=1), axis=0)
    blocks += [(int(a), int(b)) for a, b in apart.reshape(-1, 2)]
    first, second = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    signs = [np.empty(0)]
    for a, b in blocks:
        i, j = np.meshgrid(members[a], members[b], indexing="ij")
        keep = i < j if a == b else np.ones(i.shape, dtype=bool)
        first.append(i[keep])
        second.append(j[keep])
        signs.append(np.full(int(keep.sum()), 1.0 if a == b else -1.0))
    return np.concatenate(first), np.concatenate(second), np.concatenate(signs)
