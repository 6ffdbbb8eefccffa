"""What `load` returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer._base.typing import FloatArray, IntArray, SparseArray
from mercer.evidence.reading import UNLABELED


class Split(NamedTuple):
    """Rows whose labels are given, and the rows to predict."""

    labeled: IntArray
    unlabeled: IntArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points, classes and published splits of one data set."""

    name: str
    X: FloatArray | SparseArray  # (n, d) ndarray or csr_array
    y: IntArray  # (n,) position in `classes`
    classes: NDArray[Any]  # (n_classes,) label of the source
    description: str
    splits: Mapping[int, tuple[Split, ...]] = field(default_factory=dict)
    train: IntArray | None = None  # rows of the published training part
    test: IntArray | None = None

    def reveal(self, rows: IntArray) -> IntArray:
        """Return `y` with only these rows known and -1 elsewhere.

        Examples
        --------
        >>> from mercer_studies.data import load
        >>> load("iris").reveal([0, 149])[[0, 1, 149]]
        array([ 0, -1,  2])
        """
        known = np.full(len(self.y), UNLABELED, dtype=np.intp)
        known[rows] = self.y[rows]
        return known

    def __repr__(self) -> str:
        """Sizes and splits, not the numbers."""
        kind = "dense" if isinstance(self.X, np.ndarray) else "sparse"
        splits = {size: len(group) for size, group in self.splits.items()}
        return (
            f"Dataset({self.name!r}, {self.X.shape[0]} x {self.X.shape[1]} {kind}, "
            f"{len(self.classes)} classes, splits={splits})"
        )
