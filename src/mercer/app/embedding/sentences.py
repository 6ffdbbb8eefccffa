"""Texts by a transformer, through sentence-transformers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.extras import require
from mercer.app.embedding.embedder import Vectors, averaged
from mercer.app.embedding.torch_device import best_device, in_pieces, without_bars


class Sentences:
    """A model of sentence-transformers in a folder.

    Texts longer than its window are split, and their pieces averaged.
    """

    def __init__(self, folder: Path) -> None:
        library = require(
            "sentence_transformers", extra="texts", purpose="This model of texts"
        )
        device = best_device()
        self.batch = 2048 if device == "cuda" else 64
        with without_bars():
            self._model = library.SentenceTransformer(
                str(folder),
                device=device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            )
        if device == "cuda":
            self._model.half()
        self._window = int(self._model.max_seq_length or 512)

    def embed(self, items: Sequence[Any]) -> Vectors:
        """Return the embeddings of texts."""
        split = [self._split(text) for text in items]
        pieces = np.array([len(parts) for parts in split])
        parts = [part for parts in split for part in parts]
        array = in_pieces(self._encode, parts, self.batch)
        return Vectors(averaged(array, pieces), pieces)

    def _encode(self, texts: list[str]) -> Any:
        return self._model.encode(
            texts, batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True
        )

    def _split(self, text: str) -> list[str]:
        """Return the pieces of a text that fit into the window."""
        room = self._window - 2  # for the marks of start and end
        if len(text) <= room:  # a token has at least one character
            return [text]
        places = self._model.tokenizer(
            text,
            add_special_tokens=False,
            return_offsets_mapping=True,
            truncation=False,
            verbose=False,
        )["offset_mapping"]
        if len(places) <= room:
            return [text]
        starts = [places[k][0] for k in range(0, len(places), room)]
        stops = [*starts[1:], len(text)]
        return [text[a:b] for a, b in zip(starts, stops, strict=True)]
