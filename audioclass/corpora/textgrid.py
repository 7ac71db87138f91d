"""TextGrids of Praat, in the long and the short form: the intervals that have a text.

Praat reads texts in quotes, numbers and flags that stand by themselves, in a fixed order; whatever else stands in the
file is for people, and is all that tells the long form from the short one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from audioclass.corpora.marks import Marks
from audioclass.corpora.texts import read_text, shown
from audioclass.errors import CorpusError

TOKEN = re.compile(
    r'"(?P<text>(?:[^"]++|"")*+)"|(?P<open>")'
    r"|(?<!\S)(?P<number>[-+]?(?:\d[\d.]*(?:[eE][-+]?\d+)?|nan|inf(?:inity)?))(?!\S)"
    r"|(?<!\S)(?P<flag><exists>|<absent>)(?!\S)",
    re.IGNORECASE,
)


def read(path: Path, tier: str = "") -> Marks:
    """The intervals of all tiers, or of the one that is named; tiers of points are left out."""
    tokens = _Tokens(path, read_text(path))
    marks = Marks(path)
    if (tokens.text("the file type"), tokens.text("the object class")) != ("ooTextFile", "TextGrid"):
        raise CorpusError(f"{tokens.where}: not a TextGrid")
    tokens.number("a time"), tokens.number("a time")
    if tokens.take("flag", "<exists>").lower() == "<absent>":
        return marks
    names = [_add_tier(tokens, marks, tier) for _ in range(tokens.count("the number of tiers"))]
    if tier and tier not in names:
        raise CorpusError(f"{path}: no tier of intervals {tier!r}; found: {shown(', '.join(filter(None, names)), 200)}")
    return marks


def _add_tier(tokens: _Tokens, marks: Marks, wanted: str) -> str:
    """Read one tier and return its name, empty where it is one of points."""
    kind, name = tokens.text("the class of a tier"), tokens.text("the name of a tier")
    tokens.number("a time"), tokens.number("a time")
    read_one: Callable[[_Tokens, Marks, bool], None] = _point
    is_wanted = wanted in ("", name)
    if kind == "IntervalTier":
        read_one = _interval
        if not is_wanted:
            marks.left_out.append(f"tier {shown(name)}: only {wanted!r} is read")
    else:
        marks.left_out.append(f"tier {shown(name)}: points in time")
    for _ in range(tokens.count("the number of intervals or points")):
        read_one(tokens, marks, is_wanted)
    return name if kind == "IntervalTier" else ""


def _interval(tokens: _Tokens, marks: Marks, is_wanted: bool) -> None:
    start, end, text = tokens.number("a time"), tokens.number("a time"), tokens.text("the text of an interval")
    if is_wanted and text.strip():
        marks.add(tokens.line, start, end, text)


def _point(tokens: _Tokens, marks: Marks, is_wanted: bool) -> None:
    tokens.number("a time"), tokens.text("the mark of a point")


class _Tokens:
    """The texts, numbers and flags of a file, one after the other; `line` is that of the last."""

    def __init__(self, path: Path, text: str) -> None:
        self.line = 1
        self._path, self._text, self._at = path, text, 0

    @property
    def where(self) -> str:
        return f"{self._path}, line {self.line}"

    def take(self, kind: str, what: str) -> str:
        found = TOKEN.search(self._text, self._at)
        if found is None:
            raise CorpusError(f"{self.where}: the file ends where {what} should be")
        self.line += self._text.count("\n", self._at, found.start())
        self._at = found.end()
        if found["open"]:
            raise CorpusError(f"{self.where}: a text that begins here has no end")
        if found[kind] is None:
            raise CorpusError(f"{self.where}: {shown(found[0])} where {what} should be")
        token = found[kind]
        self.line += token.count("\n")
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
