"""What a recording holds, whatever its label: length, peak, flat tops, and a digest of its samples."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from audioclass.audio.decode import Decoder, open_audio
from audioclass.data import QUIETEST, Corpus
from audioclass.errors import AudioFileError
from audioclass.extraction.batch import CRASHED
from audioclass.recordings import regular
from audioclass.run import Executor, Progress, silent

FULL_SCALE = 0.999
SHORTEST_TOP = 3  # samples in a row at full scale, of one sign
CLIPPED_SHARE = 1e-4


@dataclass(frozen=True)
class Inspection:
    """A recording as it was found; `reason` says why it cannot be read, and then nothing else is known.

    `flat` is the share of samples that are the third or later in a row at full scale; `content` is the same for two
    recordings of the same samples, whatever their formats and names.
    """

    path: Path
    seconds: float = 0.0
    sample_rate: int = 0
    channels: int = 0
    peak: float = 0.0
    flat: float = 0.0
    content: str = ""
    reason: str = ""

    @property
    def is_silent(self) -> bool:
        """Whether there is nothing but zeros and the dither around them."""
        return bool(self.peak <= QUIETEST)

    @property
    def is_clipped(self) -> bool:
        """Whether more than a stray peak was cut off."""
        return self.flat > CLIPPED_SHARE


def recordings_of(corpus: Corpus) -> list[Path]:
    """Every recording that has a clip, once, in their order."""
    return list(dict.fromkeys(clip.file for clip in corpus.clips))


def inspect_recordings(paths: Sequence[Path], executor: Executor, progress: Progress = silent) -> Iterator[Inspection]:
    """Every recording inspected, in order of completion."""
    work = partial(inspect_recording, progress=progress if executor.shares_memory else silent)
    return executor.map_unordered(work, paths, _crashed)


def measure_recordings(paths: Sequence[Path], executor: Executor) -> Iterator[Inspection]:
    """Only how long each recording is; samples are read where nothing declares their number."""
    return executor.map_unordered(measure_recording, paths, _crashed)


def _crashed(path: Path) -> Inspection:
    return Inspection(path, reason=f"{path}: {CRASHED}")


def inspect_recording(path: Path, progress: Progress = silent) -> Inspection:
    """Decode a recording from end to end, a block at a time."""
    try:
        with open_audio(regular(path)) as audio:
            return _inspected(path, audio, progress)
    except AudioFileError as error:
        return Inspection(path, reason=str(error))


def measure_recording(path: Path) -> Inspection:
    """What the head of a recording says of it, if it says enough."""
    try:
        with open_audio(regular(path)) as audio:
            if audio.declared:
                return Inspection(path, audio.declared / audio.sample_rate, audio.sample_rate, audio.channels)
            return _inspected(path, audio, silent)
    except AudioFileError as error:
        return Inspection(path, reason=str(error))


def _inspected(path: Path, audio: Decoder, progress: Progress) -> Inspection:
    digest = hashlib.blake2b(f"{audio.sample_rate} {audio.channels} ".encode(), digest_size=16)
    declared = audio.declared / audio.sample_rate if audio.declared else None
    before = np.zeros((SHORTEST_TOP - 1, audio.channels), np.int8)
    peak, n_flat = 0.0, 0
    for samples in audio.blocks():
        digest.update(np.ascontiguousarray(samples, "<f4").data)
        peak = max(peak, float(np.abs(samples).max()))
        tops = np.concatenate([before, full_scale_signs(samples)])
        n_flat += n_flat_tops(tops)
        before = tops[1 - SHORTEST_TOP :]
        progress(path.name, audio.position / audio.sample_rate, declared)
    seconds, n_values = audio.position / audio.sample_rate, audio.position * audio.channels
    return Inspection(path, seconds, audio.sample_rate, audio.channels, peak, n_flat / n_values, digest.hexdigest())


def full_scale_signs(samples: np.ndarray) -> np.ndarray:
    """+1 or -1 where a sample is at full scale, 0 elsewhere."""
    signs: np.ndarray = (np.abs(samples) >= FULL_SCALE) * np.sign(samples).astype(np.int8)
    return signs


def n_flat_tops(signs: np.ndarray) -> int:
    """How many samples are the third or later in a row at full scale of one sign; the first two rows are context."""
    third, second, first = signs[2:], signs[1:-1], signs[:-2]
    return int(np.count_nonzero((third != 0) & (third == second) & (second == first)))
