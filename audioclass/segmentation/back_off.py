"""What a doubtful segment is called: its label, the smallest group around it that is sure enough, or unknown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audioclass.errors import UsageError
from audioclass.taxonomy import Taxonomy

UNKNOWN = "unknown"
Step = tuple[str, tuple[int, ...]]  # a name and the columns of the labels below it


class BackOffPath:
    """The names from each label up, smaller groups before larger ones, of all that the label stands in.

    A group that holds every label says nothing and is none of them.
    """

    def __init__(self, labels: Sequence[str], taxonomy: Taxonomy | None, threshold: float) -> None:
        if not 0 <= threshold <= 1:
            raise UsageError(f"threshold={threshold} must be at least 0 and at most 1")
        self._threshold = threshold
        self._steps = [_steps(label, tuple(labels), taxonomy) for label in labels]

    @property
    def keeps_labels(self) -> bool:
        """Whether every label stands, however doubtful."""
        return self._threshold == 0

    def name(self, label: int, posteriors: np.ndarray) -> str:
        """The first name from the label up whose posterior reaches the threshold."""
        sure = (name for name, columns in self._steps[label] if posteriors[list(columns)].sum() >= self._threshold)
        return next(sure, UNKNOWN)


def _steps(label: str, labels: tuple[str, ...], taxonomy: Taxonomy | None) -> list[Step]:
    itself = (label, (labels.index(label),))
    if taxonomy is None:
        return [itself]
    above = [taxonomy.node(name) for name in reversed(taxonomy.path(label)[:-1])]
    groups = [(node.name, tuple(labels.index(leaf) for leaf in node.labels)) for node in above]
    return [itself, *(step for step in groups if len(step[1]) < len(labels))]
