"""Probabilistic YIN: the most probable path of pitch and voicing through a window."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass.contracts import Embedding
from audioclass.embeddings.windows import mono_window, padded
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.threads import one_thread

PERIODS = 4  # of the lowest pitch that a frame holds at least; YIN needs two


@component
class Pyin:
    """How much is voiced, and the pitch of what is, in octaves (log2 of hertz): median, spread and movement."""

    name: ClassVar[str] = "pyin"

    sample_rate: int = parameter(16000, low=8000, high=48000, help="samples per second")
    lowest: float = parameter(65.40639132514966, low=20.0, high=2000.0, help="lowest pitch, in hertz (C2)")
    highest: float = parameter(1046.5022612023945, low=40.0, help="highest pitch, in hertz (C6)")

    def __post_init__(self) -> None:
        if self.lowest >= self.highest:
            raise ValueError(f"pyin: lowest={self.lowest:g} must be below highest={self.highest:g}")
        if self.highest > self.sample_rate / 2:
            raise ValueError(
                f"pyin: highest={self.highest:g} must be at most {self.sample_rate / 2:g}, half the sample rate"
            )

    def columns(self) -> list[str]:
        """Share of voiced frames, mean probability of voicing, and three of the pitch."""
        return ["pyin_voiced", "pyin_probability", "pyin_pitch_median", "pyin_pitch_deviation", "pyin_pitch_change"]

    @one_thread()
    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """Where nothing is voiced the pitch is the lowest allowed, without spread or movement."""
        import librosa

        window = mono_window(samples, sample_rate, self.sample_rate)
        frame_length = 1 << int(np.ceil(np.log2(PERIODS * sample_rate / self.lowest)))
        pitch, voiced, probability = librosa.pyin(
            padded(window, frame_length),
            fmin=self.lowest,
            fmax=self.highest,
            sr=sample_rate,
            frame_length=frame_length,
        )
        n_frames = 1 + len(window) // (frame_length // 4)
        voiced, probability = voiced[:n_frames], probability[:n_frames]
        path = np.log2(pitch[:n_frames][voiced]) if voiced.any() else np.log2([self.lowest])
        change = np.abs(np.diff(path)).mean() if len(path) > 1 else 0.0
        return np.array([voiced.mean(), probability.mean(), np.median(path), path.std(), change], np.float32)


@hookimpl
def register_embeddings() -> list[type[Embedding]]:
    """Probabilistic YIN."""
    return [Pyin]
