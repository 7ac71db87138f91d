"""Fifty labels with all defaults: what training costs beside its largest system, the model's size, and its posteriors.

ESC-10 and the 40 other labels of ESC-50, all clips that are at hand, each in the three versions of `environment`. Times
are CPU seconds of one core without extraction. Training is everything that the defaults choose and measure: weights of
groups, kernel, machines, link, second stage, whether versions are kept, a random split, near-duplicates, novelty, risk.
The floor of training is one product of all rows with all and the inverse of one matrix of that size, that of posteriors
one product of a clip's rows with the support rows in single precision, and its exponential. What rounding costs is seen
on the first fold, by a training on the others; both models read patches that were learnt from all clips.
Keys: train_seconds, train_over_floor, model_mb, rounding_cost (log-loss over that of exact support rows, less one),
clip_over_floor and batch_over_floor (64 clips).
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import bench
import numpy as np
from scipy.linalg import cho_factor, cho_solve

from audioclass.classifier.model import Model
from audioclass.classifier.saving import save_model
from audioclass.engine.corpus_reading import read_corpus_at, tree_for
from audioclass.engine.datasets import Dataset
from audioclass.engine.fitting import fit_recipe
from audioclass.engine.gathering import gather
from audioclass.engine.imagining import imagined_rows
from audioclass.engine.rates import recipe_for
from audioclass.engine.runs import KEEP_NOTHING, make_run
from audioclass.engine.training import Trained, train_on
from audioclass.numerics import log_loss
from audioclass.run import executor_for
from audioclass.taxonomy import Taxonomy
from audioclass.training.config import TrainingConfig

HALVES = ("esc10", "esc40")
BATCH = 64
ROUNDS = 9
QUICK = 5  # every so many clips


def cpu(work: Callable[[], object]) -> float:
    """Seconds that a work keeps the core busy: others may be at work beside it."""
    start = time.process_time()
    work()
    return time.process_time() - start


def write_corpus(data: Path, folder: Path) -> None:
    """Both halves as one corpus, with all their folds."""
    rows = []
    for half in HALVES:
        source = (data / "audio" / half).resolve()
        (folder / half).symlink_to(source / "audio")
        with (source / "segments.csv").open(newline="") as table:
            rows += [row | {"file": row["file"].replace("audio/", f"{half}/")} for row in csv.DictReader(table)]
    with (folder / "segments.csv").open("w", newline="") as table:
        writer = csv.DictWriter(table, ["file", "label", "fold", "group"])
        writer.writeheader()
        writer.writerows(rows)


def features(data: Path, quick: bool) -> tuple[Dataset, TrainingConfig, Taxonomy | None]:
    """The features of all clips, from the cache where they are there, and the defaults with the fitted recipe."""
    run = make_run(executor=executor_for(2))
    config = TrainingConfig.of({"recipe": "environment"}, run)
    with tempfile.TemporaryDirectory() as folder:
        write_corpus(data, Path(folder))
        read = read_corpus_at(folder, run)
        read = replace(read, clips=read.clips[::QUICK]) if quick else read
        recipe = fit_recipe(recipe_for(read, config.recipe)[0], read.clips, run)
        dataset = gather(read, recipe, run)
    tree = tree_for(read, dataset.labels)
    return dataset, replace(config, recipe=recipe).guided_by(tree, run), tree


def floor_of_training(n_rows: int, n_features: int) -> float:
    """Seconds of the product of all rows with all and of the inverse of one such matrix."""
    X = np.random.default_rng(0).normal(size=(n_rows, n_features)) / np.sqrt(n_features)

    def work() -> None:
        K = X @ X.T
        K[np.diag_indices(n_rows)] += 1.0
        cho_solve(cho_factor(K, lower=True, overwrite_a=True), np.eye(n_rows))

    return cpu(work)


def over_floor(model: Model, X: np.ndarray) -> float:
    """Posteriors of clips from their features over one product with the support rows, in turn."""
    rows, n_versions = model.classifier.machines.X, len(model.recipe.versions)
    prepared = model.preprocessing.apply(X.reshape(len(X) * n_versions, -1)).astype(np.float32)
    ours, floor = (lambda: model.posteriors_of(X)), (lambda: np.exp(-(prepared @ rows.T)))
    ours(), floor()  # once for caches
    return statistics.median(cpu(ours) / cpu(floor) for _ in range(ROUNDS))


def rounding_cost(trained: Trained, new: Dataset) -> tuple[float, float]:
    """The log-loss of new clips with support rows as the model has them, and with exact ones."""
    model, exact = trained.model, replace(trained.model, classifier=trained.training.classifier)
    X = new.X[:, : len(model.recipe.columns)].astype(np.float32)
    return log_loss(model.posteriors_of(X), new.y), log_loss(exact.posteriors_of(X), new.y)


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    bench.note("features")
    dataset, config, tree = features(asked.data, asked.quick)
    run = make_run(cache=KEEP_NOTHING)
    imagined_rows(config.recipe.at_one_speed, run)  # their extraction, which is kept in this process
    bench.note(f"training on {len(dataset.X)} clips in {len(config.recipe.versions)} versions")
    start = time.process_time()
    trained = train_on(dataset, config, run, taxonomy=tree)
    seconds = time.process_time() - start
    model, n_rows = trained.model, len(dataset.X) * len(config.recipe.versions)
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "model.audioclass")
        size = (Path(folder) / "model.audioclass").stat().st_size / 1e6
    X = dataset.X[:, : len(model.recipe.columns)].astype(np.float32)
    bench.note("training without the first fold")
    held = dataset.folds == min(dataset.folds)
    known = dataset.take(np.flatnonzero(~held))
    without = train_on(known, config, run, taxonomy=tree, compares_splits=False, learns_novelty=False)
    rounded, exact = rounding_cost(without, dataset.take(np.flatnonzero(held)))
    results = {
        "train_seconds": seconds,
        "train_over_floor": seconds / floor_of_training(n_rows, config.recipe.n_features),
        "model_mb": size,
        "rounding_cost": rounded / exact - 1,
        "clip_over_floor": over_floor(model, X[:1]),
        "batch_over_floor": over_floor(model, X[:BATCH]),
    }
    kernel, C = trained.training.selected[0].kernel, trained.training.selected[0].C
    bench.note(f"{kernel}, C={C:.3g}; log-loss of the first fold {rounded:.4f}, with exact rows {exact:.4f}")
    names = {
        "train_seconds": f"training, {n_rows} rows of {config.recipe.n_features} features, CPU seconds",
        "train_over_floor": "the same over one product and one inverse",
        "model_mb": "model, MB",
        "rounding_cost": "log-loss that rounded rows cost",
        "clip_over_floor": "posteriors of a clip over one product with the support rows",
        "batch_over_floor": f"posteriors of {BATCH} clips over one product with the support rows",
    }
    bench.report(results, [("what", "figure"), *((names[key], value) for key, value in results.items())], asked.json)


if __name__ == "__main__":
    main()
