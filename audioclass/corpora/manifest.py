"""A table that names the recordings and their labels: `file,label[,start,end,group,fold,weight]`, times in seconds.

Commas, tabs or semicolons, columns in any order, further ones ignored. Files are relative to the table's folder, or
absolute. Without `start` and `end` the label is that of the whole recording; the default group is the recording.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import IO, ClassVar

from audioclass.contracts import CorpusReader
from audioclass.corpora.tones import write_tone
from audioclass.data import Clip, Corpus, Ignored
from audioclass.errors import CorpusError, UsageError
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.recordings import irregularity
from audioclass.text_files import TableRow, first_line, label_of, names_columns, number_of, read_rows, shown, time_of

REQUIRED = ("file", "label")
COLUMNS = (*REQUIRED, "start", "end", "group", "fold", "weight")
SUFFIXES = (".csv", ".tsv", ".txt")


@component
class Manifest:
    """A CSV or TSV file with a header: file,label and, where wanted, start,end,group,fold,weight."""

    name: ClassVar[str] = "manifest"

    def matches(self, path: Path) -> bool:
        """By the columns that its first line names."""
        return path.suffix.lower() in SUFFIXES and names_columns(first_line(path), REQUIRED)

    def read(self, path: Path) -> Corpus:
        """Entries in the order of the lines; files that are not there are ignored."""
        return read_manifest(path, stays_inside=False)

    def example(self, folder: Path) -> Path:
        """Three recordings, one of them with two segments."""
        for i, name in enumerate(("één.wav", "two.wav", "sub/three.wav")):
            write_tone(folder / name, 300 * (i + 1))
        lines = ("één.wav,low,,,a", "two.wav,low,0,0.25,b", "two.wav,high,0.25,0.5,b", '"sub/three.wav",high,,,c')
        path = folder / "manifest.csv"
        path.write_text("\n".join(("file,label,start,end,group", *lines, "")), encoding="utf-8")
        return path


@hookimpl
def register_corpus_readers() -> list[type[CorpusReader]]:
    """Offer the manifest."""
    return [Manifest]


def read_manifest(path: Path, *, stays_inside: bool) -> Corpus:
    """The clips of a table; with `stays_inside` a file outside the table's folder is an error."""
    clips: list[Clip] = []
    reasons: dict[Path, str] = {}
    labels: dict[Path, dict[str, None]] = {}
    for row in read_rows(path, REQUIRED, COLUMNS):
        clip = _clip(row, path.parent, stays_inside)
        reason = irregularity(clip.file) or ("lasts no time" if clip.start == clip.end else "")
        if reason:
            reasons.setdefault(clip.file, f"{reason} ({path.name}, line {row.line})")
            labels.setdefault(clip.file, {})[clip.label] = None
        else:
            clips.append(clip)
    ignored = tuple(Ignored(file, reason, tuple(labels[file])) for file, reason in reasons.items())
    return Corpus(tuple(clips), ignored, sources=(path,))


def write_manifest(corpus: Corpus, stream: IO[str], folder: Path) -> None:
    """Write the clips as a table that lies in `folder`: what is below it is named relative to it."""
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow(COLUMNS)
    for clip in corpus.clips:
        start = repr(clip.start) if clip.start or clip.end is not None else ""
        end = "" if clip.end is None else repr(clip.end)
        weight = "" if clip.weight == 1 else repr(clip.weight)
        lines.writerow((_written(clip.file, folder), clip.label, start, end, clip.group, clip.fold, weight))


def _clip(row: TableRow, folder: Path, stays_inside: bool) -> Clip:
    file, name = _located(row, folder, stays_inside)
    start = time_of(row.where, "start", row.get("start") or "0")
    end = time_of(row.where, "end", row.get("end")) if row.get("end") else None
    if end is not None and end < start:
        raise CorpusError(f"{row.where}: end {row.get('end')} is before start {row.get('start')}")
    weight = number_of(row.where, "weight", row.get("weight") or "1")
    if weight <= 0:
        raise CorpusError(f"{row.where}: weight {row.get('weight')} must be positive")
    label = label_of(row.where, row.get("label"))
    return Clip(file, label, start, end, row.get("group") or name, row.get("fold"), weight)


def _located(row: TableRow, folder: Path, stays_inside: bool) -> tuple[Path, str]:
    """The file of a row and its name, the same however the row spells the path."""
    spelt = row.get("file")
    if not spelt:
        raise CorpusError(f"{row.where}: the file is empty")
    if "\\" in spelt and irregularity(folder / spelt):
        spelt = spelt.replace("\\", "/")  # written on a computer that separates folders so
    name = Path(os.path.normpath(spelt))
    if stays_inside and (name.is_absolute() or name.parts[:1] == ("..",)):
        raise CorpusError(f"{row.where}: file {shown(spelt)} lies outside the folder of the corpus")
    return folder / name, name.as_posix()


def _written(file: Path, folder: Path) -> str:
    absolute, below = file.absolute(), folder.absolute()
    text = (absolute.relative_to(below) if absolute.is_relative_to(below) else absolute).as_posix()
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{text!r}: the name is no text, a manifest cannot hold it") from error
    return text
