"""Sounds that nobody recorded, of kinds that no model should take for what it knows unless it was trained on them.

Tones, noise, music, voices and clipped sounds, each drawn from wide ranges: against them a model learns which
directions lead out of its training recordings, though a recording to come is like none of them. The same seed gives the
same sounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

RATE = 44100
SECONDS = 3.0
N = int(SECONDS * RATE)
SCALES = ((0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10), (0, 2, 4, 7, 9))
FORMANTS = ((250, 850), (800, 2400), (2200, 3300), (3600, 3800))
Draw = Callable[[np.random.Generator], np.ndarray]


def imagine(seed: int = 0) -> dict[str, list[np.ndarray]]:
    """Mono sounds in float32 at 44.1 kHz, of peaks between 0.1 and 0.95, by the name of their kind."""
    sounds: dict[str, list[np.ndarray]] = {}
    for number, (kind, (draw, count)) in enumerate(KINDS.items()):
        rng = np.random.default_rng([seed, number])
        sounds[kind] = [_at_peak(draw(rng), rng.uniform(0.1, 0.95)) for _ in range(count)]
    return sounds


def _at_peak(samples: np.ndarray, peak: float) -> np.ndarray:
    return np.asarray(samples * (peak / max(np.abs(samples).max(), 1e-9)), np.float32)


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _drawn_line(rng: np.random.Generator, n: int, n_points: int, deviation: float) -> np.ndarray:
    """A line through values that are drawn."""
    points = rng.normal(0, deviation, n_points)
    return np.interp(np.arange(n), np.linspace(0, n - 1, n_points), points)


def tones(rng: np.random.Generator) -> np.ndarray:
    """One to three sines that stand or glide."""
    mixed = 10 ** rng.uniform(-6, -2) * rng.standard_normal(N)
    for _ in range(rng.integers(1, 4)):
        start = _log_uniform(rng, 60, 12000)
        end = start if rng.random() < 0.6 else _log_uniform(rng, 60, 12000)
        mixed += rng.uniform(0.3, 1) * np.sin(2 * np.pi * np.cumsum(np.geomspace(start, end, N)) / RATE)
    return mixed


def noise(rng: np.random.Generator) -> np.ndarray:
    """Stationary noise: white, pink, brown or between."""
    spectrum = np.fft.rfft(rng.standard_normal(N))
    slope = (0.0, 0.0, 0.5, 1.0, rng.uniform(-0.5, 1.2))[rng.integers(5)]
    return np.fft.irfft(spectrum * np.arange(1.0, len(spectrum) + 1) ** -slope, N)


def shaped_noise(rng: np.random.Generator) -> np.ndarray:
    """Noise of a drawn spectrum that stands, beats, strikes or swells, as many sounds of the world do."""
    n_points = int(rng.integers(3, 9))
    at = np.sort([_log_uniform(rng, 30, RATE / 2) for _ in range(n_points)])
    levels = rng.normal(0, 15, n_points) - rng.uniform(0, 12) * np.maximum(np.log2(at / 1000), -3)
    frequencies = np.fft.rfftfreq(N, 1 / RATE)
    shape = 10 ** (np.interp(np.log(frequencies + 1), np.log(at), levels) / 20)
    samples, t = np.fft.irfft(np.fft.rfft(rng.standard_normal(N)) * shape, N), np.arange(N) / RATE
    manner = rng.integers(4)
    if manner == 1:
        return samples * (1 + rng.uniform(0.2, 1) * np.sin(2 * np.pi * rng.uniform(0.3, 20) * t))
    if manner == 2:
        strokes = [(start, rng.uniform(2, 40)) for start in rng.uniform(0, SECONDS, rng.integers(1, 10))]
        return samples * sum(np.where(t >= at, np.exp(-fall * np.maximum(t - at, 0)), 0) for at, fall in strokes)
    return samples * np.exp(_drawn_line(rng, N, 10, 1.0)) if manner == 3 else samples


def voice(rng: np.random.Generator) -> np.ndarray:
    """Syllables of pulses and hiss under moving formants, half of them without what a telephone leaves out."""
    n = int(rng.uniform(0.15, 1) * N)
    pitch = rng.uniform(80, 260) * np.exp(_drawn_line(rng, n, 8, 0.12))
    pulses = np.diff(np.floor(np.cumsum(pitch) / RATE), prepend=0) + 0.02 * rng.standard_normal(n)
    hiss, spoken, step = 0.1 * rng.standard_normal(n), np.zeros(n), int(0.12 * RATE)
    for first in range(0, n, step):
        part = slice(max(0, first - step), min(n, first + 2 * step))
        source = (pulses if rng.random() < 0.75 else hiss)[part]
        frequencies = np.fft.rfftfreq(len(source), 1 / RATE)
        gain = 1 / (1 + (frequencies / 500) ** 1.5)
        for low, high in FORMANTS:
            gain *= 1 + 8 / (1 + ((frequencies - rng.uniform(low, high)) / 90) ** 2)
        spoken[part] += np.fft.irfft(np.fft.rfft(source) * gain, len(source)) * np.hanning(len(source))
    spoken *= np.exp(_drawn_line(rng, n, max(4, n // (RATE // 5)), 1.2))
    if rng.random() < 0.5:
        spectrum = np.fft.rfft(spoken)
        spectrum[np.fft.rfftfreq(n, 1 / RATE) > 4000] = 0
        spoken = np.fft.irfft(spectrum, n)
    return _at_peak(spoken, 1.0) + 10 ** rng.uniform(-5, -2) * rng.standard_normal(n)


def clipped(rng: np.random.Generator) -> np.ndarray:
    """A sound of another kind that is far too loud for its recorder."""
    draw = (shaped_noise, shaped_noise, music, voice)[rng.integers(4)]
    return np.asarray(np.clip(_at_peak(draw(rng), _log_uniform(rng, 4, 40)), -1, 1))


def music(rng: np.random.Generator) -> np.ndarray:
    """Some of chords, bass, melody and drums over a progression, of drawn timbres, tempo and key, often in a room."""
    piece = _Piece(rng)
    beat, at, number = 60 / rng.uniform(60, 170), 0.0, 0
    while at < SECONDS:
        piece.play_beat(at, beat, number)
        at, number = at + beat, number + 1
    played = piece.samples[:N] / max(np.abs(piece.samples).max(), 1e-9)
    if rng.random() < 0.6:
        played = _in_room(played, rng)
    return _at_peak(played, 1.0) + 10 ** rng.uniform(-5, -2.3) * rng.standard_normal(N)


class _Piece:
    """Music as it is played; `parts` are the levels of chords, bass, melody and drums."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.samples = rng, np.zeros(N + 4 * RATE)
        self._scale, self._tonic = SCALES[rng.integers(3)], int(rng.integers(36, 60))
        self.parts = rng.uniform(0, 1, 4) * (rng.random(4) < 0.65)
        if not self.parts.any():
            self.parts[rng.integers(4)] = 1
        self._timbres = [_Timbre(rng) for _ in range(3)]
        self._root = 0

    def play_beat(self, at: float, beat: float, number: int) -> None:
        """What every part does on one beat."""
        rng, (chords, bass, melody, drums) = self.rng, self.parts
        if number % 4 == 0:
            self._root = int(rng.integers(0, 7))
            for degree in (0, 2, 4, 6)[: rng.integers(2, 5)] if chords else ():
                self._note(self._root + degree + 7, at, 4 * beat * rng.uniform(0.5, 1.05), 0, 0.4 * chords)
        if bass and rng.random() < 0.7:
            self._note(self._root, at, beat, 1, 0.7 * bass, octaves=-int(self._tonic > 45))
        for half in range(rng.integers(0, 3)) if melody else ():
            seconds = beat * float(rng.choice([0.5, 1, 2]))
            self._note(int(rng.integers(7, 22)), at + half * beat / 2, seconds, 2, 0.6 * melody)
        if drums:
            self._add(_drum(rng, number % 2), at, drums)
            self._add(_drum(rng, 2), at + beat / 2, drums)

    def _note(self, degree: int, at: float, seconds: float, timbre: int, level: float, octaves: int = 0) -> None:
        octave, step = divmod(degree, len(self._scale))
        pitch = self._tonic + self._scale[step] + 12 * (octave + octaves)
        self._add(self._timbres[timbre].note(440 * 2 ** ((pitch - 69) / 12), seconds), at, level)

    def _add(self, sound: np.ndarray, at: float, level: float) -> None:
        first = int(at * RATE)
        last = min(first + len(sound), len(self.samples))
        self.samples[first:last] += level * sound[: last - first]


