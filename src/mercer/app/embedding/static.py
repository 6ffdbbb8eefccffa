"""Texts as the mean of the vectors of their words: needs neither PyTorch nor a GPU.

Reads the weights that wordllama carries, models of model2vec, and static models of
sentence-transformers.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.extras import require
from mercer.app.embedding.embedder import Vectors, unit
from mercer.app.tables.table import TableError

# A text is read up to this many characters; the mean hardly moves after them.
MOST_CHARACTERS = 100_000


class StaticWords:
    """A table of vectors, one for each piece of a word."""

    batch = 2048

    def __init__(self, folder: Path) -> None:
        for package in ("tokenizers", "safetensors"):
            require(package, extra="embed", purpose="Embeddings of texts")
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        words, weights = _files(folder)
        self._words = Tokenizer.from_file(str(words))
        self._words.no_padding()
        self._words.no_truncation()
        arrays = load_file(weights)
        names = ("embeddings", "embedding.weight")
        table = next((arrays[name] for name in names if name in arrays), None)
        if table is None or table.ndim != 2:
            msg = f"{weights} holds no table of vectors of words."
            raise TableError(msg)
        self._table = np.asarray(table, dtype=np.float32)
        self._place = arrays.get("mapping")
        self._weight = arrays.get("weights")
        self._unknown = _unknown(self._words) if "embeddings" in arrays else None

    def embed(self, items: Sequence[Any]) -> Vectors:
        """Return the embeddings of texts; a text without words has zeros."""
        found = self._words.encode_batch_fast(
            [text[:MOST_CHARACTERS] for text in items], add_special_tokens=False
        )
        array = np.zeros((len(items), self._table.shape[1]), dtype=np.float32)
        for row, encoding in enumerate(found):
            ids = np.asarray(encoding.ids, dtype=np.intp)
            ids = ids[ids != self._unknown] if self._unknown is not None else ids
            if not len(ids):
                continue
            places = ids if self._place is None else self._place[ids]
            words = self._table[np.minimum(places, len(self._table) - 1)]
            if self._weight is not None:
                words = words * self._weight[ids, None].astype(np.float32)
            array[row] = words.mean(axis=0)
        return Vectors(unit(array), np.ones(len(items), dtype=np.intp))


def _files(folder: Path) -> tuple[Path, Path]:
    """Return the files of vocabulary and weights."""
    if (folder / "weights" / "l2_supercat_256.safetensors").exists():
        return (
            folder / "tokenizers" / "l2_supercat_tokenizer_config.json",
            folder / "weights" / "l2_supercat_256.safetensors",
        )
    for place in (folder, *sorted(folder.glob("*/"))):
        files = place / "tokenizer.json", place / "model.safetensors"
        if all(file.exists() for file in files):
            return files
    msg = f"{folder} lacks tokenizer.json or model.safetensors."
    raise TableError(msg)


def _unknown(words: Any) -> int | None:
    """Return the number of the piece that stands for unknown ones, if there is one."""
    settings = json.loads(words.to_str())["model"]
    token = settings.get("unk_token")
    found: int | None = words.token_to_id(token) if token else settings.get("unk_id")
    return found
