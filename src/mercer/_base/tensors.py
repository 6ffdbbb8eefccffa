"""PyTorch, imported when it is first needed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mercer._base.words import in_bytes


def torch() -> Any:
    """Return the module, or say which extra installs it."""
    try:
        import torch
    except ImportError as error:
        msg = 'Computing on a device needs torch: pip install "mercer[gpu]"'
        raise ImportError(msg) from error
    return torch


def is_tensor(X: Any) -> bool:
    """Tell whether X is a PyTorch tensor, without importing PyTorch."""
    module = sys.modules.get("torch")
    return module is not None and isinstance(X, module.Tensor)


def is_for_torch(X: Any, device: str | None = None) -> bool:
    """Tell whether PyTorch computes with X: it is a tensor, or a device is named."""
    return device is not None or is_tensor(X)


def as_tensor(X: Any, device: str | None) -> Any:
    """Return X as a tensor of floats on a device; a tensor stays where it is.

    Whole numbers and those of 16 bits become numbers of 32 bits.
    """
    t = torch()
    if not is_tensor(X):
        X = t.as_tensor(np.ascontiguousarray(X))
    if X.layout != t.strided:
        msg = "X is a sparse tensor: give X.to_dense(), or SciPy's sparse array."
        raise TypeError(msg)
    if X.is_complex():
        msg = "X is complex: give real numbers, such as X.real and X.imag as columns."
        raise ValueError(msg)
    X = X.detach()
    if device is not None:
        X = X.to(device)
    if X.dtype not in (t.float32, t.float64):
        X = X.to(t.float32)
    return X.contiguous()


@contextmanager
def told_memory(X: Any) -> Iterator[None]:
    """Say what did not fit into the memory of a device, and the way out.

    Parameters
    ----------
    X : tensor of shape (n, d)
    """
    t = torch()
    try:
        yield
    except t.cuda.OutOfMemoryError as error:
        n, d = X.shape
        size = in_bytes(X.element_size() * X.nelement())
        msg = f"{n:,} points of {d} columns ({size}) and what is computed of them do "
        msg += f"not fit into the memory of {X.device}"
        if X.device.type == "cuda":
            free, whole = t.cuda.mem_get_info(X.device)
            msg += f": {in_bytes(free)} of {in_bytes(whole)} are free"
        msg += (
            ". Give the points as an array: anchor graphs take less. Or fit fewer rows "
            "and add the others with add_rows, or predict them some at a time."
        )
        raise MemoryError(msg) from error


def generator(rng: np.random.Generator, device: Any) -> Any:
    """Return PyTorch's generator for a device, seeded by ours."""
    made = torch().Generator(device=device)
    made.manual_seed(int(rng.integers(2**62)))
    return made


def to_numpy(X: Any) -> Any:
    """Return a tensor's values in double precision, on the host."""
    return X.detach().to("cpu").double().numpy()
