"""Tiers of labels that are independent: runs, gaps, thresholds, and the same however the windows come."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from segmentation.contours import CELL, heard, pieces

from audioclass.data import Posteriors, Segment
from audioclass.segmentation.outlines import Outliner
from audioclass.segmentation.silence import SilenceRule
from audioclass.segmentation.stretches import ContourRule
from audioclass.segmentation.tiers import TierRows, TierStream, TierWindows, by_start, segments_at, shifted
from audioclass.smoothers.hmm import HiddenMarkov
from audioclass.smoothers.moving import Median
from audioclass.smoothers.none import NoSmoothing

LABELS = ("music", "speech")


def windows(P):
    P = np.asarray(P, float)
    return Posteriors(P, LABELS, tuple(Segment(i, i + 2.0) for i in range(len(P))), independent=True)


def given_by(stream, posteriors, cuts=()):
    parts = np.split(np.arange(len(posteriors.P)), list(cuts))
    segments = []
    for rows in parts:
        chosen = tuple(posteriors.segments[i] for i in rows)
        segments += stream.push(Posteriors(posteriors.P[rows], LABELS, chosen, independent=True))
    return by_start([*segments, *stream.finish()], LABELS)


def made(P, thresholds=(0.5, 0.5), smoother=None, **options):
    stream = TierStream(LABELS, smoother or NoSmoothing(), np.array(thresholds), **options)
    return [(one.segment.start, one.segment.end, one.segment.label) for one in given_by(stream, windows(P))]


def test_labels_have_segments_of_their_own_that_overlap():
    P = [[0.9, 0.1], [0.9, 0.8], [0.2, 0.8], [0.1, 0.1]]
    assert made(P) == [(0.0, 2.5, "music"), (1.5, 3.5, "speech")]


def test_thresholds_are_those_of_each_label():
    assert made([[0.4, 0.4], [0.4, 0.4]], (0.3, 0.6)) == [(0.0, 3.0, "music")]


def test_short_gaps_are_filled_and_then_short_segments_dropped():
    holds = np.array([1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0], float)
    P = np.stack([holds, 0 * holds], axis=1)
    assert made(P, min_duration=2.0) == [(0.0, 5.5, "music")]
    assert made(P) == [(0.0, 2.5, "music"), (3.5, 5.5, "music"), (8.5, 9.5, "music")]


def test_probabilities_of_a_segment_are_means_over_its_windows():
    stream = TierStream(LABELS, NoSmoothing(), np.array([0.5, 0.5]))
    [segment] = given_by(stream, windows([[0.6, 0.1], [0.8, 0.3], [0.1, 0.2]]))
    np.testing.assert_allclose(segment.posteriors, [0.7, 0.2])


def test_windows_are_given_once_for_each_label():
    stream = TierWindows(LABELS, NoSmoothing(), np.array([0.5, 0.5]))
    labels = [(one.segment.start, one.segment.label) for one in given_by(stream, windows([[0.9, 0.9], [0.1, 0.2]]))]
    assert labels == [(0.0, "music"), (0.0, "speech")]


@pytest.mark.parametrize("smoother", [NoSmoothing(), HiddenMarkov(), HiddenMarkov(minimum=3), Median(3)])
@settings(max_examples=15)
@given(seed=st.integers(0, 1000), cuts=st.lists(st.integers(1, 39), max_size=6), least=st.sampled_from([0.0, 2.5]))
def test_portions_of_windows_do_not_matter_to_the_bit(smoother, seed, cuts, least):
    P = np.random.default_rng(seed).random((40, 2))
    thresholds = np.array([0.3, 0.55])
    whole, parts = (
        given_by(TierStream(LABELS, smoother, thresholds, min_duration=least), windows(P), split)
        for split in ((), sorted(cuts))
    )
    assert [one.segment for one in whole] == [one.segment for one in parts]
    assert [one.posteriors.tobytes() for one in whole] == [one.posteriors.tobytes() for one in parts]


def test_what_is_sure_stays_where_odds_are_shifted():
    np.testing.assert_allclose(shifted(np.array([0.0, 0.5, 1.0]), 3.0), [0.0, 0.75, 1.0])
    p = np.random.default_rng(0).random(50)
    np.testing.assert_allclose(shifted(shifted(p, 7.0), 1 / 7.0), p)


def test_runs_at_a_threshold_are_those_of_a_stream():
    P = np.random.default_rng(1).random((60, 2))
    posteriors = windows(P)
    rows = TierRows(posteriors.segments, P, P >= 0.4)
    found = sorted((one.start, one.end, one.label) for one in segments_at(rows, LABELS, 0.4))
    assert found == sorted(made(P, (0.4, 0.4)))


# --- with contours ---------------------------------------------------------------------------------------------------


def rows(posteriors, start, stop):
    return Posteriors(posteriors.P[start:stop], LABELS, posteriors.segments[start:stop], independent=True)


def given_with(contours, posteriors, sizes=(), silence=None, least=0.0, borders=None):
    """Segments, and how much of the recording was heard when each was given; windows come when they have ended."""
    rule = ContourRule(silence, 0.5)
    stream = TierStream(LABELS, NoSmoothing(), np.array([0.5, 0.5]), min_duration=least, contours=rule, borders=borders)
    given, at, heard_until = [], 0, 0.0
    for some in pieces(contours, *sizes):
        heard_until += len(some.levels) * CELL
        n = sum(window.end <= heard_until + 1e-9 for window in posteriors.segments)
        given += [(one, heard_until) for one in stream.push(rows(posteriors, at, n), some)]
        at = n
    given += [(one, heard_until) for one in stream.push(rows(posteriors, at, None))]
    return given + [(one, heard_until) for one in stream.finish()]


def drawn(given):
    found = by_start([one for one, _ in given], LABELS)
    return [(round(one.segment.start, 2), round(one.segment.end, 2), one.segment.label) for one in found]


def test_labels_begin_and_end_where_the_sound_changes():
    holds = np.repeat([[1, 0], [1, 1], [0, 1], [0, 0]], 5, axis=0).astype(float)
    found = drawn(given_with(heard([5.2, 10.8, 15.7], 21.0), windows(holds)))
    assert found == [(0.0, 10.8, "music"), (5.2, 15.7, "speech")]


def test_a_silence_cuts_all_labels_and_has_none():
    holds = np.ones((12, 2)) * [1, 0.8]
    found = drawn(given_with(heard([], 13.0, silent=[(4.0, 4.6)]), windows(holds), silence=SilenceRule(-60, 0.4)))
    assert found == [
        (0.0, 4.0, "music"),
        (0.0, 4.0, "speech"),
        (4.0, 4.6, "silence"),
        (4.6, 13.0, "music"),
        (4.6, 13.0, "speech"),
    ]


def test_what_ends_at_a_silence_is_given_though_its_label_goes_on():
    given = given_with(
        heard([], 61.0, silent=[(4.0, 4.6)]), windows(np.ones((60, 2))), [5] * 600, silence=SilenceRule(-60, 0.4)
    )
    assert max(when - one.segment.end for one, when in given) < 4


def test_a_sound_between_silences_is_kept_however_short_and_a_remnant_beside_one_is_not():
    holds = np.array([[1, 0]] * 6 + [[0, 1]] * 6, float)
    contours = heard([6.9], 13.0, silent=[(2.0, 2.8), (3.0, 3.8), (6.0, 6.7)])
    found = drawn(given_with(contours, windows(holds), silence=SilenceRule(-60, 0.4), least=1.0))
    assert (2.8, 3.0, "music") in found
    assert [one for one in found if 6.6 < one[0] < 13.0] == [(6.9, 13.0, "speech")]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), sizes=st.lists(st.integers(1, 200), max_size=8), least=st.sampled_from([0.0, 2.5]))
def test_segments_are_the_same_however_the_sound_comes_and_are_kept(seed, sizes, least):
    rng = np.random.default_rng(seed)
    posteriors, seconds = windows(rng.random((20, 2))), 21.0
    silent = [(s, s + rng.uniform(0.1, 2)) for s in np.sort(rng.uniform(0, seconds, 3))]
    contours = heard(np.sort(rng.uniform(0, seconds, 6)), seconds, seed, silent=silent)
    outliner = Outliner()
    outliner.push(posteriors.segments, contours)
    outline = outliner.finish(seconds)
    for silence in (None, SilenceRule(-60, 0.4)):
        whole = [one for one, _ in given_with(contours, posteriors, (), silence, least)]
        parts = [one for one, _ in given_with(contours, posteriors, sizes, silence, least)]
        stored = [
            one for one, _ in given_with(outline.contours, posteriors, (), silence, least, outline.stored_borders)
        ]
        for others in (parts, stored):
            assert [one.segment for one in others] == [one.segment for one in whole]
            assert [one.posteriors.tobytes() for one in others] == [one.posteriors.tobytes() for one in whole]
        for label in LABELS:
            times = [(one.start, one.end) for one in (each.segment for each in whole) if one.label == label]
            assert all(start < end for start, end in times)
            assert all(end <= start for (_, end), (start, _) in itertools.pairwise(times))
