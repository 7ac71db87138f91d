"""What a clip may go through: rooms, colours, noises, levels and lines. Samples in, samples out, at 16 kHz."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import soundfile
import soxr
from scipy.signal import butter, fftconvolve, sosfilt

SAMPLE_RATE = 16000
MU = 255.0
BLOCK = 400  # samples over which a level is taken


def decibels_of(x: np.ndarray) -> float:
    """Root mean square in decibels under full scale, of the louder half: pauses do not count."""
    whole = x if len(x) >= 2 * BLOCK else np.resize(x, 2 * BLOCK)
    powers = np.sort((whole[: len(whole) // BLOCK * BLOCK].reshape(-1, BLOCK) ** 2).mean(axis=1))
    return float(10 * np.log10(powers[len(powers) // 2 :].mean() + 1e-12))


def mix(x: np.ndarray, other: np.ndarray, decibels: float) -> np.ndarray:
    """The first so many decibels above the second."""
    return x + other * 10 ** ((decibels_of(x) - decibels - decibels_of(other)) / 20)


def level(x: np.ndarray, decibels: float) -> np.ndarray:
    """At a level, its peaks below full scale."""
    y = x * 10 ** ((decibels - decibels_of(x)) / 20)
    peak = np.abs(y).max(initial=0.0)
    return y * (0.99 / peak) if peak > 0.99 else y


def coloured_noise(n_samples: int, colour: str, rng: np.random.Generator) -> np.ndarray:
    """White, pink (-3 dB an octave) or brown (-6 dB) noise of unit deviation."""
    spectrum = np.fft.rfft(rng.standard_normal(n_samples))
    power = {"white": 0.0, "pink": 0.5, "brown": 1.0}[colour]
    frequencies = np.maximum(np.fft.rfftfreq(n_samples, 1 / SAMPLE_RATE), 20.0)
    y = np.fft.irfft(spectrum / frequencies**power, n_samples)
    return y / (y.std() + 1e-12)


def noise(x: np.ndarray, rng: np.random.Generator, colour: str, decibels: float) -> np.ndarray:
    """Over a noise so many decibels below it."""
    return mix(x, coloured_noise(len(x), colour, rng), decibels)


def room(x: np.ndarray, rng: np.random.Generator, seconds: float, wet: float) -> np.ndarray:
    """In a room of that reverberation time: noise that dies away by 60 dB, after the direct sound."""
    times = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    response = rng.standard_normal(len(times)) * 10 ** (-3 * times / seconds)
    response[: int(0.004 * SAMPLE_RATE)] = 0.0
    response *= wet / (np.sqrt((response**2).sum()) + 1e-12)
    response[0] = 1.0
    return fftconvolve(x, response)[: len(x)]


def tilt(x: np.ndarray, decibels: float) -> np.ndarray:
    """Brighter or darker by so many decibels from 100 Hz to 8 kHz."""
    frequencies = np.maximum(np.fft.rfftfreq(len(x), 1 / SAMPLE_RATE), 100.0)
    gain = 10 ** (decibels / 20 * np.log(frequencies / 100) / np.log(80))
    return np.fft.irfft(np.fft.rfft(x) * gain, len(x))


def low_pass(x: np.ndarray, hertz: float) -> np.ndarray:
    """Without what lies above a frequency."""
    return sosfilt(butter(8, hertz, fs=SAMPLE_RATE, output="sos"), x)


def speed(x: np.ndarray, factor: float) -> np.ndarray:
    """Played faster, and so higher, by a factor; as long as before by beginning again."""
    y = soxr.resample(x, SAMPLE_RATE, SAMPLE_RATE / factor)
    return np.resize(y, len(x)) if factor > 1 else y[: len(x)]


def clipped(x: np.ndarray, share: float) -> np.ndarray:
    """Overdriven: nothing is louder than this share of its peak."""
    limit = share * np.abs(x).max(initial=0.0)
    return np.clip(x, -limit, limit)


def telephone(x: np.ndarray) -> np.ndarray:
    """Through a line of 300 to 3400 Hz at 8 kHz with 8 bits in mu-law."""
    y = soxr.resample(x, SAMPLE_RATE, 8000)
    y = sosfilt(butter(4, (300, 3400), "bandpass", fs=8000, output="sos"), y)
    y = np.sign(y) * np.log1p(MU * np.minimum(np.abs(y), 1)) / np.log1p(MU)
    y = np.round(y * 127) / 127
    y = np.sign(y) * np.expm1(np.abs(y) * np.log1p(MU)) / MU
    return _fitted(soxr.resample(y, 8000, SAMPLE_RATE), len(x))


def mp3(x: np.ndarray, loss: float) -> np.ndarray:
    """Coded and decoded; a loss of 0 is the best the coder does, 1 the worst."""
    stream = io.BytesIO()
    soundfile.write(stream, x, SAMPLE_RATE, format="MP3", subtype="MPEG_LAYER_III", compression_level=loss)
    stream.seek(0)
    return _fitted(soundfile.read(stream)[0], len(x))


def embed(x: np.ndarray, before: float, seconds: float) -> np.ndarray:
    """In digital silence, with edges of five milliseconds."""
    edge = np.minimum(1.0, np.arange(1, len(x) + 1) / 80)
    start = int(before * SAMPLE_RATE)
    y = np.zeros(max(int(seconds * SAMPLE_RATE), start + len(x)))
    y[start : start + len(x)] = x * edge * edge[::-1]
    return y


def silence(x: np.ndarray, rng: np.random.Generator, kind: str, decibels: float) -> np.ndarray:
    """Nothing, or next to nothing, of one kind."""
    n = len(x)
    times = np.arange(n) / SAMPLE_RATE
    makers: dict[str, Callable[[], np.ndarray]] = {
        "digital": lambda: np.zeros(n),
        "dither": lambda: rng.integers(-1, 2, n) / 32768,
        "faint_white": lambda: level(coloured_noise(n, "white", rng), decibels),
        "faint_pink": lambda: level(coloured_noise(n, "pink", rng), decibels),
        "faint_brown": lambda: level(coloured_noise(n, "brown", rng), decibels),
        "room_tone": lambda: level(low_pass(coloured_noise(n, "brown", rng), 800), decibels),
        "faint_hum": lambda: level(
            np.sin(2 * np.pi * 50 * times) + 0.3 * coloured_noise(n, "pink", rng), max(decibels - 6, -92)
        ),
    }
    return makers[kind]()


def _fitted(x: np.ndarray, n_samples: int) -> np.ndarray:
    return np.pad(x[:n_samples], (0, max(0, n_samples - len(x))))
