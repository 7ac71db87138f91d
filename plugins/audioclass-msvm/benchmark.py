"""Multi-class machines beside the hybrid dendrogram, pairs of binary machines and LIBLINEAR's Crammer-Singer machine.

ESC-10 on its five official folds; FSDD with the first speaker held out, 2500 digits to train on. Features are those of
the `environment` recipe, prepared on the training rows; kernel and C are the same for all and chosen on neither set.
Ours are calibrated on out-of-fold scores of whole groups, which is in `fit_seconds`; `machine_seconds` is one machine
on all training rows, `gap` its relative duality gap and `support` the share of rows that it keeps (largest over the
folds). Seconds are those of one core. Keys: esc10 and fsdd, each with {way: {accuracy, log_loss, fit_seconds,
predict_seconds, machine_seconds, gap, support}}; those that a way does not have are left out.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import bench
import numpy as np
from audioclass_msvm.machines import BredensteinerBennett, CrammerSinger, WestonWatkins
from sklearn.svm import LinearSVC

from audioclass.classifier.grouped_distance import GroupedDistance
from audioclass.classifier.normalisation import RankNormalisation
from audioclass.extraction.recipes import load_recipe
from audioclass.kernels.gaussian import UnscaledGaussian
from audioclass.kernels.linear import Linear
from audioclass.kernels.statistics import gram
from audioclass.numerics import log_loss
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import LabelTask
from audioclass.run import Run
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.train import train_classifier

GAMMA, C = 0.5, 10.0
GAUSSIAN = UnscaledGaussian(sigma=(1 / (2 * GAMMA)) ** 0.5)
MANAGER = plugin_manager(installed=False)
COLUMNS = ("accuracy", "log_loss", "fit_seconds", "predict_seconds", "machine_seconds", "gap", "support")


@dataclass(frozen=True)
class Split:
    """Training and test rows, prepared by the training rows alone."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    new: np.ndarray
    new_y: np.ndarray


def ours(strategy, kernel=GAUSSIAN) -> Callable[[Split], Callable]:
    config = TrainingConfig(
        strategy=strategy,
        kernels=(kernel,),
        trainer=MANAGER.make("trainer", "svm"),
        calibrator=MANAGER.make("calibrator", "platt"),
        C=C,
    )

    def fit(split: Split) -> Callable:
        examples = Examples.of(split.X, split.y, groups=split.groups)
        labels = [f"label {k}" for k in range(int(split.y.max()) + 1)]
        return train_classifier(examples, labels, config, Run(MANAGER)).classifier.posteriors

    return fit


