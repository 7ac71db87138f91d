"""Label files of HTK and HTS: start and end in units of 100 nanoseconds, then the label; many in a master label file.

A name in quotes, and a backslash with the character or the three octal digits of the byte that it stands for, are read
and written as The HTK Book (section 4.6) describes them; text is UTF-8.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import IO, ClassVar

from audioclass import component, hookimpl
from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.rows import Track, tracks_of
from audioclass.text_files import numbered_lines, shown, span_of

UNITS = 10**7  # in a second
MASTER = "#!MLF!#"
END = "."
TIMED = re.compile(r"""\s*(?P<start>\d+)\s+(?P<end>\d+)\s+(?P<name>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\S+)""")
NAME = re.compile(r"""(?P<quote>["'])(?P<text>.*)(?P=quote)\s*""")
PLAIN = re.compile(r"""[^\s"'\d\\./#][^\s\\]*""")
ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)


@component
class Hts:
    """Start, end and label of each segment, times in units of 100 ns; several recordings in one master file."""

    name: ClassVar[str] = "hts"
    suffix: ClassVar[str] = ".lab"
    suffixes: ClassVar[tuple[str, ...]] = (".lab", ".mlf")
    carries_probabilities: ClassVar[bool] = False
    names_recordings: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[str]) -> None:
        """One line a segment, in order of time; of several recordings under the name of each, `"*/talk.lab"`."""
        tracks = tracks_of(result)
        if len(tracks) == 1:
            _write_track(tracks[0], stream)
        elif tracks:
            stream.write(f"{MASTER}\n")
            for track in tracks:
                stream.write(f"{_quoted(f'*/{PurePath(track.file).stem}.lab')}\n")
                _write_track(track, stream)
                stream.write(f"{END}\n")

    def recognises(self, first_line: str) -> bool:
        """By whole numbers before a name, or by the head of a master file."""
        return first_line.strip() == MASTER or TIMED.match(first_line) is not None

    def read(self, stream: IO[str]) -> Annotations:
        """The segments of a label file, or those of each that a master file holds."""
        recordings: dict[str, list[Segment]] = {}
        recording = ""
        for where, line in numbered_lines(stream):
            text = line.strip()
            if text in ("", END, MASTER):
                continue
            if name := NAME.fullmatch(text):
                recording = PurePath(_restored(name["text"])).stem
            else:
                recordings.setdefault(recording, []).append(_segment(where, line))
        return Annotations(recordings)


def _write_track(track: Track, stream: IO[str]) -> None:
    for row in track.rows:
        label = row.label if PLAIN.fullmatch(row.label) and row.label.isprintable() else _quoted(row.label)
        stream.write(f"{round(row.start * UNITS)} {round(row.end * UNITS)} {label}\n")


def _segment(where: str, line: str) -> Segment:
    fields = TIMED.match(line)
    if fields is None:
        raise CorpusError(f"{where}: {shown(line)} must be start and end in whole units of 100 ns, and a label")
    start, end = span_of(where, fields["start"], fields["end"])
    name = fields["name"]
    return Segment(start / UNITS, end / UNITS, _restored(name[1:-1] if name[0] in "\"'" else name))


def _quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else "".join(f"\\{byte:03o}" for byte in character.encode())


def _restored(text: str) -> str:
    """A name as it was before it was escaped; bytes that are no UTF-8 become question marks."""
    as_bytes = ESCAPED.sub(lambda match: _byte(match[1]), text.encode(errors="replace"))
    return as_bytes.decode(errors="replace")


def _byte(escaped: bytes) -> bytes:
    return bytes([int(escaped, 8) % 256]) if len(escaped) == 3 else escaped


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """The label files of HTK and HTS."""
    return [Hts]
