"""Surroundings of our own making: weather, machines, signals and small animals, each drawn anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.signal import butter, fftconvolve, sosfilt
from treatments import SAMPLE_RATE, coloured_noise

Maker = Callable[[int, np.random.Generator], np.ndarray]


def _times(n: int) -> np.ndarray:
    return np.arange(n) / SAMPLE_RATE


def _slow(n: int, rng: np.random.Generator, rate: float) -> np.ndarray:
    """A curve from 0 to 1 that changes about `rate` times a second."""
    knots = rng.random(int(n / SAMPLE_RATE * rate) + 3)
    return np.interp(np.linspace(0, len(knots) - 1, n), np.arange(len(knots)), knots)


def _band(x: np.ndarray, low: float, high: float) -> np.ndarray:
    return sosfilt(butter(2, (low, high), "bandpass", fs=SAMPLE_RATE, output="sos"), x)


def _events(n: int, rng: np.random.Generator, rate: float) -> np.ndarray:
    """Impulses at random moments, of random strength."""
    return (rng.random(n) < rate / SAMPLE_RATE) * rng.exponential(1.0, n) * rng.choice([-1, 1], n)


def _ring(x: np.ndarray, rng: np.random.Generator, seconds: float, low: float, high: float) -> np.ndarray:
    """Each impulse becomes a struck body: noise in a band that dies away."""
    t = _times(int(4 * seconds * SAMPLE_RATE))
    body = _band(rng.standard_normal(len(t)), low, high) * np.exp(-t / seconds)
    return fftconvolve(x, body)[: len(x)]


def wind(n: int, rng: np.random.Generator) -> np.ndarray:
    """Dark noise in gusts, with a whistle that is never steady."""
    howl = _band(coloured_noise(n, "pink", rng), 300, rng.uniform(500, 900)) * _slow(n, rng, 1.0) ** 2
    return coloured_noise(n, "brown", rng) * (0.2 + _slow(n, rng, 0.8)) + howl * rng.uniform(0, 2)


def rain(n: int, rng: np.random.Generator) -> np.ndarray:
    """A hiss with drops upon it."""
    drops = _ring(_events(n, rng, rng.uniform(20, 300)), rng, 0.004, 1000, 7000)
    return _band(coloured_noise(n, "white", rng), 400, 7500) * rng.uniform(0.1, 1) + drops * rng.uniform(0.5, 3)


def waves(n: int, rng: np.random.Generator) -> np.ndarray:
    """Surf: noise that swells every few seconds."""
    return coloured_noise(n, "pink", rng) * (0.1 + _slow(n, rng, 0.5) ** 2)


def hum(n: int, rng: np.random.Generator) -> np.ndarray:
    """Mains and fans: harmonics of one low note in noise, without an end."""
    low = rng.choice([50.0, 60.0, 100.0, 120.0]) * rng.uniform(0.99, 1.01)
    tones = sum(np.sin(2 * np.pi * k * low * _times(n)) * rng.exponential(1 / k) for k in range(1, 16))
    return tones + coloured_noise(n, "pink", rng) * rng.uniform(0.1, 1.5)


def engine(n: int, rng: np.random.Generator) -> np.ndarray:
    """Firing strokes whose rate wanders, in a dark resonance."""
    rate = rng.uniform(15, 120) * (1 + rng.uniform(0, 0.8) * (_slow(n, rng, 0.6) - 0.5))
    strokes = np.diff(np.floor(np.cumsum(rate / SAMPLE_RATE)), prepend=0.0) * (0.7 + 0.3 * rng.random(n))
    return _ring(strokes, rng, 0.012, 60, rng.uniform(400, 3000)) + 0.05 * coloured_noise(n, "pink", rng)


def clicks(n: int, rng: np.random.Generator) -> np.ndarray:
    """Steps, keys and knocks: dull or bright impulses, a few a second."""
    low = rng.uniform(100, 2000)
    return _ring(_events(n, rng, rng.uniform(1, 12)), rng, rng.uniform(0.003, 0.05), low, low * rng.uniform(1.5, 3.5))


def ticking(n: int, rng: np.random.Generator) -> np.ndarray:
    """A clock or a machine: the same stroke at a fixed rate."""
    rate = rng.uniform(1, 12)
    strokes = np.diff(np.floor(_times(n) * rate), prepend=0.0)
    low = rng.uniform(300, 3000)
    return _ring(strokes, rng, rng.uniform(0.003, 0.03), low, low * 2) + 1e-4 * rng.standard_normal(n)


def siren(n: int, rng: np.random.Generator) -> np.ndarray:
    """A wailing or two-tone signal in the noise of a street."""
    t, rate = _times(n), rng.uniform(0.15, 4)
    sweep = np.sin(2 * np.pi * rate * t)
    sweep = np.sign(sweep) if rng.random() < 0.35 else sweep
    pitch = rng.uniform(500, 1100) * 2 ** (rng.uniform(0.2, 0.6) * sweep)
    phase = 2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE
    return np.sin(phase) + 0.4 * np.sin(3 * phase) + coloured_noise(n, "pink", rng) * rng.uniform(0.05, 1.0)


def beeps(n: int, rng: np.random.Generator) -> np.ndarray:
    """An alarm: one note on and off, always the same."""
    t, rate = _times(n), rng.uniform(0.7, 8)
    tone = np.sin(2 * np.pi * rng.uniform(700, 4000) * t) * ((t * rate) % 1 < rng.uniform(0.2, 0.6))
    return tone + coloured_noise(n, "pink", rng) * rng.uniform(0.001, 0.3)


def horn(n: int, rng: np.random.Generator) -> np.ndarray:
    """A car's horn: two buzzing notes, held, in the noise of a street."""
    t, low = _times(n), rng.uniform(280, 480)
    tone = sum(np.sign(np.sin(2 * np.pi * low * step * t)) for step in (1.0, 1.26))
    return _band(tone * (_slow(n, rng, 1.2) > 0.55), 250, 5000) + coloured_noise(n, "pink", rng) * rng.uniform(0.1, 0.8)


