"""What a model says of itself, known without the components that it computes with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from audioclass.classifier.model import Model
from audioclass.classifier.tree import learnt_tree
from audioclass.taxonomy import Taxonomy
from audioclass.trees.text import WrittenTree


@dataclass(frozen=True, eq=False)
class Summary:
    """Names and counts of a model; `tree` is None where its strategy has none, or is not installed."""

    name: str
    labels: tuple[str, ...]
    taxonomy: Taxonomy
    strategy: str
    n_machines: int
    n_support: int
    recipe: str
    n_features: int
    versions: tuple[float, ...]
    window: float
    window_hop: float
    transitions: np.ndarray | None
    about: Mapping[str, Any]
    tree: WrittenTree | None
    default_depth: int | None = None
    n_axes: int | None = None

    @classmethod
    def of(cls, model: Model) -> Summary:
        """Of a model that is at hand."""
        recipe, classifier = model.recipe, model.classifier
        return cls(
            model.name,
            model.labels,
            model.taxonomy,
            classifier.strategy.name,
            classifier.n_machines,
            classifier.n_support,
            recipe.name,
            recipe.n_features,
            recipe.versions,
            recipe.window,
            recipe.window_hop,
            model.transitions,
            model.about,
            learnt_tree(model),
            model.default_depth,
            None if model.preprocessing.axes is None else model.preprocessing.n_prepared,
        )

    @property
    def features_told(self) -> str:
        """How many there are and, where that is told, along how many axes they are compared."""
        along = "" if self.n_axes is None else f" along {self.n_axes} axes"
        return f"{self.n_features} features{along}"

    @property
    def depth_sentence(self) -> str:
        """At which depth of its tree results are told by default; empty where that is its labels."""
        depth, deepest = self.default_depth or self.taxonomy.depth, self.taxonomy.depth
        if depth >= deepest:
            return ""
        told = self.taxonomy.at_depth(depth).labels
        return f"tells {len(told)} labels by default ({', '.join(told)}), all {len(self.labels)} with --depth {deepest}"
