"""The tempogram: how strongly onsets repeat at each tempo."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Embedding
from audioclass.embeddings.windows import frame_length_at, hop_length_at, mel_spectrogram, mono_window
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.threads import one_thread

BANDS, LOWEST = 128, 0.0  # the mel bands whose rises are onsets, as librosa takes them


@component
class Tempogram:
    """Autocorrelation of the onset strength at tempi of equal ratio, with the tempo (log2 BPM) and its clarity."""

    name: ClassVar[str] = "tempogram"

    sample_rate: int = parameter(22050, low=8000, high=48000, help="samples per second")
    tempi: int = parameter(36, low=2, high=200, help="number of tempi")
    slowest: float = parameter(40.0, low=10.0, help="slowest tempo, in beats per minute")
    fastest: float = parameter(240.0, high=600.0, help="fastest tempo, in beats per minute")
    span: float = parameter(8.0, low=1.0, high=60.0, help="seconds of onsets that one autocorrelation sees")

    def __post_init__(self) -> None:
        if self.slowest >= self.fastest:
            raise ValueError(f"tempogram: slowest={self.slowest:g} must be below fastest={self.fastest:g}")
        if 60 / self.slowest > self.span:
            raise ValueError(f"tempogram: span={self.span:g} s must hold a beat of slowest={self.slowest:g} BPM")

    def columns(self) -> list[str]:
        """One for each tempo, in beats per minute, then tempo and clarity."""
        return [*(f"tempogram_{one:.5g}" for one in self._beats_per_minute), "tempo", "pulse_clarity"]

    @one_thread()
    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """Means over time, each frame 1 at lag 0; the clarity is the largest of them, 0 in silence."""
        import librosa

        window = mono_window(samples, sample_rate, self.sample_rate)
        frame_rate = sample_rate / hop_length_at(sample_rate)
        tempogram = librosa.feature.tempogram(
            onset_envelope=onset_strength(window, sample_rate),
            sr=sample_rate,
            hop_length=hop_length_at(sample_rate),
            win_length=1 + round(self.span * frame_rate),
        )
        by_lag = tempogram.mean(axis=1)
        strengths = np.interp(60 / self._beats_per_minute * frame_rate, np.arange(len(by_lag)), by_lag)
        tempo = librosa.feature.tempo(
            tg=tempogram, sr=sample_rate, hop_length=hop_length_at(sample_rate), max_tempo=self.fastest
        )
        return np.array([*strengths, np.log2(tempo[0]), strengths.max()], np.float32)

    @property
    def _beats_per_minute(self) -> np.ndarray:
        return np.geomspace(self.slowest, self.fastest, self.tempi)


def onset_strength(window: np.ndarray, sample_rate: int) -> np.ndarray:
    """(n_frames,), the mean rise over mel bands since the frame before, in decibels."""
    import librosa

    mel = mel_spectrogram(window, sample_rate, BANDS, LOWEST, power=2.0)
    return librosa.onset.onset_strength(
        S=librosa.power_to_db(mel),
        sr=sample_rate,
        n_fft=frame_length_at(sample_rate),
        hop_length=hop_length_at(sample_rate),
    )


@hookimpl
def register_embeddings() -> list[type[Embedding]]:
    """The tempogram."""
    return [Tempogram]
