"""Drawing pairs of points at random."""

import numpy as np

from mercer._base.typing import IntArray


def draw_by_components(
    codes: IntArray, goal: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw pairs until those of equal code join the points into `goal` components."""
    parent = list(range(len(codes)))
    drawn: dict[tuple[int, int], None] = {}
    left = len(codes)
    while left > goal:
        for a, b in rng.integers(len(codes), size=(4 * len(codes), 2)).tolist():
            if left == goal:
                break
            if a == b:
                continue
            drawn[min(a, b), max(a, b)] = None
            if codes[a] == codes[b]:
                root_a, root_b = _root(parent, a), _root(parent, b)
                parent[root_a] = root_b
                left -= root_a != root_b
    ends = np.array(list(drawn), dtype=np.intp).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def unrank(rank: IntArray) -> tuple[IntArray, IntArray]:
    """Turn positions in the list (0,1), (0,2), (1,2), (0,3), ... into pairs."""
    second = ((1 + np.sqrt(1 + 8 * rank.astype(np.float64))) / 2).astype(np.intp)
    second -= second * (second - 1) // 2 > rank
    second += second * (second + 1) // 2 <= rank
    return rank - second * (second - 1) // 2, second


def _root(parent: list[int], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
