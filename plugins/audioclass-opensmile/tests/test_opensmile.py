import pickle

import audioclass_opensmile
import numpy as np
import opensmile
import pytest
from audioclass_opensmile import Compare, EGemaps, register_embeddings

from audioclass.errors import PluginError
from audioclass.testing import check_embedding

RATE = 16000


def tone(hertz, seconds=1.0):
    t = np.arange(int(seconds * RATE)) / RATE
    return sum(0.1 / k * np.sin(2 * np.pi * k * hertz * t) for k in range(1, 8)).astype(np.float32)


@pytest.mark.parametrize("embedding", [EGemaps(), EGemaps(sample_rate=8000), Compare()], ids=repr)
def test_they_keep_their_contract(embedding):
    check_embedding(embedding)


def test_they_are_offered():
    assert register_embeddings() == [EGemaps, Compare]


@pytest.mark.parametrize(("embedding", "n_columns"), [(EGemaps(), 88), (Compare(), 6373)], ids=["egemaps", "compare"])
def test_sets_have_their_published_size(embedding, n_columns):
    assert len(embedding.columns()) == n_columns


def test_the_package_itself_agrees():
    smile = opensmile.Smile(opensmile.FeatureSet.eGeMAPSv02, opensmile.FeatureLevel.Functionals)
    table = smile.process_signal(tone(220), RATE)
    assert list(table.columns) == EGemaps().columns()
    np.testing.assert_allclose(EGemaps().embed(tone(220), RATE), table.to_numpy()[0], rtol=1e-6)


def test_an_octave_is_twelve_semitones():
    column = EGemaps().columns().index("F0semitoneFrom27.5Hz_sma3nz_amean")
    low, high = (EGemaps().embed(tone(hertz), RATE)[column] for hertz in (110, 220))
    assert low == pytest.approx(24, abs=0.2)  # 110 Hz is two octaves above 27.5 Hz
    assert high - low == pytest.approx(12, abs=0.2)


@pytest.mark.parametrize("embedding", [EGemaps(), Compare()], ids=repr)
@pytest.mark.parametrize("n_samples", [1, 400, 1600])
def test_short_windows_are_followed_by_silence(embedding, n_samples):
    samples = tone(220)[:n_samples] + 0.01
    padded = np.pad(samples, (0, int(0.2 * RATE) - n_samples))
    np.testing.assert_array_equal(embedding.embed(samples, RATE), embedding.embed(padded, RATE))


def test_it_goes_to_other_processes():
    again = pickle.loads(pickle.dumps(EGemaps()))
    np.testing.assert_array_equal(again.embed(tone(220), RATE), EGemaps().embed(tone(220), RATE))


def test_a_missing_value_is_named(monkeypatch):
    class Broken:
        feature_names = ("pitch", "loudness")

        def __call__(self, samples, sample_rate):
            return np.array([[1.0], [np.nan]])

    monkeypatch.setattr(audioclass_opensmile, "_smile", lambda feature_set: Broken())
    with pytest.raises(PluginError, match="egemaps: openSMILE gave no value for 'loudness'"):
        EGemaps().embed(tone(220), RATE)


def test_samples_that_are_no_window_are_refused():
    with pytest.raises(ValueError, match="sample_rate=44100 must be 16000"):
        EGemaps().embed(tone(220), 44100)
    with pytest.raises(ValueError, match="must be mono and finite"):
        EGemaps().embed(np.zeros((10, 2)), RATE)
