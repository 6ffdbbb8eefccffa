"""PyTorch, imported when it is first needed."""

import sys
from typing import Any

import numpy as np


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


def as_tensor(X: Any, device: str | None) -> Any:
    """Return X as a tensor of floats on a device; a tensor stays where it is."""
    t = torch()
    if not is_tensor(X):
        X = t.as_tensor(np.ascontiguousarray(X))
    if device is not None:
        X = X.to(device)
    if X.dtype not in (t.float32, t.float64):
        X = X.to(t.float32)
    return X.contiguous()


def generator(rng: np.random.Generator, device: Any) -> Any:
    """Return PyTorch's generator for a device, seeded by ours."""
    made = torch().Generator(device=device)
    made.manual_seed(int(rng.integers(2**62)))
    return made


def to_numpy(X: Any) -> Any:
    """Return a tensor's values in double precision, on the host."""
    return X.detach().to("cpu").double().numpy()
