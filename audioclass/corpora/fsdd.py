"""The Free Spoken Digit Dataset as it is published: `recordings/{digit}_{speaker}_{index}.wav`; groups by speaker.

No folds are stated: the published split has every speaker on both sides.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import ClassVar

from audioclass.contracts import CorpusReader
from audioclass.corpora.tones import write_tone
from audioclass.data import Clip, Corpus, Ignored
from audioclass.errors import CorpusError
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.recordings import FOLDER, irregularity

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NAME = re.compile(r"(?P<digit>[0-9])_(?P<speaker>[^_.]+)_(?P<index>[0-9]+)\.(?:wav|flac)")


@component
class SpokenDigits:
    """The Free Spoken Digit Dataset: recordings/{digit}_{speaker}_{index}.wav."""

    name: ClassVar[str] = "fsdd"

    def matches(self, path: Path) -> bool:
        """By one recording with such a name."""
        return any(NAME.fullmatch(name) for name in _names(path / "recordings"))

    def read(self, path: Path) -> Corpus:
        """Entries by digit, speaker and number; other names are ignored."""
        names = _names(path / "recordings")
        if not names:
            raise CorpusError(f"{path / 'recordings'}: no folder with files in it")
        files = [path / "recordings" / name for name in sorted(names, key=_order)]
        reasons = {file: _reason(file) for file in files}
        clips = tuple(_clip(file) for file in files if not reasons[file])
        ignored = tuple(Ignored(file, reasons[file], _labels(file)) for file in files if reasons[file])
        return Corpus(clips, ignored)

    def example(self, folder: Path) -> Path:
        """Two digits of two speakers."""
        for i, name in enumerate(("0_jackson_0", "0_theo_0", "1_jackson_0", "1_theo_10", "1_theo_9")):
            write_tone(folder / "recordings" / f"{name}.wav", 200 * (i + 1))
        return folder


@hookimpl
def register_corpus_readers() -> list[type[CorpusReader]]:
    """Offer the spoken digits."""
    return [SpokenDigits]


def _names(folder: Path) -> list[str]:
    """The names in a folder but the hidden ones; none where it cannot be read."""
    if irregularity(folder) != FOLDER:
        return []
    try:
        return [entry.name for entry in os.scandir(folder) if not entry.name.startswith(".")]
    except OSError:
        return []


def _order(name: str) -> tuple[str, str, int, str]:
    match = NAME.fullmatch(name)
    return (match["digit"], match["speaker"], int(match["index"]), name) if match else ("", "", 0, name)


def _reason(file: Path) -> str:
    return irregularity(file) if NAME.fullmatch(file.name) else "not named {digit}_{speaker}_{index}.wav"


def _labels(file: Path) -> tuple[str, ...]:
    return (_clip(file).label,) if NAME.fullmatch(file.name) else ()


def _clip(file: Path) -> Clip:
    digit, speaker, _ = file.name.split("_")  # such names have been told by `_reason`
    return Clip(file, DIGITS[int(digit)], group=speaker)
