"""What every embedding does with its window: check it, give it a length that librosa takes, pool what comes out."""

from __future__ import annotations

import math

import numpy as np

FRAME_SECONDS = 2048 / 22050  # librosa's frame at its usual sample rate


def mono_window(samples: np.ndarray, sample_rate: int, expected_rate: int) -> np.ndarray:
    """The samples as float32; a ValueError unless they are mono, finite, at least one and of the expected rate."""
    (window,) = mono_windows(samples[None], sample_rate, expected_rate)
    return np.asarray(window)


def mono_windows(windows: np.ndarray, sample_rate: int, expected_rate: int) -> np.ndarray:
    """The same for several windows of one length, (n_windows, n_samples)."""
    if sample_rate != expected_rate:
        raise ValueError(f"sample_rate={sample_rate} must be {expected_rate}")
    if windows.ndim != 2 or not windows.size:
        raise ValueError(f"samples of shape {windows.shape[1:]} must be mono, at least one")
    if not np.isfinite(windows).all():
        raise ValueError("samples must be finite numbers")
    return np.ascontiguousarray(windows, dtype=np.float32)


def frame_length_at(sample_rate: int) -> int:
    """The power of two nearest to 93 ms: 2048 samples at 22050 Hz."""
    return 1 << round(math.log2(FRAME_SECONDS * sample_rate))


def hop_length_at(sample_rate: int) -> int:
    """A quarter of a frame: 512 samples at 22050 Hz."""
    return frame_length_at(sample_rate) // 4


def padded(samples: np.ndarray, length: int) -> np.ndarray:
    """(…, n_samples) followed by silence up to a length; librosa warns of windows shorter than its frame."""
    missing = max(length - samples.shape[-1], 0)
    return np.pad(samples, [(0, 0)] * (samples.ndim - 1) + [(0, missing)])


def mel_spectrogram(samples: np.ndarray, sample_rate: int, bands: int, lowest: float, *, power: float) -> np.ndarray:
    """(bands, n_frames) of librosa's mel spectrogram, without the frames that hold nothing but padding."""
    import librosa

    frame_length, hop_length = frame_length_at(sample_rate), hop_length_at(sample_rate)
    mel = librosa.feature.melspectrogram(
        y=padded(samples, frame_length),
        sr=sample_rate,
        n_fft=frame_length,
        hop_length=hop_length,
        power=power,
        n_mels=bands,
        fmin=lowest,
    )
    return mel[:, : 1 + len(samples) // hop_length]


def mean_and_deviation(values: np.ndarray) -> np.ndarray:
    """(…, n_values, n_frames) to the means of all values, then their standard deviations, in float32."""
    values = values.astype(np.float64)
    return np.concatenate([values.mean(axis=-1), values.std(axis=-1)], axis=-1).astype(np.float32)
