import numpy as np

from audioclass.data import Segment
from audioclass.evaluation.mistakes import worst_mistakes
from audioclass.evaluation.predictions import Predictions

P = np.array([[0.6, 0.4], [0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
PLACED = {"files": ["w", "x", "y", "z"], "segments": [Segment(row, row + 1) for row in range(4)]}


def test_the_most_confident_come_first_and_equals_in_order():
    found = worst_mistakes(Predictions.of(("a", "b"), [1, 1, 1, 1], P, **PLACED))
    assert [mistake.file for mistake in found] == ["x", "w", "z"]
    assert found[0].segment == Segment(1, 2)
    assert (found[0].reference, found[0].estimated) == ("b", "a")
    assert (found[0].posterior, found[0].reference_posterior) == (0.9, 0.1)


def test_no_more_than_asked_for():
    assert len(worst_mistakes(Predictions.of(("a", "b"), [1, 1, 1, 1], P), most=1)) == 1


def test_without_places_a_mistake_is_still_one():
    (mistake,) = worst_mistakes(Predictions.of(("a", "b"), [0, 0, 0, 0], P))
    assert (mistake.file, mistake.segment) == ("", None)


def test_where_all_is_right_there_are_none():
    assert worst_mistakes(Predictions.of(("a", "b"), P.argmax(axis=1), P)) == ()
