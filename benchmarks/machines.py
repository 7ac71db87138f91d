"""Calibrated one-vs-one machines beside scikit-learn's: training, prediction, ways to calibrate, and large sets.

Small set: ESC-10 under the `environment` recipe, five official folds. Large set: about 18 000 half-second windows of
the same clips under `broadcast`, trained on four folds, tested on the fifth; ours are the trainers that `train` takes.
Kernel and C are the same for all.
Keys: train_speedup_over_calibrated_ovo, logloss_ours, logloss_calibrated_ovo, predict_speedup_over_svc_probability,
predict_over_floor, nystroem_seconds, nystroem_accuracy, exact_accuracy, span_logloss, folds_logloss,
span_cost_over_folds, least_squares_logloss, least_squares_cost_over_folds; large_… for the large set.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import bench
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC

from audioclass.classifier.bank import Bank
from audioclass.classifier.grouped_distance import GroupedDistance
from audioclass.classifier.normalisation import RankNormalisation
from audioclass.extraction.recipes import load_recipe
from audioclass.kernels.gaussian import UnscaledGaussian
from audioclass.numerics import log_loss
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import Dichotomy
from audioclass.run import Run
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.training.config import METHOD_OPTIONS, TrainingConfig
from audioclass.training.dichotomies import train_dichotomies
from audioclass.training.examples import Examples

GAMMA, C = 0.5, 10.0
KERNEL = UnscaledGaussian(sigma=(1 / (2 * GAMMA)) ** 0.5)
DEFAULT = {option.name: option.default for option in METHOD_OPTIONS}
MANAGER = plugin_manager(installed=False)
RUN = Run(MANAGER)


@dataclass(frozen=True)
class Split:
    """Training and test rows, normalised and scaled by the training rows alone."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    new: np.ndarray
    new_y: np.ndarray


def configured(trainer: str, **fields) -> TrainingConfig:
    """One-vs-one machines of a trainer."""
    return TrainingConfig(
        strategy=OneVsOne(),
        kernels=(KERNEL,),
        trainer=MANAGER.make("trainer", trainer),
        calibrator=MANAGER.make("calibrator", "platt"),
        **fields,
    )


class Ours:
    """One-vs-one machines with calibrated probabilities, coupled."""

    def __init__(self, trainer: str = "svm", held_out: str = "auto", large: str | None = None) -> None:
        many = None if large is None else MANAGER.make("trainer", large)
        self.config = configured(trainer, held_out=held_out, large=many)

    def fit(self, split: Split) -> "Ours":
        n_labels = int(split.y.max()) + 1
        self.plan = OneVsOne().plan(list(map(str, range(n_labels))), None, None, None)
        n = len(self.plan.dichotomies)
        examples = Examples.of(split.X, split.y, groups=split.groups)
        trained = train_dichotomies(self.plan.dichotomies, examples, [KERNEL] * n, [C] * n, self.config, RUN)
        self.calibrations = [result.calibration for result in trained]
        self.bank = Bank.of(split.X, [result.machine for result in trained], [KERNEL] * n).astype(np.float32)
        return self

    def posteriors(self, X: np.ndarray) -> np.ndarray:
        scores = self.bank.scores(X.astype(np.float32, copy=False))
        columns = zip(scores.T, self.calibrations, strict=True)
        probabilities = [self.config.calibrator.probabilities(column, fitted) for column, fitted in columns]
        return OneVsOne().combine(self.plan, np.stack(probabilities, axis=1), scores, None, {})


def calibrated_one_vs_one(split: Split):
    machine = CalibratedClassifierCV(SVC(gamma=GAMMA, C=C))
    return OneVsOneClassifier(machine).fit(split.X, split.y)


def pairwise_posteriors(model, X: np.ndarray) -> np.ndarray:
    """Posteriors of scikit-learn's calibrated pairs, coupled as ours are: it offers none of its own."""
    pairs = [estimator.predict_proba(X)[:, 0] for estimator in model.estimators_]
    plan = OneVsOne().plan(list(map(str, model.classes_)), None, None, None)
    return OneVsOne().combine(plan, np.stack(pairs, axis=1), None, None, {})


