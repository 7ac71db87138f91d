"""Recordings and the label files beside them: which belongs to which."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from audioclass.corpora.marks import Marks
from audioclass.corpora.texts import shown
from audioclass.data import Segment
from audioclass.recordings import is_recording


@dataclass(frozen=True)
class Place:
    """One folder: its recordings and its other files, each sorted by name."""

    recordings: tuple[Path, ...]
    others: tuple[Path, ...]

    @cached_property
    def called(self) -> dict[str, Path]:
        """Recordings by their name with and without its suffix; of two that share a name the first has it."""
        names = {file.name: file for file in self.recordings}
        return {file.stem: file for file in reversed(self.recordings)} | names

    def owner(self, file: Path) -> Path | None:
        """The recording whose name a label file begins with, the longest such name."""
        name = file.name
        while "." in name:
            name = name.rpartition(".")[0]
            if name in self.called:
                return self.called[name]
        return None

    def share_out(self, marks: Marks) -> dict[Path, list[Segment]]:
        """The segments of each recording; marks of one that is not here are left out, with the reason."""
        owner, names = self.owner(marks.path), {mark.of for mark in marks.found}
        shared: dict[Path, list[Segment]] = {}
        strangers: dict[str, None] = {}
        for mark in marks.found:
            recording = self.called.get(PurePosixPath(mark.of).name) if mark.of else owner
            recording = recording or (owner if len(names) == 1 else None)
            if recording is None:
                strangers[mark.of] = None
            else:
                shared.setdefault(recording, []).append(mark.segment)
        marks.left_out += [f"no recording {shown(name)} beside it" if name else NOBODY for name in strangers]
        return shared


NOBODY = "no recording of its name beside it"


def places(path: Path) -> Iterator[Place]:
    """Every folder from a path down, in the order of their names; hidden ones do not count."""
    for parent, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files = [Path(parent, name) for name in sorted(names) if not name.startswith(".")]
        yield Place(
            tuple(file for file in files if is_recording(file)), tuple(file for file in files if not is_recording(file))
        )


def in_order(segments: Sequence[Segment]) -> list[Segment]:
    """Segments by time, then by label."""
    return sorted(segments, key=lambda segment: (segment.start, segment.end, segment.label))
