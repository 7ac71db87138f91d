"""What is held and what glides, by pitches that are written down."""

import numpy as np
import pytest

from audioclass.pooling.melody import Melody

RATE = 40.0
FRAMES = 80


def values(pitch, strength=1.0, tolerance=0.5):
    pooling = Melody(tolerance=tolerance)
    strength = np.broadcast_to(strength, len(pitch))
    window = np.stack([strength, pitch], axis=1)[None].astype(np.float32)
    names = pooling.columns(["pitch_strength", "pitch"])
    return dict(zip(names, pooling.pool(window, RATE)[0].tolist(), strict=True))


def notes(*semitones, frames=20):
    return 8 + np.repeat(semitones, frames) / 12


def test_a_held_note_stays_where_it_is():
    told = values(notes(0, frames=FRAMES))
    assert told["melody_voiced"] == 1
    assert told["melody_height"] == 8
    assert told["melody_spread"] == told["melody_move_0.8"] == 0
    assert told["melody_scale"] == told["melody_held_scale"] == pytest.approx(1)
    assert told["melody_held_0.4"] == pytest.approx((FRAMES - 16) / FRAMES)


def test_a_glide_is_held_nowhere_and_keeps_to_no_scale():
    told = values(8 + 2 * np.arange(FRAMES) / RATE)  # 24 semitones a second
    assert told["melody_held_0.05"] == told["melody_held_0.2"] == told["melody_held_scale"] == 0
    assert told["melody_scale"] < 0.05
    assert told["melody_move_0.1"] == pytest.approx(2.4, rel=1e-3)
    assert told["melody_move_0.8"] == 12  # the most that counts


def test_notes_are_held_as_long_as_they_last():
    told = values(notes(0, 2, 4, 7))  # half a second each: 20 frames
    assert told["melody_held_0.4"] == pytest.approx(4 * (20 - 16) / FRAMES)
    assert told["melody_held_0.8"] == 0
    assert told["melody_scale"] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("cents", [0, 30, 50])
def test_notes_keep_to_their_scale_in_any_tuning(cents):
    assert values(notes(0, 4, 7, 12) + cents / 1200)["melody_scale"] == pytest.approx(1, abs=1e-3)


def test_notes_between_the_semitones_cancel_out():
    assert values(notes(0, 0.5, 3, 3.5))["melody_scale"] == pytest.approx(0, abs=1e-3)


def test_vibrato_is_held_as_long_as_it_stays_within_the_tolerance():
    vibrato = 8 + 0.8 / 12 * np.sin(2 * np.pi * 6 * np.arange(FRAMES) / RATE)
    assert values(vibrato)["melody_held_0.4"] == 0
    assert values(vibrato, tolerance=1.0)["melody_held_0.4"] > 0.7


def test_what_has_no_pitch_tells_nothing():
    rng = np.random.default_rng(0)
    assert set(values(rng.uniform(7, 10, FRAMES), strength=0.3).values()) == {0}


def test_pitches_of_faint_frames_do_not_count():
    rng = np.random.default_rng(0)
    strength = np.repeat([1.0, 0.2], FRAMES // 2)
    wild = np.where(strength > 0.5, 8.0, rng.uniform(7, 10, FRAMES))
    told = values(wild, strength)
    assert told["melody_voiced"] == 0.5
    assert told["melody_height"] == 8
    assert told["melody_spread"] == told["melody_move_0.1"] == 0
    assert told["melody_held_0.1"] == pytest.approx((FRAMES // 2 - 4) / FRAMES)


def test_spans_are_seconds_whatever_the_rate_of_frames():
    slow = values(notes(0, 2, 4, 7))
    window = np.stack([np.ones(2 * FRAMES), np.repeat(notes(0, 2, 4, 7), 2)], axis=1)[None].astype(np.float32)
    fast = dict(zip(Melody().columns(["a", "b"]), Melody().pool(window, 2 * RATE)[0].tolist(), strict=True))
    assert fast["melody_held_0.4"] == pytest.approx(slow["melody_held_0.4"], abs=0.03)


def test_two_columns_are_needed():
    with pytest.raises(ValueError, match="needs two columns"):
        Melody().columns(["pitch"])


def test_no_strength_is_faint_and_clear():
    with pytest.raises(ValueError, match=r"faint=0.8 must be below clear=0.8"):
        Melody(faint=0.8)
