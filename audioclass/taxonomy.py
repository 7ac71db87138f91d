"""The tree of labels: leaves are labels, inner nodes are groups of them; read, check, walk, draw, write.

As TOML every table is a node and an empty table is a leaf; an array of names is a group of leaves:

    [animal.cat]                    animal = ["cat", "dog"]
    [animal.dog]                    [machine.engine]
    [machine.engine]

As folders every folder is a node and a folder without folders is a leaf. A group with a single member is that
member: it decides nothing, so it is never a node. A label may stand in several groups, a group only in one:

    indoors = ["speech", "music"]
    outdoors = ["speech", "wind"]
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from audioclass.errors import CorpusError, UsageError, did_you_mean, unknown_name
from audioclass.plain import toml_key

DEEPEST = 64


@dataclass(frozen=True)
class Node:
    """A label, or a group when it has children."""

    name: str
    children: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        """This node, then everything below it, parents before children."""
        yield self
        for child in self.children:
            yield from child.walk()

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels below this node, each once, in order of first appearance."""
        if not self.children:
            return (self.name,)
        return tuple(dict.fromkeys(label for child in self.children for label in child.labels))


@dataclass(frozen=True)
class Taxonomy:
    """A checked tree; a name is a label or one group, and a label may stand in several groups."""

    root: Node

    @classmethod
    def of(cls, nested: Any) -> Taxonomy:
        """From nested tables or lists of names.

        >>> tree = Taxonomy.of({"animal": ["cat", "dog"], "engine": {}})
        >>> tree.labels
        ('cat', 'dog', 'engine')
        >>> tree.path("dog")
        ('animal', 'dog')
        """
        root = _collapsed(Node("", _children(nested, ())))
        if not root.name and not root.children:
            raise CorpusError("the taxonomy is empty, at least one label is needed")
        _check_names(root)
        return cls(root)

    @classmethod
    def of_paths(cls, paths: Sequence[Sequence[str]]) -> Taxonomy:
        """From the names that lead to each label, groups first.

        A label in several groups has a path for each: what `leaf_paths` gives.

        >>> Taxonomy.of_paths([("animal", "cat"), ("animal", "dog"), ("engine",)]).leaf_paths
        (('animal', 'cat'), ('animal', 'dog'), ('engine',))
        """
        nested: dict[str, Any] = {}
        for path in paths:
            table = nested
            for name in path:
                table = table.setdefault(name, {})
        return cls.of(nested)

    @classmethod
    def read(cls, path: Path) -> Taxonomy:
        """From a TOML file or from nested folders."""
        is_folder = os.path.isdir(path)  # noqa: PTH112 (no error for a name that is too long)
        nested = _nested_folders(path, ()) if is_folder else _nested_toml(path)
        try:
            return cls.of(nested)
        except CorpusError as error:
            raise CorpusError(f"{path}: {error}") from error

    @property
    def labels(self) -> tuple[str, ...]:
        """The leaves, each once, in order of first appearance."""
        return self.root.labels

    @property
    def groups(self) -> tuple[Node, ...]:
        """The inner nodes, parents before children; the root is the first."""
        return tuple(node for node in self.root.walk() if node.children)

    @property
    def leaf_paths(self) -> tuple[tuple[str, ...], ...]:
        """The names from the top to every leaf, its own last: several paths for a label in several groups."""
        return tuple(path for path, node in _paths(self.root, ()) if not node.children)

    @property
    def repeated(self) -> tuple[str, ...]:
        """The labels that stand in several groups."""
        leaves = [path[-1] for path in self.leaf_paths]
        return tuple(label for label in self.labels if leaves.count(label) > 1)

    @property
    def depth(self) -> int:
        """How many names lead to the deepest label, one that holds all left out; 1 where there are no groups."""
        return max(_height(self.root), 1)

    def at_depth(self, depth: int) -> Taxonomy:
        """The same tree without what lies deeper: groups at that depth are its labels.

        >>> Taxonomy.of({"animal": ["cat", "dog"], "engine": {}}).at_depth(1).labels
        ('animal', 'engine')
        """
        if depth < 1:
            raise UsageError(f"depth={depth} must be a whole number of at least 1")
        return self if depth >= self.depth else Taxonomy(_cut(self.root, depth))

    def node(self, name: str) -> Node:
        """The node of a name, a label or a group."""
        for node in self.root.walk():
            if node.name == name:
                return node
        raise self._unknown(name)

    def path(self, name: str) -> tuple[str, ...]:
        """The names of all groups that hold a node, larger ones first, and its own last.

        That is the way from the top to the node; where a label stands in several groups, it names them all.
        """
        paths = [path for path, node in _paths(self.root, ()) if node.name == name]
        if not paths:
            raise self._unknown(name)
        if len(paths) == 1:
            return paths[0]
        above = {group for path in paths for group in path[:-1]}
        groups = [group for group in self.groups if group.name in above]
        return (*(group.name for group in sorted(groups, key=lambda group: -len(group.labels))), name)

    def check_labels(self, labels: Sequence[str]) -> None:
        """Refuse labels that the tree lacks, and leaves that are no label."""
        for label in labels:
            if label not in self.labels:
                raise CorpusError(f"label {label!r} is not in the taxonomy{did_you_mean(label, self.labels)}")
        for leaf in self.labels:
            if leaf not in labels:
                raise CorpusError(f"the taxonomy has {leaf!r}, which has no example{did_you_mean(leaf, labels)}")

    def draw(self) -> str:
        """The tree as lines of text."""
        lines = [self.root.name] if self.root.name else []
        return "\n".join(lines + list(_branches(self.root, "")))

    def to_toml(self) -> str:
        """One table header for each leaf: what `read` gives back."""
        return "".join("[" + ".".join(map(toml_key, path)) + "]\n" for path in self.leaf_paths)

    def _unknown(self, name: str) -> UsageError:
        return unknown_name("label or group", name, {node.name for node in self.root.walk()} - {""})


