"""How well the `environment` recipe tells sounds apart: a plain one-vs-rest machine on ESC-10 and on FSDD.

Rank normalisation and grouped distances are fitted on the training folds; C and gamma are the same for both sets and
chosen on neither. Folds: the five official ones of ESC-10; one speaker left out at a time for FSDD.
Keys: esc10_accuracy, fsdd_accuracy.
"""

import csv
from pathlib import Path

import bench
import numpy as np
from sklearn.svm import SVC

from audioclass.classifier.grouped_distance import GroupedDistance
from audioclass.classifier.normalisation import RankNormalisation
from audioclass.extraction.recipes import load_recipe
from audioclass.plugins.manager import plugin_manager

GAMMA, C = 0.5, 10.0
CORPORA = {"esc10": "fold", "fsdd": "group"}


def read_corpus(folder: Path, fold_column: str, quick: bool) -> tuple[list[Path], np.ndarray, np.ndarray]:
    """Files, labels and folds of a `segments.csv`."""
    with (folder / "segments.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:: 5 if quick else 1]
    files = [folder / row["file"] for row in rows]
    return files, np.array([row["label"] for row in rows]), np.array([row[fold_column] for row in rows])


def features_of(files: list[Path], recipe) -> np.ndarray:
    """One row for each recording: all are shorter than a window."""
    return np.concatenate([X[:1] for X in bench.feature_tables(files, recipe)])


def fold_accuracy(X, y, groups, test: np.ndarray) -> float:
    """Accuracy on the test rows of machines trained on the others."""
    normalisation = RankNormalisation.fit(X[~test])
    known, new = normalisation.apply(X[~test]), normalisation.apply(X[test])
    distance = GroupedDistance.fit(known, groups)
    K, K_new = (np.exp(-GAMMA * D) for D in (distance.between(known), distance.between(new, known)))
    labels = np.unique(y)
    scores = [SVC(kernel="precomputed", C=C).fit(K, y[~test] == label).decision_function(K_new) for label in labels]
    return float(np.mean(labels[np.argmax(scores, axis=0)] == y[test]))


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    recipe = load_recipe("environment22", plugin_manager())
    results, rows = {}, [("corpus", "accuracy", "worst fold", "recordings", "features")]
    for name, fold_column in CORPORA.items():
        files, y, folds = read_corpus(asked.data / "audio" / name, fold_column, asked.quick)
        bench.note(f"{name}: extracting {len(files)} recordings")
        X = features_of(files, recipe)
        bench.note(f"{name}: {len(np.unique(folds))} folds")
        accuracies = [fold_accuracy(X, y, recipe.groups, folds == fold) for fold in np.unique(folds)]
        results[f"{name}_accuracy"] = float(np.mean(accuracies))
        rows.append((name, float(np.mean(accuracies)), min(accuracies), len(files), X.shape[1]))
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
