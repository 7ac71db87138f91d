"""Recordings and the label files beside them: which belongs to which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from audioclass.data import Annotations, Segment
from audioclass.errors import CorpusError
from audioclass.recordings import is_recording, walk_folders
from audioclass.text_files import shown

NO_RECORDING = "no recording of its name beside it"


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

    def share_out(self, file: Path, annotations: Annotations) -> tuple[dict[Path, list[Segment]], list[str]]:
        """The segments of each recording in a label file, and the reasons for those of recordings that are not here.

        A file that names one recording only may call it otherwise than the one that it lies beside.
        """
        owner, n_named = self.owner(file), len(annotations.recordings)
        shared: dict[Path, list[Segment]] = {}
        reasons: list[str] = []
        for name, segments in annotations.recordings.items():
            recording = self._named(name) if name.strip() else owner
            recording = recording or (owner if n_named == 1 else None)
            if recording is None:
                reasons.append(f"no recording {shown(name)} beside it" if name.strip() else NO_RECORDING)
            else:
                shared.setdefault(recording, []).extend(segments)
        return shared, reasons

    def _named(self, name: str) -> Path | None:
        """The recording that a label file calls so, whatever folder and space it writes around it."""
        spellings = (PurePosixPath(name).name, PurePosixPath(name.strip()).name)
        return next((self.called[one] for one in spellings if one in self.called), None)


def places(path: Path) -> Iterator[Place]:
    """Every folder from a path down, in the order of their names; hidden ones do not count, linked ones do.

    One that cannot be entered is refused: what is in it would be missing in silence.
    """
    for folder in walk_folders(path):
        if folder.error is not None:
            raise CorpusError(f"{folder.path}: cannot be entered: {folder.error.strerror}")
        files = [folder.path / name for name in folder.files]
        yield Place(
            tuple(file for file in files if is_recording(file)), tuple(file for file in files if not is_recording(file))
        )


def in_order(segments: Sequence[Segment]) -> list[Segment]:
    """Segments by time, then by label."""
    return sorted(segments, key=lambda segment: (segment.start, segment.end, segment.label))
