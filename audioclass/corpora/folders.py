"""A folder for each label: `speech/a.wav`, `music/b.flac`; folders in folders are the taxonomy.

    corpus/animal/dog/1.wav         labels dog, cat, engine; animal is a group of dog and cat
    corpus/animal/cat/2.wav
    corpus/engine/3.wav

Hidden files and folders do not count; linked folders do. The group of a clip is its recording, unless `group` finds
another in the recording's path, such as the speaker at the beginning of its name: `group='([a-z]+)_[0-9]+[.]wav'`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from audioclass.contracts import CorpusReader
from audioclass.corpora.tones import write_tone
from audioclass.data import Clip, Corpus, Ignored
from audioclass.errors import CorpusError, UsageError
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.recordings import FOLDER, irregularity, is_recording
from audioclass.taxonomy import DEEPEST, Taxonomy
from audioclass.text_files import label_of


@component
class Folders:
    """A folder for each label with its recordings in it; folders in folders are the taxonomy."""

    name: ClassVar[str] = "folders"
    generality: ClassVar[int] = 2
    group: str = parameter("", help="regular expression that finds the group of a recording in its path")

    def __post_init__(self) -> None:
        """Refuse what is no regular expression."""
        try:
            re.compile(self.group)
        except re.error as error:
            raise UsageError(f"folders: group={self.group!r} is no regular expression: {error}") from error

    def matches(self, path: Path) -> bool:
        """By a recording in some folder below the path."""
        if irregularity(path) != FOLDER:
            return False
        return any(is_recording(name) for folder in _walk(path) if folder.parts for name in folder.names)

    def read(self, path: Path) -> Corpus:
        """Entries by label folder and name; what lies in no label folder is ignored."""
        if irregularity(path) != FOLDER:
            raise CorpusError(f"{path}: not a folder")
        clips: list[Clip] = []
        ignored: list[Ignored] = []
        walked = list(_walk(path))
        labels = _labels(walked)
        for folder in walked:
            for file in folder.files:
                if reason := _misplaced(folder, labels) or ("" if is_recording(file) else "not a recording"):
                    ignored.append(Ignored(file, reason))
                elif reason := irregularity(file):
                    ignored.append(Ignored(file, reason, (self._clip(path, file).label,)))
                else:
                    clips.append(self._clip(path, file))
        return Corpus(tuple(clips), tuple(ignored), _paths(path, labels))

    def _clip(self, root: Path, file: Path) -> Clip:
        name = file.relative_to(root).as_posix()
        match = re.search(self.group, name) if self.group else None
        group = (match[1] if match.re.groups else match[0]) if match else ""
        return Clip(file, label_of(str(file.parent), file.parent.name), group=group or name)

    def example(self, folder: Path) -> Path:
        """Two labels in a group and one beside it."""
        for i, name in enumerate(("animal/dog/1.wav", "animal/dog/2.wav", "animal/cat/1.wav", "engine/1.wav")):
            write_tone(folder / name, 200 * (i + 1))
        return folder


@hookimpl
def register_corpus_readers() -> list[type[CorpusReader]]:
    """Offer the folders."""
    return [Folders]


@dataclass(frozen=True)
class _Folder:
    """A folder with the names that lead to it from the top, and the names of its files, sorted."""

    path: Path
    parts: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def files(self) -> list[Path]:
        return [self.path / name for name in self.names]


def _walk(path: Path, parts: tuple[str, ...] = (), above: tuple[str, ...] = ()) -> Iterator[_Folder]:
    """Every folder from a path down, in order of name; a link back to one above is not followed."""
    real = os.path.realpath(path)
    if real in above or len(parts) > DEEPEST:
        return
    folders, names = _listed(path)
    yield _Folder(path, parts, names)
    for name in folders:
        yield from _walk(path / name, (*parts, name), (*above, real))


def _listed(path: Path) -> tuple[list[str], tuple[str, ...]]:
    """Names of folders and of files, sorted."""
    try:
        entries = [entry for entry in os.scandir(path) if not entry.name.startswith(".")]
    except OSError as error:
        raise CorpusError(f"{path}: cannot be entered: {error.strerror}") from error
    folders = {entry.name for entry in entries if entry.is_dir()}
    return sorted(folders), tuple(sorted({entry.name for entry in entries} - folders))


def _labels(walked: Sequence[_Folder]) -> set[tuple[str, ...]]:
    """The folders that are labels: those with recordings and no such folder below them."""
    sounding = {folder.parts for folder in walked if folder.parts and any(map(is_recording, folder.names))}
    groups = {parts[:n] for parts in sounding for n in range(len(parts))}
    return sounding - groups


def _misplaced(folder: _Folder, labels: set[tuple[str, ...]]) -> str:
    return "" if folder.parts in labels else "not in the folder of a label"


def _paths(path: Path, labels: set[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The names from the top to each label, if they make a tree."""
    paths = tuple(sorted(tuple(label_of(str(path), part) for part in parts) for parts in labels))
    try:
        Taxonomy.of_paths(paths or [("nothing",)])
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from error
    names = [names[-1] for names in paths]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:  # two folders called `other` are rather two labels than one: a taxonomy must say it where it is meant
        raise CorpusError(
            f"{path}: label {repeated[0]!r} stands in two groups; give the folders two names, or a folder for each"
            " label and the groups with --taxonomy"
        )
    return paths
