"""Archives whose rows are made, not computed, and the same rows as plain values to be looked through one by one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archive_rows import lists_of, table_of
from audioclass.engine.indexing import create_archive
from audioclass.index.schema import ANALYSES, MODELS, RECORDINGS, SEGMENTS, WINDOWS
from audioclass.index.tables import Table, clean_address

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
OPTIONS = SegmentChoice("none").to_json()


@dataclass(frozen=True)
class MadeRecording:
    path: str
    content: str
    recorded_at: datetime | None = None
    offset: int | None = None
    is_removed: bool = False


@dataclass(frozen=True)
class MadeSegment:
    content: str
    start: float
    end: float
    label: str
    probability: float | None
    novelty: float | None = None
    model: str = "0123456789ab"


@dataclass(frozen=True)
class Occurrence:
    """A segment of a recording, as `find` is to give it."""

    recording: MadeRecording
    segment: MadeSegment

    @property
    def local_time(self) -> datetime | None:
        recorded = self.recording.recorded_at
        if recorded is None:
            return None
        since = timedelta(minutes=self.recording.offset or 0, seconds=self.segment.start)
        return recorded.replace(tzinfo=None) + since

    @property
    def duration(self) -> float:
        return self.segment.end - self.segment.start

    @property
    def row(self) -> tuple[str, float, float, str]:
        return (self.recording.path, self.segment.start, self.segment.end, self.segment.label)


def occurrences(recordings: Sequence[MadeRecording], segments: Sequence[MadeSegment]) -> list[Occurrence]:
    return [
        Occurrence(recording, segment)
        for recording in recordings
        for segment in segments
        if recording.content == segment.content and not recording.is_removed
    ]


def append(archive: str | Path, name: str, rows: object) -> None:
    """Write rows into a table as they are."""
    Table.named(clean_address(archive), name).commit(lambda version: rows)


def recording_table(recordings: Sequence[MadeRecording]):
    n = len(recordings)
    return table_of(
        RECORDINGS,
        {
            "path": [one.path for one in recordings],
            "content": [one.content for one in recordings],
            "bytes": [1] * n,
            "modified_ns": [1] * n,
            "seconds": [60.0] * n,
            "sample_rate": [8000] * n,
            "channels": [1] * n,
            "recorded_at": [one.recorded_at for one in recordings],
            "utc_offset_minutes": [one.offset for one in recordings],
            "clock_source": [None if one.recorded_at is None else "name" for one in recordings],
            "reason": [None] * n,
            "added_at": [LONG_AGO] * n,
            "removed_at": [LONG_AGO if one.is_removed else None for one in recordings],
        },
    )


def segment_table(segments: Sequence[MadeSegment], labels: Sequence[str]):
    n = len(segments)
    P = np.full((n, len(labels)), 1 / len(labels), np.float32)
    return table_of(
        SEGMENTS,
        {
            "model": [one.model for one in segments],
            "content": [one.content for one in segments],
            "start_s": [one.start for one in segments],
            "end_s": [one.end for one in segments],
            "label": [one.label for one in segments],
            "probability": [one.probability for one in segments],
            "runner_up": [labels[0]] * n,
            "runner_up_probability": [0.0] * n,
            "novelty": [one.novelty for one in segments],
            "posteriors": lists_of(P),
            "options": [OPTIONS] * n,
        },
    )


def window_table(content: str, vectors: np.ndarray, model: str = "0123456789ab", n_labels: int = 2):
    """Windows of half a second one after another."""
    n = len(vectors)
    P = np.full((n, n_labels), 1 / n_labels, np.float32)
    return table_of(
        WINDOWS,
        {
            "model": [model] * n,
            "content": [content] * n,
            "start_s": np.arange(n) / 2,
            "end_s": np.arange(n) / 2 + 0.5,
            "label": ["a"] * n,
            "probability": P[:, 0],
            "posteriors": lists_of(P),
            "strangeness": [None] * n,
            "border_ms": [0] * n,
            "levels": [bytes(25)] * n,
            "vector": [row.tobytes() for row in np.ascontiguousarray(vectors, np.int8)],
        },
    )


def analysis_table(contents: Sequence[str], n_windows: int = 1, model: str = "0123456789ab", seconds=None):
    n = len(contents)
    return table_of(
        ANALYSES,
        {
            "content": list(contents),
            "model": [model] * n,
            "seconds": [1.0] * n if seconds is None else seconds,
            "n_windows": [n_windows] * n,
            "reason": [None] * n,
            "seconds_taken": [0.1] * n,
            "versions": ["{}"] * n,
            "analysed_at": [LONG_AGO] * n,
        },
    )


def model_table(
    paths: Sequence[Sequence[str]],
    model: str = "0123456789ab",
    name: str = "made",
    age: int = 0,
    *,
    independent: bool = False,
):
    """A model of the labels that paths of a taxonomy lead to; it cannot be loaded."""
    return table_of(
        MODELS,
        {
            "model": [model],
            "name": [name],
            "digest": [model.ljust(64, "0")],
            "labels": [[path[-1] for path in paths]],
            "independent": [independent],
            "taxonomy": [json.dumps(paths)],
            "window_s": [0.5],
            "hop_s": [0.5],
            "cell_s": [0.02],
            "file": [b"none"],
            "projection": [b"none"],
            "added_at": [LONG_AGO - timedelta(days=age)],
        },
    )


def make_archive(
    folder: Path,
    recordings: Sequence[MadeRecording],
    segments: Sequence[MadeSegment],
    paths: Sequence[Sequence[str]],
    *,
    independent: bool = False,
) -> Path:
    """An archive of one made model with these rows."""
    create_archive(clean_address(folder))
    append(folder, "models", model_table(paths, independent=independent))
    append(folder, "recordings", recording_table(recordings))
    append(folder, "segments", segment_table(segments, [path[-1] for path in paths]))
    return folder
