"""The image of a sounding part does not know how long it is, how loud, or what lies around it."""

import numpy as np
import pytest

from audioclass.pooling.images import SoundingImage, resize

RNG = np.random.default_rng(5)
WORD = RNG.uniform(-15, 0, (30, 8)).astype(np.float32)
WORD[0, 0] = WORD[-1, 0] = 0.0


def image(window: np.ndarray, **parameters) -> np.ndarray:
    pooled = SoundingImage(bands=8, **parameters).pool(window[None].astype(np.float32), 100.0)
    return pooled.reshape(-1, 8)


def test_as_many_frames_as_there_are_change_nothing():
    np.testing.assert_allclose(image(WORD, frames=30), WORD, atol=1e-5)


def test_fewer_frames_are_means_of_neighbours():
    np.testing.assert_allclose(image(WORD, frames=10), WORD.reshape(10, 3, 8).mean(axis=1), atol=1e-5)


@pytest.mark.parametrize("n_frames", [1, 7, 20, 64])
def test_any_number_of_frames_has_the_mean_of_the_window(n_frames: int):
    np.testing.assert_allclose(image(WORD, frames=n_frames).mean(axis=0), WORD.mean(axis=0), atol=1e-4)


def test_a_word_spoken_at_half_the_speed_has_the_same_image():
    np.testing.assert_allclose(image(WORD.repeat(2, axis=0), frames=20), image(WORD, frames=20), atol=1e-4)


def test_level_and_quiet_surroundings_do_not_count():
    quiet = np.full((25, 8), -24.0, np.float32)
    np.testing.assert_allclose(image(np.concatenate([quiet, WORD, quiet]) - 31), image(WORD), atol=1e-4)


def test_a_held_sound_takes_no_room_where_time_runs_with_change():
    held = np.concatenate([WORD[:10], WORD[9:10].repeat(40, axis=0), WORD[10:]])
    np.testing.assert_allclose(image(held, change=1.0), image(WORD, change=1.0), atol=1e-4)
    assert np.abs(image(held) - image(WORD)).max() > 1


def test_a_centred_image_does_not_know_the_microphone():
    microphone = np.linspace(-5, 0, 8, dtype=np.float32)
    options = {"centred": True, "depth": 0.0, "active": 40.0}
    np.testing.assert_allclose(image(WORD + microphone, **options), image(WORD, **options), atol=1e-4)


def test_one_frame_fills_an_image():
    np.testing.assert_allclose(image(WORD[:1], frames=3, change=0.5), WORD[:1].repeat(3, axis=0), atol=1e-5)


def test_a_frame_of_no_length_does_not_count():
    edges = np.array([0.0, 1.0, 1.0, 2.0])
    np.testing.assert_allclose(resize(np.array([[1.0], [99.0], [3.0]]), 2, edges), [[1.0], [3.0]])
