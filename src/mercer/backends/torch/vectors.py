"""Columns as long as the data that stay on a device; rows of them come as NumPy's."""

from typing import Any

import numpy as np

from mercer._base.tensors import to_numpy, torch
from mercer._base.typing import FloatArray
from mercer.backends.torch.files import InFiles

_ROWS = 2**18  # added up at a time: in double precision all would fill the memory


def column_sums(U: Any) -> tuple[Any, Any]:
    """Return the sums of columns and of their squares, in double precision, (r,)."""
    t = torch()
    sums = t.zeros((2, U.shape[1]), dtype=t.float64, device=U.device)
    for start in range(0, len(U), _ROWS):
        part = U[start : start + _ROWS].double()
        sums[0] += part.sum(dim=0)
        sums[1] += (part * part).sum(dim=0)
    return sums[0], sums[1]


def second_moment(U: Any) -> Any:
    """Return the products of columns, summed in double precision, (r, r).

    In single precision the smallest eigenvalues would be rounding, of any sign.
    """
    t = torch()
    r = U.shape[1]
    total = t.zeros((r, r), dtype=t.float64, device=U.device)
    for start in range(0, len(U), _ROWS):
        part = U[start : start + _ROWS].double()
        total += part.T @ part
    return total


class DeviceVectors(InFiles):
    """An (n, r) tensor that gives its rows as NumPy arrays.

    Whoever looks at the rows of some labelled points gets them in double precision;
    the rest stays where it is. ``np.asarray`` copies all of it to the host.
    """

    dtype = np.dtype(np.float64)
    ndim = 2

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of columns."""
        n, r = self.tensor.shape
        return int(n), int(r)

    def __len__(self) -> int:
        return len(self.tensor)

    def __getitem__(self, rows: Any) -> FloatArray:
        if isinstance(rows, np.ndarray):
            rows = torch().as_tensor(rows, device=self.tensor.device)
        some: FloatArray = to_numpy(self.tensor[rows])
        return some

    def column_squares(self) -> FloatArray:
        """Return the sum of the squares of each column, (r,)."""
        squares: FloatArray = to_numpy(column_sums(self.tensor)[1])
        return squares

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.asarray(to_numpy(self.tensor), dtype=dtype)
