"""Per-channel energy normalisation: mel bands under an automatic gain control of their own."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Embedding
from audioclass.embeddings.windows import hop_length_at, mean_and_deviation, mel_spectrogram, mono_window
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.threads import one_thread

FULL_SCALE = 2.0**31  # the samples that the usual values of gain and bias were chosen for are 32-bit integers


@component
class Pcen:
    """Mel bands divided by their own smoothed past and compressed: mean and deviation over time."""

    name: ClassVar[str] = "pcen"

    sample_rate: int = parameter(22050, low=8000, high=48000, help="samples per second")
    bands: int = parameter(64, low=1, high=256, help="number of mel bands")
    lowest: float = parameter(40.0, low=0.0, help="lower edge of the first band, in hertz")
    time_constant: float = parameter(0.4, above=0.0, high=60.0, help="seconds over which the past is smoothed")
    gain: float = parameter(0.98, low=0.0, high=1.0, help="how much of the smoothed past is divided out")
    bias: float = parameter(2.0, above=0.0, help="what is added before the root")
    power: float = parameter(0.5, above=0.0, high=1.0, help="exponent of the root")

    def __post_init__(self) -> None:
        if self.lowest >= self.sample_rate / 2:
            raise ValueError(
                f"pcen: lowest={self.lowest:g} must be below {self.sample_rate / 2:g}, half the sample rate"
            )

    def columns(self) -> list[str]:
        """One for each band, from low to high."""
        return [f"pcen_{value}_{band}" for value in ("mean", "deviation") for band in range(self.bands)]

    @one_thread()
    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """Means, then deviations; the smoothing starts with the window."""
        import librosa

        window = mono_window(samples, sample_rate, self.sample_rate)
        magnitude = mel_spectrogram(window, sample_rate, self.bands, self.lowest, power=1.0)
        normalised = librosa.pcen(
            magnitude * FULL_SCALE,
            sr=sample_rate,
            hop_length=hop_length_at(sample_rate),
            gain=self.gain,
            bias=self.bias,
            power=self.power,
            time_constant=self.time_constant,
        )
        return mean_and_deviation(normalised)


@hookimpl
def register_embeddings() -> list[type[Embedding]]:
    """Per-channel energy normalisation."""
    return [Pcen]
