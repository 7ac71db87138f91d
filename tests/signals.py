"""Audio that tests make instead of storing: mono float32 at the given sample rate."""

import numpy as np


def tone(frequency: float, seconds: float, sample_rate: int = 16000, level: float = 0.5) -> np.ndarray:
    t = np.arange(round(seconds * sample_rate)) / sample_rate
    return (level * np.sin(2 * np.pi * frequency * t)).astype(np.float32)


def noise(seconds: float, sample_rate: int = 16000, level: float = 0.1, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (level * rng.standard_normal(round(seconds * sample_rate))).astype(np.float32)


def clicks(seconds: float, every: float, sample_rate: int = 16000) -> np.ndarray:
    samples = np.zeros(round(seconds * sample_rate), np.float32)
    samples[:: round(every * sample_rate)] = 1.0
    return samples
