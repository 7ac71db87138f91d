"""Versions of recordings derived from one spectrum beside computed ones: how near, at what cost, and what they bring.

A computed version is the recording resampled, as if played faster or slower, and extracted by itself. For each group of
features of `environment`, in deviations of the feature over the clips: the error of the derived version and how far the
version is from the recording, root mean squares. Then the five folds of ESC-10 with one version, with three in training
and with three also when the model answers (not with --quick).
Keys: derived_ms, computed_ms (of CPU for a second of audio and a further version), error_over_move (all groups);
esc10_1_1, esc10_3_1, esc10_3_3 (accuracy and log-loss).
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import time
from collections.abc import Callable
from pathlib import Path

import bench
import numpy as np

from audioclass.audio.blocks import cut_blocks, resample
from audioclass.audio.decode import open_audio
from audioclass.data import Block, Features
from audioclass.engine.evaluating import cross_validate
from audioclass.engine.runs import make_run
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe import Recipe
from audioclass.extraction.recipes import load_recipe
from audioclass.plugins.manager import plugin_manager

SPEEDS = (1.0, 15 / 14, 14 / 15)
CONSTANT = 1e-3  # of a deviation: features that hardly vary are not compared
TRAININGS = {
    "1_1": {},
    "3_1": {"versions": SPEEDS, "average_versions": False},
    "3_3": {"versions": SPEEDS},
}


def read_mono(file: Path, recipe: Recipe) -> np.ndarray:
    """A recording as extraction reads it."""
    with open_audio(file) as audio:
        blocks = cut_blocks(audio, recipe.framing.sample_rate, trim=recipe.trim)
        return np.concatenate([block.samples[:, 0] for block in blocks])


def rows_of(recordings: list[np.ndarray], recipe: Recipe) -> np.ndarray:
    """One row for each: all are shorter than a window."""
    rate = recipe.framing.sample_rate
    chunks = [extract_features(iter([Block(samples[:, None], rate)]), recipe) for samples in recordings]
    return np.concatenate([Features.joined(each, recipe.columns, recipe.groups).X[:1] for each in chunks])


def timed(work: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    """What a work gives, and its seconds of CPU."""
    start = time.process_time()
    return work(), time.process_time() - start


def compare(recordings: list[np.ndarray], recipe: Recipe) -> tuple[dict[str, object], list[tuple[object, ...]]]:
    """Derived and computed versions side by side."""
    rate, d = recipe.framing.sample_rate, recipe.n_features
    seconds = sum(map(len, recordings)) / rate
    rows_of(recordings[:2], recipe)
    recorded, one = timed(lambda: rows_of(recordings, recipe))
    every, three = timed(lambda: rows_of(recordings, recipe.with_versions(SPEEDS)))
    deviation, groups = recorded.std(axis=0), np.array(recipe.groups)
    scale = np.where(deviation > CONSTANT, deviation, np.inf)
    rows: list[tuple[object, ...]] = [("speed", "group", "error", "move")]
    computed_seconds, errors, moves = 0.0, [], []
    for i, speed in enumerate(SPEEDS[1:], start=1):
        computed, took = timed(lambda s=speed: rows_of([resample(x, rate * s, rate) for x in recordings], recipe))
        computed_seconds += took
        error, move = ((X - computed) / scale for X in (every[:, i * d : (i + 1) * d], recorded))
        errors.append(np.mean(error**2))
        moves.append(np.mean(move**2))
        for group in dict.fromkeys(recipe.groups):
            columns = groups == group
            figures = [float(np.sqrt(np.mean(part[:, columns] ** 2))) for part in (error, move)]
            rows.append((f"{speed:.4f}", group, *figures))
    n_further = len(SPEEDS) - 1
    results = {
        "derived_ms": 1000 * (three - one) / n_further / seconds,
        "computed_ms": 1000 * computed_seconds / n_further / seconds,
        "error_over_move": float(np.sqrt(np.sum(errors) / np.sum(moves))),
    }
    return results, rows


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    recipe, corpus = load_recipe("environment", plugin_manager()), asked.data / "audio" / "esc10"
    files = sorted((corpus / "audio").glob("*.flac"))[:: 40 if asked.quick else 5]
    results, rows = compare([read_mono(file, recipe) for file in files], recipe)
    for name, options in ({} if asked.quick else TRAININGS).items():
        bench.note(f"esc10: {name.replace('_', ' / ')} versions")
        evaluation = cross_validate(corpus, run=make_run(), recipe=recipe, **options).evaluation(100)
        figures = [float(evaluation.main.value(measure)) for measure in ("accuracy", "log_loss")]
        results[f"esc10_{name}"] = figures
        rows.append(("esc10", f"{name.replace('_', ' / ')} versions: accuracy, log-loss", *figures))
    rows += [("all", key, value, "") for key, value in results.items() if isinstance(value, float)]
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
