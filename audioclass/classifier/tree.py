"""The tree that a model learnt or was given, with the machines of its nodes."""

from __future__ import annotations

from audioclass.classifier.model import Model
from audioclass.contracts import HasTree
from audioclass.trees.text import WrittenTree


def learnt_tree(model: Model) -> WrittenTree | None:
    """What can be drawn, written and edited; None where the strategy has no tree."""
    classifier = model.classifier
    if classifier.plan is None or not isinstance(classifier.strategy, HasTree):
        return None
    tree, form = classifier.strategy.tree_in(classifier.plan), classifier.strategy.form
    return WrittenTree.of(tree, model.labels, form, model.about.get("machines", []), _group_names(model))


def _group_names(model: Model) -> dict[tuple[str, ...], str]:
    """The names that the taxonomy has for groups, by their labels in the model's order."""
    groups = {tuple(label for label in model.labels if label in node.labels): node for node in model.taxonomy.groups}
    return {labels: node.name for labels, node in groups.items() if node.name}
