"""How far apart groups of labels lie for their width, read off the geometry of the labels (specification 12.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audioclass.problems import Geometry


def separability(geometry: Geometry, groups: Sequence[Sequence[int]]) -> float:
    """tr S_b / tr S_w of all examples of groups of labels, each group taken as one class; infinite without any width.

    A label in several groups counts in each.
    """
    sizes = np.array([geometry.counts[list(group)].sum() for group in groups], dtype=float)
    share = np.stack([_shares(geometry, group) for group in groups])
    D = share @ geometry.squared_distances @ share.T
    own = D.diagonal() / 2  # mean squared distance of the labels' centres to the group's
    between = D - own[:, None] - own[None, :]
    within = sizes @ (share @ geometry.scatter + own)
    apart = sizes @ between @ sizes / (2 * sizes.sum())
    if within > 0:
        return float(apart / within)
    return float("inf") if apart > 0 else 0.0


def _shares(geometry: Geometry, group: Sequence[int]) -> np.ndarray:
    """(n_labels,): the part of a group's examples that each label has."""
    members = np.zeros(len(geometry.counts))
    members[list(group)] = geometry.counts[list(group)]
    return members / members.sum()
