"""Charts of an evaluation as SVG and HTML: confusion, ROC curves, reliability.

Series differ by colour and by dash, cells by shade and by number: nothing is told by hue alone. Colours are the CSS
variables of `appearance.py`, so that a chart follows the page into the dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.evaluation.calibration import Reliability
from audioclass.evaluation.formatting import shown
from audioclass.evaluation.ranking import Roc
from audioclass.markup import element, escape
from audioclass.reports.appearance import drawing

DASHES = ("none", "7 3", "2 2", "9 3 2 3", "12 4", "4 2", "1 3")
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
DARK_CELL = 0.55  # above this share the shade asks for light text


@dataclass(frozen=True)
class Plot:
    """A square of `side` pixels, from 0 to 1 on both axes, with room for its axes."""

    side: float = 280.0
    left: float = 46.0
    bottom: float = 40.0
    margin: float = 10.0

    def x(self, value: float) -> float:
        """Pixels from the left edge."""
        return round(self.left + value * self.side, 1)

    def y(self, value: float) -> float:
        """Pixels from the upper edge."""
        return round(self.margin + (1 - value) * self.side, 1)

    def line(self, xs: Iterable[float], ys: Iterable[float], content: str = "", **attributes: object) -> str:
        """A line through points, each drawn once however many share its pixel."""
        points = dict.fromkeys(f"{self.x(x)},{self.y(y)}" for x, y in zip(xs, ys, strict=True))
        return element("polyline", content, points=" ".join(points), fill="none", **attributes)

    def axes(self, x_title: str, y_title: str) -> str:
        """Grid, ticks and titles."""
        middle = self.y(0.5)
        titles = element("text", escape(x_title), x=self.x(0.5), y=self.y(0) + 34, text_anchor="middle") + element(
            "text", escape(y_title), x=12, y=middle, text_anchor="middle", transform=f"rotate(-90 12 {middle})"
        )
        return "".join(map(self._tick, TICKS)) + (titles if x_title else "")

    def drawing(self, content: str, title: str) -> str:
        """The whole as one SVG, with room for the axes."""
        return drawing(content, title, self.left + self.side + self.margin, self.margin + self.side + self.bottom)

    def _tick(self, value: float) -> str:
        grid = self.line((value, value), (0, 1), class_="grid") + self.line((0, 1), (value, value), class_="grid")
        below = element("text", f"{value:g}", x=self.x(value), y=self.y(0) + 15, text_anchor="middle")
        beside = element("text", f"{value:g}", x=self.x(0) - 5, y=self.y(value) + 4, text_anchor="end")
        return grid + below + beside


SMALL = Plot(side=110.0, left=30.0, bottom=20.0)


def confusion_table(confusion: np.ndarray, labels: Sequence[str]) -> str:
    """A heat map with its numbers: rows the reference, columns the estimated, shade the part of the row."""
    head = element("th", "reference ↓ estimated →", class_="corner") + "".join(
        element("th", element("span", escape(label)), scope="col") for label in labels
    )
    rows = "".join(_confusion_row(row, counts, labels) for row, counts in enumerate(confusion))
    table = element("table", element("thead", element("tr", head)) + element("tbody", rows), class_="confusion")
    return element("div", table, class_="wide")


def roc_chart(curves: Sequence[Roc], labels: Sequence[str], plot: Plot | None = None) -> str:
    """Every label against the rest; those ranked worst stand out, in colour and dash, and are named with their area."""
    plot = plot or Plot()
    known = [index for index, curve in enumerate(curves) if np.isfinite(curve.area)]
    marked = sorted(known, key=lambda index: (curves[index].area, index))[: len(DASHES)]
    others = [_curve(plot, curves[index], labels[index], class_="other") for index in known if index not in marked]
    series = [
        _curve(plot, curves[index], labels[index], class_=f"series s{place}", stroke_dasharray=DASHES[place])
        for place, index in enumerate(marked)
    ]
    chance = plot.line((0, 1), (0, 1), class_="chance")
    content = plot.axes("false positive rate", "true positive rate") + chance + "".join(others + series)
    return plot.drawing(content, "ROC curves, each label against the rest") + _legend(
        curves, labels, marked, len(known)
    )


def reliability_chart(reliability: Reliability, title: str, plot: Plot | None = None) -> str:
    """What was stated against what came true; bars at the foot show how much each bin holds, stems the gaps."""
    plot = plot or Plot()
    total = reliability.weights.sum() or 1.0
    bins = [index for index, weight in enumerate(reliability.weights) if weight > 0]
    bars = "".join(_bar(plot, reliability, index, total) for index in bins)
    stems = "".join(_stem(plot, reliability.stated[index], reliability.observed[index]) for index in bins)
    curve = plot.line(reliability.stated[bins], reliability.observed[bins], class_="series s0")
    points = "".join(_point(plot, reliability, index) for index in bins)
    words = ("stated posterior", "part that came true") if plot.side > SMALL.side else ("", "")
    ideal = plot.line((0, 1), (0, 1), class_="chance")
    return plot.drawing(plot.axes(*words) + bars + ideal + stems + curve + points, title)


def count(weight: float) -> str:
    """A number of examples, or a sum of their weights."""
    return f"{weight:.0f}" if weight == round(weight) else f"{weight:.1f}"


def _confusion_row(row: int, counts: np.ndarray, labels: Sequence[str]) -> str:
    total = float(counts.sum())
    cells = "".join(
        _cell(float(weight), total, labels[row], label, is_right=row == column)
        for column, (weight, label) in enumerate(zip(counts, labels, strict=True))
    )
    return element("tr", element("th", escape(labels[row]), scope="row") + cells)


def _cell(weight: float, total: float, reference: str, estimated: str, *, is_right: bool) -> str:
    share = weight / total if total else 0.0
    kinds = [name for name, holds in (("right", is_right), ("dark", share > DARK_CELL), ("none", not weight)) if holds]
    text = f"{reference} taken for {estimated}: {count(weight)} of {count(total)}"
    return element("td", count(weight), class_=" ".join(kinds) or None, style=f"--share:{share:.3f}", title=text)


def _curve(plot: Plot, curve: Roc, label: str, **attributes: object) -> str:
    corners = curve.corners()
    tooltip = element("title", escape(f"{label}: {shown(curve.area)}"))
    return plot.line(corners.false_positive_rates, corners.true_positive_rates, tooltip, **attributes)


def _legend(curves: Sequence[Roc], labels: Sequence[str], marked: Sequence[int], n_known: int) -> str:
    items = [
        _swatch(place) + escape(f" {labels[index]} {shown(curves[index].area)}") for place, index in enumerate(marked)
    ]
    left = n_known - len(marked)
    items += [f"{left} more, ranked better, in grey"] if left else []
    return element("ul", "".join(element("li", item) for item in items), class_="legend")


def _swatch(place: int) -> str:
    line = element("line", x1=0, y1=6, x2=34, y2=6, class_=f"series s{place}", stroke_dasharray=DASHES[place])
    return element("svg", line, width=34, height=12, aria_hidden="true")


def _bar(plot: Plot, reliability: Reliability, index: int, total: float) -> str:
    low, high = reliability.edges[index : index + 2]
    top = plot.y(0.25 * reliability.weights[index] / total)
    width, height = round(plot.x(high) - plot.x(low) - 1, 1), round(plot.y(0) - top, 1)
    return element("rect", x=plot.x(low), y=top, width=width, height=height, class_="held")


def _stem(plot: Plot, stated: float, observed: float) -> str:
    return plot.line((stated, stated), (stated, observed), class_="gap")


def _point(plot: Plot, reliability: Reliability, index: int) -> str:
    stated, observed, weight = (each[index] for each in (reliability.stated, reliability.observed, reliability.weights))
    tooltip = element("title", f"stated {shown(stated)}, came true {shown(observed)}, {count(weight)} examples")
    return element(
        "circle", tooltip, cx=plot.x(stated), cy=plot.y(observed), r=3 if plot.side > SMALL.side else 2, class_="point"
    )
