"""Kernels chosen by criteria beside kernels chosen by cross-validation: sweeps of sigma, and whole trees of machines.

Sweeps: 25 values of sigma from 0.1 to 20 (`gaussian`, standardised features), at C = 1 and at Joachims' C, on
Ionosphere, Spambase (1000 rows, a fixed sample), Lymphoma and two hard labels of ESC-10; for each criterion its CPU
seconds over the grid, the sigma it chooses and the exact leave-one-out error of the machine there. Where values are
missing, criteria see column means of all rows, and the leave-one-out error those of the other rows alone.

Trees: all dichotomies of a hybrid dendrogram on ESC-10 (five official folds) and FSDD (two speakers left out, every
other recording). Ours: the default selection. Grid: `GridSearchCV` for each dichotomy over 7 x 7 values of C and gamma
with folds of whole groups, on distances computed once for all of it, which scikit-learn by itself does not do. Median:
gamma from the median distance, C = 1. Seconds are CPU seconds of the selection alone, on one core.
Keys: sweeps (data, c, criterion, seconds, sigma, loo, best_loo), esc10 and fsdd (ours_seconds, grid_seconds,
ours_accuracy, grid_accuracy, median_accuracy, ours_logloss, grid_logloss, median_logloss).
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import gzip
import time
from pathlib import Path

import bench
import numpy as np
from machines import split_of
from recipes import features_of
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from audioclass.classifier.normalisation import Standardisation
from audioclass.contracts import Kernel
from audioclass.criteria.problem import SelectionProblem
from audioclass.extraction.recipes import load_recipe
from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.kernels.statistics import mean_squared_distance, pairwise, squared_distance
from audioclass.numerics import log_loss
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import Dichotomy
from audioclass.run import Run
from audioclass.testing.criteria import judged_trainer
from audioclass.trainers.svm import SVM
from audioclass.training.assemble import assemble
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import train_dichotomies
from audioclass.training.examples import Examples
from audioclass.training.folds import fold_count, grouped_folds
from audioclass.training.objective import joachims_error_factor
from audioclass.training.select import select
from audioclass.training.stored_selection import Selected
from audioclass.training.train import plan_of

MANAGER = plugin_manager(installed=False)
RUN = Run(MANAGER)
SIGMAS = np.geomspace(0.1, 20, 25)
CRITERIA = (
    "exact_leave_one_out", "k_fold_error", "xi_alpha", "support_vectors", "span", "smoothed_span", "radius_margin",
    "alignment", "alignment_c", "weighted_alignment_c", "centred_alignment_c", "class_separability",
    "regularised_separability", "class_separability_c", "leave_one_out_error", "leave_one_out_squared_error",
    "leave_one_out_log_loss",
)  # fmt: skip
GRID = {"C": np.geomspace(0.1, 1000, 7), "gamma": np.geomspace(0.01, 10, 7)}
HARD_PAIR = ("rain", "sea_waves")


# --- sweeps


def table_of(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Features, NaN where missing, and sides of a CSV whose last column is one of two labels."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    X = np.array([[float(cell) if cell else np.nan for cell in row[:-1]] for row in rows])
    labels = np.array([row[-1] for row in rows])
    return X, np.where(labels == np.unique(labels)[0], 1, -1)


def imputed(X: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Missing values by the column means of the known rows, then standardised by them."""
    filled = np.where(np.isnan(X), np.nanmean(X[known], axis=0), X)
    return Standardisation.fit(filled[known]).apply(filled)


def sweep_sets(data: Path, quick: bool):
    """Name, features and sides of each set."""
    yield "ionosphere", *table_of(data / "tabular" / "ionosphere.csv")
    yield "lymphoma", *table_of(data / "tabular" / "lymphoma.csv.gz")
    if not quick:
        yield "esc10 pair", *esc10_pair(data)
        X, y = table_of(data / "tabular" / "spambase.csv")
        rows = np.random.default_rng(0).permutation(len(y))[:1000]
        yield "spambase", X[rows], y[rows]


def esc10_pair(data: Path) -> tuple[np.ndarray, np.ndarray]:
    X, y, _, _, labels = corpus(data, "esc10", 1)
    pair = [labels.index(name) for name in HARD_PAIR]
    rows = np.isin(y, pair)
    return X[rows].astype(np.float64), np.where(y[rows] == pair[0], 1, -1)


def case_of(
    X: np.ndarray, y: np.ndarray, S: np.ndarray, sigma: float, rule: str | float, folds, learner=None
) -> SelectionProblem:
    kernel = Gaussian(sigma)
    C = joachims_error_factor(kernel, X) if rule == "joachims" else float(rule)
    numbers = {"sigma": sigma}
    return SelectionProblem(kernel.of(S), y, C, parameters=numbers, folds=folds, learner=learner or SVM())


