"""Imagined sounds: the same every time, and as different as their kinds."""

import numpy as np
import pytest

from audioclass.training import imagined
from audioclass.training.imagined import KINDS, N, clipped, imagine, music, noise, tones, voice


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(imagined, "KINDS", {kind: (draw, 2) for kind, (draw, _) in KINDS.items()})


def test_the_same_seed_gives_the_same_sounds():
    one, again, other = imagine(), imagine(), imagine(1)
    assert list(one) == list(KINDS)
    assert all(np.array_equal(a, b) for kind in one for a, b in zip(one[kind], again[kind], strict=True))
    assert not np.array_equal(one["noise"][0], other["noise"][0])


def test_sounds_are_finite_and_neither_silent_nor_too_loud():
    for sounds in imagine().values():
        for samples in sounds:
            assert samples.dtype == np.float32
            assert samples.ndim == 1
            assert N // 10 < len(samples) <= N
            assert np.isfinite(samples).all()
            assert 0.099 < np.abs(samples).max() < 0.951


def test_clipped_sounds_have_flat_tops():
    samples = clipped(np.random.default_rng(0))
    assert np.mean(np.abs(samples) > 0.999) > 0.02
    other = noise(np.random.default_rng(0))
    assert np.mean(np.abs(other) > 0.999 * np.abs(other).max()) < 0.001


def flatness(samples):
    power = np.abs(np.fft.rfft(samples))[1:] ** 2 + 1e-20
    return np.exp(np.log(power).mean()) / power.mean()


def test_noise_is_flat_where_tones_and_music_and_voices_are_not():
    draws = [[flatness(draw(np.random.default_rng(i))) for i in range(3)] for draw in (noise, tones, music, voice)]
    assert np.median(draws[0]) > 3 * max(np.median(one) for one in draws[1:])
