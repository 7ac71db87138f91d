"""Tiny recordings for the corpora that readers write as their own examples."""

from __future__ import annotations

import math
import wave
from array import array
from pathlib import Path

SAMPLE_RATE = 8000


def write_tone(path: Path, frequency: float, seconds: float = 0.5) -> None:
    """Write a tone as WAV, and the folders above it that are not there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    step = 2 * math.pi * frequency / SAMPLE_RATE
    samples = array("h", (round(8000 * math.sin(step * n)) for n in range(round(seconds * SAMPLE_RATE))))
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, SAMPLE_RATE, 0, "NONE", "not compressed"))
        file.writeframes(samples.tobytes())
