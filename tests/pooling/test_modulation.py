import numpy as np
import pytest
import scipy.signal

from audioclass.pooling.modulation import FourHertz, LevelRhythm, ModulationSpectrum, Rhythm

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


@pytest.mark.parametrize("frequency", [1.2, 4.0, 20.0])
@pytest.mark.parametrize("n_frames", [500, 128, 100])
def test_energy_of_stretches_lies_in_the_band_of_the_modulation(frequency, n_frames):
    pooling = ModulationSpectrum(bands=1, rates=6, slowest=0.78, fastest=50.0, frames=128, depth=0.0)
    energies = pooling.pool(level(frequency)[:, :n_frames], RATE)[0]
    edges = np.geomspace(0.78, 50, 7)
    assert edges[energies.argmax()] <= frequency <= edges[energies.argmax() + 1]


def test_scipy_agrees_on_the_mean_spectrum_of_stretches():
    values = np.random.default_rng(0).normal(0, 5, (1, 320, 1)).astype(np.float32)
    pooling = ModulationSpectrum(bands=1, rates=1, slowest=10.0, fastest=40.0, frames=64, depth=0.0)
    window = np.hanning(66)[1:-1]
    hertz, power = scipy.signal.welch(
        values[0, :, 0], RATE, window, noverlap=32, detrend="constant", return_onesided=False, scaling="density"
    )
    inside = (hertz >= 10) & (hertz < 40)
    assert np.exp(pooling.pool(values, RATE)[0, 0]) == pytest.approx(power[inside].mean() * RATE, rel=0.01)


def test_the_rhythm_of_a_level_repeats_with_its_period():
    pooling = LevelRhythm()
    names = pooling.columns(["mel_0"])
    assert len(names) == len(set(names)) == 100 + 39 + 5 + 1 + 3
    values = dict(zip(names, pooling.pool(level(2.0), RATE)[0], strict=True))
    lags = np.array([values[f"level_lag{i}"] for i in range(100)])
    assert (lags[10:40].argmax() + 10 + 1) * 0.02 == pytest.approx(0.5)
    assert values["log_duration"] == pytest.approx(np.log2(5))
    assert values["level_p50"] == pytest.approx(-10, abs=0.1)
    assert values["part_above_10"] == pytest.approx(0.5, abs=0.02)
    assert values["part_above_20"] == 1
    edges = np.geomspace(0.5, 50, 40)
    best = np.argmax([values[f"level_rate{i}"] for i in range(39)])
    assert edges[best] <= 2.2
    assert edges[best + 1] >= 1.8


@pytest.mark.parametrize("pooling", [ModulationSpectrum(frames=64), LevelRhythm()], ids=lambda pooling: pooling.name)
def test_level_time_reversal_and_the_windows_beside_do_not_matter(pooling):
    windows = np.random.default_rng(0).normal(-20, 6, (2, 160, 4)).astype(np.float32)
    values = pooling.pool(windows, RATE)
    np.testing.assert_allclose(pooling.pool(windows + 10, RATE), values, atol=2e-3)
    np.testing.assert_allclose(pooling.pool(windows[:, ::-1], RATE), values, atol=2e-3)
    np.testing.assert_array_equal(np.concatenate([pooling.pool(one[None], RATE) for one in windows]), values)