def svc_probability(split: Split):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return SVC(gamma=GAMMA, C=C, probability=True, random_state=0).fit(split.X, split.y)


def features(data: Path, recipe, every: int = 1) -> tuple[np.ndarray, ...]:
    """Windows of ESC-10: X, label, fold, source recording."""
    folder = data / "audio" / "esc10"
    with (folder / "segments.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[::every]
    files = [folder / row["file"] for row in rows]
    parts = bench.feature_tables(files, recipe)
    count = [len(part) for part in parts]
    labels = np.unique([row["label"] for row in rows], return_inverse=True)[1]
    folds, groups = np.array([int(row["fold"]) for row in rows]), np.array([row["group"] for row in rows])
    return np.concatenate(parts), np.repeat(labels, count), np.repeat(folds, count), np.repeat(groups, count)


def split_of(recipe, X, y, folds, groups, fold: int) -> Split:
    known = folds != fold
    normalisation = RankNormalisation.fit(X[known])
    train, new = normalisation.apply(X[known]), normalisation.apply(X[~known])
    scaling = GroupedDistance.fit(train, recipe.groups)
    return Split(scaling.apply(train), y[known], groups[known], scaling.apply(new), y[~known])


def timed(work) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def small(splits: list[Split]) -> tuple[dict, list[tuple]]:
    """Log-loss over all folds and seconds in all, for each way to train and calibrate."""
    ways = {
        "ours": lambda s: Ours().fit(s),
        "folds": lambda s: Ours(held_out="folds").fit(s),
        "span": lambda s: Ours(held_out="span").fit(s),
        "least_squares": lambda s: Ours("least_squares").fit(s),
        "calibrated_ovo": calibrated_one_vs_one,
        "svc_probability": svc_probability,
    }
    seconds, losses = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
    total = sum(len(split.new_y) for split in splits)
    for split in splits:
        for name, fit in ways.items():
            bench.note(f"small set: {name}")
            taken, model = timed(lambda fit=fit, split=split: fit(split))
            P = posteriors_of(name, model, split.new)
            seconds[name] += taken
            losses[name] += log_loss(P, split.new_y, np.ones(len(P))) * len(P) / total
    results = {
        "train_speedup_over_calibrated_ovo": seconds["calibrated_ovo"] / seconds["ours"],
        "train_speedup_over_svc_probability": seconds["svc_probability"] / seconds["ours"],
        "logloss_ours": losses["ours"],
        "logloss_calibrated_ovo": losses["calibrated_ovo"],
        "logloss_svc_probability": losses["svc_probability"],
        "folds_logloss": losses["folds"],
        "span_logloss": losses["span"],
        "span_cost_over_folds": seconds["span"] / seconds["folds"],
        "least_squares_logloss": losses["least_squares"],
        "least_squares_cost_over_folds": seconds["least_squares"] / seconds["folds"],
    }
    return results, [(f"small: {name}", seconds[name], losses[name]) for name in ways]


def posteriors_of(name: str, model, X: np.ndarray) -> np.ndarray:
    if name == "calibrated_ovo":
        return pairwise_posteriors(model, X)
    return model.predict_proba(X) if name == "svc_probability" else model.posteriors(X)


def large(split: Split, quick: bool) -> tuple[dict, list[tuple]]:
    """Training and prediction on many windows; prediction beside its floor."""
    seconds, models = {}, {}
    for name, fit in (
        ("ours", Ours(DEFAULT["trainer"], large=DEFAULT["large"]).fit),
        ("svc_probability", svc_probability),
        ("calibrated_ovo", calibrated_one_vs_one),
    ):
        bench.note(f"large set: training {name}")
        seconds[name], models[name] = timed(lambda fit=fit: fit(split))
    n_rows = 2000 if quick else 10_000
    X = np.resize(split.new, (n_rows, split.new.shape[1]))
    single, support = X.astype(np.float32), models["ours"].bank.X
    bench.note("large set: predicting")
    taken = bench.interleaved(
        3, ours=lambda: models["ours"].posteriors(single), floor=lambda: np.exp(-(single @ support.T))
    )
    predict = {
        name: bench.once(lambda name=name: posteriors_of(name, models[name], X)) for name in seconds if name != "ours"
    }
    ones = np.ones(len(split.new_y))
    losses = {name: log_loss(posteriors_of(name, m, split.new), split.new_y, ones) for name, m in models.items()}
    results = {
        "predict_speedup_over_svc_probability": predict["svc_probability"] / min(taken["ours"]),
        "predict_speedup_over_calibrated_ovo": predict["calibrated_ovo"] / min(taken["ours"]),
        "predict_over_floor": bench.median_ratio(taken["ours"], taken["floor"]),
        "large_rows": len(split.y),
        "large_support_rows": len(support),
        "large_train_speedup_over_calibrated_ovo": seconds["calibrated_ovo"] / seconds["ours"],
        "large_train_speedup_over_svc_probability": seconds["svc_probability"] / seconds["ours"],
        **{f"large_logloss_{name}": loss for name, loss in losses.items()},
    }
    return results, [(f"large: {name}", seconds[name], losses[name]) for name in seconds]


def nystroem(X: np.ndarray, y: np.ndarray, folds: np.ndarray, sizes: tuple[int, ...]) -> tuple[dict, list[tuple]]:
    """Half of the labels against the rest: seconds at each size, and accuracy on the fifth fold beside the exact."""
    order = np.random.default_rng(0).permutation(np.flatnonzero(folds != 5))
    sides, held = np.where(y < 5, 1, -1), np.flatnonzero(folds == 5)[::5]
    seconds, accuracies = [], {}
    for name, size in [*(("nystroem", size) for size in sizes), ("svm", sizes[0])]:
        rows = np.resize(order, size)
        bench.note(f"{name} on {size} windows")
        examples = Examples.of(X[rows], (sides[rows] < 0).astype(int))
        taken, machine = timed(lambda e=examples, n=name: _side_machine(e, n))
        bank = Bank.of(examples.statistics.X, [machine], [KERNEL])
        accuracies[name, size] = float(np.mean(np.sign(bank.scores(X[held])[:, 0]) == sides[held]))
        seconds += [taken] if name == "nystroem" else []
    results = {
        "nystroem_sizes": list(sizes),
        "nystroem_seconds": seconds,
        "nystroem_accuracy": accuracies["nystroem", sizes[0]],
        "exact_accuracy": accuracies["svm", sizes[0]],
    }
    rows = [(f"{name}, n = {size}", "", accuracy) for (name, size), accuracy in accuracies.items()]
    return results, rows


def _side_machine(examples: Examples, name: str):
    config = configured(name, folds=2)
    [trained] = train_dichotomies([Dichotomy((0,), (1,))], examples, [KERNEL], [C], config, RUN)
    return trained.machine


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    every = 4 if asked.quick else 1
    recipe = load_recipe("environment22", plugin_manager())
    table = features(asked.data, recipe, every)
    results, rows = small([split_of(recipe, *table, fold) for fold in np.unique(table[2])])
    windows = replace(load_recipe("broadcast", plugin_manager()), name="half seconds", window=0.5, window_hop=0.1)
    table = features(asked.data, windows, every)
    more, more_rows = large(split_of(windows, *table, 5), asked.quick)
    results, rows = results | more, rows + more_rows
    dense = replace(windows, name="dense", window_hop=0.02)
    X, y, folds, _ = features(asked.data, dense, every)
    X = RankNormalisation.fit(X[folds != 5][::7]).apply(X)
    X = GroupedDistance.fit(X, dense.groups).apply(X).astype(np.float32)
    more, more_rows = nystroem(X, y, folds, (1000, 4000, 20_000) if asked.quick else (5000, 20_000, 100_000))
    bench.report(results | more, [("what", "seconds", "log-loss or accuracy"), *rows, *more_rows], asked.json)


if __name__ == "__main__":
    main()
