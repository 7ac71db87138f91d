"""Tiers of labels that are independent: runs, gaps, thresholds, and the same however the windows come."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.data import Posteriors, Segment
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
