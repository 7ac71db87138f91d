"""Recordings much shorter than those of the training: posteriors as they are, and as `classify` flattens them.

Models of four folds of ESC-10 answer beginnings of the clips of the fifth, and the shipped model spoken digits (FSDD)
of two speakers whom it never heard. Beginnings start where the sound does, and are counted in shares of the usual
duration of the windows that the model was trained on. Keys: `RECIPE_SHARE` and `digits`, each with accuracy, and
log-loss, expected calibration error and the mean probability of wrong answers `before` and `after`.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import tempfile
from pathlib import Path

import bench
import numpy as np

from audioclass.audio.blocks import read_blocks
from audioclass.classifier.model import Model
from audioclass.data import Block, Segment
from audioclass.engine.models import loaded
from audioclass.engine.training import train
from audioclass.evaluation.calibration import top_label_reliability
from audioclass.extraction.extract import extract_features
from audioclass.numerics import log_loss

SHARES = (0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
RECIPES = ("broadcast", "small")
UNHEARD = ("nicolas", "theo")  # speakers of digits that the corpus of the shipped model leaves out
QUICK = {"criterion": "fixed", "group_weights": "equal", "link": "none", "second_stage": "none"}


def corpus_rows(folder: Path) -> list[dict[str, str]]:
    """The lines of its table."""
    with (folder / "segments.csv").open(encoding="utf-8", newline="") as file:
        return [row | {"file": str(folder / row["file"])} for row in csv.DictReader(file)]


def train_without(fold: str, rows: list[dict[str, str]], recipe: str, place: Path) -> Model:
    """A model of the other folds."""
    table = place / f"{recipe}-{fold}.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("file", "label", "group"), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(row for row in rows if row["fold"] != fold)
    return train(table, recipe=recipe, **QUICK).model


def samples_of(path: str, model: Model) -> np.ndarray:
    """A recording from its first sound on: where its level comes within 20 dB of the loudest."""
    rate = model.recipe.framing.sample_rate
    samples = np.concatenate([block.samples[:, 0] for block in read_blocks(path, rate, trim=True)])
    power = np.convolve(samples**2, np.ones(rate // 100), "same")
    return samples[np.flatnonzero(power > power.max() / 100)[0] :]


def first_window(samples: np.ndarray, model: Model) -> tuple[np.ndarray, Segment]:
    """The features of samples that are shorter than a window, and where they lie."""
    block = Block(samples[:, None].astype(np.float32), model.recipe.framing.sample_rate)
    features = next(iter(extract_features([block], model.recipe)))
    return features.X[0], features.segments[0]


def beginnings(model: Model, rows: list[dict[str, str]]) -> dict[float, list[np.ndarray]]:
    """Label indices and posteriors before and after, by share of the usual duration."""
    taken: dict[float, list[tuple[int, np.ndarray, Segment]]] = {share: [] for share in SHARES}
    for row in rows:
        samples = samples_of(row["file"], model)
        for share in SHARES:
            n = int(share * (model.usual_duration or model.recipe.window) * model.recipe.framing.sample_rate)
            if n <= len(samples):
                taken[share].append((model.labels.index(row["label"]), *first_window(samples[:n], model)))
    return {share: posteriors(model, of_share) for share, of_share in taken.items()}


def posteriors(model: Model, taken: list[tuple[int, np.ndarray, Segment]]) -> list[np.ndarray]:
    """Label indices, and posteriors before and after."""
    y, X, segments = zip(*taken, strict=True)
    before = model.posteriors_of(np.array(X))
    return [np.array(y), before, model.flatten_short(before, segments)]


def measures(y: np.ndarray, before: np.ndarray, after: np.ndarray) -> dict[str, float]:
    """What they are worth."""
    is_wrong = before.argmax(axis=1) != y
    results = {"accuracy": float(1 - is_wrong.mean())}
    for name, P in (("before", before), ("after", after)):
        results[f"log_loss_{name}"] = float(log_loss(P, y))
        results[f"ece_{name}"] = float(top_label_reliability(P, y, P.argmax(axis=1)).error)
        results[f"wrong_{name}"] = float(P[is_wrong].max(axis=1).mean()) if is_wrong.any() else 0.0
    return results


def digits(data: Path, quick: bool) -> dict[str, float]:
    """Spoken digits, which are speech."""
    model, rows = loaded("broadcast"), corpus_rows(data / "audio" / "fsdd")
    rows = [row for row in rows if row["group"] in UNHEARD][:: 10 if quick else 1]
    rate = model.recipe.framing.sample_rate
    taken = []
    for row in rows:
        features = next(iter(extract_features(read_blocks(row["file"], rate, trim=model.recipe.trim), model.recipe)))
        taken.append((model.labels.index("speech"), features.X[0], features.segments[0]))
    return measures(*posteriors(model, taken))


def held_out(recipe: str, rows: list[dict[str, str]], folds: str, place: Path) -> dict[str, dict[str, float]]:
    """What posteriors of beginnings are worth under models that were trained without their fold, by their share."""
    parts = []
    for fold in folds:
        bench.note(f"{recipe}: without fold {fold}")
        model = train_without(fold, rows, recipe, place)
        parts.append(beginnings(model, [row for row in rows if row["fold"] == fold]))
    joined = {share: map(np.concatenate, zip(*(part[share] for part in parts), strict=True)) for share in SHARES}
    return {f"{recipe}_{share}": measures(*arrays) for share, arrays in joined.items()}


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    rows, results = corpus_rows(asked.data / "audio" / "esc10"), {}
    with tempfile.TemporaryDirectory() as name:
        for recipe in RECIPES[:1] if asked.quick else RECIPES:
            results |= held_out(recipe, rows, "1" if asked.quick else "12345", Path(name))
    results["digits"] = digits(asked.data, asked.quick)
    heads = ("beginnings", *results["digits"])
    bench.report(results, [heads, *((key, *values.values()) for key, values in results.items())], asked.json)


if __name__ == "__main__":
    main()
