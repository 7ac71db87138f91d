"""Any recording becomes float32 samples, a bounded number at a time; what cannot is one line with its name.

| what comes | what happens |
| --- | --- |
| WAV, FLAC, Ogg, Opus, MP3, AIFF, AU, CAF, W64, RF64 and what else libsndfile knows | decoded by it |
| m4a, aac, video | decoded by ffmpeg, or by PyAV where ffmpeg is not installed; else the line names the fix |
| WAV, RF64, W64 or AU on a pipe | decoded while it comes, with the bits of the file |
| MP3 that states no length, in a file, in a WAV or on a pipe | decoded while it comes: libsndfile would go by a guess |
| aac, MPEG-TS, Matroska, FLV on a pipe | decoded by ffmpeg while it comes; without ffmpeg as below |
| anything else on a pipe | kept in a temporary file first, then as any file |
| raw samples, their rate and encoding stated | decoded while they come, with the bits of a file; a header is an error |
| below 8 kHz or above 192 kHz, more than 32 channels | error |
| no samples; one sample | error; one block of one sample |
| ends before its stated length (5 ms less is accepted, 1 s for m4a and Matroska) | its samples, then error or cut |
| states less than it holds | what it states; all of a WAV beyond 4 GiB, which has no room to state it |
| states no length (Ogg, aac, MPEG-TS, MP3 without Xing header, a placeholder from a pipe) | what is there |
| rare formats of libsndfile (NIST, VOC, SVX, PAF) that were cut | what is there: it does not tell |
| damaged in the middle, or cut within a packet of aac or MPEG-TS | the samples before, then error or cut |
| NaN, infinite, or beyond ±2³², twice what 32-bit integers hold | error with the index of the sample |
| beyond ±1 | kept: float files may hold what integers would |
| missing, empty, directory, pipe or device by name, text, not permitted | error |
"""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np

from audioclass.audio.foreign import ffmpeg_sound, foreign_sound, has_ffmpeg
from audioclass.audio.raw import EXAMPLE, RawFormat, Stated, raw_sound
from audioclass.audio.sndfile import is_untagged_mpeg, libsndfile_sound, mpeg_sound
from audioclass.audio.source import Source
from audioclass.audio.streams import Sound, Unreadable, check_limits, plain_sound
from audioclass.data import Cut
from audioclass.display import printable
from audioclass.errors import AudioFileError, UsageError
from audioclass.recordings import RAW_SUFFIXES

LARGEST_SAMPLE = np.float32(2.0**32)  # its powers can be summed in single precision; one flipped bit may reach 1e38
HEAD = 4096
# aac (ADTS), MPEG-TS, Matroska and WebM, FLV: they can be decoded from any beginning on.
LIVE_FORMATS = (b"\xff\xf0", b"\xff\xf1", b"\xff\xf8", b"\xff\xf9", b"\x47", b"\x1a\x45\xdf\xa3", b"FLV")
HOW_TO_STATE = f"if these are raw samples, state their rate and encoding, {EXAMPLE}"
CONTROL = frozenset(range(32)) - frozenset(b"\t\n\f\r")


