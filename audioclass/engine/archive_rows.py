"""Analyses of recordings as rows of an archive's tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from audioclass.audio.recorded import RecordedAt
from audioclass.data import Result
from audioclass.engine.analysing import Analysis, StoredWindows
from audioclass.formats.rows import rows_of
from audioclass.index.schema import ANALYSES, EXTRA, RECORDINGS, SEGMENTS, WINDOWS, TableSchema
from audioclass.packages import import_extra

LISTS_TOGETHER = 8192
SEGMENT_FIELDS = ("label", "probability", "runner_up", "runner_up_probability", "novelty", "posteriors")


def now() -> datetime:
    """The present, as archives keep times."""
    return datetime.now(UTC)


def table_of(schema: TableSchema, columns: Mapping[str, Any]) -> Any:
    """An Arrow table of columns, which are arrays or sequences of plain values."""
    arrow = import_extra("pyarrow", EXTRA)
    return arrow.table({name: columns[name] for name in schema.columns}, schema=schema.arrow())


def lists_of(values: np.ndarray) -> Any:
    """The rows of a matrix as an Arrow array of lists; in chunks, because many lists in one are slow to write."""
    arrow = import_extra("pyarrow", EXTRA)
    chunks = []
    for first in range(0, len(values), LISTS_TOGETHER):
        some = np.ascontiguousarray(values[first : first + LISTS_TOGETHER])
        offsets = np.arange(len(some) + 1, dtype=np.int32) * np.int32(some.shape[1])
        chunks.append(arrow.ListArray.from_arrays(offsets, arrow.array(some.reshape(-1))))
    return arrow.chunked_array(chunks, arrow.list_(arrow.from_numpy_dtype(values.dtype)))


def bytes_of(codes: np.ndarray) -> Any:
    """The rows of a matrix of signed bytes as an Arrow array of bytes."""
    return import_extra("pyarrow", EXTRA).array([row.tobytes() for row in np.ascontiguousarray(codes, np.int8)])


def window_rows(windows: Mapping[str, StoredWindows], model: str, labels: Sequence[str]) -> Any:
    """Windows of recordings, by their contents."""
    contents = [content for content, each in windows.items() for _ in range(len(each.P))]
    parts = [each for each in windows.values() if len(each.P)]
    if not parts:
        return WINDOWS.arrow().empty_table()
    P = np.concatenate([each.P for each in parts])
    times = np.concatenate([each.times for each in parts])
    known = [each.strangeness for each in parts if each.strangeness is not None]
    places = P.argmax(axis=1)
    arrow = import_extra("pyarrow", EXTRA)
    return table_of(
        WINDOWS,
        {
            "model": [model] * len(contents),
            "content": contents,
            "start_s": times[:, 0],
            "end_s": times[:, 1],
            "label": [labels[place] for place in places],
            "probability": P[np.arange(len(P)), places],
            "posteriors": lists_of(P),
            "strangeness": np.concatenate(known) if known else [None] * len(P),
            "border_ms": np.concatenate([each.outline.borders for each in parts]),
            "levels": arrow.array([cells.tobytes() for each in parts for cells in each.levels]),
            "vector": bytes_of(np.concatenate([each.codes for each in parts])),
        },
    )


def segment_rows(results: Mapping[str, Result], model: str, options: str) -> Any:
    """Segments of recordings, by their contents."""
    rows = [(content, row) for content, result in results.items() for row in rows_of(result)]
    columns: dict[str, Any] = {name: [getattr(row, name) for _, row in rows] for name in SEGMENT_FIELDS}
    return table_of(
        SEGMENTS,
        {
            **columns,
            "model": [model] * len(rows),
            "content": [content for content, _ in rows],
            "start_s": [row.start for _, row in rows],
            "end_s": [row.end for _, row in rows],
            "options": [options] * len(rows),
        },
    )


def analysis_rows(analyses: Sequence[Analysis], model: str, versions: str) -> Any:
    """That recordings were analysed, and how it went."""
    return table_of(
        ANALYSES,
        {
            "content": [one.content for one in analyses],
            "model": [model] * len(analyses),
            "seconds": [one.seconds if one.windows is None else one.windows.end for one in analyses],
            "n_windows": [0 if one.windows is None else len(one.windows.P) for one in analyses],
            "reason": [one.reason or None for one in analyses],
            "seconds_taken": [one.seconds_taken for one in analyses],
            "versions": [versions] * len(analyses),
            "analysed_at": [now()] * len(analyses),
        },
    )


def recording_rows(analyses: Sequence[Analysis]) -> Any:
    """Where recordings lie and what is known of them."""
    return table_of(
        RECORDINGS,
        {
            "path": [str(one.path) for one in analyses],
            "content": [one.content or None for one in analyses],
            "bytes": [one.bytes for one in analyses],
            "modified_ns": [one.modified_ns for one in analyses],
            "seconds": [one.seconds or None for one in analyses],
            "sample_rate": [one.sample_rate for one in analyses],
            "channels": [one.channels for one in analyses],
            **clock_columns(one.recorded for one in analyses),
            "reason": [one.reason or None for one in analyses],
            "added_at": [now()] * len(analyses),
            "removed_at": [None] * len(analyses),
        },
    )


def clock_columns(times: Iterable[RecordedAt | None]) -> dict[str, list[Any]]:
    """When recordings were made, as the columns that say it."""
    known = list(times)
    return {
        "recorded_at": [one and one.at for one in known],
        "utc_offset_minutes": [one and one.offset // timedelta(minutes=1) for one in known],
        "clock_source": [one and one.source for one in known],
    }
