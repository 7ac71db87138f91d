"""A trained tree as a text to read, keep and edit: which labels stand in which group, and the machines of each node.

Groups have names and say their members, labels or other groups. A machine says its two sides, its kernel with all
parameters and its C, which may be edited, and what was found with them, which is only told: numbers of examples and
support vectors, and the calibrated log-loss of held-out examples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audioclass.plain import toml_lines
from audioclass.problems import Dichotomy
from audioclass.trees.branches import Branch

SCHEMA = 1
HEAD = "# A tree of labels and its machines. Edit members, kernels and C: only what is touched is trained again.\n"

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class WrittenTree:
    """A tree over `labels`; `names` are those of its nodes in the order of `tree.walk()`, of leaves their labels.

    `machines` holds plain facts of each dichotomy: `kernel` (a table with its name), `C`, and what was found.
    """

    labels: tuple[str, ...]
    tree: Branch
    names: tuple[str, ...]
    form: str = "additive"
    machines: Mapping[Dichotomy, Facts] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        tree: Branch,
        labels: Sequence[str],
        form: str,
        facts: Sequence[Facts],
        group_names: Mapping[tuple[str, ...], str] | None = None,
    ) -> WrittenTree:
        """From a tree and what `facts.machine_report` tells of its machines.

        `group_names` are known by the labels of a group, in order, as in a taxonomy; the others are numbered.
        """
        index = {label: i for i, label in enumerate(labels)}
        known = group_names or {}
        names = name_nodes(tree, labels, lambda node: known.get(tuple(labels[k] for k in node.labels)))
        return cls(tuple(labels), tree, names, form, dict(machine_of(fact, index) for fact in facts))

    @property
    def nodes(self) -> list[tuple[str, Branch, list[tuple[Dichotomy, Facts]]]]:
        """Name, node and machines of each node, in the order of `tree.walk()`; a machine stands once."""
        walk = list(self.tree.walk())
        machines: list[list[tuple[Dichotomy, Facts]]] = [[] for _ in walk]
        for dichotomy, facts in self.machines.items():
            machines[_owner(walk, dichotomy, self.form)].append((dichotomy, facts))
        return list(zip(self.names, walk, machines, strict=True))

    def said(self, side: Sequence[int]) -> list[str]:
        """The labels of a side by name."""
        return [self.labels[k] for k in side]

    def to_toml(self) -> str:
        """A table for each node, the root first; `tree_reading.read_toml` gives it back."""
        name_of = {id(node): name for name, node, _ in self.nodes}
        parts = [HEAD + toml_lines({"schema": SCHEMA, "form": self.form, "labels": list(self.labels)})]
        written: set[str] = set()
        for name, node, machines in self.nodes:
            if name in written:  # a label that stands in several groups
                continue
            written.add(name)
            group = {"members": [name_of[id(child)] for child in node.children], "height": node.height}
            parts.append("[[node]]\n" + toml_lines({"name": name, **(group if node.children else {})}))
            parts += ["[[node.machine]]\n" + toml_lines(self._machine(*machine)) for machine in machines]
        return "\n".join(parts)

    def _machine(self, dichotomy: Dichotomy, facts: Facts) -> dict[str, Any]:
        return {"positive": self.said(dichotomy.positive), "negative": self.said(dichotomy.negative), **facts}


def machine_of(machine: Facts, index: Mapping[str, int]) -> tuple[Dichotomy, dict[str, Any]]:
    """A table with two sides by name as the dichotomy and the rest of the table."""
    sides = (tuple(sorted(index[name] for name in machine[side])) for side in ("positive", "negative"))
    return Dichotomy(*sides), {key: machine[key] for key in machine if key not in ("positive", "negative")}


def name_nodes(tree: Branch, labels: Sequence[str], named: Callable[[Branch], str | None]) -> tuple[str, ...]:
    """The name of each node: of leaves their label; of groups what `named` says, or a number that no other has."""
    walk = list(tree.walk())
    taken = {*labels, *(name for name in map(named, walk) if name)}
    numbers = (name for name in map("group {}".format, range(1, len(walk) + len(taken) + 1)) if name not in taken)
    names: list[str] = []
    for node in walk:
        name = named(node) if node.children else labels[node.labels[0]]
        names.append(next(numbers) if not name or (node.children and name in names) else name)
    return tuple(names)


def _owner(nodes: Sequence[Branch], dichotomy: Dichotomy, form: str) -> int:
    """The place of the node that a machine belongs to.

    In additive form the one it tells from the rest, the smaller side where both are nodes; in weighted form the
    smallest one whose children it tells apart. The root, where none fits.
    """
    if form == "additive":
        labels = [node.labels for node in nodes]
        sides = sorted((dichotomy.positive, dichotomy.negative), key=len)
        return next((labels.index(side) for side in sides if side in labels), 0)
    both = {*dichotomy.positive, *dichotomy.negative}
    holding = [i for i, node in enumerate(nodes) if both <= set(node.labels)]
    return min(holding, key=lambda i: len(nodes[i].labels), default=0)
