"""Models to files: a manifest of plain values beside named arrays.

When `SCHEMA` is raised:

- A key of the manifest, or a member under a first name of its own (`notes/times.npy`), that older readers can do
  without does not raise it: they ignore it, and this reader does without it where an older file has none.
- Whatever older readers would misread raises it by one: a key or member that means something else than before, one
  that is gone, or one more member of `preparation/`, `bank/N/` or `memory/`, which are read as a whole.
- One more member of these that only some models have does not raise it: readers that do not know it refuse those
  models, and say that a later audioclass reads them. `bank/N/slopes` and `offsets`, of machines that vote, are such,
  `bank/lowest` and `step`, of rows that are codes of levels, and `memory/windows`, of windows in several versions.
- `label_sets`, of models that tell labels independently, does not raise it either: readers that do not know it do not
  have a strategy that does, and refuse those models by its name.
- A reader refuses a schema above its own. Every schema that was ever shipped stays readable: `tests/golden` keeps a
  file of each, and nothing but a new schema adds one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.classifier.archive import write_archive
from audioclass.classifier.bank import Bank, KernelPart
from audioclass.classifier.classifier import Classifier, StatedComponent
from audioclass.classifier.model import Model
from audioclass.contracts import Named
from audioclass.errors import ModelError, UsageError
from audioclass.extraction.recipe import Recipe
from audioclass.label_views import LabelView
from audioclass.parameters import parameter_values
from audioclass.problems import FeatureMachine, Plan
from audioclass.taxonomy import Taxonomy

SCHEMA = 2  # raised by the rule above, with a file of the new schema in tests/golden
FIRST_WITH_DIGESTS = 2  # the schema from which on a file without digests is no whole one
FORMAT = "audioclass model"
SUFFIX = ".audioclass"
MOST_LABELS = 4096
MOST_DICHOTOMIES = 2**15
RECORDINGS_MEMBERS = ("digests", "groups", "rows", "times")
PART_MEMBERS = ("rows", "coefficients", "intercepts", "machines")
LEVEL_MEMBERS = ("lowest", "step")  # where the rows are codes of levels
LINK_MEMBERS = ("slopes", "offsets")  # where its columns are members of machines


def save_model(model: Model, path: Path) -> None:
    """Write a model whole or not at all; one that could not be read again is refused."""
    if model.view is not None:
        raise ModelError(f"{path}: a view of a model cannot be saved, the model itself can")
    check_size(len(model.labels), 0 if model.classifier.plan is None else len(model.classifier.plan.dichotomies))
    check_default_depth(model.default_depth, model.labels, model.taxonomy, independent=model.is_multi_label)
    write_archive(path, manifest_of(model), arrays_of(model))


def check_size(n_labels: int, n_dichotomies: int) -> None:
    """Refuse more than can be combined in bounded memory: 256 labels have so many pairs."""
    if n_labels > MOST_LABELS or n_dichotomies > MOST_DICHOTOMIES:
        raise ModelError(
            f"{n_labels} labels and {n_dichotomies} dichotomies, at most {MOST_LABELS} and {MOST_DICHOTOMIES} are read"
        )


def check_default_depth(depth: Any, labels: Sequence[str], taxonomy: Taxonomy, *, independent: bool) -> int | None:
    """A depth that the labels can be told at, or nothing."""
    if depth is None:
        return None
    if type(depth) is not int or depth < 1:
        raise ModelError(f"default depth {str(depth)[:40]!r} must be a whole number of at least 1")
    try:
        LabelView.at_depth(labels, taxonomy, depth, independent=independent)
    except UsageError as error:
        raise ModelError(f"its default {error}") from error
    return depth


def manifest_of(model: Model) -> dict[str, Any]:
    """Everything but the arrays."""
    classifier = model.classifier
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "name": model.name,
        "recipe": {"name": model.recipe.name, **model.recipe.plain()},
        "normalisation": model.preprocessing.normalisation,
        "labels": list(classifier.labels),
        "paths": [list(path) for path in _first_paths(model)],
        "counts": [int(count) for count in classifier.counts],
        "strategy": plain_component(classifier.strategy),
        "trainer": plain_component(classifier.trainer),
        "calibrator": plain_component(classifier.calibrator),
        "plan": _plain_plan(classifier.plan),
        "calibrations": [plain(fitted) for fitted in classifier.calibrations],
        "fitted": plain(classifier.fitted),
        "sharpness": float(model.inverse_temperature),
        "kernels": [plain_component(part.kernel) for part in _parts(classifier)],
        "about": plain(model.about),
        **_optional(model),
    }


def _first_paths(model: Model) -> list[tuple[str, ...]]:
    """One path to each label, its first, as every reader knows it."""
    first = {path[-1]: path for path in reversed(model.taxonomy.leaf_paths)}
    return [first[label] for label in model.labels]


def _optional(model: Model) -> dict[str, Any]:
    """What only some models have, and readers that do not know it can do without; they refuse members that it names."""
    optional: dict[str, Any] = {}
    if model.taxonomy.repeated:
        optional["taxonomy"] = [list(path) for path in model.taxonomy.leaf_paths]
    if model.default_depth is not None:
        optional["default_depth"] = model.default_depth
    if model.short_power is not None:
        optional["short_power"] = float(model.short_power)
    if model.transitions is not None:
        optional["transitions"] = plain(model.transitions)
    if model.recordings is not None:
        optional["groups"] = list(model.recordings.names)
        optional["group_aliases"] = dict(model.recordings.aliases)
    if model.classifier.posterior_calibration is not None:
        optional["posterior_calibration"] = model.classifier.posterior_calibration.to_plain()
    if model.classifier.link is not None:
        link, fitted = model.classifier.link.link, model.classifier.link.fitted
        optional["label_link"] = {**(plain_component(link) or {}), "fitted": plain(fitted)}
    if model.classifier.label_sets is not None:
        optional["label_sets"] = [list(one) for one in model.classifier.label_sets.sets]
    links = [part.members and part.members.link for part in _parts(model.classifier)]
    if any(links):
        optional["links"] = links
    return optional


def arrays_of(model: Model) -> dict[str, np.ndarray]:
    """Every array under its name."""
    arrays = {f"preparation/{name}": array for name, array in model.preprocessing.arrays().items()}
    arrays |= {"golden/features": model.golden.X, "golden/posteriors": model.golden.P}
    if model.classifier.second_stage is not None:
        arrays |= {f"second_stage/{name}": array for name, array in model.classifier.second_stage.arrays().items()}
    arrays |= {f"recipe/{name}": array for name, array in _learnt_arrays(model.recipe).items()}
    if model.recordings is not None:
        arrays |= {f"recordings/{name}": getattr(model.recordings, name) for name in RECORDINGS_MEMBERS}
    for group, known in (("novelty", model.novelty), ("risk", model.risk), ("risk_nodes", model.node_risk)):
        arrays |= {f"{group}/{name}": array for name, array in (known.arrays() if known else {}).items()}
    if model.memory is not None:
        arrays |= {f"memory/{name}": array for name, array in vars(model.memory).items() if array is not None}
    machines = model.classifier.machines
    return arrays | (_bank_arrays(machines) if isinstance(machines, Bank) else _machine_arrays(machines))


def _machine_arrays(machines: tuple[FeatureMachine, ...]) -> dict[str, np.ndarray]:
    parts = (
        {f"machines/{number}/{name}": array for name, array in machine.arrays.items()}
        for number, machine in enumerate(machines)
    )
    return {name: array for part in parts for name, array in part.items()}


def _bank_arrays(machines: Bank) -> dict[str, np.ndarray]:
    levels = machines.levels
    arrays = {"bank/rows": machines.X if levels is None else levels.codes}
    if levels is not None:
        arrays |= {f"bank/{name}": getattr(levels, name) for name in LEVEL_MEMBERS}
    for number, part in enumerate(machines.parts):
        arrays |= {f"bank/{number}/{name}": getattr(part, name) for name in PART_MEMBERS}
        if part.members is not None:
            arrays |= {f"bank/{number}/{name}": getattr(part.members, name) for name in LINK_MEMBERS}
    return arrays


def _learnt_arrays(recipe: Recipe) -> dict[str, np.ndarray]:
    """What poolings of the recipe have learnt, under the numbers of part and pooling."""
    return {
        f"{number}/{place}/{name}": array
        for number, part in enumerate(recipe.parts)
        for place, learnt in enumerate(part.fitted)
        for name, array in learnt.arrays.items()
    }


def plain_component(component: Named | StatedComponent | None) -> Mapping[str, Any] | None:
    """A component as its name and parameters."""
    if component is None or isinstance(component, StatedComponent):
        return None if component is None else component.table
    return {"name": component.name, "parameters": plain(parameter_values(component))}


def _parts(classifier: Classifier) -> tuple[KernelPart, ...]:
    return classifier.machines.parts if isinstance(classifier.machines, Bank) else ()


def _plain_plan(plan: Plan | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    sides = [[list(dichotomy.positive), list(dichotomy.negative)] for dichotomy in plan.dichotomies]
    return {"dichotomies": sides, "structure": plain(plan.structure)}


def plain(value: Any) -> Any:
    """Tuples and numpy's numbers as JSON gives them back."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value
