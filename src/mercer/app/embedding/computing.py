"""Embeddings of many items: each computed once, kept as soon as it is there."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mercer._base.progress import Progress, quiet
from mercer.app.embedding.cache import Cache
from mercer.app.embedding.embedder import Embedder, Vectors

# A job that will take longer than this is announced, with how long.
_LONG = 60.0


class UnreadableError(ValueError):
    """An item that cannot be read; the message says why."""


class Computed(NamedTuple):
    """Embeddings of items; those without have zeros, and 0 pieces."""

    vectors: Vectors
    n_new: int  # how many were computed, and not found in the cache
    broken: dict[int, str]  # position to reason, of items that cannot be read


@dataclass(frozen=True)
class Items:
    """What embeddings are wanted of."""

    keys: Sequence[bytes | None]  # hashes of the contents; None where there is nothing
    # from a position to what the model takes. May raise `UnreadableError`.
    read: Callable[[int], Any]
    sizes: Sequence[int]  # items of similar size share a batch
    # items that are known to be unreadable, and why
    broken: dict[int, str] = field(default_factory=dict)

    @property
    def first(self) -> dict[bytes, int]:
        """The first position of each content; equal ones are computed once."""
        found: dict[bytes, int] = {}
        for k, key in enumerate(self.keys):
            if key is not None:
                found.setdefault(key, k)
        return found


def key_of(content: str | bytes) -> bytes:
    """Return the hash by which a text, or the bytes of an image, is known.

    Examples
    --------
    >>> key_of("a") == key_of(b"a"), len(key_of("a"))
    (False, 16)
    """
    if isinstance(content, str):
        content = b"t" + content.encode("utf-8", "surrogatepass")
    else:
        content = b"b" + content
    return hashlib.blake2b(content, digest_size=16).digest()


def texts(cells: Sequence[str]) -> Items:
    """Return texts as items; those of white space alone are left out."""
    keys = [key_of(cell) if cell.strip() else None for cell in cells]
    return Items(keys, lambda k: cells[k], [len(cell) for cell in cells])


def vectors_of(
    load: Callable[[], Embedder],
    revision: str,
    items: Items,
    *,
    cache: Cache,
    progress: Progress = quiet,
) -> Computed:
    """Return the embeddings of texts or images, from the cache where it has them.

    Equal items are computed once. `load` returns the model, and is called only if
    something has to be computed; `revision` tells models apart.
    """
    first = items.first
    found = cache.find(revision, list(first))
    new = sorted(set(first) - set(found), key=lambda key: items.sizes[first[key]])
    broken: dict[bytes, str] = {}
    if new:
        missing = {key: first[key] for key in new}
        broken = _compute(load(), revision, missing, items, cache, found, progress)
        cache.trim()
    if cache.trouble:
        progress.note(cache.trouble)
    reasons = items.broken | {
        k: broken[key]
        for k, key in enumerate(items.keys)
        if key is not None and key in broken
    }
    return Computed(_in_order(items.keys, found), len(new) - len(broken), reasons)


def _in_order(
    keys: Sequence[bytes | None], found: dict[bytes, tuple[bytes, int]]
) -> Vectors:
    width = len(next(iter(found.values()))[0]) if found else 0
    nothing = bytes(width), 0
    kept = [nothing if key is None else found.get(key, nothing) for key in keys]
    half = np.frombuffer(b"".join(vector for vector, _ in kept), dtype=np.float16)
    array = half.reshape(len(keys), -1) if width else np.zeros((len(keys), 0))
    pieces = np.array([n for _, n in kept], dtype=np.intp)
    return Vectors(array.astype(np.float32), pieces)


def _compute(
    embedder: Embedder,
    revision: str,
    missing: dict[bytes, int],
    items: Items,
    cache: Cache,
    found: dict[bytes, tuple[bytes, int]],
    progress: Progress,
) -> dict[bytes, str]:
    """Compute what is missing, in order, and keep every batch at once.

    Returns the items that cannot be read, and why.
    """
    start, is_announced = time.monotonic(), False
    broken: dict[bytes, str] = {}
    costs = np.cumsum([items.sizes[k] + 1 for k in missing.values()])
    todo = list(missing.items())
    for at in range(0, len(todo), embedder.batch):
        keys, some = [], []
        for key, k in todo[at : at + embedder.batch]:
            try:
                some.append(items.read(k))
                keys.append(key)
            except UnreadableError as error:
                broken[key] = str(error)
        if some:
            made = embedder.embed(some)
            cache.keep(revision, keys, made)
            half = made.array.astype(np.float16)
            for key, vector, n in zip(keys, half, made.pieces, strict=True):
                found[key] = vector.tobytes(), int(n)
        share = float(costs[min(at + embedder.batch, len(todo)) - 1] / costs[-1])
        progress.advance(share)
        left = (time.monotonic() - start) * (1 - share) / share
        if left > _LONG and not is_announced:
            is_announced = True
            progress.note(
                f"{len(todo):,} embeddings, about {left / 60:.0f} min. Ctrl-C keeps "
                "those that are done."
            )
    return broken