def honest_error(X: np.ndarray, y: np.ndarray, sigma: float, rule: str | float) -> float:
    """Leave-one-out error with the missing values of each machine filled from its own rows."""
    lost = 0
    for p in range(len(y)):
        known = np.arange(len(y)) != p
        filled = imputed(X, known)
        S = pairwise(mean_squared_distance, filled)
        rest = case_of(filled[known], y[known], S[np.ix_(known, known)], sigma, rule, None)
        lost += y[p] * rest.machine.scores(Gaussian(sigma).of(S[p : p + 1, known]))[0] < 0
    return lost / len(y)


def sweep(name: str, X: np.ndarray, y: np.ndarray, rule: str, sigmas: np.ndarray, criteria) -> list[dict]:
    """One row for each criterion."""
    filled = imputed(X, np.ones(len(y), bool))
    S = pairwise(mean_squared_distance, filled)
    folds = grouped_folds(y, np.arange(len(y)), 10)
    values, seconds = {}, {}
    for criterion in criteria:
        bench.note(f"{name}, C = {rule}: {criterion}")
        component = MANAGER.make("criterion", criterion)
        learner = judged_trainer(component)
        start = time.process_time()
        values[criterion] = [component.value(case_of(filled, y, S, sigma, rule, folds, learner)) for sigma in sigmas]
        seconds[criterion] = time.process_time() - start
    is_whole = not np.isnan(X).any()
    errors = values["exact_leave_one_out"] if is_whole else [honest_error(X, y, sigma, rule) for sigma in sigmas]
    chosen = {criterion: best_of(criterion, values[criterion]) for criterion in criteria}
    return [
        {
            "data": name,
            "c": rule,
            "criterion": criterion,
            "seconds": seconds[criterion],
            "sigma": float(sigmas[chosen[criterion]]),
            "loo": float(errors[chosen[criterion]]),
            "best_loo": float(min(errors)),
        }
        for criterion in criteria
    ]


def default_choice(name: str, X: np.ndarray, y: np.ndarray, best: float) -> dict:
    """The row of the default selection, which searches sigma and C together; `best` is the least of the sweeps."""
    bench.note(f"{name}: the default selection")
    filled = imputed(X, np.ones(len(y), bool))
    start = time.process_time()
    examples = Examples.of(filled, (y < 0).astype(int))
    [chosen] = select([Dichotomy((0,), (1,))], examples, configured(kernel=Gaussian(), C=1.0), RUN)
    seconds = time.process_time() - start
    sigma, S = chosen.kernel.sigma, pairwise(mean_squared_distance, filled)
    if np.isnan(X).any():
        error = honest_error(X, y, sigma, chosen.C)
    else:
        error = MANAGER.make("criterion", "exact_leave_one_out").value(case_of(filled, y, S, sigma, chosen.C, None))
    criterion = f"default, C = {chosen.C:.3g}"
    said = {"data": name, "c": "searched", "criterion": criterion, "seconds": seconds}
    return said | {"sigma": sigma, "loo": float(error), "best_loo": best}


def best_of(criterion: str, values: list[float]) -> int:
    sign = 1 if MANAGER.make("criterion", criterion).better == "lower" else -1
    return int(np.nanargmin(sign * np.array(values)))


# --- trees


class DistanceSVC(SVC):
    """scikit-learn's machine on squared distances, so that a grid need not compute them again."""

    def __init__(self, C: float = 1.0, gamma: float = 1.0) -> None:
        super().__init__(kernel="precomputed", C=C, gamma=gamma, class_weight="balanced")

    def fit(self, D: np.ndarray, y: np.ndarray) -> "DistanceSVC":
        return super().fit(np.exp(-self.gamma * D), y)

    def predict(self, D: np.ndarray) -> np.ndarray:
        return super().predict(np.exp(-self.gamma * D))


def corpus(data: Path, name: str, every: int):
    """Features, label index, fold and group of each recording, and the labels."""
    folder = data / "audio" / name
    with (folder / "segments.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[::every]
    X = features_of([folder / row["file"] for row in rows], load_recipe("environment22", plugin_manager()))
    labels, y = np.unique([row["label"] for row in rows], return_inverse=True)
    groups = np.unique([row["group"] for row in rows], return_inverse=True)[1]
    folds = np.array([int(row["fold"]) for row in rows]) if name == "esc10" else (groups >= 4).astype(int)
    return X, y, folds, groups, labels.tolist()


def kernel_of(gamma: float) -> UnscaledGaussian:
    return UnscaledGaussian(sigma=float((1 / (2 * gamma)) ** 0.5))


def by_grid(dichotomies, examples: Examples, D: np.ndarray) -> list[Selected]:
    """The best pair of the grid for each dichotomy, by folds of whole groups."""
    chosen = []
    for number, dichotomy in enumerate(dichotomies, start=1):
        bench.note(f"grid: dichotomy {number} of {len(dichotomies)}")
        rows = np.flatnonzero(np.isin(examples.y, dichotomy.positive + dichotomy.negative))
        sides = np.where(np.isin(examples.y[rows], dichotomy.positive), 1, -1)
        groups = examples.groups[rows]
        folds = grouped_folds(sides, groups, fold_count(sides, groups))
        splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]
        search = GridSearchCV(DistanceSVC(), GRID, cv=splits, refit=False).fit(D[np.ix_(rows, rows)], sides)
        chosen.append(Selected(kernel_of(search.best_params_["gamma"]), float(search.best_params_["C"])))
    return chosen


