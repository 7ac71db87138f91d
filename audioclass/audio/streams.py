"""Plain samples (WAV, RF64, W64, AU) decoded while they come, with the bits that libsndfile gives for the same file.

A length of 0, or one near 2 or 4 GiB, is what ffmpeg, sox and arecord write into a pipe before they know it: such a
stream lasts until it ends.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from audioclass.audio.source import CHUNK, Source

LONGEST_HEAD = 1 << 20  # bytes that are kept until the format is known
WAV_FORMATS = {(1, 8): "u1", (1, 16): "<i2", (1, 24): "<i3", (1, 32): "<i4", (3, 32): "<f4", (3, 64): "<f8"}
AU_FORMATS = {2: ">i1", 3: ">i2", 4: ">i3", 5: ">i4", 6: ">f4", 7: ">f8"}
EXTENSIBLE = 0xFFFE
SUBFORMAT_TAIL = bytes.fromhex("000000001000800000aa00389b71")
SAMPLE_RATES = (8000, 192000)
MOST_CHANNELS = 32


class Unreadable(Exception):
    """Why a recording cannot be read, without its name: whoever knows the name adds it."""


@dataclass(frozen=True)
class Sound:
    """Audio about to be decoded: `arrays` gives float32 (n, channels) in turn.

    `declared` is the number of samples per channel that the header states, None where it states none; holding
    `tolerance` seconds less is no lie.
    """

    sample_rate: int
    channels: int
    declared: int | None
    arrays: Iterator[np.ndarray]
    tolerance: float = 0.005


def check_limits(sample_rate: int, channels: int) -> None:
    """Refuse what is beyond the rates and channels that are read."""
    lowest, highest = SAMPLE_RATES
    if not lowest <= sample_rate <= highest:
        raise Unreadable(f"sample rate {sample_rate} Hz, must be from {lowest} to {highest} Hz")
    if not 1 <= channels <= MOST_CHANNELS:
        raise Unreadable(f"{channels} channels, must be from 1 to {MOST_CHANNELS}")


class _Layout(NamedTuple):
    """How a container writes its chunks: bytes before the first, length of a name, type of a size, what it counts."""

    prefix: int
    name_length: int
    size_type: str
    counted: int
    alignment: int


_WAV = _Layout(prefix=12, name_length=4, size_type="<I", counted=0, alignment=2)
_AIFF = _WAV._replace(size_type=">I")
_W64 = _Layout(prefix=40, name_length=16, size_type="<Q", counted=24, alignment=8)
_W64_MAGIC = b"riff" + bytes.fromhex("2e91cf11a5d628db04c10000")
_W64_TAIL = bytes.fromhex("f3acd3118cd100c04f8edb8a")  # the rest of a name, after its four letters


def plain_sound(source: Source, total: int | None = None) -> Sound | None:
    """The sound of a stream of plain samples; None for anything else, with the source back at its beginning.

    `total` is the length of a file in bytes: what a WAV beyond 4 GiB states is its size without that many GiB.
    """
    sound = _au_sound(source) if source.peek(4) == b".snd" else _wav_sound(source, total)
    if sound is None:
        source.rewind()
    return sound


def sample_bytes(source: Source) -> tuple[int, int | None] | None:
    """Where the samples of a WAV, RF64, W64, AIFF or AU file begin, and how many bytes its header states, if any.

    The beginning is forgotten: what stands before the samples may be larger than memory.
    """
    source.forget()
    if source.peek(4) == b".snd":
        _, offset, size = struct.unpack(">4sII", source.take(12).ljust(12, b"\0"))
        return offset, _stated(size)
    for name, size in _chunks(source):
        if name in (b"data", b"SSND"):
            return source.offset, size
    return None


def _wav_sound(source: Source, total: int | None) -> Sound | None:
    form = None
    for name, size in _chunks(source):
        if name == b"fmt ":
            form = _wav_form(source.take(40 if size is None else min(size, 40)))
            if form is None:
                return None
            source.forget()
        if name in (b"data", b"SSND"):
            return form and _sound(source, *form, _unwrapped(size, source.offset, total))
        if form is None and source.offset + (size or 0) > LONGEST_HEAD:
            return None
    if form is None:
        return None
    raise Unreadable("ends before its first sample")


def _unwrapped(size: int | None, offset: int, total: int | None) -> int | None:
    """The size of the samples, where 32 bits had no room for it."""
    beyond = 0 if size is None or total is None else (total - offset - size) >> 32
    return size if size is None or beyond <= 0 else size + (beyond << 32)


def _chunks(source: Source) -> Iterator[tuple[bytes, int | None]]:
    """Name and size of each chunk, None for samples until the end; what is not taken of one is skipped."""
    layout = _layout(source.peek(40))
    if layout is None:
        return
    whole = _size(source.take(layout.prefix).ljust(layout.prefix, b"\0"), layout)
    header_size = layout.name_length + struct.calcsize(layout.size_type)
    long_size = 0
    while len(header := source.take(header_size)) == header_size:
        name = header[:4] if header[4 : layout.name_length] in (b"", _W64_TAIL) else b""
        size = _size(header, layout) - layout.counted
        end = source.offset + size + -size % layout.alignment
        stated: int | None = size
        if name == b"ds64":
            long_size = struct.unpack("<Q", source.take(16)[8:].ljust(8, b"\0"))[0]
        if name == b"data":
            size = long_size if size == 0xFFFFFFFF and long_size else size
            nothing = size == 0 and _stated(whole) and whole > source.offset  # a length that counts what follows
            stated = 0 if nothing else _stated(size)
        yield name, stated
        source.skip(end - source.offset)


def _layout(head: bytes) -> _Layout | None:
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return _WAV
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return _AIFF
    return _W64 if head[:16] == _W64_MAGIC and head[24:40] == b"wave" + _W64_TAIL else None


def _size(header: bytes, layout: _Layout) -> int:
    (size,) = struct.unpack_from(layout.size_type, header, layout.name_length)
    return int(size)


def _wav_form(chunk: bytes) -> tuple[int, int, str] | None:
    """Sample rate, channels and sample type, or None for samples that are not plain."""
    code, channels, rate, _, frame_size, bits = struct.unpack("<HHIIHH", chunk[:16].ljust(16, b"\0"))
    if code == EXTENSIBLE and chunk[26:40] == SUBFORMAT_TAIL:
        code = struct.unpack("<H", chunk[24:26])[0]
    sample_type = WAV_FORMATS.get((code, bits))
    return (rate, channels, sample_type) if sample_type and frame_size * 8 == bits * channels > 0 else None


def _au_sound(source: Source) -> Sound | None:
    header = source.take(24).ljust(24, b"\0")
    _, offset, size, code, rate, channels = struct.unpack(">4s5I", header)
    if code not in AU_FORMATS or channels == 0:
        return None
    source.forget()
    source.skip(offset - len(header))
    return _sound(source, rate, channels, AU_FORMATS[code], _stated(size))


def _stated(size: int) -> int | None:
    placeholder = size == 0 or 0x7FFF0000 <= size <= 0x80000000 or 0xFFFF0000 <= size <= 0xFFFFFFFF or size >= 1 << 62
    return None if placeholder else size


def _sound(source: Source, rate: int, channels: int, sample_type: str, size: int | None) -> Sound:
    declared = None if size is None else size // (channels * sample_width(sample_type))
    return Sound(rate, channels, declared, decoded_arrays(source, channels, sample_type, size))


def sample_width(sample_type: str) -> int:
    """Bytes of a sample: the digit that its type ends with."""
    return int(sample_type[-1])


def decoded_arrays(
    source: Source, channels: int, sample_type: str, size: int | None = None, *, to_last_byte: bool = False
) -> Iterator[np.ndarray]:
    """The samples of so many bytes, or of all that come; `to_last_byte` refuses a part of a sample at the end."""
    frame_size = channels * sample_width(sample_type)
    left, rest = math.inf if size is None else size, b""
    while left > 0 and (data := source.read_available(int(min(left, CHUNK)))):
        left -= len(data)
        rest += data
        whole = len(rest) // frame_size * frame_size
        if whole:
            yield _as_float(rest[:whole], sample_type).reshape(-1, channels)
            rest = rest[whole:]
    if rest and to_last_byte:
        raise Unreadable(f"ends with {len(rest)} of the {frame_size} bytes of a sample")
    source.skip(math.inf)  # whoever writes the pipe may finish


def _as_float(data: bytes, sample_type: str) -> np.ndarray:
    if sample_type in _COMPANDED:
        return np.asarray(_COMPANDED[sample_type][np.frombuffer(data, "u1")])
    if sample_type == "u1":
        return (np.frombuffer(data, "u1").astype(np.float32) - 128) / 128
    if sample_type[1:] == "i3":
        data, sample_type = _widened(data, sample_type[0]), sample_type[0] + "i4"
    samples = np.frombuffer(data, sample_type)
    with np.errstate(over="ignore"):  # a double beyond float32 becomes infinite, and is reported as such
        floats = samples.astype(np.float32, copy=False)
    return floats if samples.dtype.kind == "f" else floats / np.float32(1 << (8 * samples.itemsize - 1))


def _mulaw_table() -> np.ndarray:
    """The sample of each byte of μ-law (G.711): a sign, the place of the leading bit, and four bits after it."""
    code = 255 - np.arange(256)
    magnitude = (((code & 15) << 3) + 132 << (code >> 4 & 7)) - 132
    return (np.where(code & 128, -magnitude, magnitude) / 32768).astype(np.float32)


def _alaw_table() -> np.ndarray:
    """The same of A-law, whose even bits are inverted and whose smallest samples have no leading bit."""
    code = np.arange(256) ^ 0x55
    place, mantissa = code >> 4 & 7, (code & 15) << 4
    magnitude = np.where(place == 0, mantissa + 8, mantissa + 264 << np.maximum(place - 1, 0))
    return (np.where(code & 128, magnitude, -magnitude) / 32768).astype(np.float32)


_COMPANDED = {"mulaw1": _mulaw_table(), "alaw1": _alaw_table()}


def _widened(data: bytes, order: str) -> bytes:
    """Samples of 24 bits as those of 32, with an empty last byte."""
    wide = np.zeros((len(data) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
    if order == ">":
        wide = np.roll(wide, -1, axis=1)
    return wide.tobytes()
