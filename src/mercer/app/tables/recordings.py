"""Recordings: read from a file, and summed up by how loud their pitches are."""

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mercer._base.extras import require
from mercer._base.typing import FloatArray
from mercer.app.tables.budget import Budget
from mercer.app.tables.byte_forms import said_of
from mercer.app.tables.table import refusing

SOUNDS = {".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aiff", ".aif", ".au"}
_LONGEST = 600.0  # seconds that are read of a recording
# Bands of equal width in mel, the scale on which people tell pitches apart.
_BANDS, _HIGHEST = 24, 8000.0
_WINDOW = 0.032  # seconds
_QUIET = 1e-10  # of full power; digital silence would be minus infinity


class Recording(NamedTuple):
    """A recording, its channels averaged."""

    wave: FloatArray  # (n,), between -1 and 1
    rate: int  # samples in a second


def read_recording(source: Path | bytes, budget: Budget | None = None) -> Recording:
    """Read a file, or its bytes; of very long ones the first ten minutes.

    The budget is asked before the samples are read.
    """
    library = require("soundfile", extra="sound", purpose="Reading recordings")
    name = said_of(source) if isinstance(source, bytes) else str(source)
    what = f"{name} cannot be read as a recording"
    with refusing(what, OSError, RuntimeError, ValueError):
        opened = io.BytesIO(source) if isinstance(source, bytes) else str(source)
        with library.SoundFile(opened) as file:
            most = min(file.frames, int(_LONGEST * file.samplerate))
            if budget is not None:
                # All channels, their mean, and a spectrogram of that.
                budget.check(4.0 * most * (file.channels + 4))
            channels = file.read(most, dtype="float32", always_2d=True)
            rate = int(file.samplerate)
        wave = channels.mean(axis=1)
        if not len(wave) or not np.isfinite(wave).all():
            why = "it holds numbers that are not finite" if len(wave) else "it is empty"
            raise ValueError(why)
    return Recording(wave, rate)


def loudness(recording: Recording) -> FloatArray:
    """Return mean and spread over time of the power in bands of pitch, (48,).

    What recordings are compared by where no model embeds them: in decibels, so that a
    far microphone adds a constant.

    Examples
    --------
    >>> wave = np.sin(2 * np.pi * 440 * np.arange(8000) / 8000)
    >>> int(loudness(Recording(wave, 8000))[:24].argmax())  # 440 Hz
    4
    """
    from scipy.signal import spectrogram

    wave, rate = recording
    n = max(int(_WINDOW * rate), 16)
    wave = np.pad(wave, (0, max(n - len(wave), 0)))
    pitches, _, power = spectrogram(wave, rate, nperseg=n, scaling="spectrum")
    mel = 2595 * np.log10(1 + np.array([*pitches, _HIGHEST]) / 700)
    band = np.minimum(mel[:-1] / mel[-1] * _BANDS, _BANDS).astype(int)
    sums = np.zeros((_BANDS + 1, power.shape[1]))
    np.add.at(sums, band, power)  # the last one is above all bands
    decibels = 10 * np.log10(np.maximum(sums[:_BANDS], _QUIET))
    return np.concatenate([decibels.mean(axis=1), decibels.std(axis=1)])
