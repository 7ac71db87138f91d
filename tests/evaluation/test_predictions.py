import numpy as np
import pytest
from answers import LABELS, drawn

from audioclass.data import Segment
from audioclass.evaluation.predictions import Predictions

P = np.array([[0.6, 0.4], [0.9, 0.1], [0.2, 0.8]])


def test_what_is_not_given_is_filled_in():
    answers = Predictions.of(("a", "b"), [0, 1, 1], P, files=np.array(["x.wav", "x.wav", "y.wav"]))
    assert list(answers.estimated) == [0, 0, 1]
    assert list(answers.is_right) == [True, False, True]
    assert list(answers.weights) == [1, 1, 1]
    assert list(answers.groups) == ["x.wav", "x.wav", "y.wav"]


def test_without_files_each_example_is_its_own_group():
    assert len(set(Predictions.of(("a", "b"), [0, 1, 1], P).groups)) == 3


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        Predictions.of(("a", "b"), [0, 1, 1], P).P[0, 0] = 1


def test_windows_of_a_recording_are_pooled_by_their_mean():
    segments = [Segment(0, 1), Segment(1, 2), Segment(0, 1)]
    answers = Predictions.of(
        ("a", "b"), [1, 1, 1], P, files=("é.wav", "é.wav", "b.wav"), segments=segments, weights=[1, 3, 2]
    )
    together = answers.per_recording()
    assert together.files == ("é.wav", "b.wav")
    np.testing.assert_allclose(together.P, [[0.825, 0.175], [0.2, 0.8]])
    assert list(together.weights) == [2, 2]
    assert together.segments == (Segment(0, 2), Segment(0, 1))


def test_another_way_of_pooling_can_be_handed_in():
    answers = Predictions.of(("a", "b"), [1, 1, 1], P, files=["x"] * 3)
    together = answers.per_recording(lambda rows, weights: rows[-1])
    np.testing.assert_array_equal(together.P, P[2:])


def test_a_recording_of_several_labels_counts_once_for_each():
    answers = Predictions.of(("a", "b"), [0, 1, 1], P, files=["x"] * 3)
    together = answers.per_recording()
    assert list(together.y) == [0, 1]
    np.testing.assert_allclose(together.P, [[0.6, 0.4], [0.55, 0.45]])


def test_decisions_that_are_not_the_most_probable_are_put_to_the_vote():
    answers = Predictions.of(("a", "b"), [1, 1, 1], P, files=["x"] * 3, decisions=[1, 0, 1])
    assert list(answers.per_recording().estimated) == [1]
    tied = Predictions.of(("a", "b"), [1, 1], P[:2], files=["x"] * 2, decisions=[1, 0])
    assert list(tied.per_recording().estimated) == [0]


def test_recordings_of_one_window_are_their_windows():
    y, posteriors = drawn(12)
    answers = Predictions.of(LABELS, y, posteriors, files=[f"{row:02}.wav" for row in range(12)])
    together = answers.per_recording()
    np.testing.assert_array_equal(together.P, answers.P)
    np.testing.assert_array_equal(together.y, answers.y)


def test_recordings_without_weight_have_the_plain_mean():
    answers = Predictions.of(("a", "b"), [1, 1, 1], P, files=["x", "x", "y"], weights=[0, 0, 1])
    np.testing.assert_allclose(answers.per_recording().P[0], [0.75, 0.25])


def test_taking_rows_takes_everything_of_them():
    answers = Predictions.of(
        ("a", "b"), [0, 1, 1], P, files=["x", "y", "z"], segments=[Segment(0, s) for s in (1, 2, 3)]
    )
    some = answers.take(np.array([2, 0]))
    assert some.files == ("z", "x")
    assert [segment.end for segment in some.segments] == [3, 1]
    np.testing.assert_array_equal(some.P, P[[2, 0]])
    assert answers.take(answers.is_right).files == ("x", "z")


WRONG = {
    "columns": ({"P": P[:, :1]}, r"P has shape \(3, 1\), must have a row for each example and 2 columns"),
    "axes": ({"P": P[0]}, r"P has shape \(2,\), must have a row"),
    "empty": ({"P": np.empty((0, 2)), "y": []}, "nothing to evaluate"),
    "twice": ({"labels": ("a", "a")}, "a label stands twice in a, a"),
    "sum": ({"P": P * 1.1}, r"row 0 of P must be at least 0 and sum to 1, it sums to 1\.1"),
    "nan": ({"P": P * [[1], [np.nan], [1]]}, "row 1 of P must be at least 0 and sum to 1, it sums to nan"),
    "negative": ({"P": [[1.5, -0.5]] * 3}, "row 0 of P must be at least 0"),
    "infinite": ({"P": [[np.inf, -np.inf]] * 3}, "row 0 of P must be at least 0"),
    "length": ({"y": [0, 1]}, "y must hold one index of a label for each of 3 examples"),
    "texts": ({"y": ["a", "b", "b"]}, "y must hold one index of a label"),
    "range": ({"y": [0, 1, 2]}, "y holds 2, must hold indices from 0 to 1"),
    "decisions": ({"decisions": [0, -1, 0]}, "estimated holds -1, must hold indices from 0 to 1"),
    "weights": ({"weights": [1, -1, 1]}, "weights must be finite, at least 0, and not all 0"),
    "no weight": ({"weights": [0, 0, 0]}, "weights must be finite, at least 0, and not all 0"),
    "few weights": ({"weights": [1]}, "1 weights for 3 examples"),
    "groups": ({"groups": ["x"]}, "1 groups for 3 examples"),
    "files": ({"files": ["x"], "groups": [1, 2, 3]}, "1 files for 3 examples"),
}


@pytest.mark.parametrize(("wrong", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_measured_is_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        Predictions.of(**({"labels": ("a", "b"), "y": [0, 1, 1], "P": P} | wrong))


def test_recordings_need_files():
    with pytest.raises(ValueError, match="predictions without files cannot be gathered by recording"):
        Predictions.of(("a", "b"), [0, 1, 1], P).per_recording()
