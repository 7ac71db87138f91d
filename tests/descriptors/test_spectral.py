from itertools import pairwise

import librosa
import numpy as np
import pytest
import scipy.stats
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.filters import octave_edges
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.descriptors.spectral import (
    Crest,
    Flatness,
    Flux,
    Irregularity,
    RollOff,
    SpectralMoments,
    SpectralTilt,
)

FRAMING = Framing(16000, 512, 160)
NYQUIST = 8000
N_BINS = 257
NOISE = CachedSpectra(noise(0.3), FRAMING)
MIXED = CachedSpectra(noise(0.3, level=0.02) + tone(440, 0.3) + tone(3000, 0.3, level=0.1), FRAMING)
FALLING = np.exp(-np.arange(N_BINS) / 40)[None, :]
FLAT = np.ones((1, N_BINS))
LINE = np.eye(N_BINS)[[100]]
SOUNDS = pytest.mark.parametrize("spectra", [NOISE, MIXED], ids=["noise", "tones-in-noise"])


def values(descriptor, spectra: CachedSpectra) -> dict[str, np.ndarray]:
    return dict(zip(descriptor.columns(spectra.framing), descriptor.frames(spectra).T, strict=True))


def moments_by_scipy(power: np.ndarray) -> list[float]:
    last, peak = len(power) - 1, power.argmax()
    # Bins are counted from the peak: scipy takes differences of raw moments.
    bins = scipy.stats.rv_discrete(values=(np.arange(len(power)) - peak, power / power.sum(dtype=float)))
    mean, variance, skewness, excess = (float(moment) for moment in bins.stats(moments="mvsk"))
    return [(peak + mean) / last, np.sqrt(variance) / last, skewness, np.log(4 + excess)]


@pytest.mark.parametrize(
    "descriptor",
    [SpectralMoments(), SpectralTilt(), RollOff(), Flux(), Flatness(), Crest(), Irregularity()],
    ids=lambda component: component.name,
)
@pytest.mark.parametrize("gain", [0.1, 10.0])
def test_shape_does_not_depend_on_the_level(descriptor, gain):
    louder = descriptor.frames(CachedSpectra(gain * noise(0.3), FRAMING))
    np.testing.assert_allclose(louder, descriptor.frames(NOISE), atol=1e-4)


def test_moments_of_a_quiet_tone_are_those_of_a_loud_one():
    quiet, loud = (
        SpectralMoments().frames(CachedSpectra(tone(3000, 0.2, level=level), FRAMING)) for level in (3e-5, 0.5)
    )
    np.testing.assert_allclose(quiet, loud, atol=0.01)


@pytest.mark.parametrize(
    "descriptor",
    [SpectralTilt(), RollOff(), Flux(), Flatness(), Crest(), Irregularity()],
    ids=lambda component: component.name,
)
def test_silence_has_no_shape(descriptor):
    np.testing.assert_allclose(descriptor.frames(CachedSpectra(np.zeros(2000), FRAMING)), 0, atol=1e-3)


# --- moments


@SOUNDS
def test_librosa_agrees_on_centroid_and_spread(spectra):
    ours = values(SpectralMoments(), spectra)
    centroid = librosa.feature.spectral_centroid(S=spectra.power.T, sr=16000)[0]
    spread = librosa.feature.spectral_bandwidth(S=spectra.power.T, sr=16000)[0]
    np.testing.assert_allclose(ours["centroid"], centroid / NYQUIST, rtol=1e-5)
    np.testing.assert_allclose(ours["spread"], spread / NYQUIST, rtol=1e-5)


