import librosa
import numpy as np
import pytest
from signals import noise, tone

from audioclass.embeddings.constant_q import CLASSES, ChromaCqt, Cqt, Tonnetz

RATE = 22050


def chord(*notes: str, seconds: float = 2.0) -> np.ndarray:
    return sum(tone(float(librosa.note_to_hz(note)), seconds, RATE, 0.1) for note in notes)


def values(embedding, samples: np.ndarray, rate: int = RATE) -> dict[str, float]:
    return dict(zip(embedding.columns(), embedding.embed(samples, rate), strict=True))


def means(embedding, samples: np.ndarray) -> np.ndarray:
    return np.array([value for name, value in values(embedding, samples).items() if "_mean_" in name])


def test_a_tone_of_440_hertz_is_loudest_in_its_bin():
    levels = values(Cqt(), tone(440, 2.0, RATE))
    loudest = max(levels, key=lambda name: levels[name] if "_mean_" in name else -np.inf)
    assert loudest == "cqt_mean_440"
    assert levels["cqt_mean_440"] == pytest.approx(0, abs=1)  # of the loudest, softer only at both ends


def test_levels_are_those_of_librosa():
    samples = chord("C3", "E4", "G5") + noise(2.0, RATE, 0.01)
    magnitude = np.abs(librosa.cqt(samples, sr=RATE, tuning=0.0))
    levels = librosa.amplitude_to_db(magnitude, ref=np.max, amin=1e-7, top_db=80)
    expected = np.concatenate([levels.mean(axis=1), levels.std(axis=1)])
    np.testing.assert_allclose(Cqt().embed(samples, RATE), expected, atol=1e-3)


def test_loudness_does_not_matter_and_silence_is_as_deep_as_can_be():
    samples = chord("A3", "C#4")
    np.testing.assert_allclose(Cqt().embed(samples, RATE), Cqt().embed(0.1 * samples, RATE), atol=0.01)
    assert set(Cqt(depth=60.0).embed(np.zeros(9000), RATE)) == {-60.0, 0.0}


@pytest.mark.parametrize("octave", [2, 4, 6])
@pytest.mark.parametrize("pitch", CLASSES)
def test_a_tone_is_of_its_own_pitch_class(pitch, octave):
    assert CLASSES[means(ChromaCqt(), chord(f"{pitch}{octave}")).argmax()] == pitch


def test_chroma_is_that_of_librosa():
    samples = chord("D4", "F4", "A4", seconds=4.0)
    expected = librosa.feature.chroma_cqt(y=samples, sr=RATE, tuning=0.0)
    np.testing.assert_allclose(means(ChromaCqt(), samples), expected.mean(axis=1), atol=1e-5)


def test_key_invariant_chroma_is_the_same_in_every_key_and_tells_major_from_minor():
    embedding = ChromaCqt(key_invariant=True)
    c_major, d_major = (
        means(embedding, chord(*notes)) for notes in (("C4", "C3", "E4", "G4"), ("D4", "D3", "F#4", "A4"))
    )
    c_minor = means(embedding, chord("C4", "C3", "D#4", "G4"))
    np.testing.assert_allclose(c_major, d_major, atol=0.1)
    assert c_major[4] > 0.2 > c_major[3]
    assert c_minor[3] > 0.2 > c_minor[4]


def test_tonal_centroid_of_a_triad_worked_out_by_hand():
    triad = values(Tonnetz(), chord("C4", "E4", "G4", seconds=4.0))
    classes = np.array([0, 4, 7])  # C, E and G as equals: the mean of three points on each circle
    for circle, step, radius in (("fifths", 7 / 6, 1.0), ("minor_thirds", 3 / 2, 1.0), ("major_thirds", 2 / 3, 0.5)):
        x, y = radius * np.sin(np.pi * step * classes).mean(), radius * np.cos(np.pi * step * classes).mean()
        assert triad[f"tonnetz_mean_{circle}_x"] == pytest.approx(x, abs=0.08)
        assert triad[f"tonnetz_mean_{circle}_y"] == pytest.approx(y, abs=0.08)
        assert triad[f"tonnetz_radius_{circle}"] == pytest.approx(np.hypot(x, y), abs=0.08)


def test_transposing_keeps_the_radii():
    radii = [Tonnetz().embed(chord(*notes), RATE)[12:] for notes in (("C4", "E4", "G4"), ("F4", "A4", "C5"))]
    np.testing.assert_allclose(*radii, atol=0.05)


def test_tonal_centroids_are_those_of_librosa():
    samples = chord("E4", "G#4", "B4", seconds=4.0)
    centroids = librosa.feature.tonnetz(y=samples, sr=RATE, tuning=0.0)
    np.testing.assert_allclose(means(Tonnetz(), samples), centroids.mean(axis=1), atol=1e-5)


@pytest.mark.parametrize("cls", [Cqt, ChromaCqt, Tonnetz])
def test_bins_above_half_the_sample_rate_are_refused(cls):
    with pytest.raises(ValueError, match=f"{cls.name}: 7 octaves from 32.7 Hz reach 4186 Hz, must stay within 4000 Hz"):
        cls(sample_rate=8000)
    assert len(cls(sample_rate=8000, octaves=6).embed(tone(440, 1.0, 8000), 8000)) == len(cls(octaves=6).columns())
