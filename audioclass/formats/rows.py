"""A result as formats see it: rows that know their probability, runner-up and path, recording by recording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from audioclass.display import encodable

if TYPE_CHECKING:
    from audioclass.data import Result

# What is said of a segment, in this order, by every format that says it in columns or keys.
COLUMNS = ("file", "start", "end", "label", "probability", "runner_up", "runner_up_probability")

BETWEEN = "|"  # labels of a set, where they stand in one text
POINTS = "(points)"  # how the names of tiers end that hold points in time


@dataclass(frozen=True)
class ResultRow:
    """One segment of the table.

    The probability of a label is its posterior, that of a group the sum over its leaves; a label outside the taxonomy
    ("unknown") has neither probability nor path. The runner-up is the likeliest label that the segment's label does not
    cover, of all labels where that is unknown, None where there is none or labels are independent. `posteriors` holds
    one value for each label of the result, in their order. `cut` is where the recording, if it is damaged, could be
    read no further. `novelty` is the p-value that the segment belongs to what the model was trained on, and `set` the
    labels that hold the true one at the risk that was asked for; None where nobody knows or asked.
    """

    file: str
    start: float
    end: float
    label: str
    probability: float | None
    runner_up: str | None
    runner_up_probability: float | None
    path: tuple[str, ...]
    posteriors: tuple[float, ...]
    cut: float | None = None
    novelty: float | None = None
    set: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Track:
    """The rows of one recording, in order of time."""

    file: str
    rows: tuple[ResultRow, ...]


def rows_of(result: Result) -> Iterator[ResultRow]:
    """Every row of the table, in its order."""
    names = _names(result)
    labels = label_names(result)
    n = len(result.files)
    novelties = [None] * n if result.novelty is None else result.novelty.tolist()
    sets = [None] * n if result.sets is None else [tuple(map(encodable, one)) for one in result.sets]
    rows = zip(result.files, result.segments, result.P.tolist(), novelties, sets, strict=True)
    for file, segment, posteriors, novelty, members in rows:
        columns, path = names.get(segment.label, ((), ()))
        outside = (pair for pair in enumerate(posteriors) if pair[0] not in columns and not result.independent)
        runner_up, its_probability = max(outside, key=itemgetter(1), default=(None, None))
        yield ResultRow(
            file=encodable(file),
            start=segment.start,
            end=segment.end,
            label=encodable(segment.label),
            probability=min(sum(posteriors[column] for column in columns), 1.0) if columns else None,
            runner_up=None if runner_up is None else labels[runner_up],
            runner_up_probability=its_probability,
            path=path,
            posteriors=tuple(posteriors),
            cut=result.cuts[file].seconds if file in result.cuts else None,
            novelty=novelty,
            set=members,
        )


def known_columns(result: Result) -> list[str]:
    """The further columns that a result has values for: `novelty`, `set`."""
    known = {"novelty": result.novelty, "set": result.sets}
    return [name for name, values in known.items() if values is not None]


def set_text(row: ResultRow) -> str:
    """The labels of a row's set as one text."""
    return BETWEEN.join(row.set or ())


def label_names(result: Result) -> list[str]:
    """The labels as they can be written."""
    return [encodable(label) for label in result.labels]


def tracks_of(result: Result) -> list[Track]:
    """The recordings in order of first appearance."""
    rows: dict[str, list[ResultRow]] = {}
    for row in rows_of(result):
        rows.setdefault(row.file, []).append(row)
    return [Track(file, tuple(in_order(these))) for file, these in rows.items()]


def in_order(rows: Iterable[ResultRow]) -> list[ResultRow]:
    """Rows in order of time, those that start together by their end."""
    return sorted(rows, key=lambda row: (row.start, row.end))


def captions_of(result: Result) -> list[tuple[ResultRow, str]]:
    """Rows on one line of time with the text to show; of several recordings, each text begins with its file."""
    rows = in_order(rows_of(result))
    several = len({row.file for row in rows}) > 1
    return [(row, f"{row.file}: {row.label}" if several else row.label) for row in rows]


@dataclass(frozen=True)
class Tier:
    """Rows of one recording that do not overlap, under a name, for formats that demand it; all are points or none."""

    name: str
    file: str
    rows: tuple[ResultRow, ...]
    is_of_points: bool = False


def tiers_of(result: Result, name: str = "labels", digits: int = 6) -> list[Tier]:
    """One tier for each recording, called by its file where there are several, and one for its points in time.

    Of labels that are independent, one for each label of each recording, called by the label. Windows that overlap take
    turns on further tiers, numbered from 2. A point is a row that lasts no time in seconds of so many digits.
    """
    tracks, n_files = tracks_of(result), len(dict.fromkeys(result.files))
    called_tracks = [(track, track.file if n_files > 1 else name) for track in tracks]
    if result.independent:
        called_tracks = [each for track in tracks for each in _by_label(track, is_named=n_files > 1)]
    tiers: list[Tier] = []
    for track, called in called_tracks:
        points = [row for row in track.rows if round(row.end, digits) <= round(row.start, digits)]
        lasting = [row for row in track.rows if round(row.end, digits) > round(row.start, digits)]
        for number, layer in enumerate(_layers(lasting, digits), start=1):
            tiers.append(Tier(_numbered(called, number), track.file, layer))
        for number, layer in enumerate(_layers(points, digits), start=1):
            tiers.append(Tier(_numbered(f"{called} {POINTS}", number), track.file, layer, is_of_points=True))
    return tiers


def _by_label(track: Track, *, is_named: bool) -> Iterator[tuple[Track, str]]:
    """The rows of each label by themselves, under its name, with the recording where that must be told."""
    for label in dict.fromkeys(sorted(row.label for row in track.rows)):
        rows = tuple(row for row in track.rows if row.label == label)
        yield Track(track.file, rows), f"{track.file}: {label}" if is_named else label


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} {number}"


def _layers(rows: Iterable[ResultRow], digits: int) -> list[tuple[ResultRow, ...]]:
    """The rows, in order of time, on as few lines as let none begin before the one before it ends, nor with it."""
    layers: list[list[ResultRow]] = []
    for row in rows:
        free = next((layer for layer in layers if _is_after(row, layer[-1], digits)), None)
        if free is None:
            layers.append(free := [])
        free.append(row)
    return [tuple(layer) for layer in layers]


def _is_after(row: ResultRow, other: ResultRow, digits: int) -> bool:
    start = round(row.start, digits)
    return start >= round(other.end, digits) and start > round(other.start, digits)


def _names(result: Result) -> dict[str, tuple[tuple[int, ...], tuple[str, ...]]]:
    """Every label and group: the columns of its leaves and the names that lead to it, of several paths the shortest."""
    names: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {}
    for column, path in enumerate(result.paths):
        for depth, name in enumerate(path):
            here = tuple(map(encodable, path[: depth + 1]))
            columns, there = names.get(name, ((), here))
            names[name] = ((*columns, column), min(here, there, key=len))
    return names
