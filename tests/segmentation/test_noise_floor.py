"""What lies at the noise floor of a recording, and what only seems to."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.segmentation.noise_floor import NoiseFloor

CELL = 0.02
DIGITAL_ZERO = -100


def quiet(levels, sizes=()):
    """Whether each cell is at the floor or below -60 dB, of levels that come in portions."""
    levels = np.asarray(levels, np.int8)
    floor = NoiseFloor(-60.0)
    cuts = [0, *np.minimum(np.cumsum(sizes), len(levels)).astype(int), len(levels)]
    parts = [floor.push(levels[i:j], CELL) for i, j in itertools.pairwise(cuts)]
    return np.concatenate([*parts, floor.finish(CELL)])


def noise(seconds, level, spread=0.5, seed=0):
    """Levels of steady noise; white noise has a spread of 0.5 dB, brown noise one of 2.5."""
    n_cells = round(seconds / CELL)
    return np.floor(np.random.default_rng(seed).normal(level, spread, n_cells)).astype(int)


def speech(seconds, seed=0, low=-45, high=-15):
    """Levels that rise and fall by syllables."""
    n_cells = round(seconds / CELL)
    phase = np.cumsum(np.random.default_rng(seed).uniform(0.2, 0.8, n_cells))
    return np.floor(low + (high - low) * (1 + np.sin(phase)) / 2).astype(int)


def with_pauses(level, spread=0.5, n=4, sounding=speech):
    """Sound and pauses of 1.2 s at a level, in turn, and which cells are the pauses."""
    parts = [part for i in range(n) for part in (sounding(8, seed=i), noise(1.2, level, spread, seed=i))]
    is_pause = np.repeat([False, True] * n, [len(part) for part in parts])
    return np.concatenate(parts), is_pause


@pytest.mark.parametrize("spread", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("level", [-58, -50, -45])
def test_pauses_at_the_floor_are_quiet_and_nothing_else_is(level, spread):
    levels, is_pause = with_pauses(level, spread, sounding=lambda seconds, seed: speech(seconds, seed, low=-38))
    found = quiet(levels)
    assert not found[~is_pause].any()
    assert found[is_pause].mean() > 0.95


def test_what_is_below_the_level_is_quiet_whatever_the_floor_is():
    levels = np.random.default_rng(0).integers(-110, -10, 3000)
    assert quiet(levels)[levels < -60].all()


@pytest.mark.parametrize("level", [-20, -30, -40, -50, -58])
def test_steady_noise_that_is_the_sound_is_not_quiet(level):
    levels = noise(150, level)
    levels[1000:1100] = DIGITAL_ZERO
    assert np.array_equal(quiet(levels), levels == DIGITAL_ZERO)


def test_speech_without_pauses_is_not_quiet():
    assert not quiet(speech(200, low=-58)).any()


def test_sounds_that_die_away_are_not_quiet_until_they_have():
    notes = np.tile(np.floor(np.linspace(-20, -59, 250)).astype(int), 30)
    assert not quiet(notes).any()


def test_rain_between_what_pauses_lower_is_not_quiet():
    clean, _ = with_pauses(-58, n=3)
    levels = np.concatenate([clean, noise(20, -42), clean])
    assert not quiet(levels)[len(clean) : -len(clean)].any()


def test_rain_alone_between_loud_sounds_is_not_quiet():
    levels = np.concatenate([speech(60, low=-25), noise(20, -41), speech(60, low=-25)])
    assert not quiet(levels).any()


def test_digital_zero_is_quiet_beside_a_floor_and_does_not_hide_it():
    levels, is_pause = with_pauses(-50)
    levels = np.concatenate([levels, np.full(100, DIGITAL_ZERO), levels, np.full(100, -95), levels])
    is_pause = np.concatenate([is_pause, np.ones(100, bool), is_pause, np.ones(100, bool), is_pause])
    assert quiet(levels)[is_pause].mean() > 0.95


@pytest.mark.parametrize(("before", "after"), [(-58, -45), (-45, -58)])
def test_a_floor_that_changes_is_followed(before, after):
    takes = [with_pauses(level, n=20, sounding=lambda s, seed: speech(s, seed, low=-38)) for level in (before, after)]
    levels, is_pause = (np.concatenate(parts) for parts in zip(*takes, strict=True))
    settled = np.arange(len(levels)) > len(takes[0][0]) + round(130 / CELL)
    found = quiet(levels)
    assert found[is_pause & settled].mean() > 0.95
    assert not found[~is_pause].any()


def test_a_recording_shorter_than_the_look_ahead_is_judged_by_all_of_it():
    levels = np.concatenate([speech(2, low=-38), noise(1, -50), speech(1, low=-38)])
    found = quiet(levels)
    assert found[100:150].mean() > 0.95
    assert not found[:100].any()
    assert not found[150:].any()


@pytest.mark.parametrize("n_cells", [0, 1, 9, 10, 24, 25])
def test_recordings_of_a_few_cells_have_no_floor(n_cells):
    assert quiet([-50] * n_cells).tolist() == [False] * n_cells


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 900), max_size=30), st.integers(0, 3))
def test_portions_of_any_size_give_the_same(sizes, seed):
    levels, _ = with_pauses(-50, spread=1 + seed, n=18)
    assert np.array_equal(quiet(levels, sizes), quiet(levels))


def test_each_cell_is_judged_within_the_wait_that_is_stated():
    levels, floor, n_judged = with_pauses(-50)[0], NoiseFloor(-60.0), 0
    for i, level in enumerate(levels):
        n_judged += len(floor.push(np.array([level], np.int8), CELL))
        assert (i + 1 - n_judged) * CELL < floor.longest_wait
