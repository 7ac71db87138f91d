"""A trained tree in Newick's notation, as programs for trees read it, with the machines of each node in its comment.

    ((cat[&C=10.0,kernel=gaussian,…]:0.4,dog[&…]:0.4)'group 1'[&height=0.4,…]:0.8,engine[&…]:1.2)all[&form=additive,…];

A branch is as long as the difference of the heights at its ends. In a comment, a value is JSON, a name is plain and
several names stand with bars between; characters that have a meaning here are percent-encoded. Where a node has several
machines, each value is a list in braces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from audioclass.errors import UsageError
from audioclass.problems import Dichotomy
from audioclass.trees.reading import DEEPEST, checked_tree
from audioclass.trees.text import Facts, WrittenTree

PLAIN = re.compile(r"[A-Za-z0-9.+-]+")
SAFE = " "  # besides letters, digits and _.-~ what stands for itself in a comment
TOKEN = re.compile(
    r"\s*(?:(?P<mark>[(),:;])|'(?P<quoted>(?:[^']|'')*)'|\[(?P<comment>[^\]]*)\]|(?P<word>[^\s()\[\]',:;]+))"
)


def write_newick(written: WrittenTree) -> str:
    """The tree on one line."""
    nodes = iter(written.nodes)

    def write(above: float | None) -> str:
        name, node, machines = next(nodes)
        head = {"form": written.form} if above is None else {}
        comment = _comment(head | ({"height": json.dumps(node.height)} if node.children else {}), machines, written)
        inside = "(" + ",".join(write(node.height) for _ in node.children) + ")" if node.children else ""
        length = "" if above is None else f":{above - node.height!r}"
        return inside + _quoted(name) + comment + length

    return write(None) + ";\n"


def read_newick(text: str) -> WrittenTree:
    """What `write_newick` wrote, edited or not; of other programs' trees the groups, without machines.

    >>> read_newick("((cat,dog)animal,engine)all;").taxonomy.leaf_paths
    (('all', 'animal', 'cat'), ('all', 'animal', 'dog'), ('all', 'engine'))
    """
    root = _Parser(text).parse()
    nodes, machines, leaves = [], [], set()
    for node in _walk(root):
        if node["children"]:
            nodes.append({"name": node["name"], "members": _members(node), "height": node["height"]})
        else:
            leaves.add(node["name"])
        machines += _machines(node["facts"])
    if not nodes:
        raise UsageError("tree: a single leaf is no tree")
    return checked_tree(tuple(sorted(leaves)), nodes, root["facts"].get("form", "additive"), machines)


# --- writing


def _quoted(name: str) -> str:
    return name if PLAIN.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def _comment(head: Mapping[str, str], machines: Sequence[tuple[Dichotomy, Facts]], written: WrittenTree) -> str:
    tables = [_flat(dichotomy, facts, written) for dichotomy, facts in machines]
    parts = [f"{key}={value}" for key, value in head.items()]
    for key in dict.fromkeys(key for table in tables for key in table):
        values = [table.get(key, "") for table in tables]
        parts.append(f"{key}={values[0]}" if len(values) == 1 else f"{key}={{{','.join(values)}}}")
    return f"[&{','.join(parts)}]" if parts else ""


def _flat(dichotomy: Dichotomy, facts: Facts, written: WrittenTree) -> dict[str, str]:
    """The facts of a machine as texts without any character that ends a value."""
    flat = {
        side: "|".join(quote(name, safe=SAFE) for name in written.names_of(getattr(dichotomy, side)))
        for side in ("positive", "negative")
    }
    kernel = {f"kernel_{key}": value for key, value in facts["kernel"].items() if key != "name"}
    plain = {key: value for key, value in facts.items() if key != "kernel"}
    flat["kernel"] = quote(facts["kernel"]["name"], safe=SAFE)
    return flat | {key: quote(json.dumps(value), safe=SAFE) for key, value in (kernel | plain).items()}


# --- reading


class _Parser:
    """Recursive descent; a node is its name, children, height and the facts of its comment."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.at = 0

    def parse(self) -> dict[str, Any]:
        root = self._node(0)
        if self.tokens[self.at :] not in ([], [("mark", ";")]):
            raise UsageError(f"tree: {self.tokens[self.at][1]!r} where Newick's tree ends")
        _name_groups(root)
        return root

    def _node(self, depth: int) -> dict[str, Any]:
        if depth > DEEPEST:
            raise UsageError(f"tree: deeper than {DEEPEST} groups")
        children = []
        if self._take("mark", "("):
            children.append(self._node(depth + 1))
            while self._take("mark", ","):
                children.append(self._node(depth + 1))
            if not self._take("mark", ")"):
                raise UsageError("tree: Newick's tree has an open bracket that is not closed")
        name = self._take("quoted") or self._take("word") or ""
        comment = self._take("comment") or ""
        length = _number(self._take("word") or "") if self._take("mark", ":") else 0.0
        facts = _facts(self._take("comment") or comment)
        if not children and not name:
            raise UsageError("tree: a leaf without a name")
        return {
            "name": name,
            "children": children,
            "length": length,
            "facts": facts,
            "height": _height(children, facts),
        }

    def _take(self, kind: str, value: str | None = None) -> str | None:
        """The next token where it is of this kind, and then the one after is next."""
        if self.at < len(self.tokens) and self.tokens[self.at][0] == kind and value in (None, self.tokens[self.at][1]):
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at, end = 0, len(text.rstrip())
    while at < end:
        token = TOKEN.match(text, at)
        if token is None or token.lastgroup is None:
            raise UsageError(f"tree: {text[at : at + 20]!r} cannot be read as Newick's notation")
        kind = token.lastgroup
        yield kind, token[kind].replace("''", "'") if kind == "quoted" else token[kind]
        at = token.end()


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"tree: length {text!r} of a branch must be a number") from error


