"""The critical-difference diagram: mean ranks on a line, bars under those that cannot be told apart (Demšar 2006)."""

from __future__ import annotations

from dataclasses import dataclass

from audioclass.evaluation.ranks import Ranked
from audioclass.markup import element, escape

ROW = 22.0
AXIS = 56.0


@dataclass(frozen=True)
class _Ruler:
    """The line of ranks, best at the left, with room for names on both sides."""

    n_systems: int
    side: float = 210.0
    length: float = 420.0

    @property
    def width(self) -> float:
        return 2 * self.side + self.length

    def x(self, rank: float) -> float:
        """Pixels from the left edge."""
        return round(self.side + self.length * (rank - 1) / (self.n_systems - 1), 1)


def critical_difference_chart(ranked: Ranked) -> str:
    """The diagram as SVG; systems of the better half are named at the left."""
    ruler = _Ruler(len(ranked.names))
    n_left = (len(ranked.names) + 1) // 2
    names_from = AXIS + 12 * len(ranked.cliques) + ROW
    order = sorted(range(len(ranked.names)), key=lambda index: (ranked.mean_ranks[index], index))
    lines = [
        _named(ruler, ranked, index, names_from + ROW * min(place, len(order) - 1 - place), is_left=place < n_left)
        for place, index in enumerate(order)
    ]
    title = element("title", escape(f"mean ranks, critical difference {ranked.critical_difference:.3f}"))
    content = (
        title + _axis(ruler) + _difference(ruler, ranked.critical_difference) + "".join(lines) + _bars(ruler, ranked)
    )
    height = names_from + ROW * n_left
    return element(
        "svg", content, class_="chart", viewBox=f"0 0 {ruler.width:g} {height:g}", width=f"{ruler.width:g}", role="img"
    )


def _axis(ruler: _Ruler) -> str:
    ticks = "".join(
        _line(ruler.x(rank), AXIS - 6, ruler.x(rank), AXIS)
        + element("text", str(rank), x=ruler.x(rank), y=AXIS - 10, text_anchor="middle")
        for rank in range(1, ruler.n_systems + 1)
    )
    return _line(ruler.x(1), AXIS, ruler.x(ruler.n_systems), AXIS) + ticks


def _difference(ruler: _Ruler, difference: float) -> str:
    """The length that counts, drawn above the ranks; cut at the end of the line where it is longer."""
    end = ruler.x(min(1 + difference, ruler.n_systems))
    text = f"critical difference {difference:.3f}"
    ends = _line(ruler.x(1), 14, ruler.x(1), 22) + (
        _line(end, 14, end, 22) if difference <= ruler.n_systems - 1 else ""
    )
    return _line(ruler.x(1), 18, end, 18) + ends + element("text", text, x=ruler.x(1), y=10)


def _named(ruler: _Ruler, ranked: Ranked, index: int, y: float, *, is_left: bool) -> str:
    x, rank = ruler.x(ranked.mean_ranks[index]), f"{ranked.mean_ranks[index]:.2f}"
    edge = ruler.side - 12 if is_left else ruler.width - ruler.side + 12
    text, anchor = (f"{ranked.names[index]}  {rank}", "end") if is_left else (f"{rank}  {ranked.names[index]}", "start")
    text = element("text", escape(text), x=edge - 4 if is_left else edge + 4, y=y + 4, text_anchor=anchor)
    return element("polyline", points=f"{x},{AXIS} {x},{y:g} {edge:g},{y:g}", fill="none", class_="rule") + text


def _bars(ruler: _Ruler, ranked: Ranked) -> str:
    return "".join(
        _line(
            ruler.x(ranked.mean_ranks[clique[0]]) - 4,
            AXIS + 12 * (place + 1),
            ruler.x(ranked.mean_ranks[clique[-1]]) + 4,
            AXIS + 12 * (place + 1),
            "clique",
        )
        for place, clique in enumerate(ranked.cliques)
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "rule") -> str:
    return element("line", x1=f"{x1:g}", y1=f"{y1:g}", x2=f"{x2:g}", y2=f"{y2:g}", class_=kind)
