"""What every model that turns texts, images or recordings into vectors can do."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from mercer._base.typing import FloatArray, IntArray

Kind = Literal["text", "image", "sound"]
_EMBEDDED = " (embedded)"


class Vectors(NamedTuple):
    """Embeddings of some items."""

    array: FloatArray  # (n, d), rows of length 1
    pieces: IntArray  # (n,) how many pieces a long text was split into


class Embedder(Protocol):
    """A model that is loaded."""

    batch: int  # items that one call should get

    def embed(self, items: Sequence[Any]) -> Vectors:
        """Return the embeddings of texts, images of Pillow, or recordings."""


def embedded_name(column: str) -> str:
    """Return what the vectors of a column are called.

    Examples
    --------
    >>> embedded_name("text")
    'text (embedded)'
    """
    return f"{column}{_EMBEDDED}"


def embedded_column(name: str) -> str | None:
    """Return the column that vectors were made of, by their name; None: of no other.

    Examples
    --------
    >>> embedded_column("text (embedded)"), embedded_column("text")
    ('text', None)
    """
    return name.removesuffix(_EMBEDDED) if name.endswith(_EMBEDDED) else None


def unit(array: Any) -> FloatArray:
    """Return rows scaled to length 1; rows of zeros stay.

    Examples
    --------
    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    array = np.asarray(array, dtype=np.float32)
    length = np.linalg.norm(array, axis=1, keepdims=True)
    return np.asarray(array / np.where(length > 0, length, 1.0))


def averaged(parts: FloatArray, pieces: IntArray) -> FloatArray:
    """Return the mean direction of the pieces of each text.

    Parts are the pieces of the first text, then those of the second; every text has at
    least one.
    """
    starts = np.concatenate([[0], np.cumsum(pieces)[:-1]])
    return unit(np.add.reduceat(unit(parts), starts, axis=0))
