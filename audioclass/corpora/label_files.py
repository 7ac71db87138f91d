"""Recordings with their labels in a file beside them, in any format that reads.

A label file belongs to the recording whose name it begins with: `a.wav` has `a.TextGrid`, `a.txt` or
`a.Table.1.selections.txt`. Where a file names recordings itself (RTTM, `Begin File` of Raven, `file` of CSV), its
labels go to those of that name in the same folder. Of a recording with labels in several formats those of the most
specific one are taken: a format that is known by its suffix alone before one that shares it, then the longer suffix,
then the name.

Points in time and segments without label are no examples: they are left out, with the reason. Labels are compared as
everywhere: composed letters, no space around them. The group of a clip is its recording.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar

from audioclass.contracts import (
    CorpusReader,
    LabelFormat,
    NamesRecordings,
    ReadsLabels,
    RecognisesFiles,
    WritesBytes,
)
from audioclass.corpora.beside import NO_RECORDING, Place, in_order, places
from audioclass.corpora.tones import write_tone
from audioclass.data import Annotations, Clip, Corpus, Ignored, Segment
from audioclass.errors import CorpusError, PluginError
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.recordings import FOLDER, irregularity
from audioclass.text_files import first_line, label_of, located, open_text


class _ReadingFormat(LabelFormat, ReadsLabels, Protocol):
    """A format that reads."""


F = TypeVar("F", bound=_ReadingFormat)


@component
class LabelFiles:
    """Recordings with a label file of the same name beside each: .TextGrid, .rttm, .txt (Raven, Audacity), .csv, …"""

    name: ClassVar[str] = "label_files"
    generality: ClassVar[int] = 1
    tier: str = parameter("", help="tier of a TextGrid or of an ELAN document to read; empty: all tiers")
    column: str = parameter("", help="column of a table that holds the labels; empty: the usual ones")
    formats: tuple[_ReadingFormat, ...] = field(default=(), init=False)

    def with_formats(self, formats: Sequence[LabelFormat]) -> LabelFiles:
        """The same reader for these formats, the most specific first; one with a `tier` or a `column` is told ours."""
        wanted = {"tier": self.tier, "column": self.column}
        told = [_told(one, wanted) for one in formats if isinstance(one, ReadsLabels)]
        reader = LabelFiles(self.tier, self.column)
        object.__setattr__(reader, "formats", tuple(sorted(told, key=_specificity)))
        return reader

    def matches(self, path: Path) -> bool:
        """By one recording that has a label file."""
        if irregularity(path) != FOLDER:
            return False
        return any(place.owner(file) and self._format(file) for place in places(path) for file in place.others)

    def read(self, path: Path) -> Corpus:
        """Clips by recording and time; recordings without labels and labels without recording are ignored."""
        if irregularity(path) != FOLDER:
            raise CorpusError(f"{path}: not a folder")
        clips: list[Clip] = []
        ignored: list[Ignored] = []
        read: dict[Path, None] = {}
        for place in places(path):
            sources = self._read_place(place, ignored)
            read |= {source.file: None for of_recording in sources.values() for source in of_recording}
            for recording in place.recordings:
                segments = _chosen(sources.get(recording, []), recording, ignored)
                group = recording.relative_to(path).as_posix()
                clips += [Clip(recording, one.label, one.start, one.end, group) for one in in_order(segments)]
        return Corpus(tuple(clips), tuple(dict.fromkeys(ignored)), sources=tuple(read), continuous=True)

    def example(self, folder: Path) -> Path:
        """A recording for each of three formats."""
        for i, name in enumerate(("a.wav", "b.wav", "c é.wav")):
            write_tone(folder / name, 300 * (i + 1))
        (folder / "a.txt").write_text("0\t0.25\tlow\n0.25\t0.5\thigh\n", encoding="utf-8")
        (folder / "b.csv").write_text("start,end,label\n0,0.5,high\n", encoding="utf-8")
        (folder / "c é.rttm").write_text("SPEAKER c%20é 1 0 0.5 <NA> <NA> low <NA> <NA>\n", encoding="utf-8")
        return folder

    def _read_place(self, place: Place, ignored: list[Ignored]) -> dict[Path, list[_Source]]:
        """What the label files of one folder say of each recording."""
        sources: dict[Path, list[_Source]] = {}
        for file, format_ in self._label_files(place, ignored):
            annotations = _read_file(file, format_)
            shared, strangers = place.share_out(file, annotations)
            reasons = [*annotations.left_out, *strangers]
            for recording, segments in shared.items():
                usable = _usable(file, segments, reasons)
                sources.setdefault(recording, []).append(_Source(self.formats.index(format_), file, usable))
            ignored += [Ignored(file, reason) for reason in reasons]
        return sources

    def _label_files(self, place: Place, ignored: list[Ignored]) -> Iterator[tuple[Path, _ReadingFormat]]:
        """The files to read, each with its format; files that look like labels and are not go to the ignored."""
        suffixes = tuple({suffix.lower() for one in self.formats for suffix in _suffixes(one)})
        for file in place.others:
            format_, owner = self._format(file), place.owner(file)
            if format_ is not None and (owner or _names_recordings(format_)):
                yield file, format_
            elif format_ is not None or (owner and file.name.lower().endswith(suffixes)):
                ignored.append(Ignored(file, "not a label file" if owner else NO_RECORDING))

    def _format(self, file: Path) -> _ReadingFormat | None:
        """The first format whose suffix the file has and whose beginning, where that must tell."""
        name = file.name.lower()
        alike = [one for one in self.formats if name.endswith(tuple(map(str.lower, _suffixes(one))))]
        head = first_line(file) if any(isinstance(one, RecognisesFiles) for one in alike) else ""
        return next((one for one in alike if not isinstance(one, RecognisesFiles) or _recognises(one, head)), None)


@hookimpl
def register_corpus_readers() -> list[type[CorpusReader]]:
    """Offer the label files."""
    return [LabelFiles]


@dataclass(frozen=True)
class _Source:
    """What a label file says of one recording; `order` is that of its format."""

    order: int
    file: Path
    segments: list[Segment]


def _told(format_: F, wanted: dict[str, str]) -> F:
    """The format with those of the wanted parameters that it has."""
    if not dataclasses.is_dataclass(format_) or isinstance(format_, type):
        return format_
    has = {one.name for one in dataclasses.fields(format_)}
    return replace(format_, **{name: value for name, value in wanted.items() if value and name in has})


def _specificity(format_: LabelFormat) -> tuple[bool, int, str]:
    return isinstance(format_, RecognisesFiles), -len(format_.suffix), format_.name


def _suffixes(format_: LabelFormat) -> tuple[str, ...]:
    return format_.suffixes if isinstance(format_, RecognisesFiles) else (format_.suffix,)


def _recognises(format_: RecognisesFiles, head: str) -> bool:
    """Whether a file that begins so may be of the format; a plugin's format that cannot say does not, and is named."""
    try:
        return bool(format_.recognises(head))
    except PluginError as error:
        warnings.warn(f"{error}; label files are read without it", stacklevel=2)
        return False


