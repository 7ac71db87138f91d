import librosa
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.data import Framing
from audioclass.descriptors.filters import (
    bin_frequencies,
    chroma_matrix,
    from_mel,
    mel_bands,
    mel_matrix,
    octave_edges,
    octave_matrix,
    to_mel,
)

FRAMING = Framing(16000, 512, 160)
FRAMINGS = [
    pytest.param(FRAMING, 40, 40.0, id="16kHz-40-bands"),
    pytest.param(Framing(22050, 1024, 512), 64, 0.0, id="22kHz-from-0Hz"),
    pytest.param(Framing(44100, 2048, 512), 128, 40.0, id="44kHz-128-bands"),
    pytest.param(Framing(16000, 501, 160), 26, 300.0, id="odd-frame"),
]
ANY_FRAMING = st.builds(Framing, st.integers(8000, 192000), st.integers(64, 8192), st.just(64))


@pytest.mark.parametrize("length", [512, 501], ids=["even", "odd"])
def test_bins_lie_where_numpy_puts_them(length):
    framing = Framing(16000, length, 160)
    np.testing.assert_allclose(bin_frequencies(framing), np.fft.rfftfreq(length, 1 / 16000), rtol=1e-12)


@settings(deadline=None)
@given(st.lists(st.floats(0, 96000), min_size=1))
def test_librosa_agrees_on_the_mel_scale(hertz):
    hertz = np.array(hertz)
    np.testing.assert_allclose(to_mel(hertz), librosa.hz_to_mel(hertz), rtol=1e-12)
    np.testing.assert_allclose(from_mel(hertz / 1000), librosa.mel_to_hz(hertz / 1000), rtol=1e-12)


@settings(deadline=None)
@given(st.floats(0, 96000))
def test_from_mel_inverts_to_mel(hertz):
    assert from_mel(to_mel(hertz)) == pytest.approx(hertz, rel=1e-12)


@settings(deadline=None)
@given(st.floats(0, 90000), st.floats(1e-3, 1000))
def test_mels_rise_with_frequency(hertz, step):
    assert to_mel(hertz + step) > to_mel(hertz)


@pytest.mark.parametrize(("framing", "bands", "lowest"), FRAMINGS)
def test_librosa_agrees_on_the_mel_triangles(framing, bands, lowest):
    judge = librosa.filters.mel(sr=framing.sample_rate, n_fft=framing.frame_length, n_mels=bands, fmin=lowest)
    np.testing.assert_allclose(mel_matrix(framing, bands, lowest), judge.T, atol=1e-6 * judge.max())


def test_triangles_have_area_one_over_hertz():
    framing = Framing(16000, 16384, 160)
    areas = mel_matrix(framing, 40, 40.0).sum(axis=0) * 16000 / 16384
    np.testing.assert_allclose(areas, 1, rtol=1e-3)


@settings(deadline=None)
@given(ANY_FRAMING, st.integers(1, 256), st.floats(0, 3000))
def test_no_mel_band_is_empty(framing, bands, lowest):
    matrix = mel_matrix(framing, bands, lowest)
    assert matrix.shape == (framing.frame_length // 2 + 1, bands)
    assert (matrix >= 0).all()
    assert matrix.any(axis=0).all()


def test_a_band_between_two_bins_reads_the_one_nearest_to_its_centre():
    edges = librosa.mel_frequencies(256 + 2, fmin=0, fmax=8000)
    low, centre, high = edges[:-2], edges[1:-1], edges[2:]
    hertz = bin_frequencies(FRAMING)[:, None]
    empty = ~((hertz > low) & (hertz < high)).any(axis=0)
    matrix = mel_matrix(FRAMING, 256, 0.0)[:, empty]
    np.testing.assert_array_equal(matrix.argmax(axis=0), np.abs(hertz - centre[empty]).argmin(axis=0))
    np.testing.assert_allclose(matrix.sum(axis=0), 2 / (high - low)[empty], rtol=1e-6)
    assert empty.any()


@pytest.mark.parametrize("together", [1, 7, 16, 100])
@pytest.mark.parametrize(("framing", "bands", "lowest"), FRAMINGS)
def test_groups_of_mel_bands_put_together_are_the_matrix(framing, bands, lowest, together):
    whole = np.zeros((framing.frame_length // 2 + 1, bands), np.float32)
    for band in mel_bands(framing, bands, lowest, together):
        whole[band.bins, band.columns] += band.weights
    np.testing.assert_array_equal(whole, mel_matrix(framing, bands, lowest))


@pytest.mark.parametrize("lowest", [8000.0, 9000.0])
def test_the_lowest_frequency_must_leave_room_for_a_band(lowest):
    with pytest.raises(ValueError, match=rf"lowest={lowest:g} Hz must be below half the sample rate, 8000 Hz"):
        mel_matrix(FRAMING, 40, lowest)


@pytest.mark.parametrize(
    ("framing", "edges"),
    [
        pytest.param(FRAMING, (0, 8, 16, 32, 64, 128, 257), id="16kHz"),
        pytest.param(Framing(8000, 256, 80), (0, 8, 16, 32, 64, 129), id="8kHz"),
        pytest.param(Framing(44100, 1024, 441), (0, 6, 12, 23, 46, 93, 186, 372, 513), id="44kHz"),
        pytest.param(Framing(16000, 64, 16), (0, 1, 2, 4, 8, 16, 33), id="coarse-bins"),
        pytest.param(Framing(16000, 16, 16), (0, 1, 2, 4, 9), id="bands-below-a-bin-are-left-out"),
    ],
)
def test_octaves_double_from_250_hertz(framing, edges):
    assert octave_edges(framing) == edges


@settings(deadline=None)
@given(ANY_FRAMING)
def test_octaves_share_out_all_bins_and_none_is_empty(framing):
    edges = octave_edges(framing)
    assert (edges[0], edges[-1]) == (0, framing.frame_length // 2 + 1)
    assert (np.diff(edges) > 0).all()


def test_the_octave_matrix_takes_means():
    power = np.random.default_rng(0).random(257)
    means = [
        power[low:high].mean() for low, high in zip((0, 8, 16, 32, 64, 128), (8, 16, 32, 64, 128, 257), strict=True)
    ]
    np.testing.assert_allclose(power @ octave_matrix(FRAMING), means, rtol=1e-6)


@pytest.mark.parametrize("framing", [Framing(22050, 4096, 512), Framing(44100, 8192, 512)], ids=["22kHz", "44kHz"])
def test_librosa_agrees_on_pitch_classes(framing):
    hertz = bin_frequencies(framing)
    judge = librosa.filters.chroma(sr=framing.sample_rate, n_fft=framing.frame_length, tuning=0, octwidth=None).T
    used = (hertz >= 200) & (hertz <= 4000)
    ours = chroma_matrix(framing)
    # Its bins are as wide as the step to the next one, ours as the step at their centre: 1 % apart at 200 Hz.
    np.testing.assert_allclose(ours[used], judge[used], atol=0.01)
    assert not ours[~used].any()


def test_a_bin_counts_with_the_same_weight_in_any_octave_that_is_used():
    weights = chroma_matrix(Framing(16000, 4096, 512))
    sums = (weights**2).sum(axis=1)
    np.testing.assert_allclose(sums[sums > 0], 1, rtol=1e-5)