def crickets(n: int, rng: np.random.Generator) -> np.ndarray:
    """Trills near one high frequency."""
    t = _times(n)
    trill = (np.sin(2 * np.pi * rng.uniform(15, 60) * t) > 0) * ((t * rng.uniform(0.5, 3)) % 1 < rng.uniform(0.3, 1))
    tone = np.sin(2 * np.pi * rng.uniform(2500, 6500) * t) * trill
    return tone + coloured_noise(n, "pink", rng) * rng.uniform(0.02, 0.4)


def birds(n: int, rng: np.random.Generator) -> np.ndarray:
    """Chirps that rise or fall within a tenth of a second, in faint wind."""
    y = 0.05 * rng.uniform(0.1, 2) * coloured_noise(n, "pink", rng)
    for _ in range(int(rng.integers(4, 40))):
        length = int(rng.uniform(0.03, 0.25) * SAMPLE_RATE)
        start = int(rng.integers(0, n - length))
        pitch = rng.uniform(1800, 6000) * 2 ** (np.linspace(0, rng.uniform(-0.7, 0.7), length))
        pitch *= 1 + 0.06 * np.sin(2 * np.pi * rng.uniform(10, 60) * _times(length))
        y[start : start + length] += np.sin(2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE) * np.hanning(length)
    return y


KINDS: dict[str, Maker] = {
    maker.__name__: maker
    for maker in (wind, rain, waves, hum, engine, clicks, ticking, siren, beeps, horn, crickets, birds)
}


def make_noise(kind: str, seconds: float, rng: np.random.Generator) -> np.ndarray:
    """So many seconds of a kind, at a peak of one half."""
    y = KINDS[kind](int(seconds * SAMPLE_RATE), rng)
    return 0.5 * y / (np.abs(y).max() + 1e-12)
