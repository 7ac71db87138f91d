"""Folds for a corpus that has none, or others: groups stay together, every fold has its part of each label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audioclass.data import Corpus
from audioclass.errors import CorpusError
from audioclass.training.folds import fold_count, grouped_folds


def split_corpus(corpus: Corpus, n_folds: int, rng: np.random.Generator) -> Corpus:
    """The same corpus with folds named from 1; groups of the same size are dealt out in the order that `rng` gives."""
    labels = np.array([clip.label for clip in corpus.clips])
    groups = np.array([clip.group for clip in corpus.clips])
    _check_groups(labels, groups, n_folds)
    folds = grouped_folds(labels, groups, n_folds, rng)
    clips = (replace(clip, fold=str(fold + 1)) for clip, fold in zip(corpus.clips, folds, strict=True))
    return replace(corpus, clips=tuple(clips))


def _check_groups(labels: np.ndarray, groups: np.ndarray, n_folds: int) -> None:
    if n_folds < 2:
        raise ValueError(f"n_folds={n_folds} must be at least 2")
    possible = fold_count(labels, groups, n_folds)
    if possible == n_folds:
        return
    label = min(np.unique(labels), key=lambda label: len(np.unique(groups[labels == label])))
    count = f"{possible} group{'s' * (possible > 1)}"
    remedy = f"; {possible} folds are possible" if possible > 1 else ""
    raise CorpusError(f"label {str(label)!r} has {count}, {n_folds} folds need at least {n_folds}{remedy}")
