"""Samples without a header: their rate, encoding and channels are stated by whoever knows them.

Encodings have the names of ffmpeg, and give the bits that libsndfile gives for the same samples behind a header.
"""

from __future__ import annotations

from dataclasses import dataclass

from audioclass.audio.source import Source
from audioclass.audio.streams import Sound, Unreadable, check_limits, decoded_arrays, sample_width
from audioclass.errors import UsageError, unknown_name

ENCODINGS = {
    "u8": "u1",
    **{f"s{bits}{order}": f"{sign}i{bits // 8}" for bits in (16, 24, 32) for order, sign in (("le", "<"), ("be", ">"))},
    **{f"f{bits}{order}": f"{sign}f{bits // 8}" for bits in (32, 64) for order, sign in (("le", "<"), ("be", ">"))},
    "mulaw": "mulaw1",
    "alaw": "alaw1",
}
# How recordings begin that state their format themselves: bytes, and where they stand.
HEADERS = {
    "WAV": (b"WAVE", 8),
    "AIFF": (b"AIF", 8),
    "AU": (b".snd", 0),
    "W64": (b"riff\x2e\x91\xcf\x11", 0),
    "FLAC": (b"fLaC", 0),
    "Ogg": (b"OggS", 0),
    "CAF": (b"caff", 0),
}
EXAMPLE = "such as --rate 16000 --encoding s16le"


class Stated(Unreadable):
    """What is said to be raw samples says itself what it is."""


@dataclass(frozen=True)
class RawFormat:
    """What a header would state: the sample rate, one of `ENCODINGS`, and how many channels are interleaved."""

    sample_rate: int
    encoding: str
    channels: int = 1

    def __post_init__(self) -> None:
        if self.encoding not in ENCODINGS:
            raise unknown_name("encoding", self.encoding, ENCODINGS)
        try:
            check_limits(self.sample_rate, self.channels)
        except Unreadable as error:
            raise UsageError(f"raw samples: {error}") from error

    @classmethod
    def stated(cls, sample_rate: int | None, encoding: str | None, channels: int | None) -> RawFormat | None:
        """None where nothing is stated; a part of it alone says too little."""
        if sample_rate is None and encoding is None and channels is None:
            return None
        if sample_rate is None or encoding is None:
            missing = [name for name, value in (("rate", sample_rate), ("encoding", encoding)) if value is None]
            raise UsageError(f"raw samples: the {' and the '.join(missing)} must be stated too, {EXAMPLE}")
        return cls(sample_rate, encoding, 1 if channels is None else channels)


def raw_sound(source: Source, raw: RawFormat, total: int | None = None) -> Sound:
    """The sound of samples that begin with the first byte; `total` is the length of a file in bytes.

    What has a header is refused: read as samples it would begin with a click, and at a wrong rate be nonsense.
    """
    head = source.peek(12)
    for name, (mark, at) in HEADERS.items():
        if head[at:].startswith(mark):
            raise Stated(f"has the header of {name}, which states rate and encoding: leave these out")
    source.forget()
    sample_type = ENCODINGS[raw.encoding]
    declared = None if total is None else total // (raw.channels * sample_width(sample_type))
    arrays = decoded_arrays(source, raw.channels, sample_type, to_last_byte=True)
    return Sound(raw.sample_rate, raw.channels, declared, arrays)
