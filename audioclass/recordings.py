"""Recordings as files: which names are theirs, where they lie below a folder, and which can be read to their end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from audioclass.errors import AudioFileError, UsageError

SUFFIXES = frozenset(
    {
        *(".wav", ".wave", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff", ".aifc", ".au", ".snd", ".caf"),
        *(".w64", ".rf64", ".m4a", ".m4b", ".mp4", ".aac", ".wma", ".mkv", ".mov", ".webm", ".avi", ".amr", ".ac3"),
    }
)

ABSENT, FOLDER, ENDLESS = "no such file", "a folder", "not a regular file"


def is_recording(name: str | Path) -> bool:
    """Whether the name is one of a recording: a suffix that we know, in any case, and not hidden."""
    path = Path(name)
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def find_recordings(paths: Sequence[Path]) -> list[Path]:
    """The recordings under the paths, in order: files as they are, folders searched all the way down.

    Suffixes count in any case; hidden files and folders do not. A folder with the suffix of a recording is among them,
    for its reader to refuse. Where there are none at all, that is refused here.
    """
    recordings: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            recordings |= dict.fromkeys(_below(path))
        else:
            recordings[path] = None
    if not recordings:
        raise UsageError(f"{', '.join(map(str, paths))}: no recordings found")
    return list(recordings)


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
    if reason := irregularity(path):
        raise AudioFileError(f"{path}: {reason}")
    return path


def not_endless(path: Path) -> Path:
    """The path itself, unless it is a pipe or a device, from which reading might never end."""
    if irregularity(path) == ENDLESS:
        raise UsageError(f"{path}: {ENDLESS}")
    return path


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted([*files, *folders]):
            if is_recording(name):
                yield Path(parent, name)
