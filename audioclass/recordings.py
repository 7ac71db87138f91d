"""Recordings as files: which names are theirs, where they lie below a folder, and which can be read to their end."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from audioclass.errors import AudioFileError, UsageError

SUFFIXES = frozenset(
    {
        *(".wav", ".wave", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff", ".aifc", ".au", ".snd", ".caf"),
        *(".w64", ".rf64", ".m4a", ".m4b", ".mp4", ".aac", ".wma", ".mkv", ".mov", ".webm", ".avi", ".amr", ".ac3"),
    }
)
RAW_SUFFIXES = frozenset({".raw", ".pcm"})  # of samples without a header: read only where it is said what they are

ABSENT, FOLDER, ENDLESS = "no such file", "a folder", "not a regular file"


def is_recording(name: str | Path, suffixes: Collection[str] = SUFFIXES) -> bool:
    """Whether the name is one of a recording: a suffix that we know, in any case, and not hidden."""
    path = Path(name)
    return path.suffix.lower() in suffixes and not path.name.startswith(".")


def absolute(path: Path) -> Path:
    """The absolute path, the same from wherever it is stated; links are followed only where the path goes up."""
    return path.resolve() if ".." in path.parts else path.absolute()


def find_recordings(paths: Sequence[Path], suffixes: Collection[str] = SUFFIXES) -> list[Path]:
    """The recordings under the paths, in order: files as they are, folders searched all the way down.

    Suffixes count in any case; hidden files and folders do not; links to folders are followed, each folder is searched
    once. A folder with the suffix of a recording, and one that cannot be entered, are among them, for their reader to
    refuse. Where there are none at all, that is refused here.
    """
    recordings: dict[Path, None] = {}
    for path in paths:
        if irregularity(path) == FOLDER:
            recordings |= dict.fromkeys(_below(path, suffixes))
        else:
            recordings[path] = None
    if not recordings:
        raise UsageError(f"{', '.join(map(str, paths))}: no recordings found")
    return list(recordings)


@dataclass(frozen=True)
class ListedFolder:
    """A folder with the sorted names of folders and files in it but hidden ones; `error` where it cannot be entered."""

    path: Path
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    error: OSError | None = None


def walk_folders(path: Path) -> Iterator[ListedFolder]:
    """Every folder from a path down, in the order of names; links are followed, and no folder is listed twice."""
    return _walk(path, set())


def _walk(path: Path, listed: set[str]) -> Iterator[ListedFolder]:
    real = os.path.realpath(path)
    if real in listed:
        return
    listed.add(real)
    folder = _list_folder(path)
    yield folder
    for name in folder.folders:
        yield from _walk(path / name, listed)


def _list_folder(path: Path) -> ListedFolder:
    try:
        with os.scandir(path) as entries:
            is_folder = {entry.name: entry.is_dir() for entry in entries if not entry.name.startswith(".")}
    except OSError as error:
        return ListedFolder(path, error=error)
    names = sorted(is_folder)
    folders = tuple(name for name in names if is_folder[name])
    return ListedFolder(path, folders, tuple(name for name in names if not is_folder[name]))


def irregularity(path: Path) -> str:
    """Why a path cannot be read to its end, as a pipe or a device could not; empty where it can."""
    try:
        if path.is_file():
            return ""
        return FOLDER if path.is_dir() else ENDLESS if path.exists() else ABSENT
    except OSError as error:  # not permitted to look, or a name that no file can have
        return (error.strerror or str(error)).lower()


def regular(path: Path) -> Path:
    """The path itself, if it can be read to its end."""
    reason = irregularity(path)
    if reason == FOLDER and (error := _list_folder(path).error) is not None:
        reason = f"a folder that cannot be entered: {error.strerror}"
    if reason:
        raise AudioFileError(f"{path}: {reason}")
    return path


def not_endless(path: Path) -> Path:
    """The path itself, unless it is a pipe or a device, from which reading might never end."""
    if irregularity(path) == ENDLESS:
        raise UsageError(f"{path}: {ENDLESS}")
    return path


def _below(path: Path, suffixes: Collection[str]) -> Iterator[Path]:
    for folder in walk_folders(path):
        if folder.error is not None:
            yield folder.path
        for name in sorted([*folder.files, *folder.folders]):
            if is_recording(name, suffixes):
                yield folder.path / name
