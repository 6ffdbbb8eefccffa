"""Data sets of the papers and the generators they use; nothing is read at import."""

from mercer_studies.data.dataset import Dataset, Split
from mercer_studies.data.generators import (
    make_chessboard,
    make_double_spiral,
    make_g50c,
)
from mercer_studies.data.loading import load
from mercer_studies.data.registry import names

__all__ = [
    "Dataset",
    "Split",
    "load",
    "make_chessboard",
    "make_double_spiral",
    "make_g50c",
    "names",
]
