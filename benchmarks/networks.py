"""Networks beside our own groups: each alone, fused by equal weights, and by a weight chosen on held-out groups.

`speech_embedding` (audioclass-onnx[speech]) on spoken digits (FSDD, one speaker left out at a time) and `birdnet`
(audioclass-birdnet[network]) on the ten animals of esc40 (its three folds), each beside the recipe `environment`; what
is not installed is left out. A network is one group: at weight 1 it says as much as one group of `environment`, at
weight 10 about as much as all of them together. Each is a training with all defaults on the training folds; `chosen`
takes, in each fold by itself, whichever of the rows before it has the lowest log-loss on the held-out groups of its own
training, and `greedy` is `--group-weights greedy` from weight 1. Milliseconds of the processor, one thread, are for a
second of the recordings of the corpus.
Keys: rows (corpus, features, accuracy, logloss, ece, milliseconds), and which weights were chosen.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import bench
import numpy as np
import soundfile
from recipes import features_of

from audioclass.engine.features import extract
from audioclass.errors import UsageError
from audioclass.evaluation.calibration import Binning
from audioclass.extraction.recipe import Recipe
from audioclass.extraction.recipe_tables import recipe_of_table
from audioclass.extraction.recipes import load_recipe
from audioclass.numerics import log_loss
from audioclass.plugins.manager import plugin_manager
from audioclass.run import Run
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.group_weights import fit_preprocessing
from audioclass.training.train import train_classifier

MANAGER = plugin_manager()
RUN = Run(MANAGER)
ANIMALS = frozenset(
    {"cat", "chirping_birds", "cow", "crickets", "crow", "frog", "hen", "insects", "pig", "sheep"},
)
WEIGHTS = (1.0, 3.0, 10.0, 30.0)  # of the network's group, each of ours having 1
CHOSEN, GREEDY = "fused, chosen", "fused, greedy"
TIMED = 24  # recordings


@dataclass(frozen=True)
class Comparison:
    """A network and the corpus that it is tried on; `labels` are those that count, or all."""

    network: str
    sample_rate: int
    corpus: str
    fold_column: str
    labels: frozenset[str] = frozenset()


COMPARISONS = {
    "fsdd": Comparison("speech_embedding", 16000, "fsdd", "group"),
    "animals": Comparison("birdnet", 48000, "esc40", "fold", ANIMALS),
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Recordings with their features, label indices, folds and groups; `blocks` are the features of each recipe."""

    blocks: dict[str, np.ndarray]
    groups: dict[str, tuple[str, ...]]
    y: np.ndarray
    folds: np.ndarray
    sources: np.ndarray

    def columns(self, weights: dict[str, float]) -> tuple[np.ndarray, list[str], dict[str, float]]:
        """Features of the recipes that have a weight, the group of each, and the weight of each group."""
        taken = [name for name in self.blocks if weights.get(name)]
        groups = [group for name in taken for group in self.groups[name]]
        shares = {group: weights[name] for name in taken for group in self.groups[name]}
        return np.concatenate([self.blocks[name] for name in taken], axis=1), groups, shares


def network_recipe(comparison: Comparison, beside: Recipe) -> Recipe:
    """The network as the only part, over the same windows as the other recipe."""
    table = {
        "sample_rate": comparison.sample_rate,
        "frame_length": 512,
        "hop_length": 160,
        "window": beside.window,
        "window_hop": beside.window_hop,
        "trim": beside.trim,
        "parts": [{"group": comparison.network, "embedding": {"name": comparison.network}}],
    }
    return recipe_of_table(comparison.network, table, MANAGER.make, MANAGER.origin)


def read_rows(data: Path, comparison: Comparison, quick: bool) -> tuple[list[Path], list[dict[str, str]]]:
    """Recordings of the labels that count, with what the corpus says of each."""
    folder = data / "audio" / comparison.corpus
    with (folder / "segments.csv").open(encoding="utf-8") as file:
        stated = [row for row in csv.DictReader(file) if not comparison.labels or row["label"] in comparison.labels]
    stated = stated[:: 10 if quick else 1]
    return [folder / row["file"] for row in stated], stated


