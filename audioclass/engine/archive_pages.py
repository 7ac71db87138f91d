"""Pages of an archive: what it holds over the years, and the segments that were found in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.data import Segment
from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archive_status import status_of
from audioclass.engine.finding import FoundSegments
from audioclass.formats.rows import rows_of
from audioclass.index.snapshot import KnownModel, Snapshot
from audioclass.outputs import atomic_write
from audioclass.reports.activity import Activity
from audioclass.reports.archive import ArchiveSummary, archive_page
from audioclass.reports.audio import audio_address
from audioclass.reports.segment_tables import ListedSegment, found_page

_Hour = tuple[str, datetime, float]  # of a label, on the local clock, how many hours
N_CERTAIN = 25  # segments on either side
SEGMENTS = """
    SELECT label, local_time AS first, local_time + to_microseconds(((end_s - start_s) * 1e6)::BIGINT) AS last
    FROM occurrences WHERE model = ? AND local_time IS NOT NULL AND end_s > start_s
"""
RECORDED = """
    SELECT '' AS label, r.recorded_at::TIMESTAMP + to_minutes(coalesce(r.utc_offset_minutes, 0)) AS first,
        first + to_microseconds((a.seconds * 1e6)::BIGINT) AS last
    FROM analyses AS a JOIN recordings AS r ON r.content = a.content AND r.removed_at IS NULL
    WHERE a.model = ? AND r.recorded_at IS NOT NULL AND a.seconds > 0
"""
# Hours of each label in each hour of the local clock; what crosses full hours has a part in each.
BY_HOUR = """
WITH placed AS ({}), cut AS (
    SELECT *, unnest(generate_series(date_trunc('hour', first), last, INTERVAL 1 HOUR)) AS hour FROM placed
)
SELECT label, hour, sum(epoch_us(least(last, hour + INTERVAL 1 HOUR)) - epoch_us(greatest(first, hour))) / 3.6e9
    AS hours FROM cut GROUP BY label, hour HAVING hours > 0
"""
CERTAIN = """
SELECT path, start_s, end_s, label, probability, runner_up, runner_up_probability, local_time
FROM occurrences WHERE model = ? AND probability IS NOT NULL
"""


def write_found_page(segments: FoundSegments, page: Path, title: str) -> None:
    """The segments that were found, to look at and listen to."""
    rows = [
        ListedSegment(
            row.file,
            Segment(row.start, row.end, row.label),
            row.probability,
            row.runner_up,
            row.runner_up_probability,
            segments.times[place],
            None if segments.similarities is None else segments.similarities[place],
        )
        for place, row in enumerate(rows_of(segments.result))
    ]
    atomic_write(page, found_page(title, rows, audio=_player(page)))


def write_archive_page(snapshot: Snapshot, page: Path, model: str | None = None) -> None:
    """What an archive holds of a model."""
    atomic_write(page, archive_page(archive_summary(snapshot, snapshot.model(model)), _player(page)))


def _player(page: Path) -> Callable[[str], str | None]:
    """Where a page finds a recording; nowhere, if it is gone."""
    where = page.resolve()
    return lambda file: audio_address(Path(file), where, embed_up_to=0) if Path(file).exists() else None


def archive_summary(snapshot: Snapshot, model: KnownModel) -> ArchiveSummary:
    """Hours by month and hour of day, activity, certain and doubtful segments, and what failed."""
    hours = snapshot.rows(BY_HOUR.format(SEGMENTS), [model.id])
    recorded = snapshot.rows(BY_HOUR.format(RECORDED), [model.id])
    asked = "SELECT label, sum(end_s - start_s) / 3600 FROM occurrences WHERE model = ? {} GROUP BY label"
    without = dict(snapshot.rows(asked.format("AND local_time IS NULL"), [model.id]))
    everything = dict(snapshot.rows(asked.format(""), [model.id]))
    labels = tuple(sorted(everything))
    months = _months([hour for _, hour, _ in hours])
    by_month, by_hour = np.zeros((len(months), len(labels))), np.zeros((24, len(labels)))
    for label, hour, amount in hours:
        by_month[months.index(f"{hour:%Y-%m}"), labels.index(label)] += amount
        by_hour[hour.hour, labels.index(label)] += amount
    [(n_without,)] = snapshot.rows(
        "SELECT count(DISTINCT path) FROM occurrences WHERE model = ? AND local_time IS NULL", [model.id]
    )
    failed = snapshot.rows(
        "SELECT path, reason FROM recordings WHERE removed_at IS NULL AND reason IS NOT NULL ORDER BY path"
    )
    return ArchiveSummary(
        title=Path(snapshot.address).name or snapshot.address,
        labels=labels,
        months=months,
        hours_by_month=by_month,
        hours_by_hour_of_day=by_hour,
        hours_without_clock=np.array([without.get(label, 0.0) for label in labels], np.float64),
        n_without_clock=n_without,
        activity=_activity(hours, recorded, labels),
        most_certain=_listed(snapshot, model, "probability DESC"),
        least_certain=_listed(snapshot, model, "probability"),
        failed=tuple((path, reason) for path, reason in failed),
        notes=_notes(snapshot, model),
    )


def _months(hours: Sequence[datetime]) -> tuple[str, ...]:
    """Every month from the first to the last."""
    if not hours:
        return ()
    first, last = min(hours), max(hours)
    numbers = range(12 * first.year + first.month - 1, 12 * last.year + last.month)
    return tuple(f"{number // 12:04d}-{number % 12 + 1:02d}" for number in numbers)


def _activity(hours: Sequence[_Hour], recorded: Sequence[_Hour], labels: Sequence[str]) -> Activity | None:
    """Hours of each label by day; labels may overlap, and may leave time without any."""
    if not hours:
        return None
    days = [hour.date() for _, hour, _ in (*hours, *recorded)]
    first = min(days)
    dates: tuple[date, ...] = tuple(first + timedelta(days=n) for n in range((max(days) - first).days + 1))
    amounts = np.zeros((len(labels), len(dates), 24), np.float32)
    for label, hour, amount in hours:
        amounts[labels.index(label), (hour.date() - first).days, hour.hour] += amount
    total = np.zeros(amounts.shape[1:], np.float32)
    for _, hour, amount in recorded:
        total[(hour.date() - first).days, hour.hour] += amount
    return Activity(tuple(labels), dates, total, amounts)


def _listed(snapshot: Snapshot, model: KnownModel, order: str) -> tuple[ListedSegment, ...]:
    rows = snapshot.rows(f"{CERTAIN} ORDER BY {order}, path, start_s LIMIT {N_CERTAIN}", [model.id])
    return tuple(
        ListedSegment(path, Segment(start, end, label), probability, other, its_probability, moment)
        for path, start, end, label, probability, other, its_probability, moment in rows
    )


def _notes(snapshot: Snapshot, model: KnownModel) -> dict[str, str]:
    held = status_of(snapshot)
    one = next(each for each in held.models if each.id == model.id)
    moments: list[Any] = [moment for moment in (held.first, held.last) if moment is not None]
    options = "" if one.options is None else f", made with {SegmentChoice.of_json(one.options).to_options()}"
    return {
        "recordings": f"{held.n_recordings}, {held.duration}",
        **({"from, to": " – ".join(f"{moment:%Y-%m-%d %H:%M}" for moment in moments)} if moments else {}),
        "model": f"{model.name} ({model.id}), {len(model.labels)} labels",
        "segments": f"{one.n_segments} of {one.n_windows} windows{options}",
    }
