"""How well segments agree with the truth of programmes: frames, boundaries, silences and overlaps.

A row is (start, end, label) in seconds. Rows may overlap, and labels may be joined with `+`; where one label is wanted,
silence goes before speech, speech before music and music before the rest. Everything is looked at in steps of 10 ms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

Row = tuple[float, float, str]

STEP = 0.01  # seconds
ORDER = ("silence", "speech", "music")  # what one label is taken from several
NOTHING = ""  # where no row is
TOLERANCES = (0.2, 0.5, 1.0)  # seconds
LENGTHS = ((0.2, 0.5), (0.5, 1.0), (1.0, 3.0), (3.0, 10.0))  # seconds of silences
EDGE, COVERED = 0.1, 0.8  # a silence is found with both edges within so many seconds and this share of it silent
BESIDE = (0.5, 1.5)  # seconds from a boundary, where the labels on its two sides are looked at
ROUNDING = 1e-6


@dataclass(frozen=True)
class Pause:
    """A silence that was put into a programme; its level is in decibels, minus infinity for digital zero."""

    start: float
    end: float
    level: float


@dataclass(frozen=True)
class Silence:
    """A silence of the truth; `level` is that of the pause it is in, None where a source pauses by itself."""

    start: float
    end: float
    level: float | None

    @property
    def duration(self) -> float:
        return self.end - self.start


# Rows on the grid.


def steps_of(rows: Sequence[Row], n_steps: int) -> dict[str, np.ndarray]:
    """For each label whether it is heard in each step."""
    heard: dict[str, np.ndarray] = {}
    for start, end, joined in rows:
        for label in joined.split("+"):
            is_heard = heard.setdefault(label, np.zeros(n_steps, dtype=bool))
            is_heard[_step(start) : _step(end)] = True
    return heard


def one_label(rows: Sequence[Row], n_steps: int) -> np.ndarray:
    """The label of each step, one only."""
    heard = steps_of(rows, n_steps)
    labels = np.full(n_steps, NOTHING, dtype=object)
    for label in [*sorted(heard.keys() - {*ORDER}), *(label for label in reversed(ORDER) if label in heard)]:
        labels[heard[label]] = label
    return labels


def segments_of(labels: np.ndarray) -> list[Row]:
    """Runs of one label, nothing left out but where there is none."""
    edges = [0, *(np.flatnonzero(labels[1:] != labels[:-1]) + 1).tolist(), len(labels)]
    runs = [(start, end) for start, end in pairwise(edges) if end > start and labels[start] != NOTHING]
    return [(start * STEP, end * STEP, labels[start]) for start, end in runs]


def without_silence(labels: np.ndarray) -> np.ndarray:
    """Steps that sound or have no label at all; those around a silence then touch."""
    return labels[labels != "silence"]


def _step(seconds: float) -> int:
    return round(seconds / STEP)


# Frames.


def frame_accuracy(reference: np.ndarray, estimated: np.ndarray) -> float:
    """Share of the labelled steps that have their label."""
    counted = reference != NOTHING
    return float((reference == estimated)[counted].mean())


def frame_recalls(reference: np.ndarray, estimated: np.ndarray) -> dict[str, float]:
    """The same for the steps of each label."""
    labels = sorted({*reference.tolist()} - {NOTHING})
    return {label: float((estimated == label)[reference == label].mean()) for label in labels}


def f1(reference: np.ndarray, estimated: np.ndarray) -> float:
    """Of steps where something is against steps where it was found; 1 where it neither is nor was found."""
    total = reference.sum() + estimated.sum()
    return float(2 * (reference & estimated).sum() / total) if total else 1.0


def overlap_f1(reference: Sequence[Row], estimated: Sequence[Row], n_steps: int) -> float:
    """F1 of the steps in which speech and music are heard together."""
    return f1(_together(reference, n_steps), _together(estimated, n_steps))


def _together(rows: Sequence[Row], n_steps: int) -> np.ndarray:
    heard, never = steps_of(rows, n_steps), np.zeros(n_steps, dtype=bool)
    return heard.get("speech", never) & heard.get("music", never)


# Boundaries.


def boundaries(labels: np.ndarray, *, silence: bool = True) -> np.ndarray:
    """Times at which one label follows another, without those next to a silence if these are not wanted."""
    before, after = labels[:-1], labels[1:]
    changes = (before != after) & (before != NOTHING) & (after != NOTHING)
    if not silence:
        changes &= (before != "silence") & (after != "silence")
    return (np.flatnonzero(changes) + 1) * STEP


def told(times: np.ndarray, reference: np.ndarray, estimated: np.ndarray) -> np.ndarray:
    """The boundaries whose two labels were found beside them: in most of the second that lies half a second away."""
    near, far = (round(seconds / STEP) for seconds in BESIDE)
    is_right = [
        _mostly(estimated[max(i - far, 0) : max(i - near, 0)], reference[i - 1])
        and _mostly(estimated[i + near : i + far], reference[i])
        for i in np.rint(times / STEP).astype(int)
    ]
    return times[np.array(is_right, bool)]


def _mostly(labels: np.ndarray, label: str) -> bool:
    return bool((labels == label).sum() > len(labels) / 2)


def distances(times: np.ndarray, others: np.ndarray) -> np.ndarray:
    """From each time to the nearest of the others; infinite where there is none."""
    if not len(others):
        return np.full(len(times), np.inf)
    after = np.searchsorted(others, times)
    to_next = others[np.minimum(after, len(others) - 1)]
    to_last = others[np.maximum(after - 1, 0)]
    return np.minimum(np.abs(to_next - times), np.abs(to_last - times))


def share_within(distance: np.ndarray, tolerance: float) -> float:
    """Share of the distances that are within the tolerance; 1 of none."""
    return float((distance <= tolerance + ROUNDING).mean()) if len(distance) else 1.0


def put_in_only(labels: np.ndarray, sounds: np.ndarray, pauses: Sequence[Pause]) -> np.ndarray:
    """Labels without the pauses that sources make by themselves, which get the label of what pauses."""
    kept = labels.copy()
    for start, end, label in segments_of(labels):
        if label == "silence" and _level(start, end, pauses) is None:
            kept[_step(start) : _step(end)] = sounds[_step(start) : _step(end)]
    return kept


# Silences.


def silences(labels: np.ndarray, pauses: Sequence[Pause]) -> list[Silence]:
    """The silences of the truth and the levels of those that were put in."""
    return [Silence(s, e, _level(s, e, pauses)) for s, e, label in segments_of(labels) if label == "silence"]


def are_found(truth: Sequence[Silence], estimated: np.ndarray) -> np.ndarray:
    """Whether most of each silence was found silent, with an edge near each of its own."""
    silent = np.concatenate([[False], estimated == "silence", [False]]).astype(int)
    first, last = (np.array([_step(time) for time in times]) for times in _edges(truth))
    covered = np.cumsum(silent)
    share = (covered[last] - covered[first]) / (last - first)
    starts, ends = (np.flatnonzero(np.diff(silent) == sign) * STEP for sign in (1, -1))
    at_start, at_end = distances(first * STEP, starts), distances(last * STEP, ends)
    return (share >= COVERED) & (np.maximum(at_start, at_end) <= EDGE + ROUNDING)


def silence_recall(truth: Sequence[Silence], estimated: np.ndarray) -> float | None:
    """Share that was found; None of none."""
    return float(are_found(truth, estimated).mean()) if truth else None


def _edges(truth: Sequence[Silence]) -> tuple[list[float], list[float]]:
    return [silence.start for silence in truth], [silence.end for silence in truth]


def _level(start: float, end: float, pauses: Sequence[Pause]) -> float | None:
    """The level of the pause that a silence has most in common with."""
    common = [(min(end, pause.end) - max(start, pause.start), pause.level) for pause in pauses]
    longest, level = max(common, default=(0.0, 0.0))
    return level if longest > ROUNDING else None
