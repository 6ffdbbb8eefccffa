"""Must-link and cannot-link pairs: evidence about two points at a time."""

from mercer.evidence.pairs.constraints import Pairs
from mercer.evidence.pairs.implied import (
    Contradiction,
    ContradictionWarning,
    describe,
)
from mercer.evidence.pairs.read import as_pairs

__all__ = ["Contradiction", "ContradictionWarning", "Pairs", "as_pairs", "describe"]
