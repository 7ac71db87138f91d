import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from segmentation.windows import certain, drawn, part, segments_of, windows_of

from audioclass.errors import UsageError
from audioclass.numerics import led_by
from audioclass.segmentation.results import SegmentStream
from audioclass.smoothers.hmm import HiddenMarkov
from audioclass.smoothers.moving import Median
from audioclass.smoothers.none import NoSmoothing
from audioclass.taxonomy import Taxonomy

TREE = Taxonomy.of({"ab": ["a", "b"], "c": {}})
RECORDINGS = st.lists(st.lists(st.integers(1, 20), min_size=3, max_size=3), max_size=40).map(
    lambda rows: windows_of([np.divide(row, sum(row)) for row in rows] or np.empty((0, 3)), length=1.0, hop=0.5)
)
OPTIONS = st.fixed_dictionaries(
    {"min_duration": st.sampled_from([0, 0.6, 2, 50]), "threshold": st.sampled_from([0, 0.5, 0.9])}
)
SMOOTHERS = st.sampled_from([NoSmoothing(), Median(3), HiddenMarkov(look_ahead=3), HiddenMarkov(4.0, 3, 5)])


@settings(max_examples=60)
@given(RECORDINGS, OPTIONS, SMOOTHERS, st.lists(st.integers(0, 9), max_size=8))
def test_a_stream_gives_the_segments_of_the_whole(posteriors, options, smoother, sizes):
    whole = segments_of(posteriors, TREE, smoother, **options)
    assert segments_of(posteriors, TREE, smoother, sizes, **options) == whole


@settings(max_examples=60)
@given(RECORDINGS, OPTIONS)
def test_segments_touch_and_cover_the_recording(posteriors, options):
    segments = segments_of(posteriors, TREE, **options)
    ends = [posteriors.segments[0].start, posteriors.segments[-1].end] if segments else []
    assert [segments[0][0], segments[-1][1]] == ends if segments else not len(posteriors.P)
    assert all(one[1] == other[0] and one[2] != other[2] for one, other in itertools.pairwise(segments))


@settings(max_examples=60)
@given(RECORDINGS, st.sampled_from([0.6, 2, 7]))
def test_no_segment_is_shorter_than_the_minimum_unless_the_recording_is(posteriors, minimum):
    segments = segments_of(posteriors, min_duration=minimum)
    assert len(segments) <= 1 or all(end - start >= minimum - 1e-9 for start, end, _, _ in segments)


def means_of(posteriors, segments):
    """The mean over the windows whose centre lies in each segment."""
    centres = np.array([window.start + 0.5 for window in posteriors.segments])
    return [posteriors.P[(start <= centres) & (centres < end)].mean(axis=0) for start, end, *_ in segments]


@settings(max_examples=60)
@given(RECORDINGS, st.sampled_from([0, 0.5, 0.9]))
def test_posteriors_are_the_mean_over_the_windows_of_the_segment(posteriors, threshold):
    segments = segments_of(posteriors, TREE, threshold=threshold)
    for (*_, P), mean in zip(segments, means_of(posteriors, segments), strict=True):
        np.testing.assert_allclose(P, mean, atol=1e-12)


@settings(max_examples=60)
@given(RECORDINGS, st.sampled_from([0.6, 2, 50]))
def test_short_runs_change_the_label_of_a_segment_where_theirs_has_the_largest_mean(posteriors, minimum):
    segments, before = segments_of(posteriors, min_duration=minimum), None
    for (*_, label, P), mean in zip(segments, means_of(posteriors, segments), strict=True):
        largest = [other for other, p in zip("abc", mean, strict=True) if p >= mean.max() - 1e-12]
        assert label in largest or largest == [before]
        nearest = led_by(mean[None], np.array(["abc".index(label)]))[0]
        np.testing.assert_allclose(P, nearest if largest == [before] else mean, atol=2e-6)
        before = label


@pytest.mark.parametrize(
    ("rows", "heard"),
    [
        ([[0.5, 0.4, 0.1]] * 2 + [[0.0, 1.0, 0.0]] + [[0.5, 0.4, 0.1]] * 2, "b5"),  # amid a run that is unsure
        ([[0.5, 0.4, 0.1]] * 2 + [[0.1, 0.9, 0.0], [0.1, 0.0, 0.9], [0.1, 0.0, 0.9]], "b3 c2"),  # on its border
        ([[0.5, 0.4, 0.1]] * 2 + [[0.2, 0.1, 0.7], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]], "a3 b2"),  # not sure enough
    ],
)
def test_a_sure_short_run_outweighs_an_unsure_neighbour(rows, heard):
    assert drawn(segments_of(windows_of(rows), min_duration=2)) == heard


def test_borders_lie_midway_between_centres():
    posteriors = windows_of([[1, 0], [1, 0], [0, 1], [0, 1]], length=2.0, hop=0.5)
    assert [segment[:3] for segment in segments_of(posteriors)] == [(0, 1.75, "a"), (1.75, 3.5, "b")]


@pytest.mark.parametrize(
    ("said", "minimum", "heard"),
    [
        ("aabb", 0, "a2 b2"),
        ("aabaa", 2, "a5"),
        ("baaa", 2, "a4"),
        ("aaab", 2, "a4"),
        ("b", 9, "b1"),
        ("ab", 9, "b2"),
        ("aabbcc", 2, "a2 b2 c2"),
    ],
)
def test_short_runs_go_to_their_neighbours(said, minimum, heard):
    assert drawn(segments_of(certain(said), min_duration=minimum)) == heard


@pytest.mark.parametrize(("other", "heard"), [([0.3, 0.5, 0.2], "a3 c2"), ([0.2, 0.5, 0.3], "a2 c3")])
def test_a_short_run_goes_where_it_is_likelier(other, heard):
    rows = [[0.8, 0.1, 0.1]] * 2 + [other] + [[0.1, 0.1, 0.8]] * 2
    assert drawn(segments_of(windows_of(rows), min_duration=2)) == heard


def test_each_segment_is_given_as_soon_as_it_is_final():
    posteriors = certain("aabbbcc")
    stream = SegmentStream(posteriors.labels, NoSmoothing(), min_duration=2.0)
    given = [len(stream.push(part(posteriors, i, i + 1))) for i in range(7)]
    assert given == [0, 0, 0, 0, 1, 0, 0]  # where the second window of b ends is told by the third
    assert drawn((c.segment.start, c.segment.end, c.segment.label, 0) for c in stream.finish()) == "b3 c2"


def test_no_windows_are_no_segments():
    assert segments_of(windows_of(np.empty((0, 2)))) == []


def test_windows_must_come_in_order():
    posteriors = certain("ab")
    stream = SegmentStream(posteriors.labels, NoSmoothing())
    stream.push(part(posteriors, 1, 2))
    with pytest.raises(ValueError, match="a window at 0.0 s comes after one at 1.0 s"):
        stream.push(part(posteriors, 0, 1))


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_the_minimum_must_be_a_time(value):
    with pytest.raises(UsageError, match=f"min_duration={value} must be a time of at least 0"):
        SegmentStream("ab", NoSmoothing(), min_duration=value)
