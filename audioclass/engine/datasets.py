"""Labelled windows of a corpus, and what is known of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from audioclass.data import Clip, Ignored, Segment
from audioclass.label_sets import LabelSets, members_of


@dataclass(frozen=True, eq=False)
class Dataset:
    """Windows of a corpus: (n, d) features, and for each row its clip, segment and what the clip says of it.

    `labels` are sorted and give `y` its meaning; `failures` are recordings that could not be used, with the reason.
    `remarks` say what else of the corpus was not used, `lost` are labels whose recordings could not be read.
    `contents` are digests of the files; `missing` are those of the failures that are not there, with their labels.
    `are_separate` tells which windows were cut for one clip alone, None where none was; `lengths` are those of the
    files in seconds.
    Of a multi-label corpus `sets` names for each row the labels that hold in it, `music+speech`, and `labels` are the
    names of the sets that occur; the clip of a row is then the one that it shares most time with.
    """

    X: np.ndarray
    labels: tuple[str, ...]
    clips: tuple[Clip, ...]
    which: np.ndarray
    segments: tuple[Segment, ...]
    failures: tuple[tuple[Path, str], ...]
    fingerprint: str
    remarks: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    contents: Mapping[Path, bytes] = field(default_factory=dict)
    missing: tuple[Ignored, ...] = ()
    are_separate: np.ndarray | None = None
    lengths: Mapping[Path, float] = field(default_factory=dict)
    sets: tuple[str, ...] | None = None

    @classmethod
    def empty(cls, n_features: int) -> Dataset:
        """No window at all."""
        return cls(np.empty((0, n_features)), (), (), np.empty(0, dtype=int), (), (), "")

    @cached_property
    def y(self) -> np.ndarray:
        """The label index of each row."""
        return self.y_among(self.labels)

    def y_among(self, labels: Sequence[str]) -> np.ndarray:
        """The index of each row's label among these."""
        place = {label: i for i, label in enumerate(labels)}
        if self.sets is not None:
            return np.array([place.get(name, -1) for name in self.sets], dtype=int)
        return np.asarray(np.array([place.get(clip.label, -1) for clip in self.clips], dtype=int)[self.which])

    @property
    def is_multi_label(self) -> bool:
        """Whether several labels may hold in a window."""
        return self.sets is not None

    @cached_property
    def label_sets(self) -> LabelSets:
        """The single labels, and the set of them that each of `labels` is."""
        return LabelSets.of_names(self.labels)

    @property
    def single_labels(self) -> tuple[str, ...]:
        """What a model of it gives probabilities of."""
        return self.label_sets.labels if self.is_multi_label else self.labels

    def holds_among(self, labels: Sequence[str]) -> np.ndarray:
        """(n, n_labels): whether each of these single labels holds in a row."""
        names = [self.clips[i].label for i in self.which] if self.sets is None else self.sets
        members = {name: np.isin(labels, members_of(name)) for name in set(names)}
        return np.array([members[name] for name in names]).reshape(len(names), len(labels))

    def as_sets(self) -> Dataset:
        """The same as of a multi-label corpus, whatever it is."""
        return self if self.is_multi_label else replace(self, sets=tuple(self.clips[i].label for i in self.which))

    @cached_property
    def groups(self) -> np.ndarray:
        """The group of each row as text; a recording where the corpus names none."""
        return np.asarray(np.array([clip.held_out_with for clip in self.clips])[self.which])

    @cached_property
    def folds(self) -> np.ndarray:
        """The fold that the corpus states for each row, empty where it states none."""
        return np.asarray(np.array([clip.fold for clip in self.clips])[self.which])

    @cached_property
    def weights(self) -> np.ndarray:
        """The weight of each row."""
        return np.asarray(np.array([clip.weight for clip in self.clips])[self.which])

    @cached_property
    def clip_names(self) -> list[str]:
        """What each row is a window of: the file, with the times of its clip where that is a part of it.

        Of a multi-label corpus, with those of the stretch in which the same labels hold.
        """
        if self.sets is not None:
            return self._stretch_names(self.sets)
        names = [clip_name(clip) for clip in self.clips]
        return [names[i] for i in self.which]

    def _stretch_names(self, sets: Sequence[str]) -> list[str]:
        names: list[str] = []
        before: tuple[Path, str] | None = None
        for i, (which, name) in enumerate(zip(self.which.tolist(), sets, strict=True)):
            file = self.clips[which].file
            is_new = before != (file, name)
            names.append(f"{file}#t={self.segments[i].start:g}" if is_new else names[-1])
            before = file, name
        return names

    def label_sequences(self, hop: float) -> list[np.ndarray]:
        """The label indices of successive windows, for each stretch of a recording that several clips share.

        A stretch ends where more than `hop` seconds lie between windows: only those that follow one another at once, as
        they do where a recording is classified, tell how labels follow one another.
        """
        if self.are_separate is not None:  # they lie among the others, at times of their own
            return replace(self.take(np.flatnonzero(~self.are_separate)), are_separate=None).label_sequences(hop)
        files = np.unique([str(clip.file) for clip in self.clips], return_inverse=True)[1][self.which]
        starts = np.array([segment.start for segment in self.segments])
        order = np.lexsort((starts, files))
        is_break = (np.diff(files[order]) != 0) | (np.diff(starts[order]) > 1.5 * hop)
        stretches = np.split(order, np.flatnonzero(is_break) + 1)
        return [self.y[rows] for rows in stretches if len(np.unique(self.which[rows])) > 1]

    def take(self, rows: np.ndarray) -> Dataset:
        """Some of the rows; labels and clips stay."""
        segments = tuple(self.segments[i] for i in rows)
        are_separate = None if self.are_separate is None else self.are_separate[rows]
        sets = None if self.sets is None else tuple(self.sets[i] for i in rows)
        return replace(
            self, X=self.X[rows], which=self.which[rows], segments=segments, are_separate=are_separate, sets=sets
        )

    def regrouped(self, names: Mapping[str, str]) -> Dataset:
        """The same with other names of some groups; those of one name are one group."""
        if not names:
            return self
        clips = (replace(clip, group=names.get(clip.held_out_with, clip.group)) for clip in self.clips)
        return replace(self, clips=tuple(clips))

    def remarked(self, remarks: Sequence[str]) -> Dataset:
        """The same with further remarks."""
        return replace(self, remarks=(*self.remarks, *remarks))

    def among(self, labels: Sequence[str]) -> Dataset:
        """The same windows, their labels counted among these."""
        return replace(self, labels=tuple(labels))


def clip_name(clip: Clip) -> str:
    """The file, with the times of the clip where that is a part of it."""
    if clip.end is None and clip.start == 0:
        return str(clip.file)
    return f"{clip.file}#t={clip.start:g},{'' if clip.end is None else f'{clip.end:g}'}"