class Decoder:
    """An open recording: `blocks()` gives its samples once; `position` of `declared` samples tells how far it is.

    `declared` is None where nothing states a length. `cut` says where and why the blocks ended before the recording
    did, unless it is `strict`: then that is an error. It is a context manager; closing it early is fine.
    """

    def __init__(self, name: str, sound: Sound, stack: ExitStack, *, strict: bool = True) -> None:
        self.name = name
        self.cut: Cut | None = None
        self._strict = strict
        self.sample_rate = sound.sample_rate
        self.channels = sound.channels
        self.declared = sound.declared
        self.position = 0
        self._sound = sound
        self._stack = stack

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release files, pipes and programs."""
        self._stack.close()

    def blocks(self) -> Iterator[np.ndarray]:
        """Float32 arrays of (n, channels), n from 1 to a bound that does not depend on the recording."""
        try:
            for array in self._sound.arrays:
                self._check_values(array)
                self.position += len(array)
                yield array
        except (Unreadable, OSError) as error:
            self._end(f"damaged after {self._progress()}: {error}", error)
        else:
            self._check_length()

    def _end(self, reason: str, error: Exception | None = None) -> None:
        """No more can be read: what was read stands, if there is any."""
        if self._strict or self.position == 0:
            raise AudioFileError(f"{self.name}: {reason}") from error
        self.cut = Cut(self.position / self.sample_rate, reason)

    def _progress(self) -> str:
        held = f"{self.position / self.sample_rate:.2f} s"
        return f"{held} of the {self.declared / self.sample_rate:.2f} s it declares" if self.declared else held

    def _check_values(self, array: np.ndarray) -> None:
        if not array.size or (array.min() >= -LARGEST_SAMPLE and array.max() <= LARGEST_SAMPLE):  # which NaN is not
            return
        within = np.abs(array) <= LARGEST_SAMPLE
        row = int(np.argmin(within.all(axis=1)))
        value = array[row][~within[row]][0]
        what = "not a number" if np.isnan(value) else "not finite" if np.isinf(value) else f"{value:.3g}"
        bound = f", must be within ±{LARGEST_SAMPLE:.3g}" if np.isfinite(value) else ""
        raise AudioFileError(f"{self.name}: sample {self.position + row} is {what}{bound}")

    def _check_length(self) -> None:
        if self.position == 0:
            raise AudioFileError(f"{self.name}: holds no samples")
        missing = (self.declared or 0) - self.position
        if missing > self._sound.tolerance * self.sample_rate:
            self._end(f"ends after {self._progress()}")


def open_audio(source: Path | str | BinaryIO, *, strict: bool = True, raw: RawFormat | None = None) -> Decoder:
    """Open a path, `"-"` for standard input, or a binary stream; see the table above for every outcome.

    Unless it is `strict`, a recording that is damaged or ends too early gives what can be read, and then its `cut`.
    With `raw` it is samples without a header.
    """
    name = _name(source)
    try:
        with ExitStack() as stack:
            sound = _sound_of(source, stack) if raw is None else _raw_sound_of(source, raw, stack)
            check_limits(sound.sample_rate, sound.channels)
            return Decoder(name, sound, stack.pop_all(), strict=strict)
    except Stated as error:
        raise UsageError(f"{name}: {error}") from error
    except Unreadable as error:
        raise AudioFileError(f"{name}: {error}") from error
    except OSError as error:
        raise AudioFileError(f"{name}: {(error.strerror or str(error)).lower()}") from error


def _name(source: Path | str | BinaryIO) -> str:
    if not isinstance(source, Path | str):
        return "the stream"
    return "standard input" if source == "-" else printable(str(source))


def _sound_of(source: Path | str | BinaryIO, stack: ExitStack) -> Sound:
    if source == "-":
        return _stream_sound(_standard_input(), stack)
    return _file_sound(Path(source), stack) if isinstance(source, Path | str) else _stream_sound(source, stack)


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise Unreadable("is closed")
    # Unbuffered, because a thread that waits on the buffered one would keep Python from ending.
    return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)


def _raw_sound_of(source: Path | str | BinaryIO, raw: RawFormat, stack: ExitStack) -> Sound:
    if source == "-" or not isinstance(source, Path | str):
        return raw_sound(Source(_standard_input() if isinstance(source, Path | str) else source), raw)
    path = Path(source)
    status = path.stat()
    _check_is_file(status.st_mode)
    file = stack.enter_context(path.open("rb", buffering=0))
    return raw_sound(Source(file), raw, status.st_size)


def _stream_sound(stream: BinaryIO, stack: ExitStack) -> Sound:
    source = Source(stream)
    head = source.peek(HEAD)
    if sound := plain_sound(source):
        return sound
    try:
        return _other_stream_sound(source, head, stack)
    except Unreadable as error:
        if not head or _is_text(head):
            raise
        raise Unreadable(f"{error}; {HOW_TO_STATE}") from error


def _other_stream_sound(source: Source, head: bytes, stack: ExitStack) -> Sound:
    if is_untagged_mpeg(head):
        return mpeg_sound(source, stack)
    if head.startswith(LIVE_FORMATS) and not _is_text(head) and has_ffmpeg():
        return ffmpeg_sound("pipe:0", source.feed(stack), stack)
    return _file_sound(source.spool(stack), stack)


def _file_sound(path: Path, stack: ExitStack) -> Sound:
    _check_is_file(path.stat().st_mode)
    file = stack.enter_context(path.open("rb", buffering=0))
    head = file.read(HEAD)
    if not head:
        raise Unreadable("the file is empty")
    file.seek(0)
    if sound := libsndfile_sound(file, stack):
        return sound
    if _is_text(head):
        raise Unreadable("the file is text, not audio")
    if path.suffix.lower() in RAW_SUFFIXES:
        raise Unreadable(f"no header says what it holds; {HOW_TO_STATE}")
    file.seek(0)
    return foreign_sound(path, file, stack)


def _check_is_file(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise Unreadable("is a directory, must be a file")
    if stat.S_ISFIFO(mode):
        raise Unreadable("is a pipe, must be a file or '-' for standard input")
    if not stat.S_ISREG(mode):
        raise Unreadable("is a device, must be a file or '-' for standard input")


def _is_text(head: bytes) -> bool:
    return CONTROL.isdisjoint(head)
