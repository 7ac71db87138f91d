"""What an archive holds, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from audioclass.index.schema import TABLES
from audioclass.index.snapshot import Snapshot, segment_options
from audioclass.index.tables import is_remote

COUNTED = """
SELECT count(*) FILTER (removed_at IS NULL), count(*) FILTER (removed_at IS NOT NULL),
    count(*) FILTER (removed_at IS NULL AND reason IS NOT NULL),
    count(*) FILTER (removed_at IS NULL AND recorded_at IS NOT NULL),
    coalesce(sum(seconds) FILTER (removed_at IS NULL), 0),
    min(recorded_at::TIMESTAMP + to_minutes(utc_offset_minutes)) FILTER (removed_at IS NULL),
    max(recorded_at::TIMESTAMP + to_minutes(utc_offset_minutes)) FILTER (removed_at IS NULL)
FROM recordings
"""


@dataclass(frozen=True)
class ModelStatus:
    """What an archive holds of one model; `options` is how its segments were made."""

    id: str
    name: str
    n_labels: int
    n_recordings: int
    n_windows: int
    n_segments: int
    options: str | None


@dataclass(frozen=True)
class Status:
    """Recordings that are there, are gone, could not be read to their end, have a clock time; models; space on disk.

    `versions` has for each table how often it was written to, `n_files` how many files all are made of.
    """

    address: str
    n_recordings: int
    n_removed: int
    n_failed: int
    n_clocked: int
    seconds: float
    first: datetime | None
    last: datetime | None
    models: tuple[ModelStatus, ...]
    versions: dict[str, int]
    n_files: int
    n_bytes: int | None

    @property
    def duration(self) -> str:
        """How long the recordings are, for people."""
        return f"{self.seconds / 3600:.1f} h" if self.seconds >= 3600 else f"{self.seconds / 60:.1f} min"


def status_of(snapshot: Snapshot) -> Status:
    """The numbers of an archive."""
    [(n_recordings, n_removed, n_failed, n_clocked, seconds, first, last)] = snapshot.rows(COUNTED)
    models = []
    for model in snapshot.models:
        n_analysed, n_windows, n_segments = (
            int(snapshot.rows(f"SELECT count(*) FROM {name} WHERE model = ?", [model.id])[0][0])  # noqa: S608 (our names)
            for name in ("analyses", "windows", "segments")
        )
        options = segment_options(snapshot.files("segments", model.id))
        models.append(ModelStatus(model.id, model.name, len(model.labels), n_analysed, n_windows, n_segments, options))
    versions = {name: int(snapshot.versions[name].version()) for name in TABLES}
    files = [file for name in TABLES for file in snapshot.files(name)]
    n_bytes = None if is_remote(snapshot.address) else sum(Path(file).stat().st_size for file in files)
    return Status(
        snapshot.address,
        n_recordings,
        n_removed,
        n_failed,
        n_clocked,
        seconds,
        first,
        last,
        tuple(models),
        versions,
        len(files),
        n_bytes,
    )
