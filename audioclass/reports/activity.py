"""The activity map: dates against the time of day, shaded by the share of the recorded time that a label takes.

All maps are in the page, as bytes, and `activity.js` draws the chosen one: pages stay below a megabyte or so, whatever
the years and labels, since columns, rows and maps have the limits below.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

from audioclass.markup import element, embedded_json, escape
from audioclass.reports.appearance import drawing
from audioclass.reports.date_axis import CHARACTER, date_ticks
from audioclass.reports.names import shortened

MOST_COLUMNS = 550
MOST_ROWS = 48
MOST_MAPS = 24
DAYS_PER_COLUMN = (1, 7, 28, 91, 364, 3640)
HIGHEST_CODE, NOTHING_RECORDED = 253, 255
N_SHADES = 6
WIDE, HIGH, LEFT, TOP, BOTTOM = 1100, 240, 44, 8, 22  # pixels
WIDEST_COLUMN = 24
NARROWEST = 300


@dataclass(frozen=True, eq=False)
class Activity:
    """Hours by date and time of day.

    `dates` are days that follow one another; `recorded` is (n_dates, n_bins), the hours that were recorded and
    classified in each bin of each day, n_bins a multiple of 24; `hours`, (n_labels, n_dates, n_bins), is how much of
    them each label takes.
    """

    labels: tuple[str, ...]
    dates: tuple[date, ...]
    recorded: np.ndarray
    hours: np.ndarray

    def __post_init__(self) -> None:
        n_bins = self.recorded.shape[-1]
        if n_bins % 24 or not n_bins:
            raise ValueError(f"{n_bins} bins a day, their number must be a multiple of 24")
        for name, shape in (
            ("recorded", (len(self.dates), n_bins)),
            ("hours", (len(self.labels), *self.recorded.shape)),
        ):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} is {getattr(self, name).shape}, must be {shape}")


def activity_map(activity: Activity) -> str:
    """The map of the label with most hours, and a choice of the others; empty where nothing was recorded."""
    order = np.argsort(-activity.hours.sum(axis=(1, 2)), kind="stable")[:MOST_MAPS]
    if not len(order) or not activity.recorded.any():
        return ""
    days = days_per_column(len(activity.dates))
    recorded = _grouped(activity.recorded, days)
    shares = [shares_of(_grouped(activity.hours[index], days), recorded) for index in order]
    options = "".join(element("option", escape(shortened(activity.labels[index]))) for index in order)
    choice = element("label", "label " + element("select", options, id="activity-label"))
    top = element("div", choice + element("output", "", id="activity-cell"), class_="choice")
    data = element("script", embedded_json(_data(activity, shares, days)), type="application/json", id="activity")
    frame = element("div", _chart(activity.dates, recorded.shape, days), class_="wide")
    group = element(
        "div", frame, id="activity-map", tabindex=0, role="group", aria_label="activity map: arrow keys read its cells"
    )
    return top + group + _legend() + _notes(activity, days) + data


def days_per_column(n_days: int, most: int = MOST_COLUMNS) -> int:
    """Days that share a column, so that no more than `most` columns are drawn."""
    return next((days for days in DAYS_PER_COLUMN if n_days <= days * most), -(-n_days // most))


def shares_of(hours: np.ndarray, recorded: np.ndarray) -> np.ndarray:
    """What part of the recorded time a label takes, NaN where nothing was recorded."""
    shares = np.full(recorded.shape, np.nan)
    np.divide(hours, recorded, out=shares, where=recorded > 0)
    shares.clip(0, 1, out=shares)
    return shares


def highest_shade(shares: np.ndarray) -> float:
    """The share from which on the shade is deepest: few cells, such as those of brief recordings, lie above it."""
    positive = shares[shares > 0]
    return float(np.quantile(positive, 0.98)) if len(positive) else 0.0


def codes_of(shares: np.ndarray) -> np.ndarray:
    """Shares as bytes, small ones finer than large ones; what is above zero stays above it."""
    codes = np.ceil(HIGHEST_CODE * np.sqrt(np.nan_to_num(shares)) - 1e-9)
    return np.where(np.isnan(shares), NOTHING_RECORDED, codes).astype(np.uint8)


def _grouped(hours: np.ndarray, days: int) -> np.ndarray:
    """Sums over the days of a column and, where a day has many bins, over neighbouring bins."""
    n_rows = max(rows for rows in range(24, MOST_ROWS + 1, 24) if hours.shape[1] % rows == 0)
    bins = hours.reshape(len(hours), n_rows, -1).sum(axis=2)
    return np.add.reduceat(bins, np.arange(0, len(bins), days), axis=0)


def _data(activity: Activity, shares: Sequence[np.ndarray], days: int) -> dict[str, Any]:
    """What the script draws; a map is base64, column after column."""
    return {
        "first": activity.dates[0].isoformat(),
        "days": days,
        "nDays": len(activity.dates),
        "rows": shares[0].shape[1],
        "tops": [round(highest_shade(each), 6) for each in shares],
        "maps": [base64.b64encode(codes_of(each).tobytes()).decode() for each in shares],
    }


def _chart(dates: Sequence[date], shape: tuple[int, ...], days: int) -> str:
    """Axes, the ground of what was not recorded, and the empty paths that the script fills."""
    n_columns, n_rows = shape
    wide, high = min(round(WIDE / n_columns, 2), WIDEST_COLUMN), HIGH // n_rows
    width, height = round(n_columns * wide), n_rows * high
    ground = element("rect", x=LEFT, y=TOP, width=width, height=height, fill="url(#unrecorded)")
    paths = "".join(element("path", class_=f"shade k{shade}") for shade in range(N_SHADES + 1))
    cells = element("g", paths, transform=f"translate({LEFT} {TOP}) scale({wide} {high})", id="activity-cells")
    cursor = element("rect", id="activity-cursor", width=wide, height=high, class_="cell-cursor", visibility="hidden")
    right = max(LEFT + width + 10, NARROWEST)
    named = [(LEFT + index * wide / days, text) for index, text in date_ticks(dates, wide / days)]
    ticks = "".join(_tick(x, TOP + height, text) for x, text in named if x + CHARACTER * len(text) < right)
    hours = "".join(_hour(hour, TOP + height * hour / 24) for hour in range(0, 25, 6))
    title = "share of the recorded time by date and time of day"
    return drawing(_unrecorded() + ground + cells + cursor + ticks + hours, title, right, TOP + height + BOTTOM)


def _unrecorded() -> str:
    lines = element("path", d="M-1.5 1.5l3-3M0 6l6-6M4.5 7.5l3-3", class_="hatch")
    return element("defs", element("pattern", lines, id="unrecorded", width=6, height=6, patternUnits="userSpaceOnUse"))


def _tick(x: float, y: float, text: str) -> str:
    line = element("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=y, y2=y + 5, class_="rule")
    return line + element("text", escape(text), x=f"{x + 3:.1f}", y=y + 15)


def _hour(hour: int, y: float) -> str:
    line = element("line", x1=LEFT - 5, x2=LEFT, y1=f"{y:g}", y2=f"{y:g}", class_="rule")
    return line + element("text", f"{hour:02d}:00", x=LEFT - 8, y=f"{y + 4:g}", text_anchor="end")


def _legend() -> str:
    def square(inner: str, n_squares: int) -> str:
        return element("svg", inner, width=16 * n_squares + 1, height=15, aria_hidden="true")

    unrecorded = square(element("rect", x=0.5, y=0.5, width=15, height=14, fill="url(#unrecorded)", class_="edge"), 1)
    shades = "".join(
        element("rect", x=16 * shade + 0.5, y=0.5, width=16, height=14, class_=f"shade k{shade} edge")
        for shade in range(N_SHADES + 1)
    )
    top = element("output", "", id="activity-top")
    items = [unrecorded + " nothing recorded", "0 % " + square(shades, N_SHADES + 1) + f" {top} of the recorded time"]
    return element("ul", "".join(element("li", item) for item in items), class_="legend scale")


def _notes(activity: Activity, days: int) -> str:
    last = activity.dates[0] + timedelta(days=len(activity.dates) - 1)
    texts = [f"{activity.dates[0].isoformat()} to {last.isoformat()}, a column is {days} day{'s' if days > 1 else ''}."]
    if len(activity.labels) > MOST_MAPS:
        texts.append(f"Of {len(activity.labels)} labels, the {MOST_MAPS} with most hours have a map.")
    texts.append("Point at a cell, or move with the arrow keys, to read it.")
    return element("p", escape(" ".join(texts)), class_="note")
