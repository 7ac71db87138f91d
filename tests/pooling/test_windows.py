from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.pooling.windows import Windower, Windows


def cut(frames, layout, sizes):
    """All windows of a stream that comes in chunks of the given sizes."""
    windower = Windower(layout)
    edges = np.minimum(np.cumsum([0, *sizes]), len(frames))
    chunks = [frames[a:b] for a, b in pairwise(edges)] + [frames[edges[-1] :]]
    found = [pair for chunk in chunks for pair in windower.push([chunk])] + list(windower.finish())
    starts = [start for some, _ in found for start in some]
    return starts, [window for _, [windows] in found for window in windows]


@given(st.integers(0, 60), st.integers(1, 12), st.integers(1, 12), st.lists(st.integers(0, 20), max_size=8))
def test_windows_do_not_depend_on_how_frames_come(n_frames, length, hop, sizes):
    frames = np.arange(n_frames)[:, None]
    layout = Windows(length, hop)
    starts, windows = cut(frames, layout, sizes)
    assert starts == layout.starts(n_frames)
    for start, window in zip(starts, windows, strict=True):
        assert window[:, 0].tolist() == list(range(start, min(start + length, n_frames)))


@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 12))
def test_less_than_half_a_hop_is_left_over(n_frames, length, hop):
    left_over = n_frames - length - Windows(length, hop).starts(n_frames)[-1]
    assert left_over < max(hop / 2, 1)


@pytest.mark.parametrize(
    ("n_frames", "starts"), [(0, []), (1, [0]), (4, [0]), (5, [0, 1]), (6, [0, 2]), (7, [0, 2, 3])]
)
def test_starts_worked_out_by_hand(n_frames, starts):
    assert Windows(4, 2).starts(n_frames) == starts


def test_no_more_than_a_window_and_a_block_is_held():
    windower = Windower(Windows(100, 50))
    for _ in range(50):
        list(windower.push([np.zeros((64, 3))]))
    assert len(windower._held[0]) <= 100 + 64


def test_a_window_needs_a_frame():
    with pytest.raises(ValueError, match="a window of 0 frames every 1 must be"):
        Windows(0, 1)


def test_a_remnant_of_less_than_half_a_hop_is_no_window():
    assert Windows(10, 6).starts(12) == [0]
    assert Windows(10, 6).starts(13) == [0, 3]
