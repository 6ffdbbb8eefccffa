"""Recordings by a model of sound, through transformers: AST, CLAP, Wav2Vec2."""

from collections.abc import Sequence
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.typing import FloatArray
from mercer.app.embedding.embedder import Vectors, averaged
from mercer.app.embedding.torch_device import opened_model, outputs
from mercer.app.tables.recordings import Recording
from mercer.app.tables.table import TableError

# What models of sound were trained on, in seconds; longer recordings are split.
_WINDOW = 10
# A last piece shorter than this says little; a whole recording is filled up to it.
_LEAST = 1


class Sounds:
    """A model of sound of transformers in a folder.

    Pieces are computed one at a time, since a vector must not depend on how long the
    others in its batch are.
    """

    batch = 16

    def __init__(self, folder: Path) -> None:
        self._prepare, self._model = opened_model(
            folder, "AutoFeatureExtractor", extra="sound", what="sound"
        )
        self._rate = int(getattr(self._prepare, "sampling_rate", 0))
        if not self._rate or self._model.config.is_encoder_decoder:
            msg = (
                f"{folder} holds no model that embeds sound; choose one such as AST, "
                "CLAP or Wav2Vec2."
            )
            raise TableError(msg)

    def embed(self, items: Sequence[Any]) -> Vectors:
        """Return the embeddings of recordings."""
        split = [pieces_of(recording, self._rate) for recording in items]
        pieces = np.array([len(parts) for parts in split])
        array = np.stack([self._encode(part) for parts in split for part in parts])
        return Vectors(averaged(array, pieces), pieces)

    def _encode(self, wave: FloatArray) -> FloatArray:
        given = self._prepare(wave, sampling_rate=self._rate, return_tensors="pt")
        found, pooled = outputs(self._model, given, "get_audio_features")
        if pooled is None:
            pooled = found.mean(1)
        return np.asarray(pooled.float().cpu().numpy()[0])


def pieces_of(recording: Recording, rate: int) -> list[FloatArray]:
    """Return a recording at another rate, in pieces that fit into the window.

    Examples
    --------
    >>> wave = np.zeros(25 * 8000)
    >>> [len(p) / 16000 for p in pieces_of(Recording(wave, 8000), 16000)]
    [10.0, 10.0, 5.0]
    """
    from scipy.signal import resample_poly

    common = gcd(rate, recording.rate)
    wave = recording.wave
    if rate != recording.rate:
        wave = resample_poly(wave, rate // common, recording.rate // common)
    wave = np.asarray(wave, dtype=np.float32)
    wave = np.pad(wave, (0, max(_LEAST * rate - len(wave), 0)))
    starts = range(0, len(wave), _WINDOW * rate)
    parts = [wave[start : start + _WINDOW * rate] for start in starts]
    return [part for part in parts if len(part) >= _LEAST * rate]
