"""The tree that a model learnt or was given, with the machines of its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from audioclass.classifier.model import Model
from audioclass.contracts import HasTree
from audioclass.problems import Plan
from audioclass.taxonomy import Taxonomy
from audioclass.trees.text import WrittenTree


def learnt_tree(model: Model) -> WrittenTree | None:
    """What can be drawn, written and edited; None where the strategy has no tree."""
    classifier = model.classifier
    return written_tree(classifier.strategy, classifier.plan, model.labels, model.about, model.taxonomy)


def tree_text(model: Model) -> str:
    """The same as the text of a TOML file, empty where there is no tree."""
    tree = learnt_tree(model)
    return tree.to_toml() if tree else ""


def written_tree(
    strategy: Any, plan: Plan | None, labels: Sequence[str], about: Mapping[str, Any], taxonomy: Taxonomy
) -> WrittenTree | None:
    """The tree of a plan with the machines of its nodes; None where the strategy has no tree, or is not there."""
    if plan is None or not isinstance(strategy, HasTree):
        return None
    names = _group_names(labels, taxonomy)
    return WrittenTree.of(strategy.tree_in(plan), tuple(labels), strategy.form, about.get("machines", []), names)


def _group_names(labels: Sequence[str], taxonomy: Taxonomy) -> dict[tuple[str, ...], str]:
    """The names that the taxonomy has for groups, by their labels in the model's order."""
    groups = {tuple(label for label in labels if label in node.labels): node for node in taxonomy.groups}
    return {labels: node.name for labels, node in groups.items() if node.name}
