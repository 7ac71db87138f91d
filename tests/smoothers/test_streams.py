import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smoothers.streams import random_posteriors, streamed, whole

from audioclass.smoothers.hmm import HiddenMarkov
from audioclass.smoothers.moving import Median, MovingAverage
from audioclass.smoothers.none import NoSmoothing

LEARNT = (0.8, 0.1, 0.1, 0.0, 0.5, 0.5, 0.2, 0.2, 0.6)
SMOOTHERS = [
    NoSmoothing(), MovingAverage(1), MovingAverage(4), MovingAverage(5), Median(4), Median(7), Median(999),
    HiddenMarkov(), HiddenMarkov(look_ahead=0), HiddenMarkov(duration=6, minimum=3, look_ahead=5),
    HiddenMarkov(minimum=2, transitions=LEARNT, look_ahead=3),
]  # fmt: skip
EVERY = pytest.mark.parametrize("smoother", SMOOTHERS, ids=str)


@EVERY
@settings(max_examples=20)
@given(n=st.integers(0, 40), sizes=st.lists(st.integers(0, 12), max_size=8))
def test_portions_give_what_the_whole_gives(smoother, n, sizes):
    P = random_posteriors(n)
    rows, path = streamed(smoother, P, sizes)
    np.testing.assert_array_equal(rows, whole(smoother, P))
    np.testing.assert_array_equal(path, streamed(smoother, P, [n])[1])


@EVERY
def test_a_row_is_given_as_soon_as_nothing_can_change_it(smoother):
    stream = smoother.stream(3)
    given = [len(stream.push(row[None])) for row in random_posteriors(30)]
    waited = min(smoother.look_ahead, 30)
    assert given == [0] * waited + [1] * (30 - waited)
    assert len(stream.finish()) == waited


@EVERY
def test_later_rows_change_neither_row_nor_label(smoother):
    P = random_posteriors(40)
    final = max(25 - smoother.look_ahead, 0)
    for early, late in zip(streamed(smoother, P[:25], []), streamed(smoother, P, []), strict=True):
        np.testing.assert_array_equal(early[:final], late[:final])