class _Timbre:
    """Partials of an instrument with their levels and phases, how it begins and fades, and its vibrato."""

    def __init__(self, rng: np.random.Generator) -> None:
        n = int(rng.integers(3, 12))
        levels = rng.uniform(0.4, 0.95) ** np.arange(n) * rng.uniform(0.2, 1, n)
        self._partials = (levels * np.exp(1j * rng.uniform(0, 2 * np.pi, n))).astype(np.complex64)
        self._fall, self._attack = float(rng.choice([0.1, 0.5, 2, 5])), float(rng.choice([0.004, 0.02, 0.1, 0.3]))
        self._vibrato = float(rng.choice([0, 0, 0.005, 0.01]))

    def note(self, frequency: float, seconds: float) -> np.ndarray:
        t = np.arange(int(seconds * RATE)) / RATE
        phase = np.cumsum(frequency * (1 + self._vibrato * np.sin(2 * np.pi * 5.5 * t))) / RATE
        # A turn to the power k is partial k; higher ones fade sooner.
        turn = np.exp(2j * np.pi * (phase % 1) - 0.2 * self._fall * t).astype(np.complex64)
        n_partials = min(len(self._partials), int(RATE / 2 / 1.02 / frequency))
        total = np.zeros(len(t), np.complex64)
        for partial in self._partials[:n_partials][::-1]:
            total += partial
            total *= turn
        ends = np.minimum(1, t / self._attack) * np.minimum(1, t[::-1] / 0.03)
        return np.asarray(total.imag * np.exp(-self._fall * t) * ends)


