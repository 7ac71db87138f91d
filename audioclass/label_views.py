"""A tree of labels told less deep: every group at a depth is one label, whose probability is the sum of its leaves'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from audioclass.errors import UsageError
from audioclass.taxonomy import Taxonomy


@dataclass(frozen=True)
class LabelView:
    """The `labels` of a view, in the order of their first leaves, their `taxonomy`, and the leaves of each by column.

    >>> tree = Taxonomy.of({"music": ["singing", "instrumental"], "speech": {}})
    >>> view = LabelView.at_depth(("instrumental", "singing", "speech"), tree, 1)
    >>> view.labels, view.members
    (('music', 'speech'), ((0, 1), (2,)))
    >>> view.sums(np.array([[0.5, 0.25, 0.25]]))
    array([[0.75, 0.25]])
    """

    labels: tuple[str, ...]
    taxonomy: Taxonomy
    members: tuple[tuple[int, ...], ...]

    @classmethod
    def at_depth(
        cls, labels: Sequence[str], taxonomy: Taxonomy, depth: int, *, independent: bool = False
    ) -> LabelView | None:
        """The view of leaves at a depth of their taxonomy; None where that is the leaves themselves.

        What cannot be summed is refused: `independent` probabilities, and a label that several groups would count.
        """
        if depth >= taxonomy.depth:
            return None
        if independent:
            raise UsageError(f"depth={depth}: labels overlap, their probabilities do not add up to those of groups")
        cut = taxonomy.at_depth(depth)
        place = {label: column for column, label in enumerate(labels)}
        members = {name: tuple(sorted(place[leaf] for leaf in taxonomy.node(name).labels)) for name in cut.labels}
        columns = [column for several in members.values() for column in several]
        for column, label in enumerate(labels):
            if columns.count(column) > 1:
                raise UsageError(f"depth={depth}: label {label!r} stands in several groups, which would count it twice")
        names = tuple(sorted(members, key=lambda name: members[name]))
        return cls(names, cut, tuple(members[name] for name in names))

    def sums(self, P: np.ndarray) -> np.ndarray:
        """(n, n_labels) of (n, n_leaves), each row the same to the bit whatever comes with it."""
        columns = [reduce(np.add, [P[:, column] for column in several]) for several in self.members]
        return np.stack(columns, axis=1)

    def block_sums(self, counts: np.ndarray) -> np.ndarray:
        """How often each label followed each, from how often leaves did."""
        return self.sums(self.sums(counts).T).T

    def means(self, values: Mapping[str, float], leaves: Sequence[str]) -> dict[str, Any]:
        """Of each label the mean of what is known of its leaves."""
        known = {
            label: [values[leaves[column]] for column in several if leaves[column] in values]
            for label, several in zip(self.labels, self.members, strict=True)
        }
        return {label: float(np.mean(each)) for label, each in known.items() if each}