def milliseconds(files: Sequence[Path], recipe: Recipe) -> float:
    """Of the processor, for a second of audio."""
    extract(files[0], recipe)
    some = files[:: -(-len(files) // TIMED)]
    start = time.process_time()
    for file in some:
        extract(file, recipe)
    return 1000 * (time.process_time() - start) / sum(soundfile.info(file).duration for file in some)


def fold_posteriors(
    rows: Rows, fold: str, weights: dict[str, float], group_weights: str = "equal"
) -> tuple[np.ndarray, float]:
    """Posteriors of a fold from a training on the others, and the held-out log-loss of that training."""
    X, groups, shares = rows.columns(weights)
    known = rows.folds != fold
    y, sources = rows.y[known], rows.sources[known]
    config = TrainingConfig.of({"group_weights": group_weights}, RUN)
    ones = np.ones(len(y))
    preprocessing = fit_preprocessing(
        X[known], y, sources, config, sample_weights=ones, feature_groups=groups, given=shares
    ).preprocessing
    examples = Examples.of(preprocessing.apply(X[known]), y, ones, sources)
    labels = [str(i) for i in range(rows.y.max() + 1)]
    training = train_classifier(examples, labels, config, RUN)
    return training.classifier.posteriors(preprocessing.apply(X[~known])), log_loss(training.held_out, y)


def figures(P: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Accuracy, log-loss and expected calibration error of posteriors."""
    right = P.argmax(axis=1) == y
    return {
        "accuracy": float(right.mean()),
        "logloss": log_loss(P, y),
        "ece": Binning.of(P.max(axis=1), right).reliability().error,
    }


def compare(name: str, rows: Rows) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Figures of each recipe alone, of each weight, and of the choice; and what was chosen in each fold."""
    ours, network = rows.blocks
    plans = {ours: {ours: 1.0}, network: {network: 1.0}}
    plans |= {f"fused, weight {weight:g}": {ours: 1.0, network: weight} for weight in WEIGHTS}
    posteriors: dict[str, list[np.ndarray]] = {plan: [] for plan in [*plans, CHOSEN, GREEDY]}
    order, chosen = [], []
    for fold in np.unique(rows.folds):
        bench.note(f"{name}: fold {fold}")
        results = {plan: fold_posteriors(rows, fold, weights) for plan, weights in plans.items()}
        best = min(results, key=lambda plan: results[plan][1])
        chosen.append(best)
        for plan, (P, _) in results.items():
            posteriors[plan].append(P)
        posteriors[CHOSEN].append(results[best][0])
        posteriors[GREEDY].append(fold_posteriors(rows, fold, {ours: 1.0, network: 1.0}, "greedy")[0])
        order.append(np.flatnonzero(rows.folds == fold))
    y = rows.y[np.concatenate(order)]
    return {plan: figures(np.concatenate(each), y) for plan, each in posteriors.items()}, chosen


def measure(data: Path, name: str, quick: bool) -> tuple[list[dict[str, object]], list[str]]:
    """The rows of one corpus, or none where its network is not installed."""
    comparison = COMPARISONS[name]
    ours = load_recipe("environment22", MANAGER)
    try:
        network = network_recipe(comparison, ours)
    except UsageError as error:
        bench.note(f"{name}: left out: {error}")
        return [], []
    files, stated = read_rows(data, comparison, quick)
    cost = {recipe.name: milliseconds(files, recipe) for recipe in (ours, network)}
    bench.note(f"{name}: extracting {len(files)} recordings")
    rows = Rows(
        {recipe.name: features_of(files, recipe) for recipe in (ours, network)},
        {recipe.name: recipe.groups for recipe in (ours, network)},
        np.unique([row["label"] for row in stated], return_inverse=True)[1],
        np.array([row[comparison.fold_column] for row in stated]),
        np.array([row["group"] for row in stated]),
    )
    results, chosen = compare(name, rows)
    both = sum(cost.values())
    return [
        {"corpus": name, "features": plan, **values, "milliseconds": cost.get(plan, both)}
        for plan, values in results.items()
    ], chosen


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    rows, chosen = [], {}
    for name in COMPARISONS:
        measured, chosen[name] = measure(asked.data, name, asked.quick)
        rows += measured
        if measured:
            bench.note(f"{name}: chosen by fold: {', '.join(chosen[name])}")
    if not rows:
        raise SystemExit("no network is installed: pip install 'audioclass-onnx[speech]' 'audioclass-birdnet[network]'")
    heads = tuple(rows[0])
    bench.report({"rows": rows, "chosen": chosen}, [heads, *(tuple(row.values()) for row in rows)], asked.json)


if __name__ == "__main__":
    main()
