"""Must-link and cannot-link pairs: evidence about two points at a time."""

from mercer.pairs._contradictions import Contradiction, ContradictionWarning, describe
from mercer.pairs._pairs import Pairs
from mercer.pairs._read import as_pairs

__all__ = ["Contradiction", "ContradictionWarning", "Pairs", "as_pairs", "describe"]
