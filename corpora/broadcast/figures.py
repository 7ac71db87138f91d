"""What is told of a model: recall and precision of clips by label, source and treatment, as tables of Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from leaves import GROUP_OF, TAXONOMY
from plan import Clip

TOP = tuple(TAXONOMY)
N_BINS = 15
FEWEST = 10  # clips of a source or a treatment that a share is told of
TREATMENTS = {
    "room": "in a room",
    "tilt": "darker or brighter",
    "speed": "faster or slower",
    "noise": "in noise",
    "clipped": "clipped",
    "telephone": "by telephone",
    "mp3": "coded as MP3",
    "low_pass": "without high frequencies",
    "background": "over other sounds",
    "singing": "with a voice made to sing",
    "rap": "with a voice that raps",
    "spoken": "a voice made to speak anew",
    "sung": "a voice made to sing, alone",
    "embed": "a moment of sound",
}


@dataclass(frozen=True, eq=False)
class Judged:
    """Clips with their posteriors over the top labels, (n, 4), what they are, and where they come from."""

    names: np.ndarray
    P: np.ndarray
    y: np.ndarray
    groups: np.ndarray

    @classmethod
    def of_windows(
        cls,
        labels: Sequence[str],
        y: np.ndarray,
        P: np.ndarray,
        clips: Sequence[str],
        groups: np.ndarray,
        combine: Callable[[np.ndarray], np.ndarray],
    ) -> Judged:
        """From posteriors of windows over leaves, summed to top labels; `combine` gives a clip's from its windows'."""
        names, first, which = np.unique(clips, return_index=True, return_inverse=True)
        top = np.array([TOP.index(GROUP_OF[label]) for label in labels])
        summed = np.stack([P[:, top == k].sum(axis=1) for k in range(len(TOP))], axis=1)
        of_clips = np.stack([combine(summed[which == i]) for i in range(len(names))])
        return cls(names, of_clips, top[y[first]], np.asarray(groups)[first])

    def some(self, chosen: np.ndarray) -> Judged:
        """The clips that are chosen."""
        return replace(self, **{name: values[chosen] for name, values in vars(self).items()})

    @property
    def estimated(self) -> np.ndarray:
        """The likeliest label of each clip."""
        return np.asarray(self.P.argmax(axis=1))

    def recall(self, label: int) -> float:
        """The share of the clips of a label that are called so."""
        return float((self.estimated[self.y == label] == label).mean())

    def precision(self, label: int) -> float:
        """The share of what is called a label that is."""
        called = self.estimated == label
        return float((self.y[called] == label).mean()) if called.any() else float("nan")

    @property
    def calibration_error(self) -> float:
        """Expected calibration error of the likeliest label, in 15 bins."""
        sure, right = self.P.max(axis=1), self.estimated == self.y
        bins = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
        gaps = [abs(right[bins == i].mean() - sure[bins == i].mean()) * (bins == i).mean() for i in np.unique(bins)]
        return float(sum(gaps))


def label_table(judged: Judged) -> str:
    """Clips, recall and precision of each label, then the expected calibration error."""
    rows = [
        f"| {label} | {(judged.y == i).sum()} | {judged.recall(i):.3f} | {judged.precision(i):.3f} |"
        for i, label in enumerate(TOP)
        if (judged.y == i).any()
    ]
    head = ["| label | clips | recall | precision |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows, "", f"Expected calibration error of clips: {judged.calibration_error:.3f}."])


def part_table(judged: Judged, parts: Sequence[str], what: str, fewest: int = FEWEST) -> str:
    """For each part and label what its clips were called; `parts` has the part of each clip, empty for none."""
    rows = _rows(judged, parts, fewest)
    return "\n".join([f"| {what} | label | clips | called |", "| --- | --- | --- | --- |", *rows])


def _rows(judged: Judged, parts: Sequence[str], fewest: int = FEWEST) -> Iterator[str]:
    of_clips = np.asarray(parts)
    for part in [name for name in np.unique(of_clips) if name]:
        for i, label in enumerate(TOP):
            called = judged.estimated[(of_clips == part) & (judged.y == i)]
            if len(called) >= fewest:
                shares = [(float((called == k).mean()), name) for k, name in enumerate(TOP)]
                told = ", ".join(
                    f"{name} {share:.2f}" for share, name in sorted(shares, reverse=True) if share >= 0.005
                )
                yield f"| {part} | {label} | {len(called)} | {told} |"


def treatment_table(judged: Judged, plan: dict[str, Clip]) -> str:
    """What clips of each treatment were called; one that met several counts for each."""
    met = [{name for name, _ in plan[clip].treatments if name in TREATMENTS} for clip in judged.names]
    lines = []
    for name, told in (("", "none of these"), *TREATMENTS.items()):
        parts = [told if (name in kinds if name else not kinds) else "" for kinds in met]
        lines += _rows(judged, parts)
    return "\n".join(["| treatment | label | clips | called |", "| --- | --- | --- | --- |", *lines])
