"""A written tree changed: labels and groups moved, grouped, merged and renamed, machines given another kernel or C.

Machines stay with their two sides: those that no longer fit the tree are left out when its plan is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audioclass.errors import UsageError, unknown_name
from audioclass.trees.reading import checked_tree
from audioclass.trees.text import WrittenTree


def move(written: WrittenTree, name: str, group: str) -> WrittenTree:
    """With a label or group taken out of where it stands and put into a group."""
    outline = _Outline.of(written)
    outline.check_node(name)
    outline.check_group(group)
    if name == outline.root:
        raise UsageError(f"tree: {name!r} is the whole tree and cannot be moved")
    if group in outline.below(name):
        raise UsageError(f"tree: {name!r} cannot be moved into {group!r}, which is in it")
    return outline.without([name]).joined(group, name).apply(written)


def add(written: WrittenTree, label: str, group: str) -> WrittenTree:
    """With a label in one more group."""
    outline = _Outline.of(written)
    if label not in written.labels:
        raise unknown_name("label", label, written.labels)
    outline.check_group(group)
    if label in outline.members[group]:
        raise UsageError(f"tree: {label!r} is in {group!r} already")
    return outline.joined(group, label).apply(written)


def make_group(written: WrittenTree, name: str, members: Sequence[str]) -> WrittenTree:
    """With a new group of labels or groups, in the smallest group that holds them all."""
    outline = _Outline.of(written)
    for member in members:
        outline.check_node(member)
    outline.check_free(name)
    if len(set(members)) < 2:
        raise UsageError(f"tree: group {name!r} needs 2 members, not {len(set(members))}")
    if outline.root in members:
        raise UsageError(f"tree: {outline.root!r} is the whole tree and cannot be a member of {name!r}")
    holding = [group for group in outline.members if set(members) <= outline.below(group)]
    smallest = min(holding, key=lambda group: len(outline.below(group)))
    grouped = outline.without(members).joined(smallest, name)
    return replace(grouped, members={**grouped.members, name: list(dict.fromkeys(members))}).apply(written)


def merge_group(written: WrittenTree, group: str) -> WrittenTree:
    """With the members of a group in the group above it."""
    outline = _Outline.of(written)
    outline.check_group(group)
    if group == outline.root:
        raise UsageError(f"tree: {group!r} is the whole tree and has no group above it")
    return outline.replaced(group, outline.members[group]).apply(written)


def rename_group(written: WrittenTree, old: str, new: str) -> WrittenTree:
    """With another name for a group; labels have theirs from the corpus."""
    outline = _Outline.of(written)
    outline.check_group(old)
    outline.check_free(new)
    return replace(written, names=tuple(new if name == old else name for name in written.names))


def set_machines(written: WrittenTree, node: str, change: Mapping[str, Any]) -> WrittenTree:
    """With another `C` or `kernel` of the machines that stand at a node."""
    _Outline.of(written).check_node(node)
    machines = [dichotomy for name, _, each in written.nodes if name == node for dichotomy, _ in each]
    if not machines:
        raise UsageError(f"tree: no machine stands at {node!r}: a new one has the kernel and C of the model's first")
    changed = {dichotomy: {**written.machines[dichotomy], **change} for dichotomy in machines}
    return replace(written, machines={**written.machines, **changed})


@dataclass(frozen=True)
class _Outline:
    """The members of each group by name, groups before those in them."""

    labels: tuple[str, ...]
    root: str
    members: Mapping[str, Sequence[str]]
    heights: Mapping[str, float]

    @classmethod
    def of(cls, written: WrittenTree) -> _Outline:
        tables = written.node_tables()
        groups = [table for table in tables if "members" in table]
        return cls(
            written.labels,
            tables[0]["name"],
            {group["name"]: group["members"] for group in groups},
            {group["name"]: group["height"] for group in groups},
        )

    def below(self, name: str) -> set[str]:
        """Every label and group in a group, itself among them."""
        return {name}.union(*(self.below(member) for member in self.members.get(name, ())))

    def joined(self, group: str, member: str) -> _Outline:
        """With one more member of a group."""
        return replace(self, members={**self.members, group: [*self.members[group], member]})

    def without(self, names: Sequence[str]) -> _Outline:
        """With these names in no group."""
        return self._edited(lambda name: () if name in names else (name,))

    def replaced(self, name: str, by: Sequence[str]) -> _Outline:
        """Without a group, others in its place."""
        outline = self._edited(lambda member: tuple(by) if member == name else (member,))
        return replace(outline, members={key: value for key, value in outline.members.items() if key != name})

    def apply(self, written: WrittenTree) -> WrittenTree:
        """The tree of the outline; a group that has one member left is that member, an empty one is gone."""
        outline = self
        while small := [name for name, members in outline.members.items() if len(members) < 2]:
            if small[0] == outline.root:
                [only] = outline.members[outline.root]
                rest = {key: value for key, value in outline.members.items() if key != outline.root}
                outline = replace(outline, root=only, members=rest)
            else:
                outline = outline.replaced(small[0], outline.members[small[0]])
        order = [outline.root, *(name for name in outline.members if name != outline.root)]
        nodes = [
            {"name": name, "members": list(outline.members[name]), "height": outline.heights.get(name, 0.0)}
            for name in order
        ]
        return replace(checked_tree(self.labels, nodes, written.form, []), machines=written.machines)

    def check_node(self, name: str) -> None:
        if name not in self.labels and name not in self.members:
            raise unknown_name("label or group", name, {*self.labels, *self.members})

    def check_group(self, name: str) -> None:
        if name in self.labels:
            raise UsageError(f"tree: {name!r} is a label, a group is needed")
        if name not in self.members:
            raise unknown_name("group", name, self.members)

    def check_free(self, name: str) -> None:
        if name in self.labels or name in self.members:
            raise UsageError(f"tree: {name!r} is the name of another node")
        if not name.strip() or not name.isprintable():
            raise UsageError(f"tree: {name!r} cannot be a name")

    def _edited(self, edit: Callable[[str], Sequence[str]]) -> _Outline:
        members = {
            group: list(dict.fromkeys(each for member in inside for each in edit(member)))
            for group, inside in self.members.items()
        }
        return replace(self, members=members)
