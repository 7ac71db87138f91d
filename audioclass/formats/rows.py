"""The table as formats see it: rows that know the posterior and the path of their label, recording by recording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from audioclass.data import Result
from audioclass.formats.texts import encodable


@dataclass(frozen=True)
class Row:
    """One segment of the table.

    The posterior of a group is the sum over its leaves; a label outside the taxonomy ("unknown") has neither posterior
    nor path. `posteriors` holds one value for each label of the result, in their order.
    """

    file: str
    start: float
    end: float
    label: str
    posterior: float | None
    path: tuple[str, ...]
    posteriors: tuple[float, ...]


@dataclass(frozen=True)
class Track:
    """The rows of one recording, in order of time."""

    file: str
    rows: tuple[Row, ...]


def rows_of(result: Result) -> Iterator[Row]:
    """Every row of the table, in its order."""
    names = _names(result)
    for file, segment, posteriors in zip(result.files, result.segments, result.P.tolist(), strict=True):
        columns, path = names.get(segment.label, ((), ()))
        posterior = min(sum(posteriors[column] for column in columns), 1.0) if columns else None
        label = encodable(segment.label)
        yield Row(encodable(file), segment.start, segment.end, label, posterior, path, tuple(posteriors))


def label_names(result: Result) -> list[str]:
    """The labels as they can be written."""
    return [encodable(label) for label in result.labels]


def tracks_of(result: Result) -> list[Track]:
    """The recordings in order of first appearance."""
    found: dict[str, list[Row]] = {}
    for row in rows_of(result):
        found.setdefault(row.file, []).append(row)
    return [Track(file, tuple(in_order(rows))) for file, rows in found.items()]


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Rows in order of time, those that start together by their end."""
    return sorted(rows, key=lambda row: (row.start, row.end))


def captions_of(result: Result) -> list[tuple[Row, str]]:
    """Rows on one line of time with the text to show; of several recordings, each text begins with its file."""
    rows = in_order(rows_of(result))
    several = len({row.file for row in rows}) > 1
    return [(row, f"{row.file}: {row.label}" if several else row.label) for row in rows]


def layers_of(result: Result, name: str = "labels") -> list[tuple[str, str, list[Row]]]:
    """(name, file, rows) of tiers whose rows do not overlap, for formats that demand it.

    One tier for each recording, called by its file where there are several; windows that overlap take turns on
    further tiers, numbered from 2.
    """
    tracks = tracks_of(result)
    return [
        (f"{track.file if len(tracks) > 1 else name}{f' {number}' if number > 1 else ''}", track.file, layer)
        for track in tracks
        for number, layer in enumerate(_layers(track.rows), start=1)
    ]


def _layers(rows: Sequence[Row]) -> list[list[Row]]:
    layers: list[list[Row]] = []
    for row in rows:
        free = next((layer for layer in layers if layer[-1].end <= row.start), None)
        if free is None:
            layers.append(free := [])
        free.append(row)
    return layers


def _names(result: Result) -> dict[str, tuple[tuple[int, ...], tuple[str, ...]]]:
    """Every label and group: the columns of its leaves and the names that lead to it."""
    names: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {}
    for column, path in enumerate(result.paths):
        for depth, name in enumerate(path):
            columns, _ = names.get(name, ((), ()))
            names[name] = ((*columns, column), tuple(map(encodable, path[: depth + 1])))
    return names
