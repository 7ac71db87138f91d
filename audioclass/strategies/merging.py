"""When a group of labels joins the one above it: by height (specification 7.5), or by separability (12.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from audioclass.problems import Geometry
from audioclass.trees.branches import Branch, merge

HEIGHTS = (0.98, 0.95, 0.9, 0.8, 0.6)  # shares of the merged trees that held-out log-loss may choose from
MOST_MACHINES = 4  # to a label: what one of them may cost


def merge_clear(
    tree: Branch, tau: float, height: Callable[[Branch], float], given: Sequence[Sequence[int]] = ()
) -> Branch:
    """The tree in which groups join the one above them when at least τ times as high; τ > 1 is none, τ ≤ 0 all.

    The groups of the `given` labels never join.
    """
    fixed = set(map(tuple, given))

    def joins(node: Branch, above: Branch) -> bool:
        return node.labels not in fixed and height(node) >= tau * height(above)

    return tree if tau > 1 else merge(tree, joins)


def clarity(node: Branch, geometry: Geometry) -> float:
    """How well the children of a group are told apart: where it is as well as in the group above, both may be one."""
    return separability(geometry, [child.labels for child in node.children])


def separability(geometry: Geometry, groups: Sequence[Sequence[int]]) -> float:
    """tr S_b / tr S_w of all examples of groups of labels, each group taken as one class; infinite without any width.

    A label in several groups counts in each.
    """
    sizes = np.array([geometry.counts[list(group)].sum() for group in groups], dtype=float)
    share = np.stack([_shares(geometry, group) for group in groups])
    D = share @ geometry.squared_distances @ share.T
    spread = D.diagonal() / 2  # mean squared distance of the labels' centres to the group's
    between = D - spread[:, None] - spread[None, :]
    within = sizes @ (share @ geometry.scatter + spread)
    apart = sizes @ between @ sizes / (2 * sizes.sum())
    if within > 0:
        return float(apart / within)
    return float("inf") if apart > 0 else 0.0


def _shares(geometry: Geometry, group: Sequence[int]) -> np.ndarray:
    """(n_labels,): the part of a group's examples that each label has."""
    members = np.zeros(len(geometry.counts))
    members[list(group)] = geometry.counts[list(group)]
    return np.asarray(members / members.sum())
