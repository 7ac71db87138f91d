"""The truth of a programme: what is heard in every hundredth of a second, as rows that may overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from mixing import boundaries, frame_levels
from schedule import AUDIBLE, STEP, Item

Row = tuple[float, float, str]  # start, end, label

LABELS = ("speech", "music", "environment", "silence")
HEARD = {
    "speech": ("speech",),
    "music": ("music",),
    "speech_over_music": ("speech", "music"),
    "environment": ("environment",),
}
SILENT = -60.0  # decibels under full scale
SHORTEST_SILENCE, SHORTEST_SOUND = 0.2, 0.1  # seconds


def truth_of(items: Sequence[Item], x: np.ndarray, rate: int) -> list[Row]:
    """Rows of every label, by start."""
    heard = labels_by_step(items, frame_levels(x, rate))
    rows = [
        (start * STEP, end * STEP, label)
        for i, label in enumerate(LABELS)
        for start, end, is_heard in runs(heard[:, i])
        if is_heard
    ]
    return sorted((round(start, 2), round(end, 2), label) for start, end, label in rows)


def labels_by_step(items: Sequence[Item], levels: np.ndarray) -> np.ndarray:
    """Whether each label is heard in each step: what the items say, but silence where the programme is silent."""
    heard = np.zeros((len(levels), len(LABELS)), dtype=bool)
    silent = silent_steps(levels)
    edges = boundaries(items)
    for i, (item, start, end) in enumerate(zip(items, edges[:-1], edges[1:], strict=True)):
        if item.kind != "pause":
            heard[start:end, [LABELS.index(label) for label in HEARD[item.kind]]] = True
            continue
        silent[start:end] |= item.level == AUDIBLE
        middle = (start + end) // 2  # what still sounds in a pause is the tail of a neighbour
        for neighbour, these in ((items[i - 1 : i], slice(start, middle)), (items[i + 1 : i + 2], slice(middle, end))):
            for one in neighbour:
                heard[these, [LABELS.index(label) for label in HEARD[one.kind]]] = True
    heard[silent] = [label == "silence" for label in LABELS]
    return without_moments(heard)


def silent_steps(levels: np.ndarray) -> np.ndarray:
    """Whether a step is in a silence; a moment of sound between two silences does not end it."""
    silent = np.array(levels < SILENT)
    for start, end, is_silent in list(runs(silent)):
        if is_silent and end - start < round(SHORTEST_SILENCE / STEP):
            silent[start:end] = False
    for start, end, is_silent in list(runs(silent)):
        if not is_silent and start > 0 and end < len(silent) and end - start < round(SHORTEST_SOUND / STEP):
            silent[start:end] = True
    return silent


def without_moments(heard: np.ndarray) -> np.ndarray:
    """Sound of less than the shortest length is counted with what comes before it."""
    y = heard.copy()
    changes = np.flatnonzero((y[1:] != y[:-1]).any(axis=1)) + 1
    edges = [0, *changes.tolist(), len(y)]
    for start, end in pairwise(edges):
        if start and end - start < round(SHORTEST_SOUND / STEP):
            y[start:end] = y[start - 1]
    return y


def runs(values: np.ndarray) -> Iterator[tuple[int, int, bool]]:
    """Start, end and value of every run of equal values."""
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    edges = [0, *changes.tolist(), len(values)]
    for start, end in pairwise(edges):
        if end > start:
            yield start, end, bool(values[start])