@SOUNDS
def test_scipy_agrees_on_all_four_moments(spectra):
    judge = [moments_by_scipy(power) for power in spectra.power[:5]]
    np.testing.assert_allclose(SpectralMoments().frames(spectra)[:5], judge, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("frequency", [300, 3141, 7900])
@pytest.mark.parametrize("length", [512, 2048, 4096, 8192])
def test_scipy_agrees_on_the_moments_of_a_tone(frequency, length):
    spectra = CachedSpectra(tone(frequency, 0.6), Framing(16000, length, length))
    np.testing.assert_allclose(SpectralMoments().frames(spectra)[0], moments_by_scipy(spectra.power[0]), atol=0.01)


def test_moments_of_two_equal_lines_worked_by_hand(spectra_with):
    ours = values(SpectralMoments(), spectra_with(np.eye(N_BINS)[[64]] + np.eye(N_BINS)[[192]]))
    assert ours["centroid"] == pytest.approx(0.5)
    assert ours["spread"] == pytest.approx(0.25)
    assert ours["spectral_skewness"] == pytest.approx(0, abs=1e-6)
    assert ours["spectral_kurtosis"] == pytest.approx(np.log(2))


def test_a_flat_spectrum_has_the_moments_of_a_uniform_distribution(spectra_with):
    ours = values(SpectralMoments(), spectra_with(FLAT))
    uniform = scipy.stats.uniform()
    assert ours["centroid"] == pytest.approx(uniform.mean())
    assert ours["spread"] == pytest.approx(uniform.std(), rel=0.01)
    assert ours["spectral_kurtosis"] == pytest.approx(np.log(4 + uniform.stats(moments="k")), rel=0.01)


def test_reversing_the_frequencies_mirrors_the_moments(spectra_with):
    plain, reversed_ = (values(SpectralMoments(), spectra_with(power)) for power in (FALLING, FALLING[:, ::-1]))
    assert reversed_["centroid"] == pytest.approx(1 - plain["centroid"], rel=1e-5)
    assert reversed_["spread"] == pytest.approx(plain["spread"], rel=1e-5)
    assert reversed_["spectral_skewness"] == pytest.approx(-plain["spectral_skewness"], rel=1e-4)
    assert plain["spectral_skewness"] > 0


@pytest.mark.parametrize("length", [512, 2048, 8192])
def test_a_tone_is_as_wide_as_its_window(length):
    # On a bin it is three lines under a Hann window, with 1/6, 2/3 and 1/6 of the power.
    ours = values(SpectralMoments(), CachedSpectra(tone(2000, 0.6), Framing(16000, length, length)))
    assert ours["centroid"] == pytest.approx(0.25, rel=1e-4)
    assert ours["spread"] == pytest.approx(np.sqrt(1 / 3) * 2 / length, rel=1e-3)


@pytest.mark.parametrize("power", [0 * LINE, LINE], ids=["silence", "one-line"])
def test_what_has_no_width_has_no_higher_moments(spectra_with, power):
    ours = SpectralMoments().frames(spectra_with(power))
    np.testing.assert_allclose(ours[:, 1:], 0, atol=1e-3)


# --- tilt


@SOUNDS
def test_librosa_agrees_on_the_magnitude_centroid(spectra):
    judge = librosa.feature.spectral_centroid(S=spectra.magnitude.T, sr=16000)[0]
    np.testing.assert_allclose(values(SpectralTilt(), spectra)["magnitude_centroid"], judge / NYQUIST, rtol=1e-5)


@SOUNDS
def test_scipy_agrees_on_the_slope(spectra):
    shares = spectra.magnitude / spectra.magnitude.sum(axis=1, keepdims=True, dtype=float)
    judge = [scipy.stats.linregress(np.linspace(0, 1, N_BINS), share).slope for share in shares]
    np.testing.assert_allclose(values(SpectralTilt(), spectra)["slope"], judge, rtol=1e-3, atol=1e-7)


@SOUNDS
def test_decrease_is_the_sum_of_its_formula(spectra):
    a = spectra.magnitude.astype(float)
    decrease = ((a[:, 1:] - a[:, :1]) / np.arange(1, N_BINS)).sum(axis=1) / a[:, 1:].sum(axis=1)
    np.testing.assert_allclose(values(SpectralTilt(), spectra)["decrease"], decrease, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("magnitude", "slope", "decrease"),
    [
        pytest.param([1, 1, 1, 1, 1], 0, 0, id="flat"),
        pytest.param([4, 3, 2, 1, 0], -0.4, -4 / 6, id="straight-down"),
        pytest.param([0, 1, 2, 3, 4], 0.4, 4 / 10, id="straight-up"),
        pytest.param([0, 0, 0, 1, 0], 0.4, 1 / 3, id="one-line"),
    ],
)
def test_tilt_of_five_bins_worked_by_hand(spectra_with, magnitude, slope, decrease):
    ours = values(SpectralTilt(), spectra_with(np.square([magnitude])))
    assert ours["slope"] == pytest.approx(slope, abs=1e-5)
    assert ours["decrease"] == pytest.approx(decrease, abs=1e-5)


# --- roll-off


@SOUNDS
@pytest.mark.parametrize("part", [0.05, 0.5, 0.85, 0.95])
def test_librosa_agrees_on_the_roll_off(spectra, part):
    hertz = librosa.feature.spectral_rolloff(S=spectra.power.T, sr=16000, roll_percent=part)[0]
    np.testing.assert_allclose(RollOff((part,)).frames(spectra)[:, 0], np.log2(1 + hertz * 512 / 16000), rtol=1e-6)


@pytest.mark.parametrize(
    ("power", "part", "bin_"),
    [
        pytest.param([1, 1, 1, 1, 0], 0.5, 1, id="reached-with-equality"),
        pytest.param([1, 1, 1, 1, 0], 0.51, 2, id="just-above"),
        pytest.param([1, 1, 1, 1, 0], 1.0, 3, id="all-of-it"),
        pytest.param([0, 0, 0, 5, 0], 0.85, 3, id="one-line"),
        pytest.param([0, 0, 0, 0, 0], 0.85, 0, id="silence"),
    ],
)
def test_roll_off_of_five_bins_worked_by_hand(spectra_with, power, part, bin_):
    assert RollOff((part,)).frames(spectra_with([power])) == pytest.approx(np.log2(1 + bin_))


def test_larger_parts_reach_further():
    parts = (0.1, 0.5, 0.85, 0.95, 0.99)
    assert (np.diff(RollOff(parts).frames(NOISE), axis=1) >= 0).all()
    assert RollOff(parts).columns(FRAMING) == [f"roll_off_{part}" for part in parts]


@pytest.mark.parametrize("part", [0.0, -0.5, 1.5])
def test_parts_of_the_power_lie_between_zero_and_one(part):
    with pytest.raises(ValueError, match=rf"roll_off: parts={part} must be above 0 and at most 1"):
        RollOff((part,))


@pytest.mark.parametrize("parts", [(), (0.85, 0.95, 0.85)], ids=["none", "one-twice"])
def test_parts_of_the_power_are_one_or_more_and_different(parts):
    with pytest.raises(ValueError, match=r"roll_off: parts=\(.*\) must be one or more different numbers"):
        RollOff(parts)


# --- flux


def test_flux_is_the_distance_of_magnitudes_that_sum_to_one():
    shares = NOISE.magnitude / NOISE.magnitude.sum(axis=1, keepdims=True, dtype=float)
    judge = [0, *(np.abs(after - before).sum() for before, after in pairwise(shares))]
    np.testing.assert_allclose(Flux().frames(NOISE)[:, 0], judge, rtol=1e-5)


def test_flux_is_zero_for_a_change_of_level_and_two_for_a_change_of_all_bins(spectra_with):
    powers = np.eye(N_BINS)[[100, 100, 200, 200]] * [[1], [9], [9], [1]]
    assert Flux().frames(spectra_with(powers))[:, 0] == pytest.approx([0, 0, 2, 0], abs=1e-4)


def test_flux_is_half_way_when_half_the_magnitude_moves(spectra_with):
    powers = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0]])
    assert Flux().frames(spectra_with(powers))[1] == pytest.approx(1, abs=1e-4)


