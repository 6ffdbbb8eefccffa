"""PyTorch, imported when it is first needed; what arrays and tensors do alike."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def checked_tensor(X: Any, estimator: Any, *, reset: bool) -> Any:
    """Return a tensor, whose shape is checked; None for anything else."""
    if not is_tensor(X):
        return None
    known = None if reset else getattr(estimator, "n_features_in_", None)
    if X.ndim != 2 or known not in (None, X.shape[1]):
        wanted = "two axes" if known is None else f"{known} columns"
        msg = f"X has the shape {tuple(X.shape)}; give a tensor with {wanted}."
        raise ValueError(msg)
    if reset and estimator is not None:
        estimator.n_features_in_ = int(X.shape[1])
    return X


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


def on_host(X: Any) -> Any:
    """Return a tensor's values as an array; anything else as it is.

    Numbers of 16 bits become numbers of 32 bits.
    """
    if not is_tensor(X):
        return X
    X = X.detach().to("cpu")
    is_short = X.is_floating_point() and X.element_size() < 4
    return (X.float() if is_short else X).numpy()


def sides(like: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return what puts small arrays where another is, and what takes them back.

    Floats are put as numbers of its kind.
    """
    if not is_tensor(like):
        return np.asarray, np.asarray

    def put(values: NDArray[Any]) -> Any:
        dtype = like.dtype if values.dtype.kind == "f" else None
        values = np.array(values, order="C")  # PyTorch takes no negative strides
        return torch().as_tensor(values, dtype=dtype, device=like.device)

    return put, to_numpy


def in_double(X: Any) -> Any:
    """Return an array or a tensor in double precision."""
    return X.double() if is_tensor(X) else np.asarray(X, dtype=np.float64)


def column_range(X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the least and the largest entry of each column, (d,), as arrays."""
    if is_tensor(X):
        return to_numpy(X.amin(0)), to_numpy(X.amax(0))
    return X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)


def column_deviations(X: Any) -> NDArray[Any]:
    """Return the standard deviation of each column in double precision, (d,)."""
    if is_tensor(X):
        deviations: NDArray[Any] = to_numpy(X.double().std(dim=0, correction=0))
        return deviations
    return np.asarray(X.std(axis=0, dtype=np.float64))


def joined(parts: Sequence[Any], axis: int = 0) -> Any:
    """Return arrays, or tensors, one after the other."""
    if not is_tensor(parts[0]):
        return np.concatenate(parts, axis=axis)
    first = parts[0]
    rest = (as_tensor(part, str(first.device)).to(first.dtype) for part in parts[1:])
    return torch().cat([first, *rest], axis)


def column_signs(vectors: Any) -> Any:
    """Return the signs that make the entry of largest modulus positive, (r,).

    Entries within a part in 1e6 of the largest count as equal and the first
    decides, so that rounding does not flip a symmetric vector.
    """
    if is_tensor(vectors):
        size = vectors.abs()
        first = (size >= (1 - 1e-6) * size.max(dim=0).values).int().argmax(dim=0)
        return 1 - 2 * (vectors.gather(0, first[None])[0] < 0).to(vectors.dtype)
    size = np.abs(vectors)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0, initial=0.0), axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