def liblinear(split: Split) -> Callable:
    """Scores stand for posteriors: it offers none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=False, max_iter=10**5)
        return model.fit(split.X, split.y).decision_function


MACHINES = {
    "weston_watkins": (WestonWatkins(), GAUSSIAN),
    "bredensteiner_bennett": (BredensteinerBennett(), GAUSSIAN),
    "crammer_singer": (CrammerSinger(), GAUSSIAN),
    "crammer_singer, linear": (CrammerSinger(), Linear()),
}
VARIANTS = {  # on the small set only
    "weston_watkins, no bias": (WestonWatkins(bias=False), GAUSSIAN),
    "weston_watkins, temperature": (WestonWatkins(posteriors="temperature"), GAUSSIAN),
    "crammer_singer, bias": (CrammerSinger(bias=True), GAUSSIAN),
}


def other_ways() -> dict[str, Callable]:
    return {
        "LIBLINEAR crammer_singer": liblinear,
        "one_vs_one of svm": ours(MANAGER.make("strategy", "one_vs_one")),
        "hybrid dendrogram of svm": ours(MANAGER.make("strategy", "hybrid_dendrogram")),
    }


def judged(fit: Callable, splits: list[Split]) -> dict[str, float]:
    """Accuracy and log-loss over all test rows, seconds of all fits and of all predictions."""
    answers, fit_seconds, predict_seconds = [], 0.0, 0.0
    for split in splits:
        start = time.process_time()
        model = fit(split)
        fitted = time.process_time()
        answers.append(model(split.new))
        fit_seconds, predict_seconds = fit_seconds + fitted - start, predict_seconds + time.process_time() - fitted
    P, y = np.concatenate(answers), np.concatenate([split.new_y for split in splits])
    is_posterior = {"log_loss": log_loss(P, y)} if fit is not liblinear else {}
    seconds = {"fit_seconds": fit_seconds, "predict_seconds": predict_seconds}
    return {"accuracy": float(np.mean(P.argmax(axis=1) == y))} | is_posterior | seconds


def one_machine(machine, kernel, splits: list[Split]) -> dict[str, float]:
    """The slowest fold's seconds, the widest gap and the largest share of support rows."""
    measured = []
    for split in splits:
        n, n_labels = len(split.y), int(split.y.max()) + 1
        rng = np.random.default_rng(0)
        task = LabelTask(split.y, n_labels, C, np.ones(n), rng, K=gram(kernel, split.X.astype(np.float64)))
        start = time.process_time()
        solution = machine.solve(task)
        seconds = time.process_time() - start
        measured.append((seconds, solution.gap, float(solution.beta.any(axis=1).mean())))
    return dict(zip(("machine_seconds", "gap", "support"), map(max, zip(*measured, strict=True)), strict=True))


def read_corpus(folder: Path, fold_column: str, every: int) -> tuple[list[Path], np.ndarray, np.ndarray, np.ndarray]:
    """Files, label indices, folds and groups of a `segments.csv`."""
    with (folder / "segments.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[::every]
    labels = np.unique([row["label"] for row in rows], return_inverse=True)[1]
    folds, groups = (np.array([row[column] for row in rows]) for column in (fold_column, "group"))
    return [folder / row["file"] for row in rows], labels, folds, groups


def features_of(files: list[Path], recipe) -> np.ndarray:
    """One row for each recording: all are shorter than a window."""
    return np.concatenate([X[:1] for X in bench.feature_tables(files, recipe)])


def split_of(recipe, X, y, groups, test: np.ndarray) -> Split:
    normalisation = RankNormalisation.fit(X[~test])
    train, new = normalisation.apply(X[~test]), normalisation.apply(X[test])
    scaling = GroupedDistance.fit(train, recipe.groups)
    return Split(scaling.apply(train), y[~test], groups[~test], scaling.apply(new), y[test])


def corpus_results(corpus: str, splits: list[Split]) -> dict[str, dict[str, float]]:
    results = {}
    machines = MACHINES | (VARIANTS if corpus == "esc10" else {})
    for name, (machine, kernel) in machines.items():
        bench.note(f"{corpus}: {name}")
        results[name] = judged(ours(machine, kernel), splits) | one_machine(machine, kernel, splits)
    for name, fit in other_ways().items():
        bench.note(f"{corpus}: {name}")
        results[name] = judged(fit, splits)
    return results


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    recipe = load_recipe("environment22", plugin_manager())
    results, rows = {}, [("corpus", "way", *COLUMNS)]
    for corpus, fold_column in (("esc10", "fold"), ("fsdd", "group")):
        files, y, folds, groups = read_corpus(asked.data / "audio" / corpus, fold_column, 5 if asked.quick else 1)
        bench.note(f"{corpus}: extracting {len(files)} recordings")
        X = features_of(files, recipe)
        held = np.unique(folds) if corpus == "esc10" else np.unique(folds)[:1]
        splits = [split_of(recipe, X, y, groups, folds == fold) for fold in held]
        results[corpus] = corpus_results(corpus, splits)
        for name, result in results[corpus].items():
            cells = (f"{result[column]:.4f}" if column in result else "" for column in COLUMNS)
            rows.append((corpus, name, *cells))
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
