"""How much there is of each label: clips, recordings, groups, seconds, folds, and how even it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from audioclass.data import Clip, Corpus


@dataclass(frozen=True)
class Amount:
    """What there is of one label, or of all; `folds` counts the clips of each fold."""

    clips: int
    recordings: int
    groups: int
    seconds: float
    folds: Mapping[str, int]


@dataclass(frozen=True)
class Balance:
    """Amounts of the whole corpus and of each label.

    `evenness` is the entropy of the labels over that of as many even ones: 1 where all have as many clips.
    """

    whole: Amount
    labels: Mapping[str, Amount]
    evenness: float
    shortest: float
    median: float
    longest: float


def corpus_balance(corpus: Corpus, seconds: Mapping[Path, float]) -> Balance:
    """The amounts of a corpus, from the length of each recording; one that is missing counts as nothing."""
    measured = [(clip, _length(clip, seconds)) for clip in corpus.clips]
    by_label: dict[str, list[tuple[Clip, float]]] = {label: [] for label in corpus.labels}
    for clip, length in measured:
        by_label[clip.label].append((clip, length))
    labels = {label: _amount(pairs) for label, pairs in by_label.items()}
    ordered = sorted(length for _, length in measured)
    return Balance(
        whole=_amount(measured),
        labels=labels,
        evenness=evenness([amount.clips for amount in labels.values()]),
        shortest=ordered[0],
        median=ordered[len(ordered) // 2],
        longest=ordered[-1],
    )


def evenness(counts: Sequence[int]) -> float:
    """Entropy of the counts over its largest value, in [0, 1]."""
    if len(counts) < 2:
        return 1.0
    total = sum(counts)
    return -sum(n / total * math.log(n / total) for n in counts) / math.log(len(counts))


def _length(clip: Clip, seconds: Mapping[Path, float]) -> float:
    end = seconds.get(clip.file, 0.0) if clip.end is None else clip.end
    return max(end - clip.start, 0.0)


def _amount(pairs: Sequence[tuple[Clip, float]]) -> Amount:
    clips = [clip for clip, _ in pairs]
    folds = Counter(clip.fold for clip in clips if clip.fold)
    return Amount(
        clips=len(clips),
        recordings=len({clip.file for clip in clips}),
        groups=len({clip.group for clip in clips}),
        seconds=math.fsum(length for _, length in pairs),
        folds={fold: folds[fold] for fold in sorted(folds, key=lambda fold: (len(fold), fold))},
    )
