"""Speech of our own: numbers and dates that every language reads aloud, and a few sentences, by espeak-ng."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np

LANGUAGES = (
    *("en-us", "en-gb", "de", "nl", "sv", "da", "nb", "fr-fr", "es", "it", "pt-br", "ro"),
    *("pl", "cs", "sk", "ru", "uk", "fi", "hu", "el", "tr", "ar", "fa"),
    *("hi", "bn", "ta", "cmn", "yue", "ja", "ko", "vi", "id", "sw"),
)
VARIANTS = ("m1", "m2", "m3", "m4", "m7", "f1", "f2", "f3", "f4", "f5")


def say(path: Path, rng: np.random.Generator) -> str:
    """Random numbers in a random voice; the language is returned."""
    language = LANGUAGES[rng.integers(len(LANGUAGES))]
    voice = f"{language}+{VARIANTS[rng.integers(len(VARIANTS))]}"
    numbers = [str(int(10 ** rng.uniform(0, 5))) for _ in range(10)]
    text = ", ".join(numbers[:4]) + ". " + " ".join(numbers[4:7]) + ". " + ", ".join(numbers[7:]) + "."
    program = shutil.which("espeak-ng") or "espeak-ng"
    pace, pitch = str(int(rng.integers(120, 220))), str(int(rng.integers(20, 80)))
    subprocess.run([program, "-v", voice, "-s", pace, "-p", pitch, "-w", path, text], check=True, capture_output=True)
    return language