# --- flatness


@SOUNDS
def test_librosa_agrees_on_the_flatness(spectra):
    judge = np.log(librosa.feature.spectral_flatness(S=spectra.magnitude.T)[0])
    np.testing.assert_allclose(values(Flatness(), spectra)["flatness"], judge, atol=1e-4)


@SOUNDS
def test_scipy_agrees_on_the_flatness_of_octaves(spectra):
    ours = Flatness().frames(spectra)[:, 1:]
    power = spectra.power.astype(float)
    for column, (low, high) in enumerate(pairwise(octave_edges(FRAMING))):
        band = power[:, low:high]
        judge = np.log(scipy.stats.gmean(band, axis=1) / band.mean(axis=1))
        np.testing.assert_allclose(ours[:, column], judge, atol=1e-4)


def test_a_flat_spectrum_is_flat_in_every_octave(spectra_with):
    np.testing.assert_allclose(Flatness().frames(spectra_with(FLAT)), 0, atol=1e-5)


@SOUNDS
def test_a_geometric_mean_is_never_above_the_arithmetic_one(spectra):
    assert (Flatness().frames(spectra) <= 1e-6).all()


# --- crest


@SOUNDS
def test_crest_is_the_maximum_over_the_mean_overall_and_in_octaves(spectra):
    power = spectra.power.astype(float)
    bands = [power, *(power[:, low:high] for low, high in pairwise(octave_edges(FRAMING)))]
    judge = np.stack([np.log(band.max(axis=1) / band.mean(axis=1)) for band in bands], axis=1)
    np.testing.assert_allclose(Crest().frames(spectra), judge, atol=1e-4)


