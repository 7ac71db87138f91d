"""What a doubtful segment is called: its label, the smallest group around it that is sure enough, or unknown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audioclass.errors import UsageError
from audioclass.taxonomy import Taxonomy

UNKNOWN = "unknown"
Rung = tuple[str, tuple[int, ...]]  # a name and the columns of the labels below it


class BackOffPath:
    """The names from each label up; a group that holds every label says nothing and is none of them."""

    def __init__(self, labels: Sequence[str], taxonomy: Taxonomy | None, threshold: float) -> None:
        if not 0 <= threshold <= 1:
            raise UsageError(f"threshold={threshold} must be at least 0 and at most 1")
        self._threshold = threshold
        self._rungs = [_rungs(label, tuple(labels), taxonomy) for label in labels]

    @property
    def keeps_labels(self) -> bool:
        """Whether every label stands, however doubtful."""
        return self._threshold == 0

    def name(self, label: int, posteriors: np.ndarray) -> str:
        """The first name from the label up whose posterior reaches the threshold."""
        sure = (name for name, columns in self._rungs[label] if posteriors[list(columns)].sum() >= self._threshold)
        return next(sure, UNKNOWN)


def _rungs(label: str, labels: tuple[str, ...], taxonomy: Taxonomy | None) -> list[Rung]:
    leaf = (label, (labels.index(label),))
    if taxonomy is None:
        return [leaf]
    above = [taxonomy.node(name) for name in reversed(taxonomy.path(label)[:-1])]
    groups = [(node.name, tuple(labels.index(name) for name in node.labels)) for node in above]
    return [leaf, *(rung for rung in groups if len(rung[1]) < len(labels))]
