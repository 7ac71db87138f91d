"""Ensembles beside the hybrid dendrogram and scikit-learn's own: accuracy, log-loss and seconds.

ESC-10 on its five official folds; FSDD with the first speaker held out, to keep it short. Features
are those of the `environment` recipe, prepared on the training rows. Ours are calibrated on out-of-bag or out-of-fold
scores of whole groups (source recordings, speakers), and that is in their seconds; scikit-learn's are as they come.
Keys: esc10 and fsdd, each with {way: {accuracy, log_loss, fit_seconds, predict_seconds}}.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import bench
import numpy as np
from audioclass_ensembles import adaboost, bagging, forests, gradient_boosting, neighbours, samme
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from audioclass.classifier.grouped_distance import GroupedDistance
from audioclass.classifier.normalisation import RankNormalisation
from audioclass.extraction.recipes import load_recipe
from audioclass.kernels.gaussian import UnscaledGaussian
from audioclass.numerics import log_loss
from audioclass.plugins.manager import plugin_manager
from audioclass.run import Run
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.train import train_classifier

GAMMA, C = 0.5, 10.0
KERNEL = UnscaledGaussian(sigma=(1 / (2 * GAMMA)) ** 0.5)
MANAGER = plugin_manager(installed=False)


@dataclass(frozen=True)
class Split:
    """Training and test rows, prepared by the training rows alone."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    new: np.ndarray
    new_y: np.ndarray


Posteriors = Callable[[np.ndarray], np.ndarray]


def ours(strategy, trainer=None) -> Callable[[Split], Posteriors]:
    """A direct strategy; or a strategy over dichotomies of a trainer."""
    config = TrainingConfig(
        strategy=strategy,
        kernels=(KERNEL,),
        trainer=trainer or MANAGER.make("trainer", "svm"),
        calibrator=MANAGER.make("calibrator", "platt"),
        C=C,
    )

    def fit(split: Split) -> Posteriors:
        examples = Examples.of(split.X, split.y, groups=split.groups)
        labels = [f"label {k}" for k in range(int(split.y.max()) + 1)]
        return train_classifier(examples, labels, config, Run(MANAGER)).classifier.posteriors

    return fit


def theirs(model) -> Callable[[Split], Posteriors]:
    return lambda split: model.fit(split.X, split.y).predict_proba


def direct_ways() -> dict[str, Callable]:
    small = DecisionTreeClassifier(max_depth=3, max_features="sqrt")
    stages = {"subsample": 0.5, "max_features": "sqrt"}
    return {
        "random_forest": ours(forests.RandomForestOfLabels()),
        "  scikit-learn": theirs(RandomForestClassifier(random_state=0)),
        "extra_trees": ours(forests.ExtraTreesOfLabels()),
        "  scikit-learn ": theirs(ExtraTreesClassifier(random_state=0)),
        "gradient_boosting": ours(gradient_boosting.GradientBoostingOfLabels()),
        "  scikit-learn  ": theirs(GradientBoostingClassifier(random_state=0, **stages)),
        "adaboost": ours(samme.Samme()),
        "  scikit-learn   ": theirs(AdaBoostClassifier(small, n_estimators=100, random_state=0)),
        "nearest_neighbours": ours(neighbours.NearestNeighboursOfLabels()),
        "  scikit-learn    ": theirs(KNeighborsClassifier(5)),
    }


def machine_ways() -> dict[str, Callable]:
    return {
        "hybrid dendrogram of svm": ours(MANAGER.make("strategy", "hybrid_dendrogram")),
        "one_vs_one of svm": ours(MANAGER.make("strategy", "one_vs_one")),
    }


def pair_ways() -> dict[str, Callable]:
    """Ensembles for each pair of labels, on the smaller corpus only."""
    one_vs_one = MANAGER.make("strategy", "one_vs_one")
    trainers = (forests.RandomForest(), adaboost.AdaBoost(n_rounds=20), neighbours.NearestNeighbours())
    bag = BaggingClassifier(SVC(gamma=GAMMA, C=C), n_estimators=20, random_state=0)
    return {
        **{f"one_vs_one of {trainer.name}": ours(one_vs_one, trainer) for trainer in trainers},
        "one_vs_one of bagging of svm": ours(one_vs_one, bagging.Bagging()),
        "  scikit-learn     ": theirs(bag),
    }


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


def judged(fit: Callable[[Split], Posteriors], splits: list[Split]) -> dict[str, float]:
    """Accuracy and log-loss over all test rows, seconds of one core for all fits and for all predictions."""
    posteriors, fit_seconds, predict_seconds = [], 0.0, 0.0
    for split in splits:
        start = time.process_time()
        model = fit(split)
        fitted = time.process_time()
        posteriors.append(model(split.new))
        fit_seconds, predict_seconds = fit_seconds + fitted - start, predict_seconds + time.process_time() - fitted
    P, y = np.concatenate(posteriors), np.concatenate([split.new_y for split in splits])
    return {
        "accuracy": float(np.mean(P.argmax(axis=1) == y)),
        "log_loss": log_loss(P, y),
        "fit_seconds": fit_seconds,
        "predict_seconds": predict_seconds,
    }


def corpus_results(corpus: str, ways: dict[str, Callable], splits: list[Split]) -> tuple[dict, list[tuple]]:
    results, rows, ours_before = {}, [], ""
    for name, fit in ways.items():
        bench.note(f"{corpus}: {name.strip()}")
        result = judged(fit, splits)
        is_theirs = name.startswith(" ")
        results[f"scikit-learn {ours_before}" if is_theirs else name] = result
        ours_before = ours_before if is_theirs else name
        rows.append((corpus, name.rstrip(), *result.values()))
    return results, rows


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    recipe = load_recipe("environment22", plugin_manager())
    results, table = {}, [("corpus", "way", "accuracy", "log-loss", "fit s", "predict s")]
    for corpus, fold_column in (("esc10", "fold"), ("fsdd", "group")):
        files, y, folds, groups = read_corpus(asked.data / "audio" / corpus, fold_column, 5 if asked.quick else 1)
        bench.note(f"{corpus}: extracting {len(files)} recordings")
        X = features_of(files, recipe)
        held = np.unique(folds) if corpus == "esc10" else np.unique(folds)[:1]
        splits = [split_of(recipe, X, y, groups, folds == fold) for fold in held]
        ways = direct_ways() | machine_ways() | (pair_ways() if corpus == "esc10" else {})
        results[corpus], rows = corpus_results(corpus, ways, splits)
        table += rows
    bench.report(results, table, asked.json)


if __name__ == "__main__":
    main()
