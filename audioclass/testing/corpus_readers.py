"""The contract of a corpus reader: a path in, labelled clips out."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from audioclass.contracts import UsesFormats
from audioclass.data import Corpus
from audioclass.errors import CorpusError
from audioclass.formats.audacity import Audacity
from audioclass.formats.csv import Csv
from audioclass.formats.rttm import Rttm
from audioclass.parameters import make
from audioclass.testing.checks import COMMON, Check, CheckFailed, require


def _ready(reader: Any) -> Any:
    """The reader; one of label files with the formats that stand for those on offer."""
    if not isinstance(reader, UsesFormats):
        return reader
    ready = reader.with_formats([make(cls, {}) for cls in (Audacity, Csv, Rttm)])
    require(isinstance(ready, type(reader)), f"with_formats returned {type(ready).__name__}")
    return ready


def _read_example(reader: Any, folder: str) -> tuple[Path, Corpus]:
    path = reader.example(Path(folder))
    return path, reader.read(path)


def knows_its_own_layout(reader: Any) -> None:
    """It matches the example it writes, and neither an empty folder nor a path that does not exist."""
    reader = _ready(reader)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as empty:
        require(reader.matches(reader.example(Path(folder))), "its own example does not match")
        require(not reader.matches(Path(empty)), "an empty folder matches")
        require(not reader.matches(Path(empty) / "nothing"), "a path that does not exist matches")


def reads_its_own_layout(reader: Any) -> None:
    """Its example has at least two labels, and every clip names a file that exists."""
    reader = _ready(reader)
    with tempfile.TemporaryDirectory() as folder:
        _, corpus = _read_example(reader, folder)
        require(isinstance(corpus, Corpus), f"returned {type(corpus).__name__}, not a Corpus")
        require(len(corpus.labels) >= 2, f"labels {corpus.labels}")
        for clip in corpus.clips:
            require(clip.file.is_file(), f"{clip.file} does not exist")
            require(clip.label and clip.label == clip.label.strip(), f"label {clip.label!r}")


def order_is_fixed(reader: Any) -> None:
    """Reading twice gives the same clips in the same order."""
    reader = _ready(reader)
    with tempfile.TemporaryDirectory() as folder:
        path, corpus = _read_example(reader, folder)
        require(reader.read(path) == corpus, "differs the second time")


def wrong_paths_are_refused(reader: Any) -> None:
    """A path that does not exist is a CorpusError that names it."""
    reader = _ready(reader)
    with tempfile.TemporaryDirectory() as folder:
        try:
            reader.read(Path(folder) / "nothing")
        except CorpusError as error:
            require("nothing" in str(error), f"{error} does not name the path")
        else:
            raise CheckFailed("a path that does not exist was read")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    knows_its_own_layout,
    reads_its_own_layout,
    order_is_fixed,
    wrong_paths_are_refused,
)
