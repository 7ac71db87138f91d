"""How long labelled segments and recordings last: what windows must fit, and what a model remembers of its corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.audio.decode import open_audio
from audioclass.data import Clip
from audioclass.errors import AudioclassError

PART = 0.9  # of its recording: a segment that is longer is the recording, but for what its label file rounded
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class Durations:
    """Seconds of labelled segments and of recordings; each segment with its label and whether it is a part of one.

    What cannot be known, because no header says it, is not among them.
    """

    segments: np.ndarray
    labels: tuple[str, ...]
    are_parts: np.ndarray
    recordings: np.ndarray

    @classmethod
    def of(cls, clips: Sequence[Clip], lengths: Mapping[Path, float]) -> Durations:
        """Those of clips of recordings of these lengths; what lies beyond the end of a recording does not count."""
        known = [(clip, *_seconds(clip, lengths.get(clip.file))) for clip in clips]
        sounding = [(clip.label, seconds, is_part) for clip, seconds, is_part in known if seconds > 0]
        files = dict.fromkeys(clip.file for clip in clips)
        return cls(
            np.array([seconds for _, seconds, _ in sounding], float),
            tuple(label for label, _, _ in sounding),
            np.array([is_part for _, _, is_part in sounding], bool),
            np.array([lengths[file] for file in files if file in lengths], float),
        )

    def to_plain(self) -> dict[str, Any]:
        """As a model keeps it: quantiles, and the mean of each label's segments."""
        names = np.array(self.labels)
        means = {label: _rounded(self.segments[names == label].mean()) for label in sorted(set(self.labels))}
        return {
            "segments": _quantiles(self.segments),
            "recordings": _quantiles(self.recordings),
            "labels": means,
            "parts": _rounded(self.are_parts.mean()) if len(self.are_parts) else 0.0,
        }


def stated_lengths(files: Iterable[Path]) -> dict[Path, float]:
    """The seconds of recordings that say how long they are in their head."""
    return {file: length for file in files if (length := _stated_length(file))}


def _stated_length(file: Path) -> float:
    """Seconds; 0 where the file does not say it or cannot be read."""
    try:
        with open_audio(file, strict=False) as audio:
            return audio.declared / audio.sample_rate if audio.declared else 0.0
    except (AudioclassError, OSError):  # whoever extracts it says what is wrong
        return 0.0


@dataclass(frozen=True)
class TrainedDurations:
    """What a model remembers of how long its labelled segments and recordings lasted; empty where it is older."""

    segments: Mapping[str, float] = field(default_factory=dict)
    recordings: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, float] = field(default_factory=dict)
    parts: float = 0.0
    hop_is_stated: bool = False

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> TrainedDurations:
        """From what a model says of itself, as far as it is known here."""
        stated = about.get("durations", {})
        return cls(**{each.name: stated[each.name] for each in fields(cls) if each.name in stated})


def with_added_labels(before: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """What a model that is added to keeps of durations: its own, and those of new labels; nothing where it had none."""
    if not before:
        return {}
    return {**before, "labels": {**added.get("labels", {}), **before.get("labels", {})}}


def _seconds(clip: Clip, length: float | None) -> tuple[float, bool]:
    """How long a clip is and whether it is a part of its recording; 0 where that is not known, or nothing of it is."""
    end = min(np.inf if clip.end is None else clip.end, np.inf if length is None else length)
    if end == np.inf:
        return 0.0, False
    is_stated = clip.start > 0 or clip.end is not None
    is_part = is_stated and (length is None or end - clip.start < PART * length)
    return max(end - clip.start, 0.0), is_part


def _quantiles(seconds: np.ndarray) -> dict[str, float]:
    if not len(seconds):
        return {}
    return {f"{q:g}": _rounded(value) for q, value in zip(QUANTILES, np.quantile(seconds, QUANTILES), strict=True)}


def _rounded(value: float) -> float:
    return float(round(float(value), 3))
