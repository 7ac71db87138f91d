"""What libsndfile reads, with the lengths that it corrects in silence and the MP3 lengths that it guesses."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import BinaryIO

import numpy as np
import soundfile

from audioclass.audio.source import Source
from audioclass.audio.streams import Sound, Unreadable, plain_sound, sample_bytes

LONGEST_BLOCK = 65536
MPEG_FRAME = 1152
MPEG_HEAD = 4096
LENGTH_TAGS = (b"Xing", b"Info", b"VBRI")
OTHER_DECODER = (1, 4)  # error codes: the format, or the encoding in it, is not known
UNKNOWN_LENGTH = 1 << 62
WIDTHS = {"PCM_U8": 1, "PCM_S8": 1, "PCM_16": 2, "PCM_24": 3, "PCM_32": 4, "FLOAT": 4, "DOUBLE": 8}  # bytes
OGG_PAGE, LONGEST_OGG_PAGE = b"OggS\0", 65307
LONGEST_TAIL = 1 << 16  # bytes of chunks that may stand behind the samples


class _Forward(soundfile.SoundFile):  # type: ignore[misc]  # soundfile states no types
    """Reads on without seeking to where it already is, which damaged files do not survive."""

    def seekable(self) -> bool:
        return False


def libsndfile_sound(file: BinaryIO, stack: ExitStack) -> Sound | None:
    """The sound of an unbuffered file at its beginning, or None if libsndfile does not know its format."""
    stated, untagged_start = sample_bytes(Source(file)), _untagged_start(file)
    is_untagged_chunk = stated is not None and _is_untagged_at(stated[0], file)
    file.seek(max(_size(file) - LONGEST_OGG_PAGE, 0))
    tail = file.read(LONGEST_OGG_PAGE)
    file.seek(0)
    try:
        sound = stack.enter_context(_Forward(file.fileno(), closefd=False))
    except soundfile.LibsndfileError as error:
        if error.code in OTHER_DECODER:
            return None
        file.seek(0)  # a chunk beyond 2 GiB before the samples, among other things, is too much for it
        if plain := plain_sound(Source(file), _size(file)) if stated else None:
            return plain
        raise _unreadable(error) from error
    if sound.format == "MP3" and untagged_start is not None:
        file.seek(untagged_start)
        return mpeg_sound(Source(file), stack)
    if sound.subtype.startswith("MPEG") and stated and is_untagged_chunk:
        return _mpeg_chunk(*stated, file, stack)
    if sound.frames == 0 or _has_more(sound, stated, file):
        # It takes the placeholder of an unfinished recording, or of one beyond 4 GiB, for its length.
        here = file.tell()
        file.seek(0)
        if plain := plain_sound(Source(file), _size(file)):
            return plain
        file.seek(here)
    if sound.frames == 0:
        return Sound(sound.samplerate, sound.channels, 0, iter(()))
    if sound.format == "OGG" and ends_within_page(tail):  # and the length was stated by the page that is lost
        return Sound(sound.samplerate, sound.channels, None, _then_fails(_read(sound), "ends within a page of Ogg"))
    return Sound(sound.samplerate, sound.channels, _declared(sound.frames, stated, file), _read(sound))


def ends_within_page(tail: bytes) -> bool:
    """Whether the last page of an Ogg file is cut, by the last bytes of the file."""
    start = tail.rfind(OGG_PAGE)
    if start < 0:  # something else stands behind the pages
        return False
    head, rest = tail[start : start + 27], tail[start + 27 :]
    return len(head) < 27 or len(rest) < head[26] + sum(rest[: head[26]])


def mpeg_sound(source: Source, stack: ExitStack) -> Sound:
    """MPEG audio that states no length; libsndfile guesses one from a file and stops there, but not from a pipe."""
    reader = source.feed(stack)
    try:
        sound = stack.enter_context(_Forward(reader, closefd=False))
    except soundfile.LibsndfileError as error:
        raise _unreadable(error) from error
    return Sound(sound.samplerate, sound.channels, None, _read_mpeg(sound, reader))


def _mpeg_chunk(offset: int, size: int | None, file: BinaryIO, stack: ExitStack) -> Sound:
    """MPEG audio in a chunk of a WAV file, of which libsndfile guesses the length too."""
    file.seek(offset)
    sound = mpeg_sound(Source(file, math.inf if size is None else size), stack)
    held = _size(file) - offset
    if not size or held >= size:
        return sound
    return replace(sound, arrays=_then_fails(sound.arrays, f"holds {held} bytes of the {size} it declares"))


def _then_fails(arrays: Iterator[np.ndarray], reason: str) -> Iterator[np.ndarray]:
    yield from arrays
    raise Unreadable(reason)


def is_untagged_mpeg(head: bytes) -> bool:
    """Whether a stream begins with a frame of MPEG layer II or III and has no tag that states its length."""
    synchronised = head[:1] == b"\xff" and head[1:2] >= b"\xe0" and (head[1] >> 1 & 3) in (1, 2)
    return synchronised and not any(tag in head for tag in LENGTH_TAGS)


def _untagged_start(file: BinaryIO) -> int | None:
    """Where the first frame of an MP3 file that states no length begins: past what an ID3 tag holds."""
    file.seek(0)
    tag = file.read(10).ljust(10, b"\0")
    size = sum((byte & 0x7F) << shift for byte, shift in zip(tag[6:], (21, 14, 7, 0), strict=True))
    start = 10 + size if tag[:3] == b"ID3" else 0
    return start if _is_untagged_at(start, file) else None


def _is_untagged_at(start: int, file: BinaryIO) -> bool:
    file.seek(start)
    return is_untagged_mpeg(file.read(MPEG_HEAD))


def _has_more(sound: soundfile.SoundFile, stated: tuple[int, int | None] | None, file: BinaryIO) -> bool:
    """Whether a file holds more samples than 32 bits can state, and libsndfile goes by what they state."""
    if stated is None or sound.subtype not in WIDTHS:
        return False
    offset, size = stated
    held = _size(file) - offset
    is_vague = size is None or held - size >= 1 << 32
    return is_vague and held - sound.frames * sound.channels * WIDTHS[sound.subtype] > LONGEST_TAIL


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def _declared(frames: int, stated: tuple[int, int | None] | None, file: BinaryIO) -> int | None:
    """What the header states, where libsndfile has put what the file holds in its place."""
    if frames >= UNKNOWN_LENGTH:
        return None
    offset, size = stated or (0, None)
    held = _size(file) - offset
    return round(frames * size / held) if size is not None and 0 < held < size else frames


def _read(sound: soundfile.SoundFile) -> Iterator[np.ndarray]:
    while True:
        array = np.full((LONGEST_BLOCK, sound.channels), np.nan, np.float32)  # what is decoded before damage is no NaN
        try:
            n_read = len(sound.read(out=array))
        except soundfile.LibsndfileError as error:
            is_read = ~np.isnan(array).any(axis=1)
            if n_read := len(array) if is_read.all() else int(np.argmin(is_read)):
                yield array[:n_read]
            raise _unreadable(error) from error
        if n_read == 0:
            return
        yield array[:n_read]


def _read_mpeg(sound: soundfile.SoundFile, reader: int) -> Iterator[np.ndarray]:
    """Frame by frame: only the last, where a broadcast was cut, is lost."""
    try:
        while len(array := sound.read(MPEG_FRAME, dtype="float32", always_2d=True)):
            yield array
    except soundfile.LibsndfileError as error:
        if os.read(reader, 1):
            raise _unreadable(error) from error


def _unreadable(error: soundfile.LibsndfileError) -> Unreadable:
    reason = error.error_string.removeprefix("Error : ").rstrip(".")
    return Unreadable(f"libsndfile says: {reason}")
