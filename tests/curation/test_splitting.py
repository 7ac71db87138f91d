from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.curation.splitting import split_corpus
from audioclass.data import Clip, Corpus
from audioclass.errors import CorpusError


def corpus_of(pairs):
    return Corpus(tuple(Clip(Path(f"{i}.wav"), label, group=group) for i, (label, group) in enumerate(pairs)))


pairs = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30).map(str)), min_size=1, max_size=80).map(
    lambda drawn: [*drawn, *((label, f"{label}{i}") for label in "abc" for i in range(4))]
)


@given(pairs, st.integers(2, 4), st.integers(0, 5))
def test_groups_stay_together_and_no_fold_is_empty(drawn, n_folds, seed):
    corpus = corpus_of(drawn)
    made = split_corpus(corpus, n_folds, np.random.default_rng(seed))
    folds = {}
    for before, after in zip(corpus.clips, made.clips, strict=True):
        assert (before.file, before.label, before.group) == (after.file, after.label, after.group)
        assert folds.setdefault(after.group, after.fold) == after.fold
    assert set(folds.values()) == {str(fold + 1) for fold in range(n_folds)}


def test_labels_are_spread_evenly():
    corpus = corpus_of([(label, f"{label}{i // 2}") for label, n in (("a", 40), ("b", 20)) for i in range(n)])
    made = split_corpus(corpus, 5, np.random.default_rng(3))
    counts = Counter((clip.label, clip.fold) for clip in made.clips)
    assert {count for (label, _), count in counts.items() if label == "a"} == {8}
    assert {count for (label, _), count in counts.items() if label == "b"} == {4}


def test_a_label_with_too_few_groups_is_named():
    corpus = corpus_of([("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("b", "2"), ("b", "2")])
    with pytest.raises(CorpusError, match="label 'b' has 2 groups, 3 folds need at least 3; 2 folds are possible"):
        split_corpus(corpus, 3, np.random.default_rng(0))
    with pytest.raises(CorpusError, match="label 'a' has 1 group, 2 folds need at least 2$"):
        split_corpus(corpus_of([("a", "1"), ("a", "1")]), 2, np.random.default_rng(0))


def test_one_fold_is_none():
    with pytest.raises(ValueError, match="n_folds=1 must be at least 2"):
        split_corpus(corpus_of([("a", "1")]), 1, np.random.default_rng(0))
