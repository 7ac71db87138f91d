"""Sets of labels: their names, when a corpus is multi-label, and which labels hold in a window."""

from pathlib import Path

import numpy as np
import pytest

from audioclass.data import Clip, Segment
from audioclass.label_sets import LabelSets, are_multi_label, members_of, overlaps_of, set_name, window_sets

A, B = Path("a.wav"), Path("b.wav")


@pytest.mark.parametrize("name", ["speech", "C++", "+", "a+", "+b"])
def test_a_name_with_nothing_on_a_side_is_one_label(name):
    assert members_of(name) == (name,)


def test_names_of_sets_do_not_depend_on_the_order_of_labels():
    assert set_name(["speech", "music"]) == set_name(["music", "speech", "music"]) == "music+speech"
    assert members_of("speech + music") == ("music", "speech")


def test_sets_know_their_labels():
    sets = LabelSets.of_names(["", "music", "music+speech", "speech"])
    assert sets.labels == ("music", "speech")
    assert sets.names == ("", "music", "music+speech", "speech")
    np.testing.assert_array_equal(sets.membership, [[0, 0], [1, 0], [1, 1], [0, 1]])


@pytest.mark.parametrize("sets", [((2,),), ((1, 0),), ((0, 0),), ((0,), (0,)), ((-1,),)])
def test_sets_that_make_no_sense_are_refused(sets):
    with pytest.raises(ValueError, match="label set"):
        LabelSets(("a", "b"), sets)


@pytest.mark.parametrize(
    ("clips", "expected"),
    [
        ([Clip(A, "x", 0, 2), Clip(A, "y", 2, 4)], False),
        ([Clip(A, "x", 0, 2), Clip(A, "y", 1.9, 4)], False),  # a border that was set by hand
        ([Clip(A, "x", 0, 2), Clip(A, "y", 1.5, 4)], True),
        ([Clip(A, "x", 0, 9), Clip(A, "y", 1.0, 1.1)], True),  # short, and wholly within
        ([Clip(A, "x", 0, 2), Clip(A, "x", 1, 3)], False),
        ([Clip(A, "x", 0, 2), Clip(B, "y", 0, 2)], False),
        ([Clip(A, "x"), Clip(A, "y")], True),
        ([Clip(A, "x+y", 0, 2)], True),
    ],
)
def test_a_corpus_is_multi_label_where_labels_hold_at_once(clips, expected):
    assert are_multi_label(clips) == expected


def test_overlaps_are_found_behind_a_long_segment():
    clips = [Clip(A, "x", 0, 100), Clip(A, "x", 1, 2), Clip(A, "y", 50, 60), Clip(A, "z", 55, 70)]
    assert [(one.label, other.label) for one, other in overlaps_of(clips)] == [("x", "y"), ("x", "z"), ("y", "z")]


def brute_force(window, clips):
    """The rule by counting milliseconds."""
    holds = set()
    n = round(1000 * (window.end - window.start))
    for label in {label for clip in clips for label in members_of(clip.label)}:
        mine = [clip for clip in clips if label in members_of(clip.label)]
        inside = [[clip.start <= window.start + (i + 0.5) / 1000 < clip.end for i in range(n)] for clip in mine]
        is_event = any(
            sum(one) >= 500 * (clip.end - clip.start) - 1 and sum(one) for one, clip in zip(inside, mine, strict=True)
        )
        if is_event or sum(map(any, zip(*inside, strict=True))) >= n / 2:
            holds.add(label)
    return set_name(holds)


@pytest.mark.parametrize("seed", range(5))
def test_labels_hold_where_they_cover_half_of_a_window_or_of_themselves(seed):
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, 100, 6) / 10
    lengths = rng.integers(1, 40, 6) / 10 + 0.011
    labels = rng.choice(["x", "y", "x+z"], 6).tolist()
    clips = [Clip(A, label, s, s + d) for label, s, d in zip(labels, starts, lengths, strict=True)]
    windows = [Segment(i / 2, i / 2 + 2.0) for i in range(24)]
    names, is_used = window_sets(windows, clips)
    assert names == [brute_force(window, clips) for window in windows]
    assert is_used.all()


def test_a_clip_that_no_window_has_is_told():
    names, is_used = window_sets([Segment(0, 2)], [Clip(A, "x", 0, 2), Clip(A, "y", 5, 6)])
    assert (names, is_used.tolist()) == (["x"], [True, False])