def _nested_toml(path: Path) -> Mapping[str, Any]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # from a pipe or a device, reading might never end
            raise CorpusError(f"{path}: not a regular file")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CorpusError(f"{path}: not a TOML file: {error}") from error
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror}") from error


def _nested_folders(path: Path, parents: tuple[str, ...]) -> dict[str, Any]:
    """Folders below a folder, sorted by name; hidden ones are left out, links are followed but not in circles."""
    real = os.path.realpath(path)
    if real in parents:
        raise CorpusError(f"{path}: a link that leads back to a folder above it")
    try:
        folders = sorted(entry.name for entry in os.scandir(path) if entry.is_dir() and entry.name[0] != ".")
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror}") from error
    return {name: _nested_folders(path / name, (*parents, real)) for name in folders}


def _children(nested: Any, above: tuple[str, ...]) -> tuple[Node, ...]:
    where = ".".join(above) or "the taxonomy"
    if len(above) > DEEPEST:
        raise CorpusError(f"{where[:60]}…: deeper than {DEEPEST} groups")
    if isinstance(nested, Mapping):
        return tuple(_node(name, below, above) for name, below in nested.items())
    if isinstance(nested, (list, tuple)):
        if any(not isinstance(item, str) for item in nested):
            raise CorpusError(f"{where}: a list must hold names only")
        if len(set(nested)) != len(nested):
            raise CorpusError(f"{where}: a name stands twice in one list")
        return tuple(_node(name, {}, above) for name in nested)
    raise CorpusError(f"{where}: {nested!r} must be a table or a list of names")


def _node(name: str, below: Any, above: tuple[str, ...]) -> Node:
    if not name.strip() or not name.isprintable():
        raise CorpusError(f"{'.'.join(above) or 'the taxonomy'}: {name!r} cannot be a name")
    return Node(name, _children(below, (*above, name)))


def _collapsed(node: Node) -> Node:
    """The same tree without groups of one, nor a label twice in one group, which that may leave."""
    children = tuple(dict.fromkeys(_collapsed(child) for child in node.children))
    return children[0] if len(children) == 1 else Node(node.name, children)


def _height(node: Node) -> int:
    return 1 + max(map(_height, node.children)) if node.children else 0


def _cut(node: Node, depth: int) -> Node:
    return Node(node.name, tuple(_cut(child, depth - 1) for child in node.children) if depth else ())


def _check_names(root: Node) -> None:
    seen: dict[str, Node] = {}
    for node in root.walk():
        first = seen.setdefault(node.name, node)
        if first is not node and (first.children or node.children):
            raise CorpusError(f"{node.name!r} is the name of two nodes, and one of them is a group")


def _paths(node: Node, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Each node with the names that lead to it; a root without a name is not among them."""
    path = (*above, node.name) if node.name else above
    if path:
        yield path, node
    for child in node.children:
        yield from _paths(child, path)


def _branches(node: Node, indent: str) -> Iterator[str]:
    for child in node.children:
        is_last = child is node.children[-1]
        yield f"{indent}{'└── ' if is_last else '├── '}{child.name}"
        yield from _branches(child, indent + ("    " if is_last else "│   "))
