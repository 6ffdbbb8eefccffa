"""Where PyTorch computes, and in batches that fit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mercer._base.typing import FloatArray


def best_device() -> str:
    """Return "cuda" where a GPU can be used, else "cpu"."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@contextmanager
def without_bars() -> Iterator[None]:
    """Keep transformers from drawing bars of its own while weights are read."""
    from transformers.utils import logging

    bars: Any = logging  # its functions have no types
    were_drawn = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if were_drawn:
            bars.enable_progress_bar()


def in_pieces(
    encode: Callable[[list[Any]], Any], items: Sequence[Any], n: int
) -> FloatArray:
    """Return what a function makes of many items, in batches that fit into memory.

    A batch that is too large for the memory of a GPU is halved, down to one item.

    Parameters
    ----------
    encode : callable
        From a list of items to an array with one row for each.
    items : sequence
        At least one.
    n : int
        Items in a batch.
    """
    import torch

    parts, start = [], 0
    while start < len(items):
        try:
            parts.append(np.asarray(encode(list(items[start : start + n]))))
        except torch.cuda.OutOfMemoryError:
            if n == 1:
                raise
            n = max(n // 2, 1)
            torch.cuda.empty_cache()
            continue
        start += n
    return np.concatenate(parts).astype(np.float32)
