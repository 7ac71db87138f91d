"""Texts and times as formats can hold them: one line where a format knows lines only, times to a fixed digit."""

from __future__ import annotations

import re

BREAKING = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
ESCAPED = re.compile(r"\\(?:\\|t|n|r|u[0-9a-f]{4})")
SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
LONG = {escaped: character for character, escaped in SHORT.items()}


def one_line(text: str) -> str:
    r"""Text without tabs, line ends and other control characters: these become `\t`, `\n`…, a backslash `\\`."""
    return BREAKING.sub(lambda match: SHORT.get(match[0], f"\\u{ord(match[0]):04x}"), text)


def restored(text: str) -> str:
    """What `one_line` was given; a backslash that it cannot have written stays."""
    return ESCAPED.sub(lambda match: LONG.get(match[0]) or chr(int(match[0][2:], 16)), text)


def milliseconds(seconds: float) -> int:
    """Whole milliseconds, the nearest."""
    return round(seconds * 1000)


def clock(seconds: float, decimal: str) -> str:
    """Hours, minutes, seconds and milliseconds, as subtitles write them: `01:02:03,004`."""
    rest, thousandths = divmod(milliseconds(seconds), 1000)
    return f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}{decimal}{thousandths:03d}"