def ways(examples: Examples, dichotomies):
    """Each way to choose, with the trainer that goes with it and the CPU seconds it took."""
    D = pairwise(squared_distance, examples.statistics.X)
    median = kernel_of(1 / float(np.median(D[D > 0])))
    for name, trainer, choose in (
        ("ours", "least_squares", lambda: select(dichotomies, examples, configured(), RUN)),
        ("grid", "svm", lambda: by_grid(dichotomies, examples, D)),
        ("median", "svm", lambda: [Selected(median, 1.0)] * len(dichotomies)),
    ):
        start = time.process_time()
        chosen = choose()
        yield name, trainer, chosen, time.process_time() - start


def judge_split(split, labels: list[str]) -> dict[str, tuple[float, float, float]]:
    """Seconds, accuracy and log-loss on the rows left out, for each way to choose."""
    examples = Examples.of(split.X, split.y, groups=split.groups)
    plan = plan_of(examples, labels, configured(), RUN)
    results = {}
    for name, trainer, chosen, seconds in ways(examples, plan.dichotomies):
        kernels, Cs = [choice.kernel for choice in chosen], [choice.C for choice in chosen]
        config = configured(trainer)
        trained = train_dichotomies(plan.dichotomies, examples, kernels, Cs, config, RUN, everywhere=True)
        P = assemble(examples, labels, config, plan, trained).classifier.posteriors(split.new)
        accuracy = float(np.mean(P.argmax(axis=1) == split.new_y))
        results[name] = (seconds, accuracy, log_loss(P, split.new_y, np.ones(len(P))))
    return results


def configured(trainer: str = "least_squares", kernel: Kernel | None = None, C: float = 10.0) -> TrainingConfig:
    """The defaults, but for the trainer and where the search begins."""
    return TrainingConfig(
        strategy=MANAGER.make("strategy", "hybrid_dendrogram"),
        kernels=(kernel or UnscaledGaussian(),),
        trainer=MANAGER.make("trainer", trainer),
        calibrator=MANAGER.make("calibrator", "platt"),
        criterion=MANAGER.make("criterion", "leave_group_out_log_loss"),
        search=MANAGER.make("search", "pattern"),
        C=C,
    )


def trees(data: Path, name: str, every: int, n_splits: int | None) -> dict[str, float]:
    """Means over the splits; FSDD has one."""
    X, y, folds, groups, labels = corpus(data, name, every)
    left_out = np.unique(folds)[:n_splits] if name == "esc10" else [1]
    recipe = load_recipe("environment22", plugin_manager())
    found = []
    for fold in left_out:
        bench.note(f"{name}: fold {fold}")
        found.append(judge_split(split_of(recipe, X, y, folds, groups, fold), labels))
    keys = ("seconds", "accuracy", "logloss")
    return {
        f"{way}_{key}": float(np.mean([results[way][i] for results in found]))
        for way in found[0]
        for i, key in enumerate(keys)
    } | {"recordings": len(y), "splits": len(found)}


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    sigmas = SIGMAS[::6] if asked.quick else SIGMAS
    criteria = CRITERIA[:1] + CRITERIA[-3:] if asked.quick else CRITERIA
    sweeps = []
    for name, X, y in sweep_sets(asked.data, asked.quick):
        own = [row for rule in ("1", "joachims") for row in sweep(name, X, y, rule, sigmas, criteria)]
        sweeps += [*own, default_choice(name, X, y, min(row["best_loo"] for row in own))]
    results = {"sweeps": sweeps}
    results["esc10"] = trees(asked.data, "esc10", 4 if asked.quick else 1, 1 if asked.quick else None)
    results["fsdd"] = trees(asked.data, "fsdd", 20 if asked.quick else 2, None)
    rows = [("data", "C", "criterion", "seconds", "sigma", "leave-one-out", "best on the grid")]
    rows += [tuple(row.values()) for row in sweeps]
    rows += [(name, "", key, value, "", "", "") for name in ("esc10", "fsdd") for key, value in results[name].items()]
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
