import numpy as np
import pytest

from audioclass.pooling.modulation import FourHertz, ModulationSpectrum, Rhythm

RATE = 100.0
TIME = np.arange(500) / RATE


def level(frequency, depth=10.0):
    """A level that rises and falls at a frequency, in one band."""
    return (depth * np.sin(2 * np.pi * frequency * TIME)).astype(np.float32)[None, :, None]


@pytest.mark.parametrize("frequency", [0.8, 4.0, 20.0])
def test_energy_lies_in_the_band_of_the_modulation(frequency):
    pooling = ModulationSpectrum(bands=1, rates=10, slowest=0.5, fastest=50.0, depth=0.0)
    energies = pooling.pool(level(frequency), RATE)[0]
    edges = np.geomspace(0.5, 50, 11)
    assert edges[energies.argmax()] <= frequency <= edges[energies.argmax() + 1]


def test_energy_is_that_of_parseval():
    pooling = ModulationSpectrum(bands=1, rates=1, slowest=3.0, fastest=5.0, depth=0.0)
    # amplitude 10 over n = 500 frames: |X|² = (10 n/2)² in one bin, divided by n; 3 to 5 Hz are 10 bins
    assert np.exp(pooling.pool(level(4.0), RATE)[0, 0]) == pytest.approx(10**2 / 4 * 500 / 10, rel=0.01)


def test_four_hertz_tells_syllables_from_slow_music():
    pooling = FourHertz(bands=1, depth=0.0)
    assert pooling.pool(level(4.0), RATE)[0, 0] > 0 > pooling.pool(level(1.0), RATE)[0, 0]


def test_autocorrelation_of_a_beat_peaks_at_its_period():
    pooling = Rhythm(rates=1, lags=30, longest=1.0, depth=0.0)
    names = pooling.columns(["mel_0"])
    lags = pooling.pool(level(4.0), RATE)[0][[i for i, name in enumerate(names) if name.startswith("whole_lag")]]
    seconds = np.geomspace(2, 100, 30).round() / RATE
    late = seconds > 0.15
    assert seconds[late][lags[late].argmax()] == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("pooling", [ModulationSpectrum(), FourHertz(), Rhythm()], ids=lambda pooling: pooling.name)
def test_level_does_not_matter(pooling):
    windows = np.random.default_rng(0).normal(-40, 5, (2, 300, 16)).astype(np.float32)
    np.testing.assert_allclose(pooling.pool(windows + 20, RATE), pooling.pool(windows, RATE), atol=1e-3)
