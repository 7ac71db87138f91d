"""How right the defaults are on labelled sounds and words, each recording judged by a model of other sources.

esc40 has 40 labels in three folds, ESC-10 ten in five, esc50 both as 50 labels in folds 1 to 3; FSDD has ten words,
each speaker left out in turn. Everything is chosen again on the training folds: recipe, versions, weights of groups,
kernel, link, penalty, dictionaries. Measures are per clip. `chance_ece` is the ECE that exact posteriors of this
sureness would have on as many clips, the mean over draws of labels: no figure can be expected below it. Seconds are of
training and prediction over all folds, without extraction.
"""

import csv
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bench
import numpy as np

from audioclass.engine.evaluated import Evaluated
from audioclass.engine.evaluating import cross_validate
from audioclass.engine.runs import make_run
from audioclass.evaluation.calibration import Binning
from audioclass.run import executor_for
from audioclass.training.config import TrainingConfig
from audioclass.training.shipped import shipped_configs

CORPORA = ("esc10", "esc40", "esc50", "fsdd")
HEADS = ("corpus", "clips", "accuracy", "log-loss", "ECE", "chance ECE", "train s", "predict s")
N_DRAWS = 200


@contextmanager
def corpus_at(data: Path, name: str) -> Iterator[Path]:
    """The folder of a corpus; that of esc50 is put together of the folds that its two halves share."""
    if name != "esc50":
        yield data / "audio" / name
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for half in ("esc10", "esc40"):
            source = (data / "audio" / half).resolve()
            (Path(folder) / half).symlink_to(source / "audio")
            with (source / "segments.csv").open(newline="") as table:
                shared = [row for row in csv.DictReader(table) if row["fold"] in {"1", "2", "3"}]
            rows += [row | {"file": row["file"].replace("audio/", f"{half}/")} for row in shared]
        with (Path(folder) / "segments.csv").open("w", newline="") as table:
            writer = csv.DictWriter(table, ["file", "label", "fold", "group"])
            writer.writeheader()
            writer.writerows(rows)
        yield Path(folder)


def judged(evaluated: Evaluated) -> dict[str, float]:
    """The measures of the clips."""
    names = np.array(evaluated.dataset.clip_names)
    y = evaluated.dataset.y_among(evaluated.labels)
    clips, first = np.unique(names, return_index=True)
    P = np.stack([evaluated.pool(evaluated.P[names == clip], np.ones((names == clip).sum())) for clip in clips])
    truth = y[first]
    return {
        "clips": len(clips),
        "accuracy": float((P.argmax(axis=1) == truth).mean()),
        "logloss": float(-np.log(np.maximum(P[np.arange(len(truth)), truth], 1e-12)).mean()),
        "ece": ece(P, P.argmax(axis=1) == truth),
        "chance_ece": chance_ece(P),
        "train_seconds": evaluated.train_seconds,
        "predict_seconds": evaluated.predict_seconds,
    }


def ece(P: np.ndarray, came_true: np.ndarray) -> float:
    """The expected calibration error of the largest posteriors."""
    return Binning.of(P.max(axis=1), came_true).reliability().error


def chance_ece(P: np.ndarray) -> float:
    """The mean ECE of posteriors that are exactly right, from outcomes drawn from them."""
    rng, largest = np.random.default_rng(0), P.max(axis=1)
    return float(np.mean([ece(P, rng.random(len(P)) < largest) for _ in range(N_DRAWS)]))


def main() -> None:
    """Each corpus by itself."""
    asked = bench.options(__doc__, parts=CORPORA, configs=tuple(shipped_configs()))
    run = make_run(executor=executor_for(2))
    results: dict[str, object] = {}
    rows: list[tuple] = [HEADS]
    for name in asked.corpus or CORPORA:
        bench.note(name)
        stated = shipped_configs()[asked.config] if asked.config else {}
        with corpus_at(asked.data, name) as folder:
            config = TrainingConfig.of(stated, run)
            evaluated = cross_validate(folder, config=config, folds="groups" if name == "fsdd" else "auto", run=run)
        measures = judged(evaluated)
        rows.append((name, *measures.values()))
        bench.note("  ".join(map(str, rows[-1])))
        results |= {f"{name}_{key}": value for key, value in measures.items()}
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
