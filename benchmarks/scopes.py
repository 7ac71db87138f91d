"""A kernel and C for each node, each level or all nodes of a tree: what the choice of their scope costs and brings.

ESC-10 and esc40 (the 40 other labels of ESC-50, three of its folds) on official folds, FSDD by speaker left out;
`environment` recipe and all defaults but the scope of the selection. `shared` is one choice for all dichotomies of the
same labels, `level` one for those of a depth of the tree, `node` one for each. Seconds are of the processor, for
selection and training, the sum over folds. Differences are to `shared`, the mean over folds with its standard error.
The rule, set before the measurement: the default is the scope of the lowest log-loss of the hybrid dendrogram, the mean
over the three corpora, unless it costs more than three times as much for a gain within two standard errors.
Keys: rows (corpus, strategy, scope, accuracy, logloss, seconds, logloss_difference, standard_error,
accuracy_difference, kernels), logloss_NAME of each scope for the hybrid dendrogram: the mean over the corpora.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import bench
import numpy as np
from recipes import features_of
from strategies import Corpus, Split, splits

from audioclass.engine.runs import make_run
from audioclass.numerics import log_loss
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.train import train_classifier

RUN = make_run()
CORPORA = {"esc10": "fold", "fsdd": "group", "esc40": "fold"}
SCOPES = ("shared", "level", "node")
STRATEGIES = {  # with the scopes that differ: pairs of children have labels of their own, flat plans no levels
    "hybrid_dendrogram": SCOPES,
    "hybrid_dendrogram:form=weighted": ("shared", "level"),
    "one_vs_rest_temperature": ("shared", "node"),
}
TABLE = Path(__file__).with_name("scopes.md")
HEADS = (
    "corpus",
    "strategy",
    "scope",
    "accuracy",
    "logloss",
    "seconds",
    "logloss_difference",
    "standard_error",
    "accuracy_difference",
    "kernels",
)
DIGITS = (0, 0, 0, 3, 4, 1, 4, 4, 4, 1)


@dataclass
class Line:
    """What a strategy answered under a scope, a number for each fold."""

    accuracies: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    kernels: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, split: Split, config: TrainingConfig) -> None:
        """Train on the rows of a split and evaluate on its others."""
        examples = Examples.of(split.X, split.y, groups=split.groups)
        start = time.process_time()
        training = train_classifier(examples, split.names, config, RUN)
        self.seconds += time.process_time() - start
        P = training.classifier.posteriors(split.new)
        self.losses.append(log_loss(P, split.new_y))
        self.accuracies.append(float(np.mean(P.argmax(axis=1) == split.new_y)))
        self.sizes.append(len(split.new_y))
        self.kernels.append(len({(choice.kernel, choice.C) for choice in training.selected}))

    def row(self, corpus: str, strategy: str, scope: str, shared: "Line") -> dict:
        differences = np.subtract(self.losses, shared.losses)
        error = float(differences.std(ddof=1) / len(differences) ** 0.5) if len(differences) > 1 else float("nan")
        values = (
            corpus, strategy, scope, float(np.average(self.accuracies, weights=self.sizes)),
            float(np.average(self.losses, weights=self.sizes)), self.seconds, float(differences.mean()), error,
            float(np.mean(np.subtract(self.accuracies, shared.accuracies))), float(np.mean(self.kernels)),
        )  # fmt: skip
        return dict(zip(HEADS, values, strict=True))


def corpora(data: Path, recipe, quick: bool) -> Iterator[Corpus]:
    for name, fold_column in CORPORA.items():
        folder = data / "audio" / name
        with (folder / "segments.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))[:: 7 if quick and name == "fsdd" else 1]
        bench.note(f"{name}: {len(rows)} recordings")
        X = features_of([folder / row["file"] for row in rows], recipe)
        yield Corpus(name, X, *(np.array([row[key] for row in rows]) for key in ("label", fold_column, "group")))


def lines_of(corpus: Corpus, recipe, quick: bool) -> dict[tuple[str, str], Line]:
    """Every strategy under each of its scopes, over all folds."""
    lines: dict[tuple[str, str], Line] = {}
    for number, split in enumerate(splits(corpus, recipe, quick), start=1):
        for strategy, scopes in STRATEGIES.items():
            config = replace(TrainingConfig.of({"strategy": strategy}, RUN), recipe=None)
            for scope in scopes:
                line = lines.setdefault((strategy, scope), Line())
                line.add(split, replace(config, selection_scope=scope))
                bench.note(f"{corpus.name}, fold {number}, {strategy}, {scope}: {line.losses[-1]:.4f}")
    return lines


def shown(row: dict) -> list[str]:
    return [f"{row[k]:.{n}f}" if isinstance(row[k], float) else row[k] for k, n in zip(HEADS, DIGITS, strict=True)]


def mean_loss(rows: list[dict], scope: str) -> float:
    """Of the hybrid dendrogram, over the corpora."""
    return float(np.mean([r["logloss"] for r in rows if (r["strategy"], r["scope"]) == ("hybrid_dendrogram", scope)]))


def write_table(rows: list[dict]) -> None:
    lines = [" ".join(__doc__.split("Keys:")[0].split()), ""]
    lines += ["| " + " | ".join(HEADS) + " |", "|" + " --- |" * len(HEADS)]
    lines += ["| " + " | ".join(shown(row)) + " |" for row in rows]
    means = ", ".join(f"`{scope}` {mean_loss(rows, scope):.4f}" for scope in SCOPES)
    lines += ["", f"Means over the corpora, hybrid dendrogram: {means}."]
    TABLE.write_text("\n".join([*lines, ""]), encoding="utf-8")


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0], write=f"write the table to {TABLE.name}")
    recipe, rows = TrainingConfig.of({}, RUN).recipe, []
    for corpus in corpora(asked.data, recipe, asked.quick):
        lines = lines_of(corpus, recipe, asked.quick)
        rows += [line.row(corpus.name, *which, lines[which[0], "shared"]) for which, line in lines.items()]
        if asked.write:
            write_table(rows)
    means = {f"logloss_{scope}": mean_loss(rows, scope) for scope in SCOPES}
    bench.report({"rows": rows} | means, [HEADS, *map(shown, rows)], asked.json)


if __name__ == "__main__":
    main()
