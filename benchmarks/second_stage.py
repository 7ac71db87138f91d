"""What a link and a second stage bring, and whether a tree of groups still earns its place beside them.

ESC-10 (five official folds) and esc40, the other 40 labels of ESC-50 (its first three folds): `environment` recipe,
least-squares machines with gamma 0.6, C chosen on the training rows of each fold as in `strategies.py`. One-vs-rest and
the hybrid dendrogram have their last step tempered, or chosen among links and second stages in clean inner folds; then
all groups of the tree have a machine, and the log link is followed by a second stage of labels, or of labels and
groups, with the penalty that clean inner folds choose for each. Back-off: an answer is the label if its posterior is
at least 0.9, else the smallest group of the learnt tree that reaches it, else none; a fold has one tree for all.
`answered` is the share that has an answer, `right` how many of these hold the true label, `size` the labels in them.
Keys: rows (corpus, system, accuracy, logloss, ece, machines, answered, right, size, chosen).
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import bench
import numpy as np
from strategies import MANAGER, RUN, Split, choose_error_factor, configured, corpora, judged, splits

from audioclass.classifier.classifier import Classifier
from audioclass.classifier.step_contest import StepContest
from audioclass.extraction.recipes import load_recipe
from audioclass.plugins.manager import plugin_manager
from audioclass.strategies.last_step import StepKind
from audioclass.strategies.links import LogLink
from audioclass.training.examples import Examples
from audioclass.training.inner_folds import inner_folds
from audioclass.training.last_steps import PENALTIES
from audioclass.training.train import train_classifier
from audioclass.trees.branches import Branch

CORPORA = ("esc10", "esc40")
THRESHOLD = 0.9
LINKS = tuple(MANAGER.make("link", name) for name in MANAGER.names("link"))
CHOSEN = {"one_vs_rest": "one_vs_rest", "hybrid_dendrogram": "hybrid dendrogram"}
HEADS = ("corpus", "system", "accuracy", "logloss", "ece", "machines", "answered", "right", "size", "chosen")


@dataclass
class Line:
    """What a system answered over the folds so far."""

    posteriors: list[np.ndarray] = field(default_factory=list)
    truth: list[np.ndarray] = field(default_factory=list)
    machines: list[int] = field(default_factory=list)
    answers: list[tuple[float, float, float]] = field(default_factory=list)
    chosen: Counter = field(default_factory=Counter)

    def add(self, classifier: Classifier, split: Split, tree: Branch) -> None:
        P = classifier.posteriors(split.new)
        self.posteriors.append(P)
        self.truth.append(split.new_y)
        self.machines.append(classifier.n_machines)
        self.answers.append(backed_off(P, split.new_y, tree))
        self.chosen[str(classifier.last_step.kind)] += 1

    def row(self, corpus: str, system: str) -> dict:
        P, truth = np.concatenate(self.posteriors), np.concatenate(self.truth)
        measured = (float(np.mean(P.argmax(axis=1) == truth)), *judged(P, truth), float(np.mean(self.machines)))
        chosen = "; ".join(f"{count} × {kind}" for kind, count in self.chosen.most_common())
        answers = np.mean(self.answers, axis=0).tolist()
        return dict(zip(HEADS, (corpus, system, *measured, *answers, chosen), strict=True))


def backed_off(P: np.ndarray, truth: np.ndarray, tree: Branch) -> tuple[float, float, float]:
    """The share of rows with an answer, and of these how many hold the true label, and how many labels they have."""
    groups = sorted((node.labels for node in tree.walk() if len(node.labels) < len(tree.labels)), key=len)
    answers = []
    for posteriors, label in zip(P, P.argmax(axis=1), strict=True):
        around = (group for group in groups if label in group)
        answers.append(next((group for group in around if posteriors[list(group)].sum() >= THRESHOLD), ()))
    given = [(answer, label) for answer, label in zip(answers, truth, strict=True) if answer]
    right = np.mean([label in answer for answer, label in given]) if given else np.nan
    size = np.mean([len(answer) for answer, _ in given]) if given else np.nan
    return len(given) / len(P), float(right), float(size)


def systems(split: Split, error_factor: float) -> Iterator[tuple[str, Classifier]]:
    """Every system, trained on a split; the last two share their machines."""
    examples = Examples.of(split.X, split.y, groups=split.groups)
    for name, shown in CHOSEN.items():
        config = configured(MANAGER.make("strategy", name), error_factor)
        yield f"{shown}, tempered", train_classifier(examples, split.names, config, RUN).classifier
        config = replace(config, links=LINKS, second_stage="auto")
        yield f"{shown}, chosen", train_classifier(examples, split.names, config, RUN).classifier
    config = configured(MANAGER.make("strategy", "hybrid_dendrogram", {"merge": "none"}), error_factor)
    training = train_classifier(examples, split.names, config, RUN)
    scores = np.stack([result.held_out for result in training.trained], axis=1)
    clean = inner_folds(scores, training.trained, examples, replace(config, second_stage="clean"), RUN)
    contest = StepContest(training.classifier, clean.folds, examples.y, examples.weights)
    evidence = training.classifier.evidence(scores)
    for reads_groups in (False, True):
        kinds = [StepKind(link=LogLink(), penalty=penalty, reads_columns=reads_groups) for penalty in PENALTIES]
        step = contest.best(kinds).fit(evidence, examples.y, examples.weights)
        name = "all groups, second stage of labels" + (" and groups" if reads_groups else "")
        yield name, training.classifier.with_last_step(step)


def measure(split: Split, lines: dict[str, Line]) -> None:
    examples = Examples.of(split.X, split.y, groups=split.groups)
    made = list(systems(split, choose_error_factor(examples, split.names)))
    whole = made[-1][1]  # of which no group was merged
    tree = whole.strategy.tree_in(whole.plan)
    for name, classifier in made:
        lines.setdefault(name, Line()).add(classifier, split, tree)
        bench.note(f"  {name}: {classifier.last_step.kind}")


def shown(row: dict) -> list[str]:
    digits = {"accuracy": 3, "logloss": 4, "ece": 3, "machines": 0, "answered": 3, "right": 3, "size": 1}
    return [f"{row[key]:.{digits[key]}f}" if key in digits else row[key] for key in HEADS]


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0], parts=CORPORA)
    recipe, rows = load_recipe("environment", plugin_manager()), []
    for corpus in corpora(asked.data, recipe, asked.corpus or CORPORA, asked.quick):
        lines: dict[str, Line] = {}
        for number, split in enumerate(splits(corpus, recipe, asked.quick), start=1):
            bench.note(f"{corpus.name}, fold {number}")
            measure(split, lines)
        rows += [line.row(corpus.name, name) for name, line in lines.items()]
    bench.report({"rows": rows}, [HEADS, *map(shown, rows)], asked.json)


if __name__ == "__main__":
    main()
