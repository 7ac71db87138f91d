"""When a recording was made: read from its metadata or its name, and placed on the clock of where it was made.

What a recorder wrote into the file is trusted before the name, which people change; of the metadata, what states its
zone before what does not: GUANO, the comment of AudioMoth, then BWF. A pattern that the user states comes before all.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

from audioclass.errors import UsageError, did_you_mean

MOST_CHUNKS = 1000  # of one file
MOST_METADATA, LONGEST_CHUNK = 1 << 20, 1 << 16  # bytes read of one file, and of one chunk
UNSET_CLOCK = datetime(1970, 1, 1)  # where the clock of a recorder stands that nobody set
HEXADECIMAL_YEARS = datetime(2010, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)
FARTHEST_ZONE, ZONE_STEP = timedelta(hours=14), timedelta(minutes=15)
LONGEST_QUOTE = 60  # characters of a user's text in a message

_TIME = re.compile(
    r"""(?=(?<!\d)
    (?P<year>(?:19|20)\d\d) (?P<between>[-_.\ ]?) (?P<month>\d\d) (?P=between) (?P<day>\d\d)
    (?P<join>T|\ at\ |[-_.$\ ]{1,3})?
    (?P<hour>\d\d) (?P<within>[-_.:h\ ]?) (?P<minute>\d\d)
    (?:(?:(?P=within)|m) (?P<second>\d\d) s? (?:[.,](?P<fraction>\d{1,9})(?=[-+Z_.\ ]|$))?)?
    (?(second)(?!\d)|(?!(?P=within)?\d))
    (?:(?P<zone>Z|[\ _]?UTC(?:[-+]\d{1,2}(?::?\d\d)?)?|[-+]\d\d(?::?\d\d)?)(?![0-9A-Z]))?
    )""",
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_SOUNDTRAP = re.compile(r"(?<!\d)\d+\.([1-6]\d{11})(?!\d)", re.ASCII)  # serial number, year without its century
_HEXADECIMAL = re.compile(r"([0-9A-F]{8})(\.\w+)?", re.ASCII)
_ISO = re.compile(
    r"(\d{4}-?\d\d-?\d\d[T ]\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?) ?(Z|UTC|[-+]\d{1,2}(?::?\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)
_OFFSET = re.compile(r"Z|(?:UTC)?(?:([-+])(\d{1,2})(?::?(\d\d))?)?", re.ASCII | re.IGNORECASE)
_GUANO = re.compile(rb"^[ \t\r\0]*Timestamp[ \t\r\0]*:([^\n]{0,64})", re.MULTILINE)
_AUDIOMOTH = re.compile(
    rb"Recorded at (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))? (\d\d/\d\d/\d{4})(?: \((UTC[^)]{0,6})\))?.{0,80}?AudioMoth",
    re.DOTALL,
)
_BWF = re.compile(rb"(\d{4})\D(\d\d)\D(\d\d)(\d\d)\D(\d\d)\D(\d\d)")  # EBU Tech 3285 allows - _ : . and a space
_DIGITS, _WORD = r"\d{1,2}", r"[^\W\d_]+\.?"
_DIRECTIVES = {
    "Y": r"\d{4}", "y": r"\d\d", "m": _DIGITS, "b": _WORD, "B": _WORD, "d": _DIGITS, "j": r"\d{1,3}", "a": _WORD,
    "A": _WORD, "H": _DIGITS, "I": _DIGITS, "p": "[AP]M", "M": _DIGITS, "S": _DIGITS, "f": r"\d{1,6}",
    "z": r"(?:Z|[-+]\d\d:?\d\d)",
}  # fmt: skip
_MOMENTS = ["Yy", "mbBj", "dj", "HI"]  # a pattern names one of each: a date alone is no time


@dataclass(frozen=True)
class RecordedAt:
    """The start of a recording: `at` in UTC, and the `offset` from it of the clock where the recording was made.

    `source` is where it was read: "name", "guano", "audiomoth", "bwf" or "table".
    """

    at: datetime
    offset: timedelta
    source: str

    @property
    def local(self) -> datetime:
        """What a clock on the wall showed; without a zone."""
        return self.at.replace(tzinfo=None) + self.offset


@dataclass(frozen=True)
class ClockRule:
    """How start times are found.

    `pattern` is a strptime pattern searched for in names, such as `%d-%m-%Y %Hh%M`: names are then read by it alone,
    and it wins over metadata. `timezone`, an IANA name or an offset such as `+01:00`, is what times are in that state
    no zone. A time that is stated in UTC tells nothing of the local clock, which is then that of `timezone` too.
    """

    pattern: str | None = None
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        _zone(self.timezone)
        if self.pattern is not None:
            _searched(self.pattern)

    def find(self, path: Path) -> RecordedAt | None:
        """The start of the recording, or None where neither its name nor its metadata tells it; files may be damaged.

        >>> rule = ClockRule(timezone="Europe/Paris")
        >>> print(rule.find(Path("SITE_20190403_191730.wav")).at)
        2019-04-03 17:17:30+00:00
        """
        for time, source in self._times(path):
            with suppress(OverflowError):  # the first and the last day of the calendar have no neighbours
                return self._placed(time, source)
        return None

    def parse(self, text: str) -> RecordedAt:
        """The time that a table states in ISO 8601, with or without a zone, a fraction of seconds and the `T`."""
        with suppress(OverflowError):
            if time := _iso_time(text.strip()):
                return self._placed(time, "table")
        quote = text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"
        raise UsageError(
            f"start time {quote!r} must be a date and a time such as 2019-04-03T19:17:30 or 2019-04-03 19:17:30+02:00"
        )

    def _times(self, path: Path) -> Iterator[tuple[datetime, str]]:
        """What may be the start, best first, with where it was read."""
        if self.pattern is not None:
            yield from ((time, "name") for time in _times_by_pattern(path.name, self.pattern))
        stated = _times_in_metadata(path)
        named = [] if self.pattern is not None else [(time, "name") for time in _times_in_name(path.name)]
        for time, source in (*stated, *named):
            if abs(time.replace(tzinfo=None) - UNSET_CLOCK) > timedelta(days=2):
                yield time, source

    def _placed(self, time: datetime, source: str) -> RecordedAt:
        """The first of two equal local times where clocks are set back; one that clocks skip lies after the gap."""
        zone = _zone(self.timezone)
        at = time.replace(tzinfo=time.tzinfo or zone).astimezone(UTC)
        clock = time if time.utcoffset() else at.astimezone(zone)
        return RecordedAt(at, clock.utcoffset() or timedelta(0), source)


@lru_cache
def _zone(name: str) -> tzinfo:
    if fixed := _fixed_zone(name):
        return fixed
    from zoneinfo import ZoneInfo, available_timezones

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # a folder of zones, such as "Europe", is an OSError
        known = available_timezones()
        if not known:
            raise UsageError(
                f"time zone {name!r}: this machine has no time zone data; install the package tzdata, "
                "or give an offset such as +01:00"
            ) from error
        raise UsageError(
            f"unknown time zone {name!r}{did_you_mean(name, known) or ';'} "
            "must be an IANA name such as Europe/Paris or an offset such as +01:00"
        ) from error


def _fixed_zone(text: str) -> timezone | None:
    """The zone of `Z`, `UTC`, `+02:00`, `+0200`, `+02` or `UTC+2`."""
    match = _OFFSET.fullmatch(text)
    if not text or match is None:
        return None
    sign, hours, minutes = match.groups(default="0")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    if int(minutes) >= 60 or offset > FARTHEST_ZONE:
        return None
    return timezone(-offset if sign == "-" else offset)


def _iso_time(text: str) -> datetime | None:
    """Without a zone where the text states none."""
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    local, zone_text = match.groups()
    zone = _fixed_zone(zone_text or "")
    if zone_text and zone is None:
        return None
    with suppress(ValueError):
        return datetime.fromisoformat(local.upper()).replace(tzinfo=zone)
    return None


@lru_cache
def _searched(pattern: str) -> re.Pattern[str]:
    """Where a strptime pattern may match; digits that run on are no match."""
    directives = re.findall("%(.?)", pattern, re.DOTALL)
    used = [letter for letter in directives if letter != "%"]
    for letter in used:
        if letter not in _DIRECTIVES:
            known = " ".join(f"%{letter}" for letter in _DIRECTIVES)
            raise UsageError(f"time pattern {pattern!r}: unknown directive '%{letter}'; known: {known} %%")
        if used.count(letter) > 1:
            raise UsageError(f"time pattern {pattern!r}: '%{letter}' must not stand twice")
    if not all(set(letters) & set(used) for letters in _MOMENTS):
        raise UsageError(
            f"time pattern {pattern!r} must hold a year, a month, a day and an hour, as '%Y%m%d_%H%M%S' does"
        )
    if ("I" in used) != ("p" in used):
        raise UsageError(f"time pattern {pattern!r}: '%I' and '%p' must stand together; '%H' is the hour of 24")
    parts = re.split("%(.)", pattern, flags=re.DOTALL)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = ["%" if letter == "%" else _DIRECTIVES[letter] for letter in parts[1::2]]
    return re.compile(rf"(?=(?:(?<!\d)|(?!\d))({''.join(parts)})(?:(?<!\d)|(?!\d)))", re.IGNORECASE)


def _times_by_pattern(name: str, pattern: str) -> Iterator[datetime]:
    for match in _searched(pattern).finditer(name):
        with suppress(ValueError):
            yield datetime.strptime(match[1], pattern)


def _times_in_name(name: str) -> Iterator[datetime]:
    """The times that recorders and people write into names, without a zone where the name states none."""
    if time := _hexadecimal_time(name):
        yield time
    for match in _SOUNDTRAP.finditer(name):
        with suppress(ValueError):
            yield datetime.strptime(match[1], "%y%m%d%H%M%S")
    for match in _TIME.finditer(name):
        is_bare = not match["between"] and not match["within"] and match["second"] is not None
        if match["join"] is None and not is_bare:
            continue
        parts = [int(match[part] or 0) for part in ("year", "month", "day", "hour", "minute", "second")]
        fraction = int((match["fraction"] or "").ljust(6, "0")[:6])
        with suppress(ValueError):
            yield datetime(*parts).replace(microsecond=fraction, tzinfo=_zone_in_name(match))  # type: ignore[arg-type]


def _hexadecimal_time(name: str) -> datetime | None:
    """What the first AudioMoths called a file: seconds since 1970, in capital digits to the base 16.

    Eight decimal digits are more often some other number, unless the name ends as the recorder wrote it.
    """
    match = _HEXADECIMAL.fullmatch(name)
    if match is None or (match[1].isdigit() and match[2] != ".WAV"):
        return None
    time = datetime.fromtimestamp(int(match[1], 16), UTC)
    earliest, latest = HEXADECIMAL_YEARS
    return time if earliest <= time < latest else None


def _zone_in_name(match: re.Match[str]) -> timezone | None:
    """The zone behind a time, unless it may be another number: a count `-0001`, the end `1000-1100`, a take `-02`."""
    text = (match["zone"] or "").strip(" _")
    is_vague = (len(text) == 3 and text.upper() != "UTC") or (text.startswith("-") and match["second"] is None)
    if text.startswith("-00") or (is_vague and match["join"] not in ("T", "t")):
        return None
    zone = _fixed_zone(text)
    return zone if zone and not zone.utcoffset(None) % ZONE_STEP else None


def _guano_time(chunk: bytes) -> datetime | None:
    """The field `Timestamp` of GUANO 1.0, which states its zone where the recorder knew it."""
    match = _GUANO.search(chunk)
    return match and _iso_time(match[1].decode("ascii", "replace").strip(" \t\r\0"))


def _audiomoth_time(chunk: bytes) -> datetime | None:
    """`Recorded at 19:17:30 03/04/2019 (UTC+2) by AudioMoth …`; the first firmware wrote UTC and did not say so."""
    match = _AUDIOMOTH.search(chunk.partition(b"ICMT")[2]) if chunk.startswith(b"INFO") else None
    if match is None:
        return None
    clock, fraction, date, zone_text = (part.decode("ascii", "replace") for part in match.groups(default=b""))
    zone = _fixed_zone(zone_text or "UTC")
    with suppress(ValueError):
        time = datetime.strptime(f"{date} {clock}.{fraction or 0}", "%d/%m/%Y %H:%M:%S.%f")
        return time.replace(tzinfo=zone) if zone else None
    return None


def _bwf_time(chunk: bytes) -> datetime | None:
    """OriginationDate and OriginationTime, which state no zone; behind a description and two names of fixed length."""
    match = _BWF.fullmatch(chunk[320:338])
    with suppress(ValueError):
        return match and datetime(*map(int, match.groups()))  # type: ignore[arg-type]
    return None


_READERS: dict[bytes, tuple[str, Callable[[bytes], datetime | None]]] = {
    b"guan": ("guano", _guano_time),
    b"list": ("audiomoth", _audiomoth_time),
    b"bext": ("bwf", _bwf_time),
}


def _times_in_metadata(path: Path) -> list[tuple[datetime, str]]:
    """What the chunks of a WAV file state, the most trusted first; nothing for any other file, or for none."""
    try:
        if not path.is_file():  # a pipe would be waited for
            return []
        with path.open("rb", buffering=0) as file:
            chunks = list(_chunks(file))
    except (OSError, ValueError):
        return []
    times = [
        (read(data), source) for wanted, (source, read) in _READERS.items() for name, data in chunks if name == wanted
    ]
    return [(time, source) for time, source in times if time]


class _Container(NamedTuple):
    """How chunks are written: where the first begins, its name and size, what the size counts, and the alignment."""

    start: int
    header: struct.Struct
    counted: int
    alignment: int


def _container(head: bytes) -> _Container | None:
    if head[:4] in (b"RIFF", b"RF64", b"BW64") and head[8:12] == b"WAVE":
        return _Container(12, struct.Struct("<4sI"), 0, 2)
    if head[:4] == b"riff" and head[24:28] == b"wave":  # of the 16 bytes of a name in W64, four are letters
        return _Container(40, struct.Struct("<4s12xQ"), 24, 8)
    return None


def _chunks(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Name, in small letters, and beginning of the chunks that may state a time; samples are stepped over."""
    container = _container(file.read(40))
    if container is None:
        return
    end, position, left = os.fstat(file.fileno()).st_size, container.start, MOST_METADATA
    long_sizes: dict[bytes, int] = {}
    for _ in range(MOST_CHUNKS):
        if position + container.header.size > end:
            return
        file.seek(position)
        name, size = container.header.unpack(file.read(container.header.size).ljust(container.header.size, b"\0"))
        size = long_sizes.get(name, size) if size == 0xFFFFFFFF else max(size - container.counted, 0)
        if name == b"ds64" or name.lower() in _READERS:
            data = file.read(min(size, LONGEST_CHUNK, left))
            left -= len(data)
            long_sizes |= _long_sizes(data) if name == b"ds64" else {}
            yield name.lower(), data
        position += container.header.size + size + -size % container.alignment


def _long_sizes(chunk: bytes) -> dict[bytes, int]:
    """The sizes that 32 bits have no room for: that of the samples, and a table of others."""
    data_size = struct.unpack("<8xQ", chunk[:16].ljust(16, b"\0"))[0]
    table = chunk[28 : 28 + (len(chunk) - 28) // 12 * 12] if len(chunk) > 28 else b""
    return {b"data": data_size, **dict(struct.iter_unpack("<4sQ", table))}
