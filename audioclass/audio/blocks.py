"""Blocks of one rate, one channel and one length, the same to the bit however the recording was cut on its way here.

Samples are regrouped twice: before the resampler, which then always gets as many at a time, and after it. Every
block has `block_length` samples but the last, and a recording that holds anything gives at least one sample: n
samples give n · out / in of them, to the nearest whole number. The resampler is soxr's (quality HQ), without delay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import soxr

from audioclass.audio.decode import Decoder, open_audio
from audioclass.audio.silence import Trimmed
from audioclass.data import Block
from audioclass.errors import AudioFileError

BLOCK_LENGTH = 65536
RESAMPLED_AT_ONCE = 0.2  # seconds: a live stream waits for no more, and larger portions are no faster
LONGEST_TRIM = 10.0  # seconds left out at the end, at most
FILTER_DELAY = 0.2  # seconds that the resampler keeps for its filter, at most, at 8 kHz and above

Channel = int | Literal["mix"]


def read_blocks(
    source: Path | str | BinaryIO,
    sample_rate: int,
    *,
    block_length: int = BLOCK_LENGTH,
    channel: Channel = "mix",
    trim: bool = False,
) -> Iterator[Block]:
    """Mono blocks of a path, `"-"` or a stream, at the sample rate wanted; see `cut_blocks`.

    For progress, open the recording and cut it: `audio.position` of `audio.declared` is then known at every block.
    """
    with open_audio(source) as audio:
        yield from cut_blocks(audio, sample_rate, block_length=block_length, channel=channel, trim=trim)


def cut_blocks(
    audio: Decoder,
    sample_rate: int,
    *,
    block_length: int = BLOCK_LENGTH,
    channel: Channel = "mix",
    trim: bool = False,
) -> Iterator[Block]:
    """Mono blocks of an open recording, each (n, 1); `channel` takes one instead of the mean.

    With `trim`, digital silence at both ends is left out, before resampling makes it something else; the first block
    then starts where the sound does, and a last one without samples starts where the recording ends.
    """
    if channel != "mix" and not 0 <= channel < audio.channels:
        raise AudioFileError(f"{audio.name}: no channel {channel}, must be from 0 to {audio.channels - 1}")
    mono = _mono(audio.blocks(), channel)
    trimmed = Trimmed(mono, round(LONGEST_TRIM * audio.sample_rate)) if trim else None
    start: int | None = None
    for samples in regroup(_at_rate(trimmed or mono, audio.sample_rate, sample_rate), block_length):
        if start is None:
            start = round(trimmed.leading * sample_rate / audio.sample_rate) if trimmed else 0
        yield Block(samples[:, np.newaxis], sample_rate, start)
        start += len(samples)
    if trimmed is not None and trimmed.trailing:
        end = (start or 0) + round(trimmed.trailing * sample_rate / audio.sample_rate)
        yield Block(np.empty((0, 1), np.float32), sample_rate, end)


def longest_wait(in_rate: int, out_rate: int, *, block_length: int = BLOCK_LENGTH, trim: bool = False) -> float:
    """Seconds, at most, from the moment when a sample of a live stream comes to that when its block is given."""
    resampling = 0.0 if in_rate == out_rate else RESAMPLED_AT_ONCE + FILTER_DELAY
    return block_length / out_rate + resampling + (LONGEST_TRIM if trim else 0.0)


def resample(samples: np.ndarray, in_rate: float, out_rate: float) -> np.ndarray:
    """Mono samples at another rate, all at once."""
    return np.concatenate(list(_at_rate([samples], in_rate, out_rate)))


def _mono(arrays: Iterable[np.ndarray], channel: Channel) -> Iterator[np.ndarray]:
    return (_mean(array) if channel == "mix" else array[:, channel] for array in arrays)


def _at_rate(arrays: Iterable[np.ndarray], in_rate: float, out_rate: float) -> Iterator[np.ndarray]:
    if in_rate == out_rate:
        return iter(arrays)
    return _resample(regroup(arrays, round(RESAMPLED_AT_ONCE * in_rate)), in_rate, out_rate)


def regroup(arrays: Iterable[np.ndarray], length: int) -> Iterator[np.ndarray]:
    """The same rows in arrays of `length`, the last one shorter; empty ones are left out."""
    if length < 1:
        raise ValueError(f"length={length} must be positive")
    held: list[np.ndarray] = []
    n_held = 0
    for array in arrays:
        begin = 0
        while (end := begin + length - n_held) <= len(array):
            yield _joined([*held, array[begin:end]])
            held, n_held, begin = [], 0, end
        if begin < len(array):
            held.append(array[begin:])
            n_held += len(array) - begin
    if held:
        yield _joined(held)


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _mean(array: np.ndarray) -> np.ndarray:
    """Mean over the channels, in their order: numpy's own may add in another for other shapes."""
    if array.shape[1] == 1:
        return array[:, 0]
    scale = np.float32(1 / array.shape[1])
    mono = array[:, 0] * scale
    for channel in range(1, array.shape[1]):
        mono += array[:, channel] * scale
    return mono


def _resample(arrays: Iterable[np.ndarray], in_rate: float, out_rate: float) -> Iterator[np.ndarray]:
    stream = soxr.ResampleStream(in_rate, out_rate, 1, dtype="float32", quality="HQ")
    first, n_samples = np.empty(0, np.float32), 0
    for array in arrays:
        first = first if len(first) else array[:1]
        resampled = stream.resample_chunk(array)
        n_samples += len(resampled)
        yield resampled
    last = stream.resample_chunk(np.empty(0, np.float32), last=True)
    yield last if n_samples + len(last) else first
