"""A trained tree as a text to read, keep and edit: which labels stand in which group, and the machines of each node.

Groups have names and say their members, labels or other groups. A machine says its two sides, its kernel with all
parameters and its C, which may be edited, and what was found with them, which is only told: numbers of examples and
support vectors, and the calibrated log-loss of held-out examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audioclass.plain import toml_lines
from audioclass.problems import Dichotomy
from audioclass.taxonomy import Taxonomy
from audioclass.trees.branches import Branch

SCHEMA = 1
NUMBERED = re.compile(r"group \d+")  # the name of a group that nobody gave one
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
        """From a tree and the table of each of its machines, as `about["machines"]` of a model holds them.

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

    @property
    def named_groups(self) -> dict[tuple[int, ...], str]:
        """The names of the groups that have one of their own, by their labels; the others are numbered."""
        pairs = zip(self.tree.walk(), self.names, strict=True)
        return {node.labels: name for node, name in pairs if node.children and not NUMBERED.fullmatch(name)}

    @property
    def taxonomy(self) -> Taxonomy:
        """The groups that have a name of their own; the members of the others stand in the group above."""
        return Taxonomy.of(self._nested(numbered=False))

    @property
    def full_taxonomy(self) -> Taxonomy:
        """All groups, numbered ones too: the taxonomy whose tree is this one."""
        return Taxonomy.of(self._nested(numbered=True))

    def names_of(self, side: Sequence[int]) -> list[str]:
        """The labels of a side by name."""
        return [self.labels[k] for k in side]

    def node_tables(self) -> list[dict[str, Any]]:
        """A table for each node, the root first: its name, and of a group its members and height; each node once."""
        tables: dict[str, dict[str, Any]] = {}
        name_of = {id(node): name for name, node, _ in self.nodes}
        for name, node, _ in self.nodes:
            group = {"members": [name_of[id(child)] for child in node.children], "height": node.height}
            tables.setdefault(name, {"name": name, **(group if node.children else {})})
        return list(tables.values())

    def to_toml(self) -> str:
        """A table for each node, the root first; `reading.read_toml` gives it back."""
        machines: dict[str, list[tuple[Dichotomy, Facts]]] = {}
        for name, _, each in self.nodes:  # a label that stands in several groups is several nodes and one table
            machines.setdefault(name, []).extend(each)
        parts = [HEAD + toml_lines({"schema": SCHEMA, "form": self.form, "labels": list(self.labels)})]
        for table in self.node_tables():
            parts.append("[[node]]\n" + toml_lines(table))
            parts += ["[[node.machine]]\n" + toml_lines(self._machine(*each)) for each in machines[table["name"]]]
        return "\n".join(parts)

    def _machine(self, dichotomy: Dichotomy, facts: Facts) -> dict[str, Any]:
        return {"positive": self.names_of(dichotomy.positive), "negative": self.names_of(dichotomy.negative), **facts}

    def _nested(self, *, numbered: bool) -> dict[str, Any]:
        """Nested tables of names, as a taxonomy reads them; a numbered root has no name."""
        nodes = iter(self.nodes)

        def nest(is_root: bool = False) -> dict[str, Any]:
            name, node, _ = next(nodes)
            inside: dict[str, Any] = {}
            for _ in node.children:
                inside |= nest()
            is_named = not node.children or not NUMBERED.fullmatch(name) or (numbered and not is_root)
            return {name: inside} if is_named else inside

        return nest(is_root=True)


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