def _names_recordings(format_: LabelFormat) -> bool:
    return isinstance(format_, NamesRecordings) and format_.names_recordings


def _read_file(file: Path, format_: _ReadingFormat) -> Annotations:
    """What a label file says; whatever is wrong with it is one line that names it."""
    try:
        if isinstance(format_, WritesBytes) and format_.binary:
            with located(file), file.open("rb") as binary:
                return format_.read(binary)
        with open_text(file) as stream:
            return format_.read(stream)
    except (ValueError, LookupError, TypeError) as error:  # what a format of a third party may raise on a wrong line
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise CorpusError(f"{file}: not a file of the format {format_.name}: {reason[:200]}") from error


def _usable(file: Path, segments: Sequence[Segment], reasons: list[str]) -> list[Segment]:
    """The segments that can be examples, their labels as they are compared; of the others, one reason a sort."""
    points = [one for one in segments if one.start == one.end]
    blank = [one for one in segments if one.start < one.end and not one.label.strip()]
    if points:
        reasons.append(f"{_counted(points, 'point')} in time, the first at {points[0].start:g} s")
    if blank:
        reasons.append(f"{_counted(blank, 'segment')} without label, the first at {blank[0].start:g} s")
    whole = [one for one in segments if one.start < one.end and one.label.strip()]
    return [replace(one, label=label_of(f"{file}, at {one.start:g} s", one.label)) for one in whole]


def _counted(segments: Sequence[Segment], what: str) -> str:
    return f"{len(segments)} {what}{'' if len(segments) == 1 else 's'}"


def _chosen(sources: list[_Source], recording: Path, ignored: list[Ignored]) -> list[Segment]:
    """The segments of a recording; why there are none, and the files whose format gave way, go to the ignored."""
    labelled = [one for one in sources if one.segments]
    reason = irregularity(recording) or ("" if labelled else "no labels beside it")
    if reason:
        labels = dict.fromkeys(segment.label for one in labelled for segment in one.segments)
        ignored.append(Ignored(recording, reason, tuple(labels)))
        return []
    first = min(labelled, key=lambda one: one.order)
    others = [one for one in labelled if one.order != first.order]
    ignored += [Ignored(one.file, f"{recording.name} has its labels from {first.file.name}") for one in others]
    return [segment for one in labelled if one.order == first.order for segment in one.segments]
