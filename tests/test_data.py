from pathlib import Path

import numpy as np
import pytest

from audioclass.data import Block, Clip, Corpus, Features, Framing, Posteriors, Result, Segment


def test_arrays_cannot_be_changed_through_a_value():
    samples = np.zeros((4, 1))
    block = Block(samples, 8000)
    with pytest.raises(ValueError, match="read-only"):
        block.samples[0] = 1
    samples[0] = 1  # the caller's own array stays its own


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Block(np.zeros(4), 8000), "must have 2 axes"),
        (lambda: Block(np.zeros((4, 1)), 0), "sample_rate=0 must be positive"),
        (lambda: Framing(16000, 512, 0), "hop_length=0 must be positive"),
        (lambda: Features(np.zeros((2, 2)), ("a",), ("g",), ()), "2 columns of values, 1 names"),
        (lambda: Features(np.zeros((2, 2)), ("a", "a"), ("g", "g"), ()), "column 'a' is named twice"),
        (lambda: Features(np.zeros((2, 1)), ("a",), (), ()), "1 columns, 0 groups"),
        (lambda: Features(np.zeros((2, 1)), ("a",), ("g",), ()), "0 segments for 2 rows"),
        (lambda: Segment(4.1, 3.2), "end 3.2 is before start 4.1"),
        (lambda: Segment(0.0, float("nan")), "no time"),
        (lambda: Posteriors(np.ones((1, 2)), ("a", "b"), (Segment(0, 1),)), "sum to 1"),
        (lambda: Posteriors(np.array([[1.5, -0.5]]), ("a", "b"), (Segment(0, 1),)), "at least 0"),
        (lambda: Posteriors(np.full((1, 2), np.nan), ("a", "b"), (Segment(0, 1),)), "at least 0"),
        (lambda: Posteriors(np.ones((1, 1)), ("a", "b"), (Segment(0, 1),)), "segments by labels"),
        (lambda: Result(("f",), (), np.empty((0, 1)), ("a",)), "1 files for 0 segments"),
        (lambda: Result((), (), np.empty((0, 2)), ("a",)), "must have"),
        (lambda: Clip(Path("a.wav"), "a", 2.0, 1.0), "end 1.0 is before start 2.0"),
        (lambda: Clip(Path("a.wav"), "a", -1.0), "start -1.0 must be"),
        (lambda: Clip(Path("a.wav"), "a", weight=0.0), "weight=0.0 must be positive"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_posterior_of_a_group_is_the_sum_over_its_labels():
    posteriors = Posteriors(np.array([[0.2, 0.3, 0.5]]), ("cat", "dog", "engine"), (Segment(0, 1),))
    assert posteriors.of_group(["cat", "dog"]) == pytest.approx([0.5])


def test_labels_of_a_corpus_are_sorted():
    corpus = Corpus((Clip(Path("1.wav"), "speech"), Clip(Path("2.wav"), "music"), Clip(Path("3.wav"), "speech")))
    assert corpus.labels == ("music", "speech")


def test_paths_of_a_result_default_to_the_labels():
    assert Result((), (), np.empty((0, 2)), ("a", "b")).paths == (("a",), ("b",))


def test_frame_rate_and_duration():
    assert Framing(16000, 512, 160).frame_rate == 100.0
    assert Segment(1.0, 2.5).duration == 1.5


def features(n_rows, first=0):
    X = np.arange(first, first + 2.0 * n_rows).reshape(n_rows, 2)
    return Features(X, ("a", "b"), ("g", "g"), tuple(Segment(first + i, first + i + 1) for i in range(n_rows)))


def test_features_cut_and_joined_are_the_same():
    all_rows = features(5)
    parts = [all_rows.rows(slice(2)), all_rows.rows(slice(2, 2)), all_rows.rows(slice(2, None))]
    assert [len(part.X) for part in parts] == [2, 0, 3]
    again = Features.joined(parts, ("a", "b"), ("g", "g"))
    assert np.array_equal(again.X, all_rows.X)
    assert again.segments == all_rows.segments


def test_no_chunks_are_no_rows():
    assert Features.joined([], ("a", "b"), ("g", "g")).X.shape == (0, 2)
