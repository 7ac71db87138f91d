"""A small corpus that is made, not stored, and a model trained on it: three labels, a few descriptors."""

from pathlib import Path

import numpy as np
import signals
import soundfile
from runs import config, run

from audioclass.engine.trained import Trained
from audioclass.engine.training import train

RECIPE = """
summary = "A few descriptors, half-second windows."
sample_rate = 8000
frame_length = 512
hop_length = 256
window = 0.5
window_hop = 0.25

[[parts]]
group = "shape"
descriptors = [{ name = "level" }, { name = "flatness" }, { name = "zero_crossings" }]
poolings = [{ name = "statistics", values = ["mean", "deviation"] }]

[[parts]]
group = "cepstra"
descriptors = [{ name = "mfcc", coefficients = 6, bands = 20 }]
poolings = [{ name = "statistics", values = ["mean", "deviation"] }]
"""
RATE = 8000
LABELS = ("clicks", "noise", "tone")
# Options of a training that searches nothing, for tests of something else.
QUICK = ["--criterion", "fixed", "--group-weights", "equal", "--link", "none", "--second-stage", "none"]


def sound(label: str, number: int, seconds: float = 1.0) -> np.ndarray:
    """One recording of a label, different for each number."""
    hiss = signals.noise(seconds, RATE, 0.005, seed=number)
    if label == "tone":
        return signals.tone(300 + 60 * number, seconds, RATE) + hiss
    if label == "noise":
        return signals.noise(seconds, RATE, 0.05 + 0.02 * number, seed=100 + number)
    return signals.clicks(seconds, 0.05 + 0.01 * number, RATE) + hiss


def write_corpus(folder: Path, n_each: int = 6, labels: tuple[str, ...] = LABELS, first: int = 0) -> Path:
    """A folder for each label."""
    for label in labels:
        (folder / label).mkdir(parents=True, exist_ok=True)
        for number in range(first, first + n_each):
            soundfile.write(folder / label / f"{label}-{number}.wav", sound(label, number), RATE)
    return folder


def write_recipe(folder: Path) -> str:
    """The path of the small recipe."""
    path = folder / "small.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return str(path)


def train_small(folder: Path, seed: int = 0, **choices) -> Trained:
    """A model of the corpus, made in the folder; kernels are fixed unless they are chosen."""
    corpus = write_corpus(folder / "corpus") if not (folder / "corpus").exists() else folder / "corpus"
    options = {"recipe": write_recipe(folder), "criterion": "fixed", **choices}
    return train(corpus, config=config(**options), name="small", run=run(folder / "cache", seed=seed))


def mixture(order: tuple[str, ...] = ("tone", "noise", "clicks", "tone"), seconds: float = 3.0) -> np.ndarray:
    """Sounds of the labels one after another."""
    return np.concatenate([sound(label, 2 + i, seconds) for i, label in enumerate(order)])
