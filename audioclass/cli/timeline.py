"""Recordings as coloured bars for a terminal: one bar over its whole width for each, and a legend for all.

Where labels may hold at once, each has a bar of its own.
Labels are told apart without colours too: each has its own filling, and its name stands in every stretch that has room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.text import Text

from audioclass.data import Result
from audioclass.display import printable
from audioclass.formats.rows import ResultRow, Track, label_names, tracks_of
from audioclass.reports.recording import clock

COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#0072b2", "#d55e00", "#999999")  # Okabe and Ito
FILLINGS = "─╱·╲│╳░+="
STEPS = (0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200)
NARROWEST = 10  # columns
TICK_ROOM = 10  # columns from tick to tick, at least
LEGEND_ROOM = 24  # columns of the legend besides the name


@dataclass(frozen=True, eq=False)
class Timeline:
    """What a rich console prints of a result; `lines` gives the same for a width."""

    result: Result

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> list[Text]:
        """For each recording its file where there are several, a bar and an axis; then the legend."""
        tracks, width = tracks_of(self.result), max(width, NARROWEST)
        rows = [row for track in tracks for row in track.rows]
        names = list(dict.fromkeys([*self.result.labels, *(row.label for row in rows)]))
        lanes = label_names(self.result) if self.result.independent else []
        lines = [line for track in tracks for line in _track_lines(track, names, width, len(tracks) > 1, lanes)]
        return lines + _legend(rows, names, width) if rows else []


def print_timeline(result: Result) -> None:
    """The timeline on standard output, as wide as the terminal."""
    Console(markup=False, highlight=False).print(Timeline(result))


def _track_lines(
    track: Track, names: Sequence[str], width: int, is_named: bool, lanes: Sequence[str] = ()
) -> list[Text]:
    end = max(row.end for row in track.rows)
    title = [Text(printable(track.file), no_wrap=True, overflow="ellipsis")] if is_named else []
    of_lanes = [[row for row in track.rows if row.label == label] for label in lanes]
    bars = [_bar(rows, names, end, width) for rows in of_lanes if rows] or [_bar(track.rows, names, end, width)]
    return [*title, *bars, _axis(end, width)]


def _bar(rows: Sequence[ResultRow], names: Sequence[str], end: float, width: int) -> Text:
    bar = Text(no_wrap=True)
    for name, cells in groupby(_cells(rows, end, width)):
        n = len(list(cells))
        bar.append(*((_filled(name, names, n), _style(name, names)) if name is not None else (" " * n,)))
    return bar


def _cells(rows: Sequence[ResultRow], end: float, width: int) -> list[str | None]:
    """The label that fills most of each column; None where there is none."""
    each = (end or 1.0) / width
    shares: list[dict[str, float]] = [{} for _ in range(width)]
    for row in rows:
        for column in range(min(int(row.start / each), width - 1), width):
            overlap = min(row.end, (column + 1) * each) - max(row.start, column * each)
            if overlap <= 0 and column * each >= row.end:
                break
            shares[column][row.label] = shares[column].get(row.label, 0.0) + max(overlap, 0.0)
    return [max(share, key=share.__getitem__) if any(share.values()) else None for share in shares]


def _filled(name: str, names: Sequence[str], n: int) -> str:
    """The filling of a label over n columns, its name amid it where there is room."""
    filling, text = FILLINGS[names.index(name) % len(FILLINGS)], f" {printable(name)} "
    room = n - cell_len(text)
    return filling * n if room < 0 else filling * (room // 2) + text + filling * (room - room // 2)


def _style(name: str, names: Sequence[str]) -> str:
    return f"black on {COLOURS[names.index(name) % len(COLOURS)]}"


def _axis(end: float, width: int) -> Text:
    """Ticks at round times, as many as there is room for."""
    step = next((step for step in STEPS if step * width >= TICK_ROOM * end), end or 1.0)
    line = ""
    for number in range(int(end / step) + 1):
        column = int(number * step / (end or 1.0) * width)
        text = f"╵{clock(number * step)}"
        if column >= len(line) and column + len(text) <= width:
            line = line.ljust(column) + text
    return Text(line, style="dim", no_wrap=True)


def _legend(rows: Sequence[ResultRow], names: Sequence[str], width: int) -> list[Text]:
    """Each label that occurs with its filling, its total time and its share of it, the longest first."""
    seconds: dict[str, float] = {}
    for row in rows:
        seconds[row.label] = seconds.get(row.label, 0.0) + row.end - row.start
    total = sum(seconds.values()) or 1.0
    ordered = sorted(seconds, key=lambda name: -seconds[name])
    room = min(max(cell_len(printable(name)) for name in ordered), max(width - LEGEND_ROOM, 1))
    return [
        Text.assemble(
            (FILLINGS[names.index(name) % len(FILLINGS)] * 3, _style(name, names)),
            f" {set_cell_size(printable(name), room)}",
            (f"  {clock(seconds[name]):>9}  {100 * seconds[name] / total:5.1f} %", "dim"),
            no_wrap=True,
        )
        for name in ordered
    ]
