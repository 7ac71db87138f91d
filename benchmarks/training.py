"""A labelled corpus to calibrated posteriors with all defaults: ESC-10 on its official folds, FSDD by speaker.

Keys `esc10` and `fsdd`, objects with accuracy, logloss, ece (per recording), train_seconds (over all folds) and
predict_over_floor: posteriors of prepared-to-be features over one product of the same size and its exponential.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import tempfile
from dataclasses import replace
from pathlib import Path

import bench
import numpy as np

from audioclass.engine.corpus_folds import folds_of
from audioclass.engine.corpus_reading import read_corpus_at, tree_for
from audioclass.engine.folded_corpus import FoldedCorpus
from audioclass.engine.gathering import gather
from audioclass.engine.runs import make_run
from audioclass.engine.training import train_on
from audioclass.run import executor_for
from audioclass.training.config import TrainingConfig

FOLDS = {"esc10": "auto", "fsdd": "groups"}
ROWS = 1024  # of a prediction that is timed
QUICK = 5  # every so many recordings


def evaluate(data: Path, name: str, quick: bool) -> dict[str, float]:
    """Train on all folds but one and evaluate that one, for each; then time a model of all folds but one."""
    run = make_run(executor=executor_for(2), progress=say(name))
    config = TrainingConfig.of({}, run)
    read = read_corpus_at(data / "audio" / name, run)
    read = replace(read, clips=read.clips[::QUICK]) if quick else read
    dataset = gather(read, config.recipe.fixed, run)
    folds, tree = folds_of(dataset, FOLDS[name]), tree_for(read, dataset.labels)
    with tempfile.TemporaryDirectory() as cache:
        run = make_run(cache=Path(cache), progress=say(name))
        folded = FoldedCorpus(dataset, folds, tree, corpus=read)
        evaluated = folded.evaluate(config, run, None)
        recipe, dataset = folded.fitted(config.recipe, folds == folds[0], run)
        config = replace(config, recipe=recipe)
        known = dataset.take(np.flatnonzero(folds != folds[0]))
        model = train_on(known, config.guided_by(tree, run), run, taxonomy=tree, compares_splits=False).model
    value = evaluated.evaluation(n_resamples=20).main.value
    return {
        "accuracy": value("accuracy"),
        "logloss": value("log_loss"),
        "ece": value("calibration_error"),
        "train_seconds": evaluated.train_seconds,
        "predict_over_floor": predict_over_floor(model, dataset.X),
    }


def predict_over_floor(model, X: np.ndarray) -> float:
    """Features to posteriors, normalisation included, over the one product that no kernel machine can do without."""
    X = np.resize(X, (ROWS, X.shape[1])).astype(np.float32)
    rows = model.classifier.machines.X
    scaled = X / np.linalg.norm(X, axis=1, keepdims=True)
    taken = bench.interleaved(5, ours=lambda: model.posteriors_of(X), floor=lambda: np.exp(-(scaled @ rows.T)))
    return bench.median_ratio(taken["ours"], taken["floor"])


def say(name: str):
    """Progress a stage at a time."""

    def progress(stage: str, done: int, total: int) -> None:
        if done == total:
            bench.note(f"{name}: {stage}")

    return progress


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    results = {name: evaluate(asked.data, name, asked.quick) for name in FOLDS}
    heads = ("corpus", *results["esc10"])
    bench.report(results, [heads, *((name, *values.values()) for name, values in results.items())], asked.json)


if __name__ == "__main__":
    main()
