import librosa
import numpy as np
import pytest
from signals import clicks

from audioclass.embeddings.tempo import Tempogram

RATE = 22050


def beats(bpm: float, seconds: float = 12.0) -> np.ndarray:
    return clicks(seconds, 60 / bpm, RATE)


def strengths(embedding: Tempogram, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The tempi and the strength of each."""
    tempi = np.array([float(name.removeprefix("tempogram_")) for name in embedding.columns()[:-2]])
    return tempi, embedding.embed(samples, RATE)[:-2]


@pytest.mark.parametrize("bpm", [75, 120, 160])
def test_a_click_track_is_strongest_at_its_tempo_or_a_whole_part_of_it(bpm):
    tempi, values = strengths(Tempogram(tempi=100), beats(bpm))
    strongest = tempi[values.argmax()]
    assert min(abs(strongest - bpm / n) / bpm for n in (1, 2, 3)) < 0.03
    beat, beside = (values[abs(tempi - one).argmin()] for one in (bpm, 0.8 * bpm))
    assert beat > 5 * beside


def test_tempo_and_clarity_of_120_beats_a_minute():
    *_, tempo, clarity = Tempogram().embed(beats(120), RATE)
    assert 2**tempo == pytest.approx(120, rel=0.03)
    assert clarity > 0.5


def test_values_are_those_of_librosa_at_its_lags():
    samples = beats(100) + np.roll(0.5 * beats(150), 777)
    embedding = Tempogram(
        tempi=2, slowest=60 * RATE / 512 / 30, fastest=60 * RATE / 512 / 15
    )  # 30 and 15 frames a beat
    win_length = 1 + round(embedding.span * RATE / 512)
    expected = librosa.feature.tempogram(y=samples, sr=RATE, win_length=win_length).mean(axis=1)
    np.testing.assert_allclose(embedding.embed(samples, RATE)[:2], expected[[30, 15]], atol=1e-4)


def test_silence_has_no_clear_pulse():
    vector = Tempogram().embed(np.zeros(5 * RATE), RATE)
    assert not vector[:-2].any()
    assert vector[-1] == 0


def test_tempi_that_make_no_range_are_refused():
    with pytest.raises(ValueError, match="tempogram: slowest=200 must be below fastest=100"):
        Tempogram(slowest=200.0, fastest=100.0)
    with pytest.raises(ValueError, match="tempogram: span=1 s must hold a beat of slowest=40 BPM"):
        Tempogram(span=1.0)
