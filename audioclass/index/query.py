"""Questions for segments: what was asked for becomes one statement of SQL and its values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from audioclass.errors import UsageError, unknown_name

SORTS = {
    "path": "path, start_s, label",
    "time": "local_time NULLS LAST, path, start_s, label",
    "probability": "probability DESC NULLS LAST, path, start_s, label",
    "duration": "duration_s DESC, path, start_s, label",
    "novelty": "novelty NULLS LAST, path, start_s, label",
    "similarity": "distance, path, start_s, label",
}
REVERSED = {
    "path": "path DESC, start_s, label",
    "time": "local_time DESC NULLS LAST, path, start_s, label",
    "probability": "probability NULLS LAST, path, start_s, label",
    "duration": "duration_s, path, start_s, label",
    "novelty": "novelty DESC NULLS LAST, path, start_s, label",
    "similarity": "distance DESC, path, start_s, label",
}
FOUND = (
    "path, start_s, end_s, duration_s, label, probability, runner_up, runner_up_probability, novelty, posteriors,"
    " local_time, sample_rate"
)
CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")
NEAR = re.compile(r"(.+):(\d+(?:\.\d+)?)\s*s?")


@dataclass(frozen=True)
class Near:
    """Another segment of one of these labels, in the same recording, at most so many seconds away."""

    labels: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class SegmentQuery:
    """Which segments are asked for; what is not stated does not matter.

    Times are those of the clock where a recording was made, and a segment is where it starts: `since` and `until`,
    which is not included, are moments, `between` times of any day, the second of which may be that of the next day. A
    path fits where one of the patterns fits all of it, or its end from some folder on.
    """

    labels: tuple[str, ...] = ()
    min_probability: float | None = None
    max_probability: float | None = None
    min_duration: float | None = None
    max_duration: float | None = None
    since: datetime | None = None
    until: datetime | None = None
    between: tuple[time, time] | None = None
    paths: tuple[str, ...] = ()
    near: Near | None = None
    sort: str = "path"
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.sort.removeprefix("-") not in SORTS:
            raise unknown_name("order", self.sort, SORTS)
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit={self.limit} must be at least 1")

    @property
    def order(self) -> str:
        """How segments are sorted, in SQL."""
        return REVERSED[self.sort[1:]] if self.sort.startswith("-") else SORTS[self.sort]

    def statement(self, model: str, *, like: bool = False) -> tuple[str, dict[str, Any]]:
        """The question to a model's segments, and its values.

        Where they are to be `like` an example, the segments that hold the middle of a window in the table `hits`, each
        with the nearest of these windows and its distance.
        """
        conditions, values = self._conditions()
        where = " AND ".join(["s.model = $model", *conditions])
        limit = f"LIMIT {self.limit}" if self.limit is not None else ""
        source, further = (NEAREST_HITS, ", distance, hit_start_s, hit_end_s") if like else ("occurrences", "")
        parts = ["SELECT", FOUND + further, "FROM", source, "AS s WHERE", where, "ORDER BY", self.order, limit]
        return " ".join(parts), {**values, "model": model}

    def _conditions(self) -> tuple[list[str], dict[str, Any]]:
        bounds = {
            "min_probability": ("s.probability >= $min_probability", _single(self.min_probability)),
            "max_probability": ("s.probability <= $max_probability", _single(self.max_probability)),
            "min_duration": ("s.end_s - s.start_s >= $min_duration - 1e-9", self.min_duration),
            "max_duration": ("s.end_s - s.start_s <= $max_duration + 1e-9", self.max_duration),
            "since": ("local_time >= $since", self.since),
            "until": ("local_time < $until", self.until),
        }
        stated = {name: bound for name, bound in bounds.items() if bound[1] is not None}
        conditions = [text for text, _ in stated.values()]
        values: dict[str, Any] = {name: value for name, (_, value) in stated.items()}
        if self.labels:
            conditions.append("list_contains($labels, s.label)")
            values["labels"] = list(self.labels)
        if self.between is not None:
            conditions.append(_within(*self.between))
            values |= {"first": self.between[0], "last": self.between[1]}
        if self.paths:
            values |= {f"path_{place}": pattern for place, pattern in enumerate(self.paths)}
            fits = [f"path GLOB $path_{place} OR path GLOB '*/' || $path_{place}" for place in range(len(self.paths))]
            conditions.append(f"({' OR '.join(fits)})")
        if self.near is not None:
            conditions.append(NEAR_ANOTHER)
            values |= {"near_labels": list(self.near.labels), "near_seconds": self.near.seconds}
        return conditions, values


NEAREST_HITS = """(SELECT o.*, n.distance, unnest(n.nearest) FROM occurrences AS o JOIN (
        SELECT g.model, g.content, g.start_s, g.label, min(h.distance) AS distance,
            arg_min({'hit_start_s': h.start_s, 'hit_end_s': h.end_s}, (h.distance, h.start_s)) AS nearest
        FROM segments AS g JOIN hits AS h ON h.content = g.content
            AND g.start_s <= (h.start_s + h.end_s) / 2 AND (h.start_s + h.end_s) / 2 < g.end_s
        WHERE g.model = $model GROUP BY ALL
    ) AS n USING (model, content, start_s, label))"""
NEAR_ANOTHER = """EXISTS (SELECT 1 FROM segments AS o
    WHERE o.model = s.model AND o.content = s.content AND list_contains($near_labels, o.label)
    AND o.start_s <= s.end_s + $near_seconds + 1e-9 AND o.end_s >= s.start_s - $near_seconds - 1e-9
    AND (o.start_s, o.end_s, o.label) <> (s.start_s, s.end_s, s.label))"""


def _single(value: float | None) -> float | None:
    """A bound of probabilities as these are kept: 0.9 in single precision is less than 0.9."""
    return None if value is None else float(np.float32(value))


def _within(first: time, last: time) -> str:
    clock = "local_time::TIME"
    if first <= last:
        return f"({clock} >= $first AND {clock} < $last)"
    return f"({clock} >= $first OR {clock} < $last)"


def parse_moment(text: str, *, is_end: bool = False) -> datetime:
    """A date, or a date and a time, of the local clock; the end of a date is the start of the next day."""
    try:
        if len(text) <= len("2019-01-01"):
            return datetime.combine(_day(text, is_end=is_end), time())
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text!r} must be a date such as 2019-04-03, or a time such as 2019-04-03T19:17") from error
    if moment.tzinfo is not None:
        raise UsageError(f"{text!r}: times are those of the clock where recordings were made, without a zone")
    return moment


def _day(text: str, *, is_end: bool) -> date:
    """A day, the first of a month or of a year; where it is the end, of the next."""
    if re.fullmatch(r"\d{4}", text):
        return date(int(text) + is_end, 1, 1)
    if re.fullmatch(r"\d{4}-\d\d", text):
        year, month = map(int, text.split("-"))
        first = date(year, month, 1)
        return date(year + month // 12, month % 12 + 1, 1) if is_end else first
    return date.fromisoformat(text) + timedelta(days=is_end)


def parse_between(text: str) -> tuple[time, time]:
    """`04:00-07:00`, two times of any day."""
    first, dash, last = text.partition("-")
    if not dash:
        raise UsageError(f"{text!r} must be two times of the day, such as 04:00-07:00")
    return _clock(first), _clock(last)


def _clock(text: str) -> time:
    match = CLOCK.fullmatch(text.strip())
    try:
        if match is not None:
            hour, minute, second = (int(part or 0) for part in match.groups())
            return time(hour, minute, second)
    except ValueError:
        pass
    if text.strip() == "24:00":
        return time.max
    raise UsageError(f"{text!r} must be a time of the day, such as 04:00")


def parse_near(text: str, groups: Mapping[str, tuple[str, ...]]) -> Near:
    """`music:5s`: a label or a group, and seconds."""
    match = NEAR.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} must be a label and seconds, such as music:5s")
    return Near(labels_of([match[1]], groups), float(match[2]))


def labels_of(names: list[str], groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Labels by their names or those of their groups; a segment may be called by the group too."""
    for name in names:
        if name not in groups:
            raise unknown_name("label", name, groups)
    return tuple(dict.fromkeys(label for name in names for label in (name, *groups[name])))
