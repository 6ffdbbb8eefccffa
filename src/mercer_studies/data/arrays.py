"""The arrays a data set is stored as, their digest, and the `Dataset` they make.

Every set is a flat table of plain arrays: ``X``, or ``data, indices, indptr, shape``
of a CSR matrix; ``y`` and ``classes``; ``labK`` and ``unlK``, one published split with
K labels per row; ``train_idx`` and ``test_idx``. A set with several views prefixes the
CSR names with the view.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from mercer._base.typing import FloatArray, SparseArray
from mercer_studies.data.dataset import Split

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
_BLOCK = 2**20  # numbers hashed at a time: a float64 copy of mnist would be 440 MB


def digest(arrays: Arrays) -> str:
    """Return a SHA-256 of names, shapes and values, whatever the storage type.

    Numbers are hashed as little-endian float64 and text as UTF-8, so the digest does
    not depend on how a file was compressed or which integer type it used.

    Examples
    --------
    >>> small = digest({"y": np.array([0, 1], dtype=np.int8)})
    >>> small == digest({"y": np.array([0.0, 1.0])})
    True
    """
    sha = hashlib.sha256()
    for name in sorted(arrays):
        values = np.asarray(arrays[name])
        sha.update(f"{name}{values.shape}".encode())
        if values.dtype.kind == "S":
            values = np.char.decode(values, "utf-8")
        if values.dtype.kind == "U":
            sha.update("\0".join(values.ravel().tolist()).encode())
        else:
            for start in range(0, values.size, _BLOCK):
                block = values.reshape(-1)[start : start + _BLOCK]
                sha.update(block.astype("<f8").data)
    return sha.hexdigest()


def as_matrix(
    arrays: Arrays, *, dtype: DTypeLike, prefix: str = ""
) -> FloatArray | SparseArray:
    """Return X as an ndarray or csr_array."""
    if f"{prefix}X" in arrays:
        return arrays[f"{prefix}X"].astype(dtype)
    data, indices, indptr, shape = (
        arrays[f"{prefix}{part}"] for part in ("data", "indices", "indptr", "shape")
    )
    return csr_array((data.astype(dtype), indices, indptr), shape=tuple(shape))


def published_splits(arrays: Arrays) -> dict[int, tuple[Split, ...]]:
    """Return the splits by number of labels."""
    sizes = sorted(
        int(m[1]) for name in arrays if (m := re.fullmatch(r"lab(\d+)", name))
    )
    return {
        size: tuple(
            Split(labeled, unlabeled)
            for labeled, unlabeled in zip(
                arrays[f"lab{size}"].astype(np.intp),
                arrays[f"unl{size}"].astype(np.intp),
                strict=True,
            )
        )
        for size in sizes
    }