def _height(children: Sequence[Mapping[str, Any]], facts: Mapping[str, str]) -> float:
    if "height" in facts:
        return _number(facts["height"])
    return max((max(child["height"] + child["length"], 0.0) for child in children), default=0.0)


def _facts(comment: str) -> dict[str, str]:
    """The values of a comment as texts; other comments say nothing."""
    if not comment.startswith("&"):
        return {}
    parts = re.findall(r"([^=,]+)=(\{[^}]*\}|[^,{}]*)", comment[1:])
    return dict(parts)


def _machines(facts: Mapping[str, str]) -> list[dict[str, Any]]:
    """The machines of a node from the values of its comment."""
    columns = {key: _values(value) for key, value in facts.items() if key not in ("form", "height")}
    n_machines = len(columns.get("positive", []))
    tables = [{key: values[i] for key, values in columns.items() if i < len(values)} for i in range(n_machines)]
    return [_machine(table) for table in tables]


def _machine(table: Mapping[str, str]) -> dict[str, Any]:
    machine: dict[str, Any] = {"kernel": {"name": unquote(table.get("kernel", ""))}}
    for key, value in table.items():
        if key in ("positive", "negative"):
            machine[key] = [unquote(name) for name in value.split("|")]
        elif key.startswith("kernel_") and value:
            machine["kernel"][key.removeprefix("kernel_")] = _json(value)
        elif key != "kernel" and value:
            machine[key] = _json(value)
    return machine


def _json(value: str) -> Any:
    try:
        return json.loads(unquote(value))
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"tree: {value!r} in a comment is no JSON") from error


def _values(value: str) -> list[str]:
    return value[1:-1].split(",") if value.startswith("{") else [value]


def _walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from _walk(child)


def _members(node: Mapping[str, Any]) -> list[str]:
    return [child["name"] for child in node["children"]]


def _name_groups(root: dict[str, Any]) -> None:
    """Give a name to every group that has none: other programs write none."""
    taken = {node["name"] for node in _walk(root)}
    numbers = (name for name in map("group {}".format, range(1, 10**9)) if name not in taken)
    for node in _walk(root):
        if node["children"] and not node["name"]:
            node["name"] = next(numbers)
