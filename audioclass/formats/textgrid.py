"""TextGrid of Praat: tiers of intervals that cover the recording, gaps without text, and tiers of points in time.

Praat reads texts in quotes, numbers and flags that stand by themselves, in a fixed order; whatever else stands in the
file is for people, and is all that tells the long form from the short one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import IO, ClassVar

from audioclass.contracts import LabelFormat
from audioclass.data import Annotations, Result, Segment
from audioclass.errors import CorpusError
from audioclass.formats.rows import ResultRow, tiers_of
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.text_files import shown, span_of

TOKEN = re.compile(
    r'"(?P<text>(?:[^"]++|"")*+)"|(?P<open>")'
    r"|(?<!\S)(?P<number>[-+]?(?:\d[\d.,]*(?:[eE][-+]?\d+)?|nan|inf(?:inity)?))(?!\S)"
    r"|(?<!\S)(?P<flag><exists>|<absent>)(?!\S)",
    re.IGNORECASE,
)
INTERVALS, POINTS = "IntervalTier", "TextTier"
DIGITS = 6


@component
class TextGrid:
    """A tier of intervals for each recording, called by its file where there are several; overlaps take more tiers.

    Labels that may hold at once have a tier each, called by the label.
    Segments without duration are points, on tiers of their own. A segment without label is not written: to Praat it is
    a gap.
    """

    name: ClassVar[str] = "textgrid"
    suffix: ClassVar[str] = ".TextGrid"
    carries_probabilities: ClassVar[bool] = False

    tier: str = parameter("", help="name of the tier; empty: all of them are read, `labels` is written")

    def write(self, result: Result, stream: IO[str]) -> None:
        """The long text form, which every version of Praat reads."""
        tiers = tiers_of(result, self.tier or "labels", DIGITS)
        end = max((_time(row.end) for tier in tiers for row in tier.rows), default=0.0)
        stream.write('File type = "ooTextFile"\nObject class = "TextGrid"\n\n')
        stream.write(f"xmin = 0\nxmax = {end}\ntiers? <exists>\nsize = {len(tiers)}\nitem []:\n")
        for number, tier in enumerate(tiers, start=1):
            labelled = [row for row in tier.rows if row.label]
            kind, what = (POINTS, "points") if tier.is_of_points else (INTERVALS, "intervals")
            items = list(map(_point_lines, labelled) if tier.is_of_points else _covering(labelled, end))
            stream.write(
                f'    item [{number}]:\n        class = "{kind}"\n        name = "{_quoted(tier.name)}"\n'
                f"        xmin = 0\n        xmax = {end}\n        {what}: size = {len(items)}\n"
            )
            stream.writelines(f"        {what} [{n}]:\n{item}" for n, item in enumerate(items, start=1))

    def read(self, stream: IO[str]) -> Annotations:
        """Intervals and points that have a text, from the long or the short form."""
        tokens = _Tokens(stream.read())
        tiers = list(_read_tiers(tokens))
        names = [name for name, _ in tiers]
        if self.tier and tiers and self.tier not in names:
            raise CorpusError(f"no tier {self.tier!r}; found: {shown(', '.join(names), 200)}")
        chosen = [segment for name, segments in tiers for segment in segments if self.tier in ("", name)]
        others = [f"tier {shown(name)}: only {self.tier!r} is read" for name in names if self.tier not in ("", name)]
        return Annotations({"": chosen}, tuple(others))


# --- writing


def _time(seconds: float) -> float:
    return round(seconds, DIGITS)


def _covering(rows: Sequence[ResultRow], end: float) -> Iterator[str]:
    """Intervals from 0 to the end without a gap."""
    at = 0.0
    for row in rows:
        start, stop = _time(row.start), _time(row.end)
        if start > at:
            yield _interval_lines(at, start, "")
        yield _interval_lines(start, stop, row.label)
        at = stop
    if at < end:
        yield _interval_lines(at, end, "")


def _interval_lines(start: float, end: float, text: str) -> str:
    return f'            xmin = {start}\n            xmax = {end}\n            text = "{_quoted(text)}"\n'


def _point_lines(row: ResultRow) -> str:
    return f'            number = {_time(row.start)}\n            mark = "{_quoted(row.label)}"\n'


def _quoted(text: str) -> str:
    return text.replace('"', '""')


# --- reading


def _read_tiers(tokens: _Tokens) -> Iterator[tuple[str, list[Segment]]]:
    """Name and segments of each tier."""
    if (tokens.text("the file type"), tokens.text("the object class")) != ("ooTextFile", "TextGrid"):
        raise CorpusError(f"{tokens.where}: not a TextGrid")
    tokens.number("a time"), tokens.number("a time")
    if tokens.take("flag", "<exists>").lower() == "<absent>":
        return
    for _ in range(tokens.count("the number of tiers")):
        kind, name = tokens.text("the class of a tier"), tokens.text("the name of a tier")
        tokens.number("a time"), tokens.number("a time")
        n_items = tokens.count("the number of intervals or points")
        yield name, [item for _ in range(n_items) if (item := _read_item(tokens, kind)).label]


def _read_item(tokens: _Tokens, kind: str) -> Segment:
    """An interval, or a point as a segment without duration."""
    start = tokens.number("a time")
    end = tokens.number("a time") if kind == INTERVALS else start
    text = tokens.text("the text of an interval or point")
    return Segment(*span_of(tokens.where, start, end), text)


class _Tokens:
    """The texts, numbers and flags of a file, one after the other; `where` is the line of the last."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    @property
    def where(self) -> str:
        return f"line {self._line}"

    def take(self, kind: str, what: str) -> str:
        match = TOKEN.search(self._text, self._at)
        if match is None:
            raise CorpusError(f"{self.where}: the file ends where {what} should be")
        self._line += self._text.count("\n", self._at, match.start())
        self._at = match.end()
        if match["open"]:
            raise CorpusError(f"{self.where}: a text that begins here has no end")
        token: str | None = match[kind]
        if token is None:
            raise CorpusError(f"{self.where}: {shown(match[0])} where {what} should be")
        self._line += token.count("\n")
        return token

    def text(self, what: str) -> str:
        return self.take("text", what).replace('""', '"')

    def number(self, what: str) -> str:
        return self.take("number", what)

    def count(self, what: str) -> int:
        number = self.number(what)
        if not number.isdecimal() or len(number) > 9:
            raise CorpusError(f"{self.where}: {shown(number)} must be {what}")
        return int(number)


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """Praat's TextGrid."""
    return [TextGrid]
