"""The page of an archive: what it holds, when it was heard, of what the model is sure and unsure, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from audioclass.display import printable
from audioclass.markup import element, escape, page
from audioclass.reports.activity import Activity, activity_map
from audioclass.reports.appearance import STYLE, asset, cell, figure, row_head, table
from audioclass.reports.bars import (
    Series,
    hours_text,
    largest_series,
    series_legend,
    series_patterns,
    stacked_bars,
    tick_text,
)
from audioclass.reports.date_axis import date_ticks, periods_of
from audioclass.reports.names import name_head, printable_facts, shortened
from audioclass.reports.players import AudioLink
from audioclass.reports.segment_tables import ListedSegment, addresses_of, listening_bar, segment_table

HOURS = [f"{hour:02d}:00" for hour in range(24)]
HOUR_PITCH = 13.0  # pixels; a day fits a telephone
WIDEST_PITCH, NARROWEST_PITCH, WIDE = 80.0, 8.0, 1120.0
MOST_LISTED = 12  # labels that are shown at once, the others when asked for
MOST_FAILED = 500


@dataclass(frozen=True, eq=False)
class ArchiveSummary:
    """What the page of an archive shows, as plain values.

    Arrays hold hours and their last axis is `labels`: `hours_by_month` (n_months, n_labels) for `months`, which are
    written `2019-04`, `hours_by_hour_of_day` (24, n_labels), both of recordings whose clock time is known, and
    `hours_without_clock` (n_labels,) of the `n_without_clock` others. `notes` say what was indexed and by which
    model; `failed` are recordings, each with its reason.
    """

    title: str
    labels: tuple[str, ...] = ()
    months: tuple[str, ...] = ()
    hours_by_month: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    hours_by_hour_of_day: np.ndarray = field(default_factory=lambda: np.zeros((24, 0)))
    hours_without_clock: np.ndarray = field(default_factory=lambda: np.zeros(0))
    n_without_clock: int = 0
    activity: Activity | None = None
    most_certain: tuple[ListedSegment, ...] = ()
    least_certain: tuple[ListedSegment, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_labels = len(self.labels)
        shapes = {
            "hours_by_month": (len(self.months), n_labels),
            "hours_by_hour_of_day": (24, n_labels),
            "hours_without_clock": (n_labels,),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} is {getattr(self, name).shape}, must be {shape}")

    @property
    def hours(self) -> np.ndarray:
        """Hours of each label, with and without a clock time."""
        total: np.ndarray = self.hours_by_month.sum(axis=0) + self.hours_without_clock
        return total


def archive_page(summary: ArchiveSummary, audio: AudioLink | None = None) -> str:
    """One HTML file that needs no network; `audio` gives the address of a recording, None where there is none."""
    title, listed = printable(summary.title), (*summary.most_certain, *summary.least_certain)
    addresses = addresses_of(listed, audio)
    body = [
        element("h1", escape(title)),
        printable_facts(summary.notes),
        _contents(summary) if summary.hours.any() else element("p", "No segment is indexed.", class_="note"),
        *(
            element("section", element("h2", name) + segment_table(rows, addresses))
            for name, rows in (("Most certain", summary.most_certain), ("Least certain", summary.least_certain))
            if rows
        ),
        _failures(summary.failed) if summary.failed else "",
        listening_bar(listed, addresses),
    ]
    script = asset("activity.js") + asset("listen.js")
    return page(title, STYLE + asset("archive.css"), "\n".join(filter(None, body)), script)


def _contents(summary: ArchiveSummary) -> str:
    """Hours of each label, by month, by hour of day and by date."""
    labels = [shortened(label) for label in summary.labels]
    tables = element("div", _label_tables(summary))
    has_clock = bool(summary.hours_by_month.any())
    series = largest_series(labels, summary.hours_by_month.sum(axis=0))
    by_hour = _by_hour(series, summary) if has_clock else ""
    parts = [
        series_patterns(len(series.names))
        + element("h2", "Labels")
        + element("div", tables + by_hour, class_="columns")
        + _clock_note(summary)
    ]
    if has_clock:
        parts.append(element("section", _by_month(series, summary)))
    drawn = activity_map(summary.activity) if summary.activity else ""
    if drawn:
        parts.append(element("section", element("h2", "Activity") + drawn))
    return "\n".join(parts)


def _label_tables(summary: ArchiveSummary) -> str:
    """The labels by hours, the smaller of many behind a line that opens."""
    hours, unclocked = summary.hours, summary.hours_without_clock
    order = np.argsort(-hours, kind="stable").tolist()
    head = ["label", "hours", "share", *(["without clock time"] if unclocked.any() else [])]
    rows = [
        [name_head(summary.labels[index]), cell(hours_text(hours[index])), _share(hours[index] / hours.sum())]
        + ([cell(hours_text(unclocked[index]))] if unclocked.any() else [])
        for index in order
    ]
    n_first = len(rows) if len(rows) <= MOST_LISTED + 3 else MOST_LISTED
    first, others = table(head, rows[:n_first], class_="amounts"), rows[n_first:]
    if not others:
        return first
    more = element("summary", f"{len(others)} more labels") + table(head, others, class_="amounts")
    return first + element("details", more)


def _share(share: float) -> str:
    return cell(f"{100 * share:.1f} %", class_="part-of", style=f"--share:{share:.4f}")


def _clock_note(summary: ArchiveSummary) -> str:
    if not summary.n_without_clock and not summary.hours_without_clock.any():
        return ""
    n, hours = summary.n_without_clock, hours_text(float(summary.hours_without_clock.sum()))
    unknown = f"{n} recording{' has' if n == 1 else 's have'} no known clock time ({hours} h)"
    consequence = "counted in the table alone" if summary.hours_by_month.any() else "nothing is drawn over time"
    return element("p", f"{unknown}: {consequence}.", class_="note")


def _by_hour(series: Series, summary: ArchiveSummary) -> str:
    hours = series.of(summary.hours_by_hour_of_day)
    ticks = "".join(
        tick_text(HOUR_PITCH * hour, f"{hour:02d}:00", "end" if hour == 24 else "middle") for hour in range(0, 25, 6)
    )
    title = "Hours by hour of day"
    chart = stacked_bars(hours, HOURS, series.names, title=title, ticks=ticks, pitch=HOUR_PITCH)
    numbers = _numbers("hour of day", HOURS, series.names, hours)
    return element("div", figure(title, element("div", chart, class_="wide")) + series_legend(series.names) + numbers)


def _by_month(series: Series, summary: ArchiveSummary) -> str:
    periods = periods_of(summary.months, series.of(summary.hours_by_month))
    pitch = float(np.clip(WIDE // len(periods.dates), NARROWEST_PITCH, WIDEST_PITCH))
    ticks = "".join(
        tick_text(pitch * (index + 0.5), text) for index, text in date_ticks(periods.dates, pitch, periods.written)
    )
    title = f"Hours by {periods.unit}"
    chart = stacked_bars(periods.hours, periods.names, series.names, title=title, ticks=ticks, pitch=pitch)
    left_out = f"{periods.n_earlier} years before {periods.names[0]} are left out." if periods.n_earlier else ""
    return (
        element("h2", title)
        + element("div", chart, class_="wide")
        + series_legend(series.names)
        + (element("p", left_out, class_="note") if left_out else "")
        + _numbers(periods.unit, periods.names, series.names, periods.hours)
    )


def _numbers(unit: str, names: Sequence[str], series: Sequence[str], hours: np.ndarray) -> str:
    """What a chart draws, as a table for those who ask."""
    rows = [
        [row_head(name), *(cell(hours_text(value)) for value in row)] for name, row in zip(names, hours, strict=True)
    ]
    return element(
        "details", element("summary", f"Hours by {unit} as a table") + table([unit, *series], rows, class_="numbers")
    )


def _failures(failed: Sequence[tuple[str, str]]) -> str:
    rows = [[name_head(path), cell(printable(reason))] for path, reason in failed[:MOST_FAILED]]
    n_left = len(failed) - len(rows)
    more = element("p", f"and {n_left} more", class_="note") if n_left else ""
    heading = element("h2", f"Failed or damaged recordings ({len(failed)})")
    return element("section", heading + table(["recording", "reason"], rows, class_="failed") + more)
