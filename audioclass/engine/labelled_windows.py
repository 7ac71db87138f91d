"""Windows of a recording and the clips that they belong to: which are used, and which clips have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from audioclass.data import Clip, Cut, Features, Segment
from audioclass.label_sets import window_sets

CUT_TOLERANCE = 0.005  # seconds: label files round times


@dataclass(frozen=True, eq=False)
class LabelledWindows:
    """Windows that are used: their rows, the clip of each by its place, and the name of its label or set of labels.

    `are_clips_used` tells which clips gave their label to a window.
    """

    rows: np.ndarray
    owners: np.ndarray
    names: list[str]
    are_clips_used: np.ndarray


@dataclass(frozen=True, eq=False)
class ClippedRecording:
    """The windows of a recording and its clips, with the places of these in their corpus.

    `content` names what the features were computed from; with `cut` the recording is damaged. Where `as_sets`, several
    labels may hold in a window; where the corpus `is_continuous` too, one without a label is an example of that.
    """

    file: Path
    places: Sequence[int]
    clips: Sequence[Clip]
    features: Features
    content: str
    cut: Cut | None
    as_sets: bool = False
    is_continuous: bool = False

    @cached_property
    def are_lost(self) -> np.ndarray:
        """Which clips tell of what is lost with the damage."""
        return np.array([self.cut is not None and reaches_beyond(clip, self.cut) for clip in self.clips])

    @cached_property
    def windows(self) -> LabelledWindows:
        """Those that are used; none of a clip that is lost."""
        return self._windows_of_sets() if self.as_sets else self._windows_of_labels()

    def _windows_of_labels(self) -> LabelledWindows:
        owners = owners_of(self.features.segments, self.clips)
        rows = np.flatnonzero((owners >= 0) & ~self.are_lost[owners])
        owners = owners[rows]
        are_used = np.isin(np.arange(len(self.clips)), owners)
        return LabelledWindows(rows, owners, [self.clips[owner].label for owner in owners], are_used)

    def _windows_of_sets(self) -> LabelledWindows:
        """A window belongs to the clip that it shares most time with; one that a lost clip reaches into is left out."""
        names, are_used = window_sets(self.features.segments, self.clips)
        shared = shared_times(self.features.segments, self.clips)
        is_known = np.array([bool(name) or self.is_continuous for name in names], dtype=bool)
        rows = np.flatnonzero(is_known & ~(shared[:, self.are_lost] > 0).any(axis=1))
        return LabelledWindows(rows, shared[rows].argmax(axis=1), [names[i] for i in rows], are_used)

    @property
    def without_window(self) -> list[int]:
        """The places of clips that no regular window is given to, though what they tell of could be read."""
        are_without = ~self.windows.are_clips_used & ~self.are_lost
        return [place for place, is_without in zip(self.places, are_without, strict=True) if is_without]

    @property
    def damage(self) -> str:
        """What is said of a damaged recording; empty of one that is not."""
        if self.cut is None:
            return ""
        n_clips, n_lost = len(self.clips), int(self.are_lost.sum())
        if n_lost < n_clips:
            used = f"{n_clips - n_lost} of its {n_clips} labelled segments are used, those before"
        else:
            used = "not used, for what is labelled reaches beyond"
        return f"{self.file}: {self.cut.reason}; {used}"


def owners_of(segments: Sequence[Segment], clips: Sequence[Clip]) -> np.ndarray:
    """(n_windows,): which of a recording's clips each window belongs to, -1 for none."""
    starts, ends = (np.array([getattr(s, name) for s in segments]) for name in ("start", "end"))
    first, last = _bounds(clips)
    overlaps = shared_times(segments, clips)
    best = overlaps.argmax(axis=1) if len(segments) else np.empty(0, int)
    rows = np.arange(len(segments))
    enough = 0.5 * np.minimum(ends - starts, (last - first)[best])
    return np.where((overlaps[rows, best] >= enough) & (overlaps[rows, best] > 0), best, -1)


def shared_times(segments: Sequence[Segment], clips: Sequence[Clip]) -> np.ndarray:
    """(n_windows, n_clips): the seconds that each window shares with each clip; below 0 the seconds between them."""
    starts, ends = (np.array([getattr(s, name) for s in segments]) for name in ("start", "end"))
    first, last = _bounds(clips)
    return np.asarray(np.minimum(ends[:, None], last) - np.maximum(starts[:, None], first))


def _bounds(clips: Sequence[Clip]) -> tuple[np.ndarray, np.ndarray]:
    first = np.array([clip.start for clip in clips])
    return first, np.array([np.inf if clip.end is None else clip.end for clip in clips])


def reaches_beyond(clip: Clip, cut: Cut) -> bool:
    """Whether a part of the clip is lost with what could not be read."""
    return clip.end is None or clip.end > cut.seconds + CUT_TOLERANCE
