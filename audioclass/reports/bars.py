"""Stacked bars of hours as SVG: series differ by colour and by pattern, and every part says what it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.markup import element, escape
from audioclass.reports.appearance import drawing

MOST_SERIES = 7
TILE = 8  # side of a pattern in pixels
PATTERNS = (
    ("--s0", ""),
    ("--s1", "M-2 2l4-4M0 8l8-8M6 10l4-4"),
    ("--s2", "M0 4h8"),
    ("--s3", "M2 2h2v2h-2zM6 6h2v2h-2z"),
    ("--s4", "M4 0v8"),
    ("--s5", "M-2 6l4 4M0 0l8 8M6-2l4 4"),
    ("--faint", "M0 4h8M4 0v8"),
)
LEFT, TOP, HEIGHT, BOTTOM = 44.0, 10.0, 190.0, 22.0
MOST_TICKS = 5


@dataclass(frozen=True, eq=False)
class Series:
    """What is stacked, the largest first; `columns` holds the labels that each of `names` stands for."""

    names: tuple[str, ...]
    columns: tuple[np.ndarray, ...]

    def of(self, hours: np.ndarray) -> np.ndarray:
        """Hours of each series, from hours whose columns are labels."""
        return np.column_stack([hours[:, columns].sum(axis=1) for columns in self.columns])


def largest_series(labels: Sequence[str], hours: np.ndarray, most: int = MOST_SERIES) -> Series:
    """Labels that have any of the `hours`; of more than `most`, the largest of them and all the others as one."""
    order = np.argsort(-hours, kind="stable")
    order = order[hours[order] > 0]
    n_single = len(order) if len(order) <= most else most - 1
    names = [labels[index] for index in order[:n_single]]
    columns = [order[place : place + 1] for place in range(n_single)]
    if n_single < len(order):
        names.append(f"{len(order) - n_single} other labels")
        columns.append(order[n_single:])
    return Series(tuple(names), tuple(columns))


def series_patterns(n_series: int) -> str:
    """What the charts and legends of a page are filled with; it stands in the page once and takes no room."""
    definitions = element("defs", "".join(map(_pattern, range(n_series))))
    return element("svg", definitions, width=0, height=0, class_="patterns", aria_hidden="true")


def series_legend(names: Sequence[str]) -> str:
    """The series, each beside its pattern."""
    items = (element("li", _swatch(place) + escape(name)) for place, name in enumerate(names))
    return element("ul", "".join(items), class_="legend series-names")


def stacked_bars(
    hours: np.ndarray, bars: Sequence[str], series: Sequence[str], *, title: str, ticks: str, pitch: float
) -> str:
    """A bar for each row of `hours`, (n_bars, n_series), `pitch` pixels apart; `ticks` is the axis below, as SVG."""
    step = tick_step(float(hours.sum(axis=1).max(initial=0.0)))
    n_steps = max(math.ceil(hours.sum(axis=1).max(initial=0.0) / step - 1e-9), 1)
    scale, width = HEIGHT / (n_steps * step), LEFT + pitch * len(bars) + 2
    grid = "".join(_grid_line(place * step, TOP + HEIGHT - place * step * scale, width) for place in range(n_steps + 1))
    parts = "".join(
        _bar(LEFT + pitch * place, pitch, row * scale, [f"{bar}, {name}: {hours_text(h)} h" for name, h in named])
        for place, (bar, row) in enumerate(zip(bars, hours, strict=True))
        for named in [list(zip(series, row, strict=True))]
    )
    return drawing(grid + parts + ticks, title, width, TOP + HEIGHT + BOTTOM)


def tick_text(x: float, text: str, anchor: str = "middle") -> str:
    """A name below the bars, at `x` pixels from the first."""
    return element("text", escape(text), x=f"{LEFT + x:g}", y=f"{TOP + HEIGHT + 15:g}", text_anchor=anchor)


def tick_step(highest: float) -> float:
    """The distance of round numbers of which few reach the highest.

    >>> [tick_step(highest) for highest in (0.0, 0.9, 7.0, 130.0)]
    [1.0, 0.2, 2.0, 50.0]
    """
    if highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest / MOST_TICKS))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit * MOST_TICKS >= highest * (1 - 1e-9))


def hours_text(hours: float) -> str:
    """Hours with about three digits; fewer than a hundredth are not taken for none."""
    if 0 < hours < 0.01:
        return "< 0.01"
    return f"{hours:.{2 if hours < 10 else 1 if hours < 100 else 0}f}"


def _pattern(place: int) -> str:
    colour, strokes = PATTERNS[place]
    ground = element("rect", width=TILE, height=TILE, style=f"fill:var({colour})")
    lines = element("path", d=strokes, class_="pattern") if strokes else ""
    return element(
        "pattern", ground + lines, id=f"series-{place}", width=TILE, height=TILE, patternUnits="userSpaceOnUse"
    )


def _swatch(place: int) -> str:
    square = element("rect", width=22, height=14, fill=f"url(#series-{place})")
    return element("svg", square, width=22, height=14, aria_hidden="true")


def _grid_line(value: float, y: float, width: float) -> str:
    line = element("line", x1=f"{LEFT:g}", x2=f"{width:g}", y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid")
    return line + element("text", f"{value:g} h", x=f"{LEFT - 5:g}", y=f"{y + 4:.1f}", text_anchor="end")


def _bar(x: float, pitch: float, heights: np.ndarray, texts: Sequence[str]) -> str:
    """The parts of one bar from below to above; those without hours are left out."""
    width = min(max(pitch * 0.84, pitch - 4), 36)
    tops = TOP + HEIGHT - np.cumsum(heights)
    left = f"{x + (pitch - width) / 2:.1f}"
    return "".join(
        element(
            "rect",
            element("title", escape(text)),
            x=left,
            y=f"{top:.2f}",
            width=f"{width:.1f}",
            height=f"{height:.2f}",
            fill=f"url(#series-{place})",
            class_="part",
        )
        for place, (top, height, text) in enumerate(zip(tops, heights, texts, strict=True))
        if height > 0
    )
