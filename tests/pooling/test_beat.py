"""The beat is found, what is read at it knows no tempo, and changes are told by how fast they are."""

import numpy as np
import pytest

from audioclass.pooling.beat import MULTIPLES, Beat, DeltaPatterns

RATE = 50.0


def drums(period: int, n_frames: int = 500, bands: int = 10) -> np.ndarray:
    """A beat of so many frames in all bands, and one between two beats in the upper half."""
    levels = np.full((n_frames, bands), -40.0, np.float32)
    levels[::period] = 0.0
    levels[period // 2 :: period, bands // 2 :] = -6.0
    return levels[None]


def test_the_length_of_the_beat_is_found():
    for period in (20, 24, 30):
        length = Beat().pool(drums(period), RATE)[0, -2]
        assert length == pytest.approx(np.log2(period / RATE / 0.5), abs=0.05)


def test_another_tempo_is_the_same_pattern():
    slow, fast = (Beat().pool(drums(period), RATE)[0, :-2] for period in (30, 24))
    np.testing.assert_allclose(slow, fast, atol=0.15)


def test_onsets_between_beats_stand_at_half_of_it_in_their_own_bands():
    read = Beat().pool(drums(24), RATE)[0, :-2].reshape(len(MULTIPLES), 5)
    half, whole = read[MULTIPLES.index(1 / 2)], read[MULTIPLES.index(1.0)]
    assert half[-1] > 0.5 > half[0]
    assert whole.min() > 0.7


@pytest.mark.parametrize("pooling", [Beat(), DeltaPatterns()], ids=lambda pooling: pooling.name)
def test_no_level_is_known(pooling):
    np.testing.assert_allclose(pooling.pool(drums(24) - 20, RATE), pooling.pool(drums(24), RATE), atol=1e-4)


def test_what_does_not_move_does_not_rise():
    pooled = DeltaPatterns(bands=4, ranks=3).pool(np.full((1, 60, 4), -10.0, np.float32), RATE)
    np.testing.assert_allclose(pooled[0], [0] * 12 + [np.log(0.1)] * 4, atol=1e-5)


def test_rises_are_sorted_within_a_block():
    pooled = DeltaPatterns(bands=2, ranks=4).pool(drums(10, bands=2), RATE)[0, :8].reshape(4, 2)
    assert (np.diff(pooled, axis=0) >= 0).all()
    np.testing.assert_allclose(pooled[-1], 40, atol=1e-4)
