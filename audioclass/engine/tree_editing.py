"""The tree of a model and an edited one: what the edited one asks for, and which machines serve it as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audioclass.classifier.model import Model
from audioclass.classifier.tree import learnt_tree
from audioclass.contracts import DirectStrategy, Strategy
from audioclass.errors import UsageError
from audioclass.problems import Dichotomy, Plan
from audioclass.strategies.dendrogram import HybridDendrogram, tree_of
from audioclass.trees.branches import Branch
from audioclass.trees.text import Facts, WrittenTree

Sides = tuple[frozenset[str], frozenset[str]]  # of a dichotomy, by name


@dataclass(frozen=True)
class TreeChanges:
    """The plan of an edited tree over `labels`, and those of its dichotomies that must be trained.

    With `is_same` neither groups nor machines differ, and the plan is the model's own.
    """

    plan: Plan
    labels: tuple[str, ...]
    touched: tuple[Dichotomy, ...]
    is_same: bool

    def describe(self) -> str:
        """In a line: how many machines must be trained again, and which."""
        if not self.touched:
            return f"none of {len(self.plan.dichotomies)} machines must be trained again"
        sides = ["{" + ", ".join(self._smaller(dichotomy)) + "}" for dichotomy in self.touched]
        shown = ", ".join(sides[:5]) + (", …" if len(sides) > 5 else "")
        return f"{len(sides)} of {len(self.plan.dichotomies)} machines must be trained again: {shown}"

    def _smaller(self, dichotomy: Dichotomy) -> list[str]:
        return [self.labels[k] for k in min(dichotomy.positive, dichotomy.negative, key=len)]


def tree_of_model(model: Model) -> WrittenTree:
    """The tree of a model, to be shown, exported or edited."""
    tree = learnt_tree(model)
    if tree is None:
        raise UsageError(f"{model.name}: strategy {model.classifier.strategy.name!r} has no tree of machines")
    return tree


def compare_trees(model: Model, edited: WrittenTree, labels: Sequence[str] | None = None) -> TreeChanges:
    """What an edited tree asks for, beside what a model has; `labels` are the model's and those that are added to it.

    A machine is unchanged where its sides, kernel, parameters and C are; one that the text leaves out is unchanged too.
    Where a group of the model has no machine, because it would save too little, none is asked for.
    """
    labels = tuple(labels or model.labels)
    if edited.labels != labels:
        raise UsageError(f"tree: labels {', '.join(edited.labels)} must be {', '.join(labels)}")
    strategy, old = dendrogram_of(model.classifier.strategy), model.classifier.plan
    if old is None:
        raise UsageError(f"{model.name}: it has no tree")
    asked = replace(strategy, form=edited.form).plan_for(edited.tree)
    places = places_of(model)
    left_out = {sides_of(each, model.labels) for each in strategy.plan_for(tree_of(old)).dichotomies} - set(places)
    dichotomies = tuple(each for each in asked.dichotomies if sides_of(each, labels) not in left_out)
    touched = tuple(
        each
        for each in dichotomies
        if not _is_trained(places.get(sides_of(each, labels)), edited.machines.get(each), model)
    )
    is_same = (
        (labels, edited.form) == (model.labels, strategy.form)
        and not touched
        and {sides_of(each, labels) for each in dichotomies} == set(places)
        and _groups(edited.tree) == _groups(tree_of(old))
    )
    return TreeChanges(old if is_same else replace(asked, dichotomies=dichotomies), labels, touched, is_same)


def fitting_machines(model: Model, edited: WrittenTree) -> WrittenTree:
    """The tree with the machines that its plan asks for: those of groups that are gone are left out."""
    asked = set(compare_trees(model, edited).plan.dichotomies)
    return replace(edited, machines={each: facts for each, facts in edited.machines.items() if each in asked})


def as_given(strategy: Strategy | DirectStrategy, tree: WrittenTree) -> HybridDendrogram:
    """The strategy that takes a tree as it is: nothing of it is learnt or merged."""
    return replace(dendrogram_of(strategy), tree="taxonomy", below="as given", merge="none", form=tree.form)


def dendrogram_of(strategy: Strategy | DirectStrategy) -> HybridDendrogram:
    """The strategy, if it has a tree that can be given."""
    if not isinstance(strategy, HybridDendrogram):
        raise UsageError(f"strategy {strategy.name!r} has no tree, only hybrid_dendrogram has one")
    return strategy


def places_of(model: Model) -> dict[Sides, int]:
    """Where each dichotomy of a model stands in its plan, by the names of its sides."""
    plan = model.classifier.plan
    return {
        sides_of(each, model.classifier.classes): place for place, each in enumerate(plan.dichotomies if plan else ())
    }


def sides_of(dichotomy: Dichotomy, labels: Sequence[str]) -> Sides:
    """The sides of a dichotomy by name."""
    positive, negative = (frozenset(labels[k] for k in side) for side in (dichotomy.positive, dichotomy.negative))
    return positive, negative


def _is_trained(place: int | None, facts: Facts | None, model: Model) -> bool:
    """Whether the model has a machine with these choices."""
    if place is None or facts is None:
        return place is not None
    machine = model.about["machines"][place]
    return _stated(facts["kernel"]) == _stated(machine["kernel"]) and float(facts["C"]) == float(machine["C"])


def _stated(kernel: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a kernel that a text can state: no text says None, and lists stand for tuples."""
    listed = {key: list(value) if isinstance(value, tuple) else value for key, value in kernel.items()}
    return {key: value for key, value in listed.items() if value is not None}


def _groups(tree: Branch) -> set[tuple[int, ...]]:
    return {node.labels for node in tree.walk() if node.children}
