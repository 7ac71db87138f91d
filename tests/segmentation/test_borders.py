"""Borders where the sound changes: found by looking at every place, and never out of order."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from segmentation.contours import CELL, heard, pieces
from segmentation.windows import certain, drawn, part

from audioclass.data import Posteriors
from audioclass.segmentation.borders import HeardBorders, StoredBorders, most_likely_cut
from audioclass.segmentation.outlines import Outliner
from audioclass.segmentation.results import SegmentStream
from audioclass.segmentation.silence import SilenceRule
from audioclass.segmentation.stretches import ContourRule
from audioclass.smoothers.none import NoSmoothing


def test_the_likeliest_cut_is_where_the_likelihood_is_largest():
    rng = np.random.default_rng(3)
    cells = np.concatenate([rng.normal(0, 2, (70, 3)), rng.normal(3, 2, (60, 3))])
    before, after = cells[:40], cells[90:]
    deviations = np.concatenate([before - before.mean(0), after - after.mean(0)])
    covariance = deviations.T @ deviations / len(deviations)
    inverse = np.linalg.inv(covariance + np.diag(0.1 * np.diag(covariance) + 1))

    def log_likelihood(cut):
        centred = np.concatenate([cells[40:cut] - before.mean(0), cells[cut:90] - after.mean(0)])
        return -0.5 * np.einsum("ij,jk,ik->", centred, inverse, centred)

    assert most_likely_cut(cells, 40, 90) == max(range(40, 91), key=log_likelihood)


def test_too_little_of_a_sound_says_nothing():
    cells = np.random.default_rng(0).normal(size=(40, 3))
    assert most_likely_cut(cells, 7, 20) is None
    assert most_likely_cut(cells, 20, 33) is None
    assert most_likely_cut(cells, 20, 32) is not None


@pytest.mark.parametrize("change", [4.2, 4.5, 4.72, 5.0, 5.3])
def test_a_border_is_within_a_cell_of_the_change(change):
    borders = HeardBorders()
    borders.push(heard([change], 10.0))
    borders.finish()
    assert borders.after(0, 4.75, 1.0) == pytest.approx(change, abs=0.021)


def segments(windows, contours, sizes=(), silence=None, borders=None, smoother=None):
    """Segments of windows and contours that come in portions, each with as many windows as end by then."""
    rule = ContourRule(silence, 0.5)
    stream = SegmentStream(windows.labels, smoother or NoSmoothing(), contours=rule, borders=borders)
    given, at, heard_until = [], 0, 0.0
    for some in pieces(contours, *sizes):
        heard_until += len(some.levels) * CELL
        n = sum(window.end <= heard_until + 1e-9 for window in windows.segments)
        given += stream.push(part(windows, at, n), some)
        at = n
    given += stream.push(part(windows, at, len(windows.segments)), None)
    given += stream.finish()
    return [(c.segment.start, c.segment.end, c.segment.label, c.posteriors.tolist()) for c in given]


def overlapping(text):
    """Windows of two seconds, one a second."""
    one = certain(text)
    times = tuple(type(s)(s.start, s.start + 2.0) for s in one.segments)
    return Posteriors(one.P, one.labels, times)


@settings(max_examples=40, deadline=None)
@given(st.text("abc", min_size=2, max_size=20), st.integers(0, 1000), st.lists(st.integers(1, 200), max_size=8))
def test_segments_touch_however_the_sound_comes_and_are_kept(text, seed, sizes):
    windows, seconds = overlapping(text), len(text) + 1.0
    rng = np.random.default_rng(seed)
    starts = np.sort(rng.uniform(0, seconds, 3))
    contours = heard(
        np.sort(rng.uniform(0, seconds, 4)), seconds, seed, silent=[(s, s + rng.uniform(0.1, 2)) for s in starts]
    )
    for silence in (None, SilenceRule(-60, 0.4)):
        whole = segments(windows, contours, silence=silence)
        assert segments(windows, contours, sizes, silence) == whole
        assert whole[0][0] == 0
        assert whole[-1][1] == pytest.approx(seconds)
        assert all(one[1] == other[0] and one[2] != other[2] for one, other in itertools.pairwise(whole))
        assert all(end > start for start, end, *_ in whole)
        outliner = Outliner()
        outliner.push(windows.segments, contours)
        outline = outliner.finish(seconds)
        kept = segments(windows, outline.contours, silence=silence, borders=StoredBorders(outline.borders))
        assert kept == whole
        starts_of_windows = np.array([window.start for window in windows.segments])
        parts = outline.levels_by_window(starts_of_windows)
        assert len(parts) == len(text)
        assert np.array_equal(np.concatenate(parts), contours.levels)


def test_a_silence_divides_and_is_a_segment_of_its_own():
    windows = overlapping("aaaaaabbbbbb")
    contours = heard([6.4], 13.0, silent=[(3.0, 3.6), (9.1, 9.3)])
    assert drawn(segments(windows, contours, silence=SilenceRule(-60, 0.4))) == "a3 silence0.6 a2.8 b6.6"
    assert (
        drawn(segments(windows, contours, silence=SilenceRule(-60, 0.2))) == "a3 silence0.6 a2.8 b2.7 silence0.2 b3.7"
    )
    assert drawn(segments(windows, contours)) == "a6.4 b6.6"


def test_what_is_all_silence_is_one_segment_that_tells_no_label():
    windows = overlapping("abab")
    contours = heard([], 5.0, silent=[(0.0, 5.0)])
    assert segments(windows, contours, silence=SilenceRule()) == [(0.0, 5.0, "silence", [0.5, 0.5])]


def test_a_label_of_silence_is_one_with_silence_by_level():
    P = [[0.9, 0.1]] * 4 + [[0.1, 0.9]] * 4 + [[0.9, 0.1]] * 4
    windows = overlapping("a" * 12)
    windows = Posteriors(np.array(P), ("hum", "silence"), windows.segments)
    contours = heard([5.0, 9.0], 13.0, silent=[(6.0, 7.0)])
    found = segments(windows, contours, silence=SilenceRule())
    assert [label for *_, label, _ in found] == ["hum", "silence", "hum"]
    assert found[1][:2] == (pytest.approx(5.0, abs=0.05), pytest.approx(9.0, abs=0.05))
    assert found[1][3][1] > 0.9  # certain where the level says so
