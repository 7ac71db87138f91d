r"""Foreign texts as they can be shown: names of files, labels and words of plugins never act on a terminal.

Characters that a terminal obeys, or that begin a new line, are shown as `\x1b`, `\n` and their like, and so are the
bytes of a file's name that are no UTF-8, `\xe9`: everywhere in the same spelling.
"""

from __future__ import annotations

import re

SURROGATES = "\ud800-\udfff"  # how Python holds the bytes of a name that are no text
# Control characters, line and paragraph separators, and those that turn the direction of what follows.
OBEYED = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
UNSHOWN = re.compile(f"[{OBEYED}{SURROGATES}\t\n]")
UNSHOWN_IN_LINES = re.compile(f"[{OBEYED}{SURROGATES}]")
NO_TEXT = re.compile(f"[{SURROGATES}]")
OBEYED_IN_JSON = re.compile(f"[{OBEYED}]")
SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def printable(text: str) -> str:
    r"""A text on one line that a terminal shows as it is.

    >>> printable("a\nb: \x1b]0;owned\x07.wav")
    'a\\nb: \\x1b]0;owned\\x07.wav'
    """
    return UNSHOWN.sub(_escaped, text)


def printable_lines(text: str) -> str:
    """The same for a text that is written in lines and columns: line ends and tabs stay."""
    return UNSHOWN_IN_LINES.sub(_escaped, text)


def encodable(text: str) -> str:
    r"""Text that UTF-8 can hold: bytes of a file's name that are no text are shown, as `\xe9`; all else stays."""
    return NO_TEXT.sub(_escaped, text)


def printable_json(text: str) -> str:
    r"""JSON that a terminal shows as it is; the same values are in it, but for bytes that are no text: `\xe9`."""
    shown = NO_TEXT.sub(lambda match: "\\" + _escaped(match), text)
    return OBEYED_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", shown)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    number = ord(character)
    return SHORT.get(character) or (f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}")
