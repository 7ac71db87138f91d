"""The model on packages that it was never trained on: `python corpora/broadcast/unseen.py WORKDIR [--model FILE]`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from clips import write_clips
from materials import from_package
from packages import read_packages
from plan import Material, plain_plan
from training import recall_table, recalls

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Plain clips of every package, their recalls, and what they were taken for."""
    options = parse(sys.argv[1:])
    options.work.mkdir(parents=True, exist_ok=True)
    debs = options.mirror or options.work / "debs"
    packages = read_packages(HERE / "unseen.toml")
    materials = [one for package in packages for one in from_package(package, options.work, debs)]
    judge(materials, options.work, options.model)


def judge(materials: Sequence[Material], work: Path, model_file: str) -> None:
    """Print recalls by label and by source."""
    from audioclass.engine.evaluating import evaluate_model
    from audioclass.engine.models import load_model
    from audioclass.engine.runs import make_run

    corpus = work / "corpus"
    write_clips(plain_plan(materials), work, corpus)
    judged = evaluate_model(load_model(model_file), corpus, run=make_run(cache=work / "cache"))
    labelled, labels = judged.dataset, judged.labels
    y = labelled.y_among(labels)
    print(recall_table(recalls(labels, y, judged.P, labelled.clip_names)))
    estimated = judged.P.argmax(axis=1)
    for group in np.unique(labelled.groups):
        for i, label in enumerate(labels):
            rows = (labelled.groups == group) & (y == i)
            if rows.any():
                taken = Counter(labels[k] for k in estimated[rows])
                shares = ", ".join(f"{name} {count / rows.sum():.2f}" for name, count in taken.most_common())
                print(f"{group}, {label}: {rows.sum()} windows: {shares}")


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="folder for packages, clips and features (about 3 GB)")
    parser.add_argument("--mirror", type=Path, help="folder that holds the package files already")
    parser.add_argument("--model", default="broadcast", help="a model file or the name of a shipped one")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
