"""The demo recording: a minute of speech, music, surroundings and silence of our own making, with its labels.

python corpora/demo/make.py        writes demo.flac and demo.csv beside itself; needs espeak-ng
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
import soxr
from scipy.signal import butter, fftconvolve, sosfilt

HERE = Path(__file__).resolve().parent
SAMPLE_RATE = 16000
FADE = 0.02  # seconds
SENTENCES = {
    "en-us+f3": "Good evening. This is a short recording that was made to be listened to by a machine."
    " First somebody speaks, and then there is music.",
    "en-gb+m3": "Outside it has begun to rain, and the wind is rising. Stay with us for the rest of the programme.",
    "en-us+m7": "And while the music plays on quietly, one more voice tells you that the minute is nearly over.",
}
SCALE = (0, 2, 4, 7, 9, 12, 14, 16)
CHORDS = ((0, 4, 7), (-3, 0, 4), (5, 9, 12), (-5, -1, 2))
Part = tuple[str, float, Callable[[int, np.random.Generator], np.ndarray]]


def parts() -> list[Part]:
    """What follows what: label, seconds and maker."""
    first, second, third = SENTENCES
    return [
        ("silence", 4.0, hush),
        ("speech", 9.0, lambda n, rng: 0.3 * fit(say(first), n)),
        ("music", 9.0, lambda n, rng: 0.4 * music(n, rng)),
        ("environment", 8.0, lambda n, rng: 0.25 * rain(n, rng)),
        ("speech", 8.0, lambda n, rng: 0.3 * fit(say(second), n) + 0.015 * rain(n, rng)),
        ("silence", 5.0, hush),
        ("music", 8.0, lambda n, rng: 0.4 * music(n, rng)),
        ("speech", 8.0, lambda n, rng: 0.3 * fit(say(third), n) + 0.02 * music(n, rng)),
        ("silence", 4.0, hush),
    ]


def make(seed: int = 0) -> tuple[np.ndarray, list[tuple[float, float, str]]]:
    """The samples, and (start, end, label) of every part."""
    rng = np.random.default_rng(seed)
    sounds, rows, now = [], [], 0.0
    for label, seconds, maker in parts():
        sounds.append(faded(maker(int(seconds * SAMPLE_RATE), rng)))
        rows.append((now, now + seconds, label))
        now += seconds
    return np.clip(np.concatenate(sounds), -1, 1), rows


def say(voice: str) -> np.ndarray:
    """The sentence of a voice, at a peak of one."""
    program = shutil.which("espeak-ng") or "espeak-ng"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "voice.wav"
        subprocess.run([program, "-v", voice, "-s", "150", "-w", path, SENTENCES[voice]], check=True)
        x, rate = soundfile.read(path)
    return soxr.resample(x, rate, SAMPLE_RATE) / np.abs(x).max()


def fit(x: np.ndarray, n_samples: int) -> np.ndarray:
    """The sound without its leading silence, cut or continued from its beginning."""
    first = int(np.argmax(np.abs(x) > 0.02))
    return np.resize(np.append(x[first:], np.zeros(SAMPLE_RATE // 4)), n_samples)


def music(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Plucked strings over four chords, with a bass and a brush on every other beat."""
    beat = SAMPLE_RATE // 2
    y = np.zeros(n_samples + 4 * SAMPLE_RATE)
    for index, start in enumerate(range(0, n_samples, beat)):
        chord = CHORDS[(index // 4) % len(CHORDS)]
        notes = [(48 + chord[index % 3], 0.6), (64 + int(rng.choice(SCALE)), 0.7)]
        notes += [(60 + step, 0.35) for step in chord] if index % 4 == 0 else []
        for pitch, strength in notes:
            add(y, start, strength * pluck(pitch, rng))
        if index % 2:
            add(y, start, 0.12 * rng.standard_normal(2000) * np.exp(-np.arange(2000) / 400))
    return y[:n_samples] / np.abs(y[:n_samples]).max()


def pluck(pitch: int, rng: np.random.Generator) -> np.ndarray:
    """A string: harmonics that die away, the high ones sooner."""
    t = np.arange(2 * SAMPLE_RATE) / SAMPLE_RATE
    hertz = 440 * 2 ** ((pitch - 69) / 12)
    harmonics = range(1, min(12, int(7000 / hertz)) + 1)
    phases = rng.uniform(0, 2 * np.pi, 13)
    return sum(np.sin(2 * np.pi * k * hertz * t + phases[k]) * np.exp(-t * (1.2 + 0.5 * k)) / k for k in harmonics)


def add(y: np.ndarray, start: int, x: np.ndarray) -> None:
    """Lay a sound over others, from a sample on."""
    y[start : start + len(x)] += x[: len(y) - start]


def rain(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """A hiss in gusts with drops upon it, at a peak of one."""
    hiss = sosfilt(butter(2, (300, 7000), "bandpass", fs=SAMPLE_RATE, output="sos"), rng.standard_normal(n_samples))
    gusts = np.interp(np.linspace(0, 9, n_samples), np.arange(10), rng.uniform(0.6, 1.0, 10))
    drops = (rng.random(n_samples) < 60 / SAMPLE_RATE) * rng.exponential(1.0, n_samples)
    body = rng.standard_normal(160) * np.exp(-np.arange(160) / 40)
    y = hiss * gusts + 1.5 * fftconvolve(drops, body)[:n_samples]
    return y / np.abs(y).max()


def hush(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Silence as converters leave it: the last bit at random."""
    return rng.integers(-1, 2, n_samples) / 32768


def faded(x: np.ndarray) -> np.ndarray:
    """With soft edges."""
    edge = np.minimum(1.0, np.arange(1, len(x) + 1) / (FADE * SAMPLE_RATE))
    return x * edge * edge[::-1]


def main() -> None:
    """Write the recording and its reference labels."""
    x, rows = make()
    soundfile.write(HERE / "demo.flac", x, SAMPLE_RATE, subtype="PCM_16")
    with (HERE / "demo.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["file", "start", "end", "label"])
        writer.writerows(["demo.flac", f"{start:.2f}", f"{end:.2f}", label] for start, end, label in rows)


if __name__ == "__main__":
    main()
