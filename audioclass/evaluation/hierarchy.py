"""Mistakes that a taxonomy forgives in part: precision, recall and F over the names that a label has.

A label stands for itself and for every group above it, the root left out: taking a cat for a dog still says animal.
The counts are those of Kiritchenko, Matwin and Famili (2005), summed over examples before dividing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.evaluation.confusion import f_beta


@dataclass(frozen=True)
class HierarchicalRates:
    """NaN where there is nothing to count."""

    precision: float
    recall: float
    f: float


def ancestry(paths: Sequence[Sequence[str]]) -> np.ndarray:
    """Which nodes each label stands for, (n_labels, n_nodes) of 0 and 1: itself and every group that its path names.

    A first name that all of several labels share is the root, and left out.
    """
    has_root = len({path[0] for path in paths}) == 1 and all(len(path) > 1 for path in paths)
    named = [path[1:] if has_root else path for path in paths]
    nodes = {name: column for column, name in enumerate(dict.fromkeys(name for path in named for name in path))}
    membership = np.zeros((len(paths), len(nodes)))
    for row, path in enumerate(named):
        membership[row, [nodes[name] for name in path]] = 1
    return membership


def hierarchical_rates(confusion: np.ndarray, membership: np.ndarray, beta: float = 1.0) -> HierarchicalRates:
    """Shared names over estimated names, shared names over reference names, and their F_β."""
    sizes = membership.sum(axis=1)
    shared = (confusion * (membership @ membership.T)).sum()
    estimated, reference = confusion.sum(axis=0) @ sizes, confusion.sum(axis=1) @ sizes
    if not reference > 0:
        return HierarchicalRates(float("nan"), float("nan"), float("nan"))
    precision, recall = float(shared / estimated), float(shared / reference)
    return HierarchicalRates(precision, recall, f_beta(precision, recall, beta))
