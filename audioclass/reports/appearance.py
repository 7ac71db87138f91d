"""How pages look: one style for all reports, light and dark, on paper and on small screens.

Series colours are those of Okabe and Ito, which remain apart for every kind of colour blindness; in the dark the
deeper ones are lighter.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from audioclass.markup import element, escape

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1d21; --faint: #5d6470; --rule: #d5d9e0; --heat: #00457a;
  --cell: #fff; --s0: #0072b2; --s1: #c04a00; --s2: #00805a; --s3: #a8447f; --s4: #8a6100;
  --s5: #3c9fd6; --s6: #1b1d21; }
@media (prefers-color-scheme: dark) { :root { --paper: #15171b; --ink: #e7e9ee; --faint: #a2a9b6; --rule: #3a3f49;
  --heat: #8cc8f5; --cell: #10131a; --s0: #56b4e9; --s1: #ff8a4a; --s2: #2fc79b; --s3: #e29ac4; --s4: #e69f00;
  --s5: #9ed4f2; --s6: #e7e9ee; } }
body { margin: 2rem auto; padding: 0 1rem; max-width: 76rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; } h3 { margin-top: 1.8rem; }
p.about, p.note, dt { color: var(--faint); } dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
dd { margin: 0; } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th:first-child, td.name { text-align: left; }
thead th { vertical-align: bottom; font-weight: 600; white-space: normal; }
.pairs th:nth-child(2), .mistakes th:nth-child(4), .mistakes th:nth-child(6) { text-align: left; }
tbody th { font-weight: 400; }
.interval { color: var(--faint); } .labels .interval { display: block; font-size: .8rem; }
.confusion td { min-width: 2.2rem; border: 1px solid var(--paper); text-align: center;
  background: color-mix(in srgb, var(--heat) calc(var(--share) * 100%), var(--paper)); }
.confusion td.right { outline: 2px solid var(--faint); outline-offset: -3px; font-weight: 600; }
.confusion td.dark { color: var(--cell); } .confusion td.none { color: var(--faint); }
.confusion thead span { writing-mode: vertical-rl; transform: rotate(180deg); }
.confusion th { border: 0; } .confusion .corner { font-weight: 400; color: var(--faint); }
.charts { margin-top: 1.8rem; display: flex; flex-wrap: wrap; gap: 2rem; align-items: start; } figure { margin: 0; }
figcaption { font-weight: 600; margin-bottom: .4rem; } svg { max-width: 100%; height: auto; }
svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
.grid { stroke: var(--rule); stroke-width: .6; } .chance { stroke: var(--faint); stroke-dasharray: 3 3; }
.series { fill: none; stroke-width: 2; } .other { stroke: var(--rule); stroke-width: 1; }
.s0 { stroke: var(--s0); } .s1 { stroke: var(--s1); } .s2 { stroke: var(--s2); } .s3 { stroke: var(--s3); }
.s4 { stroke: var(--s4); } .s5 { stroke: var(--s5); } .s6 { stroke: var(--s6); }
.held { fill: var(--faint); opacity: .35; } .gap { stroke: var(--s1); stroke-width: 1.5; } .point { fill: var(--s0); }
.rule { stroke: var(--ink); stroke-width: 1; } .clique { stroke: var(--s1); stroke-width: 5; stroke-linecap: round; }
ul.legend { list-style: none; margin: .5rem 0 0; padding: 0; font-size: .85rem; }
audio { height: 2rem; width: 16rem; vertical-align: middle; } summary { cursor: pointer; font-weight: 600; }
@media print { details > * { display: block; } audio { display: none; } }
"""


def table(head: list[str], rows: list[list[str]], **attributes: object) -> str:
    """A table of cells that are markup already: `rows` hold whole `th` and `td` elements."""
    top = element("tr", "".join(element("th", escape(name), scope="col") for name in head))
    body = "".join(element("tr", "".join(row)) for row in rows)
    return element("div", element("table", element("thead", top) + element("tbody", body), **attributes), class_="wide")


def row_head(text: str, **attributes: object) -> str:
    """The cell that names its row."""
    return element("th", escape(text), scope="row", **attributes)


def cell(text: str, **attributes: object) -> str:
    """A cell of plain text."""
    return element("td", escape(text), **attributes)


def figure(caption: str, content: str) -> str:
    """A chart under its caption."""
    return element("figure", element("figcaption", escape(caption)) + content)


def facts(notes: Mapping[str, str]) -> str:
    """What a reader should know of where the numbers come from: a name and a value a line."""
    pairs = "".join(element("dt", escape(name)) + element("dd", escape(value)) for name, value in notes.items())
    return element("dl", pairs) if notes else ""


def drawing(content: str, title: str, width: float, height: float) -> str:
    """A chart as one SVG that says what it is to those who cannot see it."""
    inner, box = element("title", escape(title)) + content, f"0 0 {width:g} {height:g}"
    return element("svg", inner, class_="chart", viewBox=box, width=f"{width:g}", height=f"{height:g}", role="img")


def asset(name: str) -> str:
    """A style sheet or script that lies beside these modules."""
    return files("audioclass.reports").joinpath(name).read_text(encoding="utf-8")
