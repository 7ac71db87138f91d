from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from audioclass.curation.balance import Amount, corpus_balance, evenness
from audioclass.data import Clip, Corpus

A, B, C = Path("a.wav"), Path("b.wav"), Path("c.wav")


def test_amounts_of_each_label():
    clips = (
        Clip(A, "dog", 1.0, 2.5, "g", "1"),
        Clip(A, "cat", 3.0, None, "g", "1"),
        Clip(B, "dog", group="h", fold="2"),
        Clip(C, "dog", group="h", fold="2"),
    )
    balance = corpus_balance(Corpus(clips), {A: 4.0, B: 2.0})
    assert balance.labels == {
        "cat": Amount(1, 1, 1, 1.0, {"1": 1}),
        "dog": Amount(3, 3, 2, 3.5, {"1": 1, "2": 2}),
    }
    assert balance.whole == Amount(4, 3, 2, 4.5, {"1": 2, "2": 2})
    assert (balance.shortest, balance.median, balance.longest) == (0.0, 1.5, 2.0)


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=20))
def test_evenness_is_the_relative_entropy(counts):
    assert evenness(counts) == pytest.approx(entropy(counts, base=len(counts)))
    assert evenness([7] * len(counts)) == pytest.approx(1)


def test_one_label_is_even():
    assert evenness([5]) == 1.0
