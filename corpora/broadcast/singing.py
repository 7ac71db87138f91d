"""Voices that sing: the resonances of spoken words on the notes of a melody (linear prediction, then resynthesis)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter

SAMPLE_RATE = 16000
ORDER = 18
FRAME, HOP = 512, 128
SCALE = (0, 2, 4, 5, 7, 9, 11)


def sing(speech: np.ndarray, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Words of a voice, slowed down and sung with vibrato; sometimes two voices a third apart."""
    pitch = melody(n_samples, rng)
    frames = _analyse(speech)
    if not frames:
        return np.zeros(n_samples)
    pace = rng.uniform(0.35, 0.8)
    voice = _synthesise(frames, pitch, pace, rng)
    if rng.random() < 0.25:
        voice = voice + 0.7 * _synthesise(frames, pitch * 2 ** (4 / 12), pace, rng)
    return voice


def melody(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Hertz at every sample: notes of a scale with glides between them and vibrato on them."""
    tonic = rng.uniform(98, 330)
    degree, notes = int(rng.integers(0, 8)), []
    while sum(len(note) for note in notes) < n_samples:
        degree = int(np.clip(degree + rng.integers(-3, 4), -2, 10))
        semitones = SCALE[degree % 7] + 12 * (degree // 7)
        length = int(rng.choice([0.2, 0.3, 0.45, 0.6, 0.9, 1.4]) * SAMPLE_RATE)
        notes.append(np.full(length, tonic * 2 ** (semitones / 12)))
    steps = np.concatenate(notes)[:n_samples]
    glide = lfilter([0.002], [1, -0.998], np.log(steps) - np.log(steps[0])) + np.log(steps[0])
    times = np.arange(n_samples) / SAMPLE_RATE
    vibrato = rng.uniform(0.1, 0.6) / 12 * np.log(2) * np.sin(2 * np.pi * rng.uniform(4.5, 6.5) * times)
    return np.exp(glide + vibrato)


def _analyse(x: np.ndarray) -> list[tuple[np.ndarray, float, bool]]:
    """(prediction, gain, is voiced) of every frame that is loud enough to be sung."""
    frames, window = [], np.hanning(FRAME)
    loud = 0.15 * np.sqrt((x**2).mean() + 1e-12)
    for start in range(0, len(x) - FRAME, HOP):
        frame = x[start : start + FRAME] * window
        if np.sqrt((frame**2).mean()) > loud:
            frames.append(_predict(frame))
    return frames


def _predict(frame: np.ndarray) -> tuple[np.ndarray, float, bool]:
    r = np.correlate(frame, frame, "full")[FRAME - 1 :]
    r[0] *= 1.0001
    a = solve_toeplitz(r[:ORDER], r[1 : ORDER + 1])
    residual = max(r[0] - a @ r[1 : ORDER + 1], 1e-9)
    return np.concatenate([[1.0], -a]), float(np.sqrt(residual / FRAME)), bool(r[40:320].max() > 0.35 * r[0])


def _synthesise(
    frames: list[tuple[np.ndarray, float, bool]], pitch: np.ndarray, pace: float, rng: np.random.Generator
) -> np.ndarray:
    phase = np.cumsum(pitch / SAMPLE_RATE)
    pulses = np.diff(np.floor(phase), prepend=0.0) * np.sqrt(SAMPLE_RATE / pitch)
    breath = rng.standard_normal(len(pitch))
    y, window = np.zeros(len(pitch) + FRAME), np.hanning(FRAME)
    for index, start in enumerate(range(0, len(pitch) - FRAME, HOP)):
        a, gain, is_voiced = frames[int(index * pace) % len(frames)]
        y[start : start + FRAME] += lfilter([gain], a, _source(pulses, breath, start, is_voiced)) * window
    return y[: len(pitch)]


def _source(pulses: np.ndarray, breath: np.ndarray, start: int, is_voiced: bool) -> np.ndarray:
    here = slice(start, start + FRAME)
    return pulses[here] + 0.05 * breath[here] if is_voiced else 0.5 * breath[here]
