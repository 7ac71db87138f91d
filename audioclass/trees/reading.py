"""Reads the text of a tree that somebody may have edited: every label in a group, no name unknown, one line if not."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from audioclass.errors import UsageError, unknown_name
from audioclass.trees.branches import Branch
from audioclass.trees.text import SCHEMA, WrittenTree, machine_of, name_nodes

FORMS = ("additive", "weighted")
DEEPEST = 64


def read_toml(text: str) -> WrittenTree:
    """What `WrittenTree.to_toml` wrote, edited or not."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"tree: not a TOML text: {error}") from error
    if table.get("schema") != SCHEMA:
        raise UsageError(f"tree: schema {table.get('schema')!r} must be {SCHEMA}")
    nodes = _tables(table, "node")
    if not nodes:
        raise UsageError("tree: there is no [[node]] table")
    machines = [machine for node in nodes for machine in _tables(node, "machine")]
    return checked_tree(_names(table, "labels"), nodes, table.get("form"), machines)


def checked_tree(
    labels: tuple[str, ...], nodes: Sequence[Mapping[str, Any]], form: Any, machines: Sequence[Mapping[str, Any]]
) -> WrittenTree:
    """A tree from a table for each node, the root first, and one for each machine."""
    if form not in FORMS:
        raise unknown_name("form of a tree", str(form), FORMS)
    tables = {_name(node): node for node in nodes}
    if len(tables) < len(nodes):
        raise UsageError("tree: two nodes have the same name")
    named: dict[Branch, str] = {}
    tree = _Growth(labels, tables, named).grow(_name(nodes[0]), ())
    for name in (*labels, *tables):
        if name not in {*named.values(), *(labels[k] for k in tree.labels)}:
            raise UsageError(f"tree: {name!r} is in no group")
    index = {label: i for i, label in enumerate(labels)}
    read = dict(machine_of(_checked(machine, index), index) for machine in machines)
    return WrittenTree(labels, tree, name_nodes(tree, labels, named.get), form, read)


class _Growth:
    """From names to branches; what a group is called is kept in `named`."""

    def __init__(
        self, labels: tuple[str, ...], tables: Mapping[str, Mapping[str, Any]], named: dict[Branch, str]
    ) -> None:
        self.labels, self.tables, self.named = labels, tables, named

    def grow(self, name: str, above: tuple[str, ...]) -> Branch:
        """The node of a name; `above` are the groups it is in."""
        if name in self.labels:
            return Branch.leaf(self.labels.index(name))
        if name not in self.tables:
            raise unknown_name("label or group", name, {*self.labels, *self.tables})
        if name in above:
            raise UsageError(f"tree: {name!r} stands in itself")
        if len(above) > DEEPEST:
            raise UsageError(f"tree: deeper than {DEEPEST} groups")
        table = self.tables[name]
        children = [self.grow(member, (*above, name)) for member in _names(table, "members")]
        group = Branch.group(children, _height(table, name))
        self.named.setdefault(group, name)
        return group


def _checked(machine: Mapping[str, Any], index: Mapping[str, int]) -> Mapping[str, Any]:
    sides = [_names(machine, side) for side in ("positive", "negative")]
    for name in (*sides[0], *sides[1]):
        if name not in index:
            raise unknown_name("label", name, index)
    both = set(sides[0]) & set(sides[1])
    if both:
        raise UsageError(f"tree: {min(both)!r} is on both sides of a machine")
    kernel, C = machine.get("kernel"), machine.get("C")
    if not isinstance(kernel, Mapping) or not isinstance(kernel.get("name"), str):
        raise UsageError(f"tree: kernel {kernel!r} of a machine must be a table with a name")
    if not _number(C) > 0:
        raise UsageError(f"tree: C={C!r} of a machine must be positive and finite")
    return machine


def _height(table: Mapping[str, Any], name: str) -> float:
    height = table.get("height", 0.0)
    if not _number(height) >= 0:
        raise UsageError(f"tree: height {height!r} of {name!r} must be a number of at least 0")
    return float(height)


def _number(value: Any) -> float:
    """A finite number; NaN, which no comparison holds for, in place of anything else."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) <= sys.float_info.max else float("nan")


def _name(node: Mapping[str, Any]) -> str:
    name = node.get("name")
    if not isinstance(name, str):
        raise UsageError(f"tree: name {name!r} of a node must be a text")
    return name


def _names(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = table.get(key)
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise UsageError(f"tree: {key} is {names!r}, must be a list of names")
    if len(set(names)) < len(names):
        raise UsageError(f"tree: a name stands twice in {key} {names!r}")
    return tuple(names)


def _tables(table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    tables = table.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(item, Mapping) for item in tables):
        raise UsageError(f"tree: {key} must be tables, [[{key}]]")
    return tables
