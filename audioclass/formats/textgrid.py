"""TextGrid of Praat: tiers of intervals that cover the recording; gaps are intervals without text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import IO, ClassVar

from audioclass.contracts import Export
from audioclass.data import Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.reading import read_segment
from audioclass.formats.rows import Row, layers_of
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

# Praat reads texts in quotes, numbers and flags that stand by themselves; whatever else is there is for people.
TOKEN = re.compile(r'"((?:[^"]|"")*)"|(?<!\S)([-+]?\d[\d.]*(?:[eE][-+]?\d+)?)(?!\S)|(?<!\S)(<exists>|<absent>)(?!\S)')
Interval = tuple[float, float, str]


@component
class TextGrid:
    """A tier of intervals for each recording, called by its file where there are several; overlaps take more tiers.

    A segment without duration is left out: Praat has no such interval.
    """

    name: ClassVar[str] = "textgrid"
    suffix: ClassVar[str] = ".TextGrid"
    carries_probabilities: ClassVar[bool] = False

    tier: str = parameter("", help="name of the tier to read; empty: all of them")

    def write(self, result: Result, stream: IO[str]) -> None:
        """The long text form, which every version of Praat reads."""
        tiers = layers_of(result, self.tier or "labels")
        end = max((_time(row.end) for _, _, rows in tiers for row in rows), default=0.0)
        stream.write('File type = "ooTextFile"\nObject class = "TextGrid"\n\n')
        stream.write(f"xmin = 0\nxmax = {end}\ntiers? <exists>\nsize = {len(tiers)}\nitem []:\n")
        for number, (name, _, rows) in enumerate(tiers, start=1):
            stream.write(f"    item [{number}]:\n" + _tier(name, list(_covering(rows, end)), end))

    def read(self, stream: IO[str]) -> Sequence[Segment]:
        """Intervals that have a text, in order of time, from the long or the short form; points are passed over."""
        tokens = _Tokens(stream.read())
        found = [segment for name, segments in _tiers(tokens) for segment in segments if self.tier in ("", name)]
        return sorted(found, key=lambda segment: (segment.start, segment.end))


def _time(seconds: float) -> float:
    return round(seconds, 6)


def _covering(rows: Sequence[Row], end: float) -> Iterator[Interval]:
    """Intervals from 0 to the end without a gap."""
    at = 0.0
    for row in rows:
        start, stop = _time(row.start), _time(row.end)
        if stop <= start:
            continue
        if start > at:
            yield at, start, ""
        yield start, stop, row.label
        at = stop
    if at < end:
        yield at, end, ""


def _tier(name: str, intervals: Sequence[Interval], end: float) -> str:
    head = (
        f'        class = "IntervalTier"\n        name = "{_quoted(name)}"\n'
        f"        xmin = 0\n        xmax = {end}\n        intervals: size = {len(intervals)}\n"
    )
    return head + "".join(
        f"        intervals [{number}]:\n            xmin = {start}\n            xmax = {stop}\n"
        f'            text = "{_quoted(text)}"\n'
        for number, (start, stop, text) in enumerate(intervals, start=1)
    )


def _quoted(text: str) -> str:
    return text.replace('"', '""')


class _Tokens:
    """The texts, numbers and flags of a Praat file, one after the other."""

    def __init__(self, text: str) -> None:
        self._text, self._matches = text, TOKEN.finditer(text)
        self._at = 0

    def next(self, group: int, what: str) -> str:
        match = next(self._matches, None)
        if match is None:
            raise CorpusError(f"{self.where}: the file ends where {what} should be")
        self._at = match.start()
        if match[group] is None:
            raise CorpusError(f"{self.where}: {match[0][:40]!r} where {what} should be")
        return match[group]

    def text(self, what: str) -> str:
        return self.next(1, what).replace('""', '"')

    def number(self, what: str) -> str:
        return self.next(2, what)

    def count(self, what: str) -> int:
        number = self.number(what)
        if not number.isdecimal():
            raise CorpusError(f"{self.where}: {number[:40]!r} must be {what}")
        return int(number)

    @property
    def where(self) -> str:
        return f"line {self._text.count(chr(10), 0, self._at) + 1}"


def _tiers(tokens: _Tokens) -> Iterator[tuple[str, list[Segment]]]:
    if (tokens.text("the file type"), tokens.text("the object class")) != ("ooTextFile", "TextGrid"):
        raise CorpusError("line 1: not a TextGrid")
    tokens.number("a time"), tokens.number("a time")
    if tokens.next(3, "<exists>") == "<absent>":
        return
    for _ in range(tokens.count("the number of tiers")):
        kind, name = tokens.text("the class of a tier"), tokens.text("the name of a tier")
        tokens.number("a time"), tokens.number("a time")
        n = tokens.count("the number of intervals")
        read_one = _interval if kind == "IntervalTier" else _point
        yield name, [segment for _ in range(n) if (segment := read_one(tokens)) is not None]


def _interval(tokens: _Tokens) -> Segment | None:
    start, end, text = tokens.number("a time"), tokens.number("a time"), tokens.text("the text of an interval")
    return read_segment(tokens.where, start, end, text) if text else None


def _point(tokens: _Tokens) -> None:
    tokens.number("a time"), tokens.text("the mark of a point")


@hookimpl
def register_exports() -> list[type[Export]]:
    """Praat's TextGrid."""
    return [TextGrid]
