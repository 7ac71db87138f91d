"""Recordings with their labels in a file beside them: Praat, RTTM, Raven, Audacity or CSV.

A label file belongs to the recording whose name it begins with: `a.wav` has `a.TextGrid`, `a.txt` or
`a.Table.1.selections.txt`. Where the lines of a file name recordings themselves (RTTM, `Begin File` of Raven, `file` of
CSV), each goes to the one of that name in the same folder. Of a recording with labels in several formats those of the
first in the order above are taken. The group of a clip is its recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from audioclass.contracts import CorpusReader
from audioclass.corpora import audacity, csv, raven, rttm, textgrid
from audioclass.corpora.beside import NOBODY, Place, in_order, places
from audioclass.corpora.examples import write_tone
from audioclass.corpora.marks import Marks
from audioclass.data import Clip, Corpus, Ignored, Segment
from audioclass.errors import CorpusError
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.recordings import FOLDER, irregularity


@component
class LabelFiles:
    """Recordings with a label file of the same name beside each: .TextGrid, .rttm, .txt (Raven, Audacity) or .csv."""

    name: ClassVar[str] = "label_files"
    generality: ClassVar[int] = 1
    tier: str = parameter("", help="tier of a TextGrid to read; empty: all tiers of intervals")
    column: str = parameter("", help="column of a table that holds the labels; empty: the usual ones")

    def matches(self, path: Path) -> bool:
        """By one recording that has a label file."""
        if irregularity(path) != FOLDER:
            return False
        return any(place.owner(file) and self._format(file) for place in places(path) for file in place.others)

    def read(self, path: Path) -> Corpus:
        """Entries by recording and time; recordings without labels and labels without recording are ignored."""
        if irregularity(path) != FOLDER:
            raise CorpusError(f"{path}: not a folder")
        clips: list[Clip] = []
        ignored: list[Ignored] = []
        for place in places(path):
            said = self._read_place(place, ignored)
            for recording in place.recordings:
                segments = _chosen(said.get(recording, []), recording, ignored)
                group = recording.relative_to(path).as_posix()
                clips += [Clip(recording, one.label, one.start, one.end, group) for one in in_order(segments)]
        return Corpus(tuple(clips), tuple(dict.fromkeys(ignored)))

    def example(self, folder: Path) -> Path:
        """A recording for each of three formats."""
        for i, name in enumerate(("a.wav", "b.wav", "c é.wav")):
            write_tone(folder / name, 300 * (i + 1))
        (folder / "a.txt").write_text("0\t0.25\tlow\n0.25\t0.5\thigh\n", encoding="utf-8")
        (folder / "b.csv").write_text("start,end,label\n0,0.5,high\n", encoding="utf-8")
        (folder / "c é.rttm").write_text("SPEAKER c%20é 1 0 0.5 <NA> <NA> low <NA> <NA>\n", encoding="utf-8")
        return folder

    def _read_place(self, place: Place, ignored: list[Ignored]) -> dict[Path, list[_Said]]:
        """What the label files of one folder say of each recording."""
        said: dict[Path, list[_Said]] = {}
        for file, format_ in self._label_files(place, ignored):
            marks = format_.read(file, self)
            for recording, segments in place.share_out(marks).items():
                said.setdefault(recording, []).append(_Said(FORMATS.index(format_), file, segments))
            ignored += [Ignored(file, reason) for reason in marks.left_out]
        return said

    def _label_files(self, place: Place, ignored: list[Ignored]) -> Iterator[tuple[Path, _Format]]:
        for file in place.others:
            format_, owner = self._format(file), place.owner(file)
            if format_ is not None and (owner or format_.names_recordings):
                yield file, format_
            elif format_ is not None or (owner and file.suffix.lower() in SUFFIXES):
                ignored.append(Ignored(file, "not a label file" if owner else NOBODY))

    def _format(self, file: Path) -> _Format | None:
        suffix = file.suffix.lower()
        return next((one for one in FORMATS if suffix in one.suffixes and one.looks_like(file, self)), None)


@hookimpl
def register_corpus_readers() -> list[type[CorpusReader]]:
    """Offer the label files."""
    return [LabelFiles]


@dataclass(frozen=True)
class _Format:
    """How one format is known and read, as the parameters of the reader want it."""

    suffixes: tuple[str, ...]
    read: Callable[[Path, LabelFiles], Marks]
    looks_like: Callable[[Path, LabelFiles], bool] = lambda file, options: True
    names_recordings: bool = True


@dataclass(frozen=True)
class _Said:
    """What a label file says of one recording; `order` is that of its format."""

    order: int
    file: Path
    segments: list[Segment]


# Of the formats that a recording has labels in, the first is taken.
FORMATS = (
    _Format((".textgrid",), lambda file, options: textgrid.read(file, options.tier), names_recordings=False),
    _Format((".rttm",), lambda file, options: rttm.read(file)),
    _Format(
        (".txt", ".tsv"),
        lambda file, options: raven.read(file, options.column),
        lambda file, options: raven.looks_like(file),
    ),
    _Format(
        (".txt",),
        lambda file, options: audacity.read(file),
        lambda file, options: audacity.looks_like(file),
        names_recordings=False,
    ),
    _Format(
        (".csv", ".tsv"),
        lambda file, options: csv.read(file, options.column or csv.LABEL),
        lambda file, options: csv.looks_like(file, options.column or csv.LABEL),
    ),
)
SUFFIXES = frozenset(suffix for one in FORMATS for suffix in one.suffixes)


def _chosen(said: list[_Said], recording: Path, ignored: list[Ignored]) -> list[Segment]:
    """The segments of a recording; why there are none, and the files whose format gave way, go to the ignored."""
    reason = irregularity(recording) or ("" if said else "no labels beside it")
    if reason:
        ignored.append(Ignored(recording, reason))
        return []
    first = min(said, key=lambda one: one.order)
    others = [one for one in said if one.order != first.order]
    ignored += [Ignored(one.file, f"{recording.name} has its labels from {first.file.name}") for one in others]
    return [segment for one in said if one.order == first.order for segment in one.segments]