def test_a_line_stands_out_by_the_number_of_bins_and_a_flat_spectrum_not_at_all(spectra_with):
    np.testing.assert_allclose(Crest().frames(spectra_with(FLAT)), 0, atol=1e-5)
    ours = values(Crest(), spectra_with(LINE))
    assert ours["crest"] == pytest.approx(np.log(N_BINS))
    assert ours["crest_octave_4"] == pytest.approx(np.log(64))  # bins 64 to 127
    assert ours["crest_octave_3"] == pytest.approx(0, abs=1e-5)


# --- irregularity


@SOUNDS
def test_irregularity_is_the_sum_of_its_formula(spectra):
    a = spectra.magnitude.astype(float)
    judge = (np.diff(a, axis=1) ** 2).sum(axis=1) / (a**2).sum(axis=1)
    np.testing.assert_allclose(Irregularity().frames(spectra)[:, 0], judge, rtol=1e-5)


@pytest.mark.parametrize(
    ("magnitude", "irregularity"),
    [
        pytest.param([1, 1, 1, 1, 1], 0, id="flat"),
        pytest.param([0, 0, 3, 0, 0], 2, id="line"),
        pytest.param([0, 1, 0, 1, 0], 2, id="comb"),
        pytest.param([1, 2, 3, 2, 1], 4 / 19, id="hill"),
        pytest.param([0, 0, 0, 0, 0], 0, id="silence"),
    ],
)
def test_irregularity_of_five_bins_worked_by_hand(spectra_with, magnitude, irregularity):
    assert Irregularity().frames(spectra_with(np.square([magnitude]))) == pytest.approx(irregularity, abs=1e-6)


@pytest.mark.parametrize("descriptor", [Flatness(), Crest()], ids=lambda component: component.name)
def test_there_is_a_column_for_the_whole_and_for_each_octave(descriptor):
    names = [descriptor.name, *(f"{descriptor.name}_octave_{i}" for i in range(6))]
    assert descriptor.columns(FRAMING) == names


@SOUNDS
@pytest.mark.parametrize("speed", [15 / 14, 1.0, 14 / 15])
def test_rolled_off_bins_are_those_that_numpy_finds(spectra, speed):
    played = spectra.at_speed(speed)
    bins = [np.searchsorted(row, [0.5 * row[-1], 0.95 * row[-1]]) for row in np.cumsum(played.power, axis=1)]
    expected = np.log2(1 + speed * np.array(bins))
    np.testing.assert_allclose(RollOff(parts=(0.5, 0.95)).frames(played), expected, atol=1e-6)


def test_moments_at_a_lower_speed_are_those_of_the_same_spectrum():
    played = MIXED.at_speed(14 / 15)
    centroid, spread, skewness, _ = SpectralMoments().frames(played).T
    expected = np.array([moments_by_scipy(row)[:3] for row in played.power])
    np.testing.assert_allclose(np.stack([centroid, spread, skewness], axis=1), expected, rtol=2e-3, atol=1e-4)
