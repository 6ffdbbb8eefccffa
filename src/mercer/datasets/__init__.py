"""Data sets of the papers and the generators they use; nothing is read at import."""

from mercer.datasets.dataset import Dataset, Split
from mercer.datasets.generators import (
    make_chessboard,
    make_double_spiral,
    make_g50c,
    make_two_moons,
)
from mercer.datasets.loading import load
from mercer.datasets.registry import names

__all__ = [
    "Dataset",
    "Split",
    "load",
    "make_chessboard",
    "make_double_spiral",
    "make_g50c",
    "make_two_moons",
    "names",
]
