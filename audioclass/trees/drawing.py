"""A trained tree drawn: as lines of text for a terminal, and as a picture that stands by itself."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from audioclass.markup import element, escape
from audioclass.problems import Dichotomy
from audioclass.trees.branches import Branch
from audioclass.trees.text import Facts, WrittenTree

Machines = Sequence[tuple[Dichotomy, Facts]]
ROW, WIDTH, MARGIN, LETTER = 22, 420, 16, 7.5  # of the picture, in pixels


def draw_lines(written: WrittenTree) -> list[str]:
    """A line for each node, with what its machines are and reach."""
    nodes = iter(written.nodes)

    def draw(indent: str, branch: str, below: str) -> Iterator[str]:
        name, node, machines = next(nodes)
        facts = describe(machines)
        yield indent + branch + name + (f"  ({facts})" if facts else "")
        for i in range(len(node.children)):
            is_last = i == len(node.children) - 1
            yield from draw(indent + below, "└── " if is_last else "├── ", "    " if is_last else "│   ")

    return list(draw("", "", ""))


def describe(machines: Machines) -> str:
    """What the machines of a node are and reach, in a few words; nothing where there are none."""
    if not machines:
        return ""
    facts = [fact for _, fact in machines]
    parts = [f"{len(facts)} machines"] if len(facts) > 1 else []
    parts += [f"log-loss {_span([fact['log_loss'] for fact in facts], '.3f')}"] if _told(facts, "log_loss") else []
    parts += [f"{_span([fact['examples'] for fact in facts], 'd')} examples"] if _told(facts, "examples") else []
    if _told(facts, "support_vectors"):
        parts.append(f"{_span([fact['support_vectors'] for fact in facts], 'd')} support vectors")
    kernels = dict.fromkeys(_kernel(fact) for fact in facts)
    return ", ".join([*parts, *(kernels if len(kernels) == 1 else [f"{len(kernels)} kernels"])])


def draw_svg(written: WrittenTree) -> str:
    """A dendrogram from left to right: a group stands as far left as it is high; pointing at a node tells the rest."""
    places = _places(written)
    top = written.tree.height or 1.0
    parts = []
    for (name, node, machines), row, children in places:
        x, y = _x(node.height / top), _y(row)
        parts += [_bend(x, y, _x(child.height / top), _y(at)) for child, at in children]
        tip = "\n".join([name, describe(machines)]).strip()
        dot = element("circle", element("title", escape(tip)), cx=f"{x:.1f}", cy=f"{y:.1f}", r=4)
        place = (
            {"x": f"{x + 8:.1f}", "y": f"{y + 4:.1f}"} if not node.children else {"x": f"{x:.1f}", "y": f"{y - 7:.1f}"}
        )
        parts += [dot, element("text", escape(name), class_=None if node.children else "label", **place)]
    longest = max((len(label) for label in written.labels), default=0)
    width, height = WIDTH + 2 * MARGIN + LETTER * longest + 12, _y(sum(1 for _ in written.tree.ways()) - 1) + 2 * MARGIN
    style = "text{font:12px sans-serif;fill:#222}path{fill:none;stroke:#888}circle{fill:#2a6}"
    return element(
        "svg",
        element("style", style) + "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        role="img",
    )


def _places(written: WrittenTree) -> list[tuple[tuple[str, Branch, Machines], float, list[tuple[Branch, float]]]]:
    """Each node with its row, leaves one by one and groups in the middle of theirs, and its children with theirs."""
    nodes, leaf = iter(written.nodes), itertools.count()
    places: list[tuple[tuple[str, Branch, Machines], float, list[tuple[Branch, float]]]] = []

    def place() -> tuple[Branch, float]:
        name, node, machines = next(nodes)
        below = [place() for _ in node.children]
        row = (below[0][1] + below[-1][1]) / 2 if below else float(next(leaf))
        places.append(((name, node, machines), row, below))
        return node, row

    place()
    return places


def _bend(x: float, y: float, to_x: float, to_y: float) -> str:
    return element("path", d=f"M{x:.1f},{y:.1f}V{to_y:.1f}H{to_x:.1f}")


def _x(share: float) -> float:
    return MARGIN + WIDTH * (1 - share)


def _y(row: float) -> float:
    return MARGIN + ROW * (row + 0.5)


def _told(facts: Sequence[Facts], key: str) -> bool:
    return all(isinstance(fact.get(key), (int, float)) for fact in facts)


def _span(values: Sequence[float], form: str) -> str:
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def _kernel(fact: Facts) -> str:
    parameters = [
        f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in fact["kernel"].items()
        if key != "name"
    ]
    return " ".join([str(fact["kernel"]["name"]), *parameters, f"C={fact['C']:.3g}"])
