"""The small model with groups: `clicks` and `noise` are `rough`, and `tone` stands beside them."""

from dataclasses import replace

from audioclass.classifier.model import Model
from audioclass.taxonomy import Taxonomy

TREE = Taxonomy.of({"rough": ["clicks", "noise"], "tone": {}})


def with_tree(model: Model, default_depth: int | None = None) -> Model:
    """The model, told at a depth where nobody states another."""
    return replace(model, taxonomy=TREE, default_depth=default_depth)
