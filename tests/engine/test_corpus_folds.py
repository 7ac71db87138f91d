"""Which fold each clip and window is in."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.data import Clip, Segment
from audioclass.engine.corpus_folds import folds_of
from audioclass.engine.datasets import Dataset
from audioclass.errors import CorpusError, UsageError


def labelled_of(clips):
    """Two windows of each clip."""
    which = np.repeat(np.arange(len(clips)), 2)
    segments = tuple(Segment(float(i % 2), i % 2 + 1.0) for i in range(len(which)))
    labels = tuple(sorted({clip.label for clip in clips}))
    return Dataset(np.zeros((len(which), 1)), labels, tuple(clips), which, segments, (), "")


def entries_of(groups, labels, folds=None):
    folds = folds or [""] * len(groups)
    return [
        Clip(Path(f"{i}.wav"), label, group=group, fold=fold)
        for i, (group, label, fold) in enumerate(zip(groups, labels, folds, strict=True))
    ]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=4, max_size=30), st.integers(2, 6))
def test_folds_never_part_a_group(members, n_folds):
    clips = entries_of([f"g{group}" for group, _ in members], ["ab"[is_a] for _, is_a in members])
    labelled = labelled_of(clips)
    if min(len({e.group for e in clips if e.label == label}) for label in labelled.labels) < 2:
        return
    folds = folds_of(labelled, str(n_folds))
    for group in set(labelled.groups):
        assert len(set(folds[labelled.groups == group])) == 1
    for clip in set(labelled.clip_names):
        assert len({fold for fold, other in zip(folds, labelled.clip_names, strict=True) if other == clip}) == 1


def test_folds_of_the_corpus_are_taken_where_it_states_them():
    labelled = labelled_of(entries_of("abcd", "xyxy", ["1", "1", "2", "2"]))
    assert folds_of(labelled).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert len(set(folds_of(labelled, "groups"))) == 4
    assert len(set(folds_of(labelled, "2"))) == 2


@pytest.mark.parametrize(
    ("clips", "said", "message"),
    [
        (entries_of("abcd", "xxyy", ["1"] * 4), "auto", "a single one of its folds, at least 2 are needed"),
        (entries_of("aaaa", "xxyy"), "groups", "a single one of its groups, at least 2 are needed"),
        (entries_of("aabc", "xxyy"), "3", "label 'x' has a single group, at least 2 are needed for folds"),
        (entries_of("aabb", "xxyy"), "3", "labels 'x', 'y' have a single group, at least 2 are needed for folds"),
    ],
    ids=["one fold", "one group", "short label", "short labels"],
)
def test_folds_that_cannot_be_are_one_line(clips, said, message):
    with pytest.raises(CorpusError, match=message):
        folds_of(labelled_of(clips), said)


@pytest.mark.parametrize("said", ["1", "many", "-3", "2.5"])
def test_folds_are_a_number_or_a_word(said):
    with pytest.raises(UsageError, match=f"folds '{said}' must be 'auto', 'groups' or a number from 2 on"):
        folds_of(labelled_of(entries_of("abcd", "xyxy")), said)
