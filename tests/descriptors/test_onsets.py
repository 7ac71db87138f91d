import librosa
import numpy as np
import pytest
from signals import clicks, noise, tone

from audioclass.data import Framing
from audioclass.descriptors.onsets import OnsetStrength
from audioclass.descriptors.spectra import CachedSpectra

FRAMING = Framing(16000, 512, 160)
APART = Framing(16000, 512, 512)


def strength(samples: np.ndarray, framing: Framing = FRAMING) -> np.ndarray:
    return OnsetStrength().frames(CachedSpectra(samples, framing))[:, 0]


@pytest.mark.parametrize(
    "samples", [noise(0.5), clicks(0.5, 0.1), noise(0.5) * clicks(0.5, 0.05).cumsum()], ids=["noise", "clicks", "steps"]
)
@pytest.mark.parametrize("bands", [40, 64])
def test_librosa_agrees(samples, bands):
    spectra = CachedSpectra(samples, FRAMING)
    judge = librosa.onset.onset_strength(
        S=spectra.log_mel(bands, 40.0).T, lag=1, max_size=1, detrend=False, center=False, aggregate=np.mean
    )
    np.testing.assert_allclose(OnsetStrength(bands).frames(spectra)[:, 0], judge, atol=1e-4)


def test_a_rise_counts_in_full_and_a_fall_not_at_all():
    block = noise(0.032)  # the same frame four times
    samples = np.concatenate([gain * block for gain in (0.1, 1, 1, 0.1)])
    assert strength(samples, APART) == pytest.approx([0, 20, 0, 0], abs=0.01)


def test_clicks_are_found_where_they_enter_the_frame():
    entering = strength(clicks(1.0, 0.25) + noise(1.0, level=1e-4))
    # A click at sample 4000 n first lies in the frame that starts after it minus 512 samples.
    loudest = np.sort(entering.argsort()[-3:])
    assert loudest == pytest.approx([(4000 * n - 512) / 160 + 1 for n in (1, 2, 3)], abs=1)


def test_a_steady_tone_and_silence_have_no_onsets():
    assert strength(tone(500, 0.3), Framing(16000, 512, 128)) == pytest.approx(0, abs=0.1)
    assert not strength(np.zeros(4000)).any()


def test_strength_does_not_depend_on_the_level():
    np.testing.assert_allclose(strength(10 * noise(0.3)), strength(noise(0.3)), atol=1e-2)


def test_it_asks_for_one_frame_of_context():
    samples = noise(0.3)
    assert OnsetStrength.context == 1
    np.testing.assert_allclose(strength(samples[160:])[1:], strength(samples)[2:], atol=1e-4)


def test_bands_out_of_range_are_refused():
    with pytest.raises(ValueError, match="onset_strength: bands=0 must be at least 1 and at most 512"):
        OnsetStrength(bands=0)
