"""Posteriors over time as a page can draw them: a bounded number of columns and of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.data import Posteriors, Segment

MOST_COLUMNS = 20_000
MOST_LABELS = 24
OTHERS = "other labels"


@dataclass(frozen=True, eq=False)
class Curves:
    """Means over neighbouring windows: column j of `values` is `labels[j]`, row i lies from `edges[i]` to the next."""

    labels: tuple[str, ...]
    edges: np.ndarray
    values: np.ndarray


def curves_of(posteriors: Posteriors, most_columns: int = MOST_COLUMNS, most_labels: int = MOST_LABELS) -> Curves:
    """The largest labels of a recording, the rest of them together, at as many moments as can be drawn."""
    labels, P = _largest(posteriors, most_labels)
    each = max(-(-len(P) // most_columns), 1)  # windows in one column
    firsts = np.arange(0, len(P), each)
    counts = np.diff([*firsts, len(P)])
    values = np.add.reduceat(P, firsts, axis=0) / counts[:, None] if len(P) else P
    edges = _edges(posteriors.segments)
    return Curves(labels, edges[[*firsts, len(P)]] if len(P) else edges, values)


def _largest(posteriors: Posteriors, most: int) -> tuple[tuple[str, ...], np.ndarray]:
    """In their own order; the others come last, as one."""
    if len(posteriors.labels) <= most:
        return posteriors.labels, posteriors.P
    mass = posteriors.P.sum(axis=0)
    largest = np.sort(np.argsort(-mass, kind="stable")[: most - 1])
    if posteriors.independent:  # there is no rest that they share
        return tuple(posteriors.labels[index] for index in largest), posteriors.P[:, largest]
    others = 1 - posteriors.P[:, largest].sum(axis=1, keepdims=True)
    labels = (*(posteriors.labels[index] for index in largest), OTHERS)
    return labels, np.hstack([posteriors.P[:, largest], np.maximum(others, 0)])


def _edges(windows: Sequence[Segment]) -> np.ndarray:
    """Borders midway between the centres of windows, the first start and the last end around them."""
    if not windows:
        return np.zeros(1)
    centres = np.array([(window.start + window.end) / 2 for window in windows])
    return np.array([windows[0].start, *((centres[1:] + centres[:-1]) / 2), windows[-1].end])
