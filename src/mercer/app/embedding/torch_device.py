"""Models of PyTorch: read from a folder, where they compute, and in which batches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.extras import require
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


def opened_model(
    folder: Path, processor: str, *, extra: str, what: str
) -> tuple[Any, Any]:
    """Return what prepares the input of a model of transformers, and the model.

    On a GPU it computes in half precision. The class `processor` of transformers
    prepares the input; `extra` installs what is needed, and messages call the input
    `what`.
    """
    for package in ("torch", "transformers"):
        library = require(package, extra=extra, purpose=f"This model of {what}")
    safe = {"local_files_only": True, "trust_remote_code": False}
    prepare = getattr(library, processor).from_pretrained(str(folder), **safe)
    with without_bars():
        model = library.AutoModel.from_pretrained(
            str(folder), use_safetensors=True, **safe
        )
    device = best_device()
    model = model.eval().to(device)
    return prepare, model.half() if device == "cuda" else model


def outputs(model: Any, given: Mapping[str, Any], both: str) -> tuple[Any, Any]:
    """Return the last states of a model of transformers, and what it pooled of them.

    A model of texts and something else has a method `both` for the latter, which may
    return vectors alone: there are no states then. What a model did not pool is None.
    """
    import torch

    own = {
        name: value.to(model.device, model.dtype)
        if value.is_floating_point()
        else value.to(model.device)
        for name, value in given.items()
    }
    with torch.inference_mode():
        found = getattr(model, both, model)(**own)
    if hasattr(found, "shape"):
        return None, found
    states = getattr(found, "last_hidden_state", None)
    return states, getattr(found, "pooler_output", None)


def in_pieces(
    encode: Callable[[list[Any]], Any], items: Sequence[Any], n: int
) -> FloatArray:
    """Return what a function makes of many items, in batches that fit into memory.

    A batch that is too large for the memory of a GPU is halved, down to one item. A
    batch has n items; `encode` returns one row for each.
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
