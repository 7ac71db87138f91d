"""Silences by level: what brute force finds, as the cells come."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.data import Contours, Segment
from audioclass.errors import UsageError
from audioclass.segmentation.silence import BESIDE_CLICK, LONGEST_CLICK, SilenceFinder, SilenceRule

CELL = 0.02


def contours(levels, start=0.0):
    levels = np.asarray(levels, np.int8)
    return Contours(levels, np.empty((len(levels), 0), np.float32), CELL, start)


def silences(levels, rule=None, sizes=(), start=0.0, trailing=0.0):
    """(start, end) of each silence, of levels that come in portions."""
    finder = SilenceFinder(rule or SilenceRule(-60, 0.4))
    cuts = [0, *np.minimum(np.cumsum(sizes), len(levels)).astype(int), len(levels)]
    for i, j in itertools.pairwise(cuts):
        finder.push(contours(levels[i:j], start + i * CELL))
    finder.finish(start + len(levels) * CELL, trailing)
    return [(round(one.start, 6), round(one.end, 6)) for one in finder.found]


def by_hand(levels, level, least):
    """Runs of quiet cells that last; two that are long enough are one where only a click is between them."""
    runs, at = [], 0
    for is_quiet, run in itertools.groupby(levels, lambda value: value < level):
        n = len(list(run))
        if is_quiet:
            beside = round(BESIDE_CLICK / CELL)
            before = runs[-1] if runs else None
            is_click = before is not None and at - before[1] <= round(LONGEST_CLICK / CELL)
            if is_click and before[1] - before[0] >= beside and n >= beside:
                runs[-1] = (before[0], at + n)
            else:
                runs.append((at, at + n))
        at += n
    lasting = [(start, end) for start, end in runs if (end - start) * CELL >= least - 1e-9]
    return [(round(start * CELL, 6), round(end * CELL, 6)) for start, end in lasting]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([-90, -30]), st.integers(1, 40)), max_size=12),
    st.lists(st.integers(0, 50), max_size=12),
    st.sampled_from([0.04, 0.2, 0.4]),
)
def test_runs_of_quiet_cells_are_those_found_by_hand(runs, sizes, least):
    levels = [level for level, n in runs for _ in range(n)]
    assert silences(levels, SilenceRule(-60, least), sizes) == by_hand(levels, -60, least)


def test_what_was_trimmed_is_silent():
    assert silences([-20] * 50, start=1.0) == [(0.0, 1.0)]
    assert silences([-90] * 10 + [-20] * 40, start=0.3) == [(0.0, 0.5)]
    assert silences([-20] * 50, trailing=0.5) == [(1.0, 1.5)]
    assert silences([-20] * 50, trailing=0.3) == []
    assert silences([-20] * 40 + [-90] * 10, trailing=0.3) == [(0.8, 1.3)]


def test_what_is_known_is_never_taken_back():
    rng = np.random.default_rng(1)
    levels = np.repeat(rng.choice([-90, -30], 60), rng.integers(1, 30, 60))
    whole = silences(levels)
    finder = SilenceFinder(SilenceRule(-60, 0.4))
    for i, level in enumerate(levels):
        finder.push(contours([level], i * CELL))
        known = finder.known_until
        inside = [(one.start, one.end) for one in finder.found]
        inside += [] if finder.silent_since is None else [(finder.silent_since, known)]
        expected = [(start, min(end, known)) for start, end in whole if start < known - 1e-9]
        assert np.allclose(inside, expected)
        window = Segment(max(known - 0.5, 0.0), known)
        covered = sum(max(0, min(end, window.end) - max(start, window.start)) for start, end in expected)
        assert finder.shares(window)[0] == pytest.approx(covered / window.duration if window.duration else 0)


@pytest.mark.parametrize("sizes", [(), (1,) * 99, (7, 30, 5)])
@pytest.mark.parametrize(
    ("levels", "silent", "described"),
    [
        ([-20] * 10 + [-100] * 90, 0.9, 0.0),  # a short sound in digital silence: the window tells of it
        ([-20] * 10 + [-70] * 90, 0.9, 0.9),  # in quiet noise: it tells of the noise
        ([-20] * 10 + [-70] * 40 + [-100] * 50, 0.9, 0.8),
        ([-100] * 100, 1.0, 1.0),
        (([-20] * 16 + [-100] * 4) * 5, 0.04, 0.04),  # pauses too short to be padding; the last may go on
    ],
)
def test_digital_silence_does_not_count_where_sounds_are_described(levels, silent, described, sizes):
    finder = SilenceFinder(SilenceRule(-60, 0.2))
    levels = [*levels, *[-100] * 40]
    cuts = [0, *np.minimum(np.cumsum(sizes, dtype=int), len(levels)), len(levels)]
    for first, last in itertools.pairwise(cuts):
        finder.push(contours(levels[first:last], first * CELL))
    assert finder.shares(Segment(0.0, 100 * CELL)) == pytest.approx((silent, described))


def test_without_a_level_it_is_known_six_seconds_later():
    rng = np.random.default_rng(3)
    levels = np.concatenate([rng.integers(-40, -15, 500), rng.integers(-51, -49, 100)] * 3)
    rule = SilenceRule(None)
    finder = SilenceFinder(rule)
    for i, level in enumerate(levels):
        finder.push(contours([level], i * CELL))
        assert (i + 1) * CELL - finder.known_until <= rule.longest_wait + 1e-6
    assert rule.longest_wait == pytest.approx(SilenceRule(-60).longest_wait + 6)


def test_what_clicks_hold_up_is_known_in_time():
    levels = ([-30] * 20 + [-90] * 19 + [-30] * 2 + [-90] * 9 + [-30] * 5 + [-90] * 30) * 4
    rule = SilenceRule(-60, 0.4)
    finder = SilenceFinder(rule)
    waits = []
    for i, level in enumerate(levels):
        finder.push(contours([level], i * CELL))
        waits.append((i + 1) * CELL - finder.known_until)
    assert 0.4 < max(waits) <= rule.longest_wait + 1e-6


@pytest.mark.parametrize("stated", ["loud", "", "-60 dB"])
def test_what_is_no_level_is_refused(stated):
    with pytest.raises(UsageError, match=r"must be a level in dB, such as -60, or auto"):
        SilenceRule.of(stated)


def test_levels_and_times_that_make_no_sense_are_refused():
    for level in (0.0, -200.0, float("nan")):
        with pytest.raises(UsageError, match="must be a level from -110 to -10 dB"):
            SilenceRule.of(level)
    with pytest.raises(UsageError, match="min_silence=0 must be a time above 0"):
        SilenceRule(least=0)
    assert SilenceRule.of("none") is None
    assert SilenceRule.of("auto") == SilenceRule(None)
