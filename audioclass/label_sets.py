"""Sets of labels: several that hold at once, written as `music+speech`, and corpora whose segments overlap so.

A multi-label corpus is learnt as classes that exclude one another, one for each set of labels that occurs, the empty
one among them where nothing is heard. `LabelSets` knows which labels each class holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from audioclass.data import Clip, Segment

JOIN = "+"
NO_LABEL = "nothing"  # how a set without labels is shown to people
LEAST_OVERLAP = 0.5  # seconds, or half of the shorter segment: shorter overlaps are of hands that set borders


def members_of(name: str) -> tuple[str, ...]:
    """The labels of a set, sorted; a name with nothing on a side of its `+` is one label, an empty one is none.

    >>> members_of("speech+music"), members_of("C++"), members_of("")
    (('music', 'speech'), ('C++',), ())
    """
    parts = [part.strip() for part in name.split(JOIN)]
    return tuple(sorted(set(parts))) if all(parts) else ((name,) if name else ())


def set_name(labels: Iterable[str]) -> str:
    """The name of a set of labels, the same in whatever order they come."""
    return JOIN.join(sorted(set(labels)))


@dataclass(frozen=True)
class LabelSets:
    """Labels, and sets of them as indices in rising order: the classes that a multi-label strategy plans for."""

    labels: tuple[str, ...]
    sets: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        n = len(self.labels)
        for one in self.sets:
            if list(one) != sorted(set(one)) or any(not 0 <= k < n for k in one):
                raise ValueError(f"label set {list(one)[:9]} must be rising indices below {n}")
        if len(set(self.sets)) < len(self.sets):
            raise ValueError("a label set is there twice")

    @classmethod
    def of_names(cls, names: Sequence[str]) -> LabelSets:
        """Those of classes by their names, in their order; labels are sorted, unless each is a class by itself."""
        members = [members_of(name) for name in names]
        labels = tuple(dict.fromkeys(label for each in members for label in each))
        labels = labels if labels == tuple(names) else tuple(sorted(labels))
        place = {label: k for k, label in enumerate(labels)}
        return cls(labels, tuple(tuple(sorted(place[label] for label in each)) for each in members))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each set."""
        return tuple(JOIN.join(self.labels[k] for k in one) for one in self.sets)

    @cached_property
    def membership(self) -> np.ndarray:
        """(n_sets, n_labels): whether a set holds a label."""
        matrix = np.zeros((len(self.sets), len(self.labels)), bool)
        for row, one in zip(matrix, self.sets, strict=True):
            row[list(one)] = True
        return matrix


def are_multi_label(clips: Sequence[Clip]) -> bool:
    """Whether clips name several labels at once: joined with `+`, or on stretches of one recording that overlap.

    An overlap counts from half a second on, or from half of the shorter clip.
    """
    return any(len(members_of(clip.label)) > 1 for clip in clips) or next(overlaps_of(clips), None) is not None


def overlaps_of(clips: Sequence[Clip]) -> Iterator[tuple[Clip, Clip]]:
    """Pairs of clips of different labels that overlap in one recording, by recording and time."""
    by_file: dict[object, list[Clip]] = {}
    for clip in clips:
        by_file.setdefault(clip.file, []).append(clip)
    for of_file in by_file.values():
        active: list[Clip] = []
        for clip in sorted(of_file, key=lambda one: one.start):
            active = [one for one in active if _end(one) > clip.start]
            yield from ((one, clip) for one in active if one.label != clip.label and _overlap(one, clip))
            active.append(clip)


def labels_of_clips(clips: Iterable[Clip]) -> tuple[str, ...]:
    """Every single label that clips name, sorted."""
    return tuple(sorted({label for clip in clips for label in members_of(clip.label)}))


def window_sets(windows: Sequence[Segment], clips: Sequence[Clip]) -> tuple[list[str], np.ndarray]:
    """The label set of each window of a recording, by name, and whether each clip gave its labels to a window.

    A label holds in a window where its clips cover half of the window, or where one of them that is shorter than the
    window lies in it by half of itself.
    """
    starts, ends = (np.array([getattr(one, name) for one in windows]) for name in ("start", "end"))
    first, last = np.array([clip.start for clip in clips]), np.array([_end(clip) for clip in clips])
    overlaps = np.maximum(np.minimum(ends[:, None], last) - np.maximum(starts[:, None], first), 0.0)
    is_event = (overlaps > 0) & (overlaps >= 0.5 * np.minimum((ends - starts)[:, None], last - first))
    labels, is_used = labels_of_clips(clips), np.zeros(len(clips), bool)
    has = np.zeros((len(windows), len(labels)), bool)
    for k, label in enumerate(labels):
        of = np.flatnonzero([label in members_of(clip.label) for clip in clips])
        covered = _covered(starts, ends, first[of], last[of])
        has[:, k] = is_event[:, of].any(axis=1) | (covered >= 0.5 * (ends - starts))
        is_used[of] |= (overlaps[has[:, k]][:, of] > 0).any(axis=0)
    names = [set_name(label for label, there in zip(labels, row, strict=True) if there) for row in has.tolist()]
    return names, is_used


def single_labels(clips: Iterable[Clip]) -> Iterator[Clip]:
    """The clips, those of several labels once for each."""
    for clip in clips:
        yield from (replace(clip, label=label) for label in members_of(clip.label))


def _covered(starts: np.ndarray, ends: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Seconds of each window that clips of one label cover; where these overlap one another, once."""
    covered, until = np.zeros(len(starts)), starts.copy()
    for clip in np.argsort(first, kind="stable"):
        end = np.minimum(ends, last[clip])
        covered += np.maximum(end - np.maximum(until, first[clip]), 0.0)
        until = np.maximum(until, end)
    return covered


def _overlap(one: Clip, other: Clip) -> bool:
    shared = min(_end(one), _end(other)) - max(one.start, other.start)
    shorter = min(_end(one) - one.start, _end(other) - other.start)
    return shared > 0 and (shared >= LEAST_OVERLAP or shared >= 0.5 * shorter)


def _end(clip: Clip) -> float:
    return float("inf") if clip.end is None else clip.end
