"""Stretches of a recording, cut out of it sample by sample as they are stored."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path

import numpy as np
import soundfile

from audioclass.audio.decode import open_audio
from audioclass.errors import AudioFileError
from audioclass.outputs import atomic_write

SEEKABLE = frozenset({"WAV", "WAVEX", "RF64", "W64", "AIFF", "AU", "CAF", "FLAC"})  # every sample at its place
FLAC_SUBTYPES = {"PCM_S8": "PCM_16", "PCM_U8": "PCM_16", "PCM_16": "PCM_16", "PCM_24": "PCM_24"}
WAV_SUBTYPES = {"PCM_32": "PCM_32", "DOUBLE": "DOUBLE"}  # others fit into single precision
MOST_FLAC_CHANNELS = 8


def cut_stretch(recording: Path, start: float, end: float, place: Path) -> Path:
    """Write a stretch, in seconds, to a new FLAC file; to a WAV file where FLAC cannot hold its samples.

    `place` is the path without its suffix; what comes back has it. A file that is there is never overwritten.
    """
    samples, sample_rate, subtype = read_stretch(recording, start, end)
    fits = samples.size and np.abs(samples).max() <= 1 and samples.shape[1] <= MOST_FLAC_CHANNELS
    kind = FLAC_SUBTYPES.get(subtype) if fits else None
    target = place.with_name(place.name + (".flac" if kind else ".wav"))
    if target.exists():
        raise AudioFileError(f"{target}: is there already")
    form, stored = ("FLAC", kind) if kind else ("WAV", WAV_SUBTYPES.get(subtype, "FLOAT"))
    encoded = io.BytesIO()  # libsndfile does not tell of a disk that is full
    soundfile.write(encoded, samples, sample_rate, format=form, subtype=stored)
    atomic_write(target, encoded.getvalue())
    return target


def read_stretch(recording: Path, start: float, end: float) -> tuple[np.ndarray, int, str]:
    """(n, channels) samples from `start` to `end` in seconds, their rate, and how libsndfile says they are stored."""
    with suppress(soundfile.LibsndfileError), soundfile.SoundFile(recording) as file:
        if file.format in SEEKABLE:
            first = min(round(start * file.samplerate), file.frames)
            file.seek(first)
            n = max(round(end * file.samplerate) - first, 0)
            precision = "float64" if file.subtype in WAV_SUBTYPES else "float32"
            return file.read(n, dtype=precision, always_2d=True), file.samplerate, file.subtype
    return _read_through(recording, start, end)


def _read_through(recording: Path, start: float, end: float) -> tuple[np.ndarray, int, str]:
    """The same where a format cannot be sought in to the sample: it is decoded from its start."""
    with open_audio(recording, strict=False) as audio:
        first, last = round(start * audio.sample_rate), round(end * audio.sample_rate)
        parts, position = [np.empty((0, audio.channels), np.float32)], 0
        for block in audio.blocks():
            parts.append(block[max(first - position, 0) : max(last - position, 0)])
            position += len(block)
            if position >= last:
                break
        return np.concatenate(parts), audio.sample_rate, "PCM_16"
