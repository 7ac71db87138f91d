"""Windows that hold digital silence: what the shipped model says of their sounding frames, and of all their frames.

Windows of two seconds are cut out of the items of radio-like programmes (`segmentation.py` makes them), of sources that
the model was never trained on; a part of each is made digital silence, at its beginning, at its end or inside. Keys:
`sound_SECONDS`, by what is left of the sound, each with accuracy, log-loss and the mean probability of errors, labels
counting alike, for `sounding` frames and for `whole` windows; `cost`, processor time of describing windows that all
hold digital silence over that of describing the same without.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import time
from pathlib import Path

import bench
import numpy as np
import segmentation
import soundfile

from audioclass.audio.blocks import resample
from audioclass.classifier.model import Model
from audioclass.data import Block, Features
from audioclass.engine.models import DEFAULT_MODEL, loaded
from audioclass.engine.runs import user_cache
from audioclass.extraction.extract import extract_features

LABELS = ("speech", "music", "environment")
LEFT = (0.25, 0.5, 1.0, 1.5, 1.8)  # seconds of sound
PLACES = {"end": 0.0, "beginning": 1.0, "inside": 0.5}  # of the silence: how much of the sound comes after it
QUIETEST = 0.003  # root mean square of a sound that is told from silence


def windows_of(programme: segmentation.Programme, seconds: float, rate: int) -> list[tuple[str, np.ndarray]]:
    """Label and samples of the middle of every item of one label that lasts long enough."""
    cut = []
    with soundfile.SoundFile(programme.path) as file:
        for start, end, kind in programme.items:
            if kind in LABELS and end - start > 2 * seconds:
                file.seek(round(((start + end) / 2 - seconds / 2) * file.samplerate))
                samples = resample(file.read(round(seconds * file.samplerate), dtype="float32"), file.samplerate, rate)
                cut.append((kind, samples))
    return cut


def padded(samples: np.ndarray, left: float, after: float, rate: int) -> np.ndarray:
    """So many seconds of the sound, and digital silence in the place of the rest."""
    n, silence = round(left * rate), len(samples) - round(left * rate)
    at = n - round(after * n)
    return np.concatenate([samples[:at], np.zeros(silence, np.float32), samples[at:n]])


def features_of(samples: np.ndarray, model: Model, whole: bool) -> Features:
    """The window."""
    recipe = model.recipe
    return next(extract_features([Block(samples[:, None], recipe.framing.sample_rate)], recipe, whole=whole))


def measures(y: np.ndarray, P: np.ndarray) -> dict[str, float]:
    """What posteriors are worth, labels counting alike."""
    is_right = P.argmax(axis=1) == y
    loss = -np.log(np.maximum(P[np.arange(len(y)), y], 1e-6))
    by_label = [y == label for label in np.unique(y)]
    return {
        "accuracy": float(np.mean([is_right[rows].mean() for rows in by_label])),
        "log_loss": float(np.mean([loss[rows].mean() for rows in by_label])),
        "wrong": float(P[~is_right].max(axis=1).mean()) if not is_right.all() else 0.0,
    }


def measure(model: Model, windows: list[tuple[str, np.ndarray]], left: float) -> dict[str, float]:
    """Both ways, over all places of the silence."""
    rate, results = model.recipe.framing.sample_rate, {}
    cut = [(label, padded(samples, left, after, rate)) for label, samples in windows for after in PLACES.values()]
    sounding = [(label, samples) for label, samples in cut if np.sqrt(np.mean(samples**2) * 2 / left) > QUIETEST]
    y = np.array([model.labels.index(label) for label, _ in sounding])
    for name in ("sounding", "whole"):
        P = [model.posteriors(features_of(samples, model, name == "whole")).P[0] for _, samples in sounding]
        results |= {f"{key}_{name}": value for key, value in measures(y, np.array(P)).items()}
    return results


def cost(model: Model, samples: np.ndarray) -> float:
    """Of a recording with a quarter of a second of digital silence in every second, over the same as it is."""
    rate = model.recipe.framing.sample_rate
    gated = np.where(np.arange(len(samples)) % rate < rate // 4, np.float32(0), samples)

    def describe(x: np.ndarray) -> None:
        for _ in extract_features([Block(x[:, None], rate)], model.recipe):
            pass

    taken = bench.interleaved(3, time.process_time, gated=lambda: describe(gated), plain=lambda: describe(samples))
    return bench.median_ratio(taken["gated"], taken["plain"])


def main() -> None:
    folder = str(user_cache() / "programme" / "test")
    numbers = {"programmes": (folder, "folder of programmes with truth.csv and items.csv")}
    asked = bench.options(__doc__.splitlines()[0], model=DEFAULT_MODEL, numbers=numbers)
    segmentation.make_programmes(Path(asked.programmes), asked.data)
    model, windows = loaded(asked.model), []
    for one in segmentation.read_programmes(Path(asked.programmes))[: 1 if asked.quick else None]:
        windows += windows_of(one, 2.0, model.recipe.framing.sample_rate)
    results: dict[str, object] = {}
    for left in LEFT:
        bench.note(f"{left} s of {len(windows)} sounds")
        results[f"sound_{left}"] = measure(model, windows, left)
    rows = [("", *results["sound_1.0"]), *((key, *values.values()) for key, values in results.items())]
    results["cost"] = cost(model, np.concatenate([samples for _, samples in windows]))
    rows.append(("cost", results["cost"], *[""] * (len(rows[0]) - 2)))
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
