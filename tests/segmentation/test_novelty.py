"""Strange windows are of no label: their runs are segments that are unknown."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from segmentation.windows import certain, drawn, segments_of

from audioclass.data import Posteriors
from audioclass.segmentation.back_off import BackOffPath
from audioclass.segmentation.novelty import NoveltyRule
from audioclass.segmentation.results import SegmentStream, classified_windows, result_of
from audioclass.smoothers.hmm import HiddenMarkov
from audioclass.smoothers.none import NoSmoothing


def p_values(strangeness):
    """exp(−x): windows of 5 have 0.007, of 0 have 1."""
    return np.exp(-np.asarray(strangeness, float))


RULE = NoveltyRule(p_values, 0.01)


def strange(text, marks, sure=0.9):
    """Windows that say the letters of a text; those above a `!` are strange."""
    windows = certain(text, sure)
    return replace(windows, strangeness=np.array([5.0 if mark == "!" else 0.0 for mark in marks.ljust(len(text))]))


def classified(windows, smoother=None, **options):
    stream = SegmentStream(windows.labels, smoother or NoSmoothing(), novelty=RULE, **options)
    return [*stream.push(windows), *stream.finish()]


def labels(windows, smoother=None, **options):
    return drawn(
        [(c.segment.start, c.segment.end, c.segment.label, 0) for c in classified(windows, smoother, **options)]
    )


def test_strange_windows_are_segments_of_their_own():
    assert labels(strange("aaabbb", " !!! ")) == "a1 unknown3 b2"


def test_without_strange_windows_nothing_changes():
    windows = certain("aabba")
    assert labels(strange("aabba", "")) == drawn(segments_of(windows))


@pytest.mark.parametrize(
    ("text", "marks", "expected"),
    [
        ("aaaaaaa", "   !   ", "a7"),
        ("aaaabbbb", "   !    ", "a4 b4"),
        ("aaaaaa", "!! !! ", "unknown6"),
        ("aaaaaaaaa", "!!! !!!  ", "unknown7 a2"),
        ("aaabbbaaa", "   !!!   ", "a3 unknown3 a3"),
    ],
    ids=["one alone", "at a border", "most of it", "one among strange ones", "long enough"],
)
def test_short_runs_join_a_neighbour_whether_strange_or_not(text, marks, expected):
    assert labels(strange(text, marks), min_duration=2.0) == expected


def test_a_segment_has_the_p_value_of_its_mean_strangeness():
    windows = replace(certain("aabb"), strangeness=np.array([1.0, 2.0, 0.0, 0.5]))
    first, second = classified(windows)
    assert first.novelty == pytest.approx(np.exp(-1.5))
    assert second.novelty == pytest.approx(np.exp(-0.25))


def test_unknown_for_two_reasons_is_one_segment():
    windows = replace(certain("ab", 0.55), strangeness=np.array([5.0, 0.0]))
    assert labels(windows, threshold=0.8) == "unknown2"


def test_every_window_by_itself():
    windows = strange("ab", "! ")
    one, other = classified_windows(windows, BackOffPath(windows.labels, None, 0.0), RULE)
    assert (one.segment.label, other.segment.label) == ("unknown", "b")
    assert [one.novelty, other.novelty] == pytest.approx([np.exp(-5), 1])


def test_the_table_has_a_novelty_where_every_segment_has_one():
    given_segments = classified(strange("aab", "  !"))
    table = result_of([("x.wav", each) for each in given_segments], ("a", "b"))
    assert table.novelty == pytest.approx([1, np.exp(-5)])
    none = [replace(each, novelty=None) for each in given_segments]
    assert result_of([("x.wav", each) for each in none], ("a", "b")).novelty is None


def test_smoothing_carries_strangeness_along():
    windows = strange("aaaabbbb", "!      !")
    smoothed = HiddenMarkov(look_ahead=3)
    assert labels(windows, smoothed) == "unknown1 a3 b3 unknown1"


@settings(max_examples=60)
@given(st.text("ab", min_size=1, max_size=30), st.data())
def test_a_stream_gives_the_segments_of_the_whole(text, data):
    marks = data.draw(st.text("! ", min_size=len(text), max_size=len(text)))
    minimum = data.draw(st.sampled_from([0.0, 2.0, 3.0]))
    windows = strange(text, marks)
    stream = SegmentStream(windows.labels, HiddenMarkov(look_ahead=2), novelty=RULE, min_duration=minimum)
    singles = [
        Posteriors(windows.P[i : i + 1], windows.labels, windows.segments[i : i + 1], windows.strangeness[i : i + 1])
        for i in range(len(text))
    ]
    given_segments = [each for single in singles for each in stream.push(single)] + stream.finish()
    whole = classified(windows, HiddenMarkov(look_ahead=2), min_duration=minimum)
    assert [(c.segment, c.novelty) for c in given_segments] == [(c.segment, c.novelty) for c in whole]
    assert all(a.segment.end == b.segment.start for a, b in pairwise(whole))
    assert all(a.segment.label != b.segment.label for a, b in pairwise(whole))