def _drum(rng: np.random.Generator, which: int) -> np.ndarray:
    """A bass drum, a snare or a hat."""
    t = np.arange(int(0.25 * RATE)) / RATE
    if which == 0:
        return np.asarray(np.sin(2 * np.pi * (50 * t + 3 * (1 - np.exp(-30 * t)))) * np.exp(-rng.uniform(10, 25) * t))
    return (0.5 if which == 1 else 0.2) * rng.standard_normal(len(t)) * np.exp(-rng.uniform(15, 90) * t)


def _in_room(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """With noise that fades as its echo."""
    n = int(rng.uniform(0.2, 1.5) * RATE)
    echo = rng.standard_normal(n) * np.exp(-6 * np.arange(n) / n)
    echo[0] = rng.uniform(5, 30)
    size = 1 << (len(samples) + n).bit_length()
    return np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(echo, size), size)[: len(samples)]


# How each kind is drawn, and how many sounds of it: most of what has most forms.
KINDS: Mapping[str, tuple[Draw, int]] = {
    "tones": (tones, 16),
    "noise": (noise, 16),
    "music": (music, 80),
    "voices": (voice, 24),
    "clipped": (clipped, 60),
}
# How far towards a kind a sound must lie to be strange. What is noise or a tone lies all the way there, and many sounds
# of the world half of it; recorded music and clipped recordings lie half the way to those that are imagined.
UNITS: Mapping[str, float] = {"tones": 1.5, "noise": 1.5, "music": 1.0, "voices": 1.0, "clipped": 1.0}
