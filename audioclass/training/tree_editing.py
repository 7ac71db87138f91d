"""A tree edited by hand, trained again where it was touched: machines that ask the same with the same choices stay."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audioclass.contracts import Kernel
from audioclass.errors import UsageError
from audioclass.parameters import parameter_values
from audioclass.problems import Dichotomy, Plan
from audioclass.run import Run
from audioclass.strategies.dendrogram import HybridDendrogram, tree_of
from audioclass.training.assemble import Training, assemble
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import TrainedDichotomy, train_dichotomies
from audioclass.training.examples import Examples
from audioclass.training.report import machine_report
from audioclass.training.stored_selection import Selected
from audioclass.trees.text import WrittenTree

MakeKernel = Callable[[Mapping[str, Any]], Kernel]  # from a table with a name and parameters


@dataclass(frozen=True)
class Changes:
    """The plan of an edited tree, the trained machines that serve it as they are, and the dichotomies left to train."""

    plan: Plan
    unchanged: Mapping[Dichotomy, TrainedDichotomy]
    touched: tuple[Dichotomy, ...]


def written_tree(training: Training, y: Any, group_names: Mapping[tuple[str, ...], str] | None = None) -> WrittenTree:
    """The tree of a trained hybrid dendrogram, with what was found for each machine."""
    classifier = training.classifier
    strategy = _dendrogram(classifier.strategy)
    if classifier.plan is None:
        raise UsageError(f"strategy {strategy.name!r}: the classifier has no plan")
    facts = machine_report(training, y)
    return WrittenTree.of(tree_of(classifier.plan), classifier.labels, strategy.form, facts, group_names)


def compare_trees(training: Training, edited: WrittenTree) -> Changes:
    """What an edited tree asks for, beside what was trained.

    A machine is unchanged where its sides, kernel, parameters and C are; one that the text leaves out is unchanged too.
    """
    classifier = training.classifier
    if edited.labels != classifier.labels:
        raise UsageError(f"tree: labels {', '.join(edited.labels)} must be {', '.join(classifier.labels)}")
    plan = replace(_dendrogram(classifier.strategy), form=edited.form).plan_for(edited.tree)
    trained = {result.dichotomy: result for result in training.trained}
    unchanged = {
        dichotomy: trained[dichotomy]
        for dichotomy in plan.dichotomies
        if dichotomy in trained and _is_as(trained[dichotomy], edited.machines.get(dichotomy))
    }
    return Changes(plan, unchanged, tuple(d for d in plan.dichotomies if d not in unchanged))


def retrain(
    training: Training,
    edited: WrittenTree,
    examples: Examples,
    config: TrainingConfig,
    run: Run,
    *,
    make_kernel: MakeKernel,
) -> Training:
    """The classifier of an edited tree over the same examples; only what was touched is trained.

    A touched machine has the kernel and C of the text; one that the text does not know those of the configuration.
    """
    changes = compare_trees(training, edited)
    asked = [edited.machines.get(dichotomy) for dichotomy in changes.touched]
    kernels = [make_kernel(facts["kernel"]) if facts else config.kernels[0] for facts in asked]
    Cs = [float(facts["C"]) if facts else config.C for facts in asked]
    new = train_dichotomies(changes.touched, examples, kernels, Cs, config, run, everywhere=True)
    known = {**changes.unchanged, **{result.dichotomy: result for result in new}}
    results = [known[dichotomy] for dichotomy in changes.plan.dichotomies]
    strategy = replace(_dendrogram(config.strategy), form=edited.form, merge="none")
    config = replace(config, strategy=strategy)
    return assemble(examples, edited.labels, config, changes.plan, results, _selected(results))


def _selected(results: Sequence[TrainedDichotomy]) -> list[Selected]:
    return [Selected(result.kernel, result.C) for result in results]


def _is_as(result: TrainedDichotomy, facts: Mapping[str, Any] | None) -> bool:
    if facts is None:
        return True
    kernel = {"name": result.kernel.name, **parameter_values(result.kernel)}
    return _plain(facts["kernel"]) == _plain(kernel) and float(facts["C"]) == float(result.C)


def _plain(table: Mapping[str, Any]) -> Any:
    """As a text gives it back: lists for tuples."""
    return json.loads(json.dumps(dict(table)))


def _dendrogram(strategy: Any) -> HybridDendrogram:
    if not isinstance(strategy, HybridDendrogram):
        raise UsageError(f"strategy {strategy.name!r} has no tree, only hybrid_dendrogram has one")
    return strategy
