import librosa
import numpy as np
import pytest
from signals import noise, tone

from audioclass.data import Framing
from audioclass.descriptors.chroma import Chroma
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(16000, 4096, 1024)


def shares(samples: np.ndarray) -> np.ndarray:
    return Chroma().frames(CachedSpectra(samples, FRAMING))


def chord(*notes: str) -> np.ndarray:
    return sum(tone(librosa.note_to_hz(note), 0.6, level=0.1) for note in notes)


@pytest.mark.parametrize("octave", [4, 5, 6])
@pytest.mark.parametrize("note", Chroma().columns(FRAMING))
def test_a_tone_is_of_its_own_pitch_class(note, octave):
    pitch = note.removeprefix("chroma_")
    samples = tone(librosa.note_to_hz(f"{pitch}{octave}"), 0.6)
    assert set(shares(samples).argmax(axis=1)) == {Chroma().columns(FRAMING).index(note)}


@pytest.mark.parametrize(
    "samples",
    [
        pytest.param(chord("C4", "E4", "G4"), id="C-major"),
        pytest.param(chord("A4", "C5", "E5", "G5"), id="A-minor-seventh"),
        pytest.param(chord("F#5"), id="one-note"),
        pytest.param(tone(452.9, 0.6), id="between-two-notes"),
    ],
)
def test_librosa_agrees_on_what_lies_in_the_range(samples):
    spectra = CachedSpectra(samples, FRAMING)
    judge = librosa.feature.chroma_stft(S=spectra.power.T, sr=16000, tuning=0, norm=1, octwidth=None).T
    ours = Chroma().frames(spectra)
    np.testing.assert_allclose(ours, judge, atol=0.01)
    np.testing.assert_array_equal(ours.argmax(axis=1), judge.argmax(axis=1))


def test_shares_sum_to_one():
    assert shares(noise(0.6)).sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert (shares(noise(0.6)) >= 0).all()


def test_transposing_by_a_semitone_turns_the_classes_by_one():
    root, higher = shares(chord("C5", "E5", "G5")), shares(chord("C#5", "F5", "G#5"))
    np.testing.assert_allclose(np.roll(root, 1, axis=1), higher, atol=0.05)


@pytest.mark.parametrize("frequency", [100, 6000], ids=["below", "above"])
def test_power_outside_the_range_does_not_count(frequency):
    note = chord("A4")
    np.testing.assert_allclose(shares(note + tone(frequency, 0.6)), shares(note), atol=1e-3)


def test_silence_has_no_pitch_class():
    assert not shares(np.zeros(9000)).any()
