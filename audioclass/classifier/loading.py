"""Models from files: components made by name, members checked against one another, golden vectors recomputed.

Keys and members of first names that are not known are ignored, those of groups that are read as a whole are refused:
see `saving` for when the schema is raised. What is stated is checked before it is read, and before it is computed with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from audioclass.classifier.about import check_about
from audioclass.classifier.archive import DIGESTS, ModelArchive, open_model_archive
from audioclass.classifier.bank import Bank
from audioclass.classifier.blame import culprit, remedy
from audioclass.classifier.classifier import Classifier, StatedComponent
from audioclass.classifier.golden import Drift, Golden
from audioclass.classifier.last_steps import STAGE, read_last_step
from audioclass.classifier.model import Memory, Model
from audioclass.classifier.novelty import CALIBRATION_MEMBERS, VIEWS_MEMBERS, Novelty
from audioclass.classifier.preprocessing import STATES, Preprocessing
from audioclass.classifier.risk import RISK_MEMBERS, Risk
from audioclass.classifier.risk_nodes import NODES_MEMBERS, NodeRisk
from audioclass.classifier.saving import (
    FIRST_WITH_DIGESTS,
    FORMAT,
    LEVEL_MEMBERS,
    LINK_MEMBERS,
    PART_MEMBERS,
    RECORDINGS_MEMBERS,
    SCHEMA,
    check_default_depth,
)
from audioclass.classifier.stored_bank import links_of, machines_of
from audioclass.classifier.stored_memory import memory_of, recordings_of
from audioclass.classifier.stored_values import (
    checked_count,
    checked_text,
    component_of,
    inverse_temperature_of,
    label_sets_of,
    labels_and_taxonomy,
    members_under,
    plan_of,
    short_power_of,
    transitions_of,
)
from audioclass.classifier.summary import Summary
from audioclass.classifier.tree import written_tree
from audioclass.contracts import TellsLabelsIndependently
from audioclass.errors import AudioclassError, ModelError
from audioclass.extraction.recipe import Recipe
from audioclass.extraction.recipe_limits import stated_versions
from audioclass.extraction.recipe_tables import recipe_of_table
from audioclass.run import Registry
from audioclass.strategies.last_step import LastStep
from audioclass.strategies.second_stage import SecondStage

Known = TypeVar("Known")
# First names of the members that are read.
KNOWLEDGE = {
    "novelty": VIEWS_MEMBERS + CALIBRATION_MEMBERS,
    "risk": RISK_MEMBERS,
    "risk_nodes": NODES_MEMBERS,
}  # what models that know what they do not know have besides
GROUPS = ("preparation", "golden", "memory", "recordings", "bank", "machines", STAGE, "recipe", *KNOWLEDGE)


def load_model(path: Path, registry: Registry, *, verify: bool = True) -> Model:
    """Read a model; its golden vectors are recomputed unless told not to, and drift beyond rounding is refused."""
    with open_model_archive(path) as archive:
        check_format(archive)
        _check_components(archive, registry)
        model = _model(archive.manifest, _arrays(archive), registry)
        if verify:
            check_drift(model, registry)
    return model


def check_drift(model: Model, registry: Registry) -> Drift:
    """How far the golden vectors are from what this machine computes; beyond rounding, who computes otherwise."""
    with np.errstate(over="ignore", invalid="ignore"):  # values of a foreign file may be of any size
        drift = model.drift()
    if not drift.is_rounding:
        raise ModelError(f"{drift}: {culprit(model.about, drift, registry)}")
    return drift


def read_summary(path: Path, registry: Registry) -> tuple[Summary, Mapping[str, Any]]:
    """What a model file says of itself, with its manifest; components that are not installed are not missed."""
    with open_model_archive(path) as archive:
        check_format(archive)
        manifest = archive.manifest
        archive.check_others(archive.names)
        labels, taxonomy = labels_and_taxonomy(manifest)
        sets, about = label_sets_of(manifest, labels), manifest["about"]
        classes = labels if sets is None else sets.names
        plan = plan_of(manifest["plan"], len(classes))
        check_about(about, classes, plan)
        strategy, recipe = checked_text(manifest["strategy"]["name"]), manifest["recipe"]
        try:
            component = component_of(registry, "strategy", manifest["strategy"])
        except AudioclassError:
            component = None
        summary = Summary(
            checked_text(manifest["name"]),
            labels,
            taxonomy,
            strategy,
            1 if plan is None else len(plan.dichotomies),
            archive.shape("bank/rows")[0] if "bank/rows" in archive.names else 0,
            checked_text(recipe["name"]),
            archive.shape("preparation/factors")[0],
            stated_versions(checked_text(recipe["name"]), recipe),
            float(recipe["window"]),
            float(recipe["window_hop"]),
            transitions_of(manifest.get("transitions"), len(labels)),
            about,
            written_tree(component, plan, labels, about, taxonomy),
            check_default_depth(manifest.get("default_depth"), labels, taxonomy, independent=sets is not None),
            archive.shape("preparation/axes")[1] if "preparation/axes" in archive.names else None,
        )
    return summary, manifest


def check_format(archive: ModelArchive) -> None:
    """Refuse what is no model, is of a later version, or has lost the digests that its schema has."""
    manifest = archive.manifest
    if manifest.get("format") != FORMAT:
        raise ModelError(f"format {str(manifest.get('format'))[:40]!r}, must be {FORMAT!r}")
    schema = manifest.get("schema")
    if type(schema) is not int or schema < 1:
        raise ModelError(f"schema {schema!r} must be a whole number from 1 on")
    if schema > SCHEMA:
        raise ModelError(f"schema {str(schema)[:9]} is newer than {SCHEMA}, the latest read; pip install -U audioclass")
    if schema >= FIRST_WITH_DIGESTS and not archive.has_digests:
        raise ModelError(f"member {DIGESTS!r} is missing: nothing tells whether the model is what was saved")


def _arrays(archive: ModelArchive) -> dict[str, np.ndarray]:
    """The members of the groups that we know, all of them expected by the manifest; the others are only compared."""
    manifest, names = archive.manifest, archive.names
    normalisation = checked_text(manifest["normalisation"])
    if normalisation in STATES:  # otherwise who makes it says what is known
        axes = {"axes"} & {name.removeprefix("preparation/") for name in names}
        _check_members("preparation", names, {"factors", *axes, *_names(STATES[normalisation])})
    if any(name.startswith("memory/") for name in names):
        _check_members("memory", names, _names(Memory) - ({"windows"} - {name[7:] for name in names}))
    if any(name.startswith("recordings/") for name in names):
        _check_members("recordings", names, set(RECORDINGS_MEMBERS))
    if any(name.startswith(f"{STAGE}/") for name in names):
        _check_members(STAGE, names, _names(SecondStage))
    for group, members in KNOWLEDGE.items():
        if any(name.startswith(f"{group}/") for name in names):
            _check_members(group, names, set(members))
    _check_members("golden", names, {"features", "posteriors"})
    if "bank/rows" in names:
        expected = {"rows", *(LEVEL_MEMBERS if "bank/lowest" in names else ())}
        for number, link in enumerate(links_of(manifest)):
            expected |= {f"{number}/{name}" for name in PART_MEMBERS + (() if link is None else LINK_MEMBERS)}
        _check_members("bank", names, expected)
    known = [name for name in names if name.split("/")[0] in GROUPS]
    arrays = archive.arrays(known)
    if archive.has_digests:
        archive.check_others(set(names) - set(known))
    return arrays


def _check_components(archive: ModelArchive, registry: Registry) -> None:
    """Name what is missing together with the distribution that brings it.

    Kernel machines are evaluated without the trainer that made them.
    """
    needed = [one for one in archive.manifest["about"].get("pieces", []) if one["kind"] != "trainer"]
    if "bank/rows" not in archive.names:
        needed = archive.manifest["about"].get("pieces", [])
    for component in needed:
        kind, name = str(component["kind"]), str(component["name"])
        try:
            registry.origin(kind, name)
        except AudioclassError as error:
            origin = component["distribution"]
            raise ModelError(f"needs the {kind} {name!r} of {origin}; {remedy(component)}") from error


def _model(manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray], registry: Registry) -> Model:
    labels, taxonomy = labels_and_taxonomy(manifest)
    table = dict(manifest["recipe"])
    recipe = _fitted(recipe_of_table(checked_text(table.pop("name")), table, registry.make, registry.origin), arrays)
    preprocessing = Preprocessing.of_arrays(
        checked_text(manifest["normalisation"]), members_under(arrays, "preparation/")
    )
    golden = Golden(arrays["golden/features"], arrays["golden/posteriors"])
    classifier = _classifier(manifest, arrays, registry, labels)
    memory = memory_of(members_under(arrays, "memory/"), classifier)
    name, about = checked_text(manifest["name"]), manifest["about"]
    transitions = transitions_of(manifest.get("transitions"), len(labels))
    model = Model(
        name,
        recipe,
        preprocessing,
        classifier,
        taxonomy,
        golden,
        about,
        memory,
        inverse_temperature_of(manifest["sharpness"]),
        transitions,
        recordings_of(manifest, members_under(arrays, "recordings/"), memory),
    )
    _check_shapes(model)
    check_about(about, classifier.classes, classifier.plan)
    n_prepared, n_labels = preprocessing.n_prepared, len(labels)
    depth = manifest.get("default_depth")
    return replace(
        model,
        default_depth=check_default_depth(depth, labels, taxonomy, independent=model.is_multi_label),
        short_power=short_power_of(manifest.get("short_power")),
        novelty=_learnt("novelty", arrays, lambda members: Novelty.of_arrays(members, n_prepared, n_labels)),
        risk=_learnt("risk", arrays, Risk.of_arrays),
        node_risk=_learnt("risk_nodes", arrays, lambda members: NodeRisk.of_arrays(members, n_labels)),
    )


def _learnt(
    group: str, arrays: Mapping[str, np.ndarray], read: Callable[[dict[str, np.ndarray]], Known]
) -> Known | None:
    """What a model knows of what it does not know; None where too little was held out, or the model is older."""
    members = members_under(arrays, f"{group}/")
    try:
        return read(members) if members else None
    except ValueError as error:
        raise ModelError(f"{group}: {error}") from error


def _fitted(recipe: Recipe, arrays: Mapping[str, np.ndarray]) -> Recipe:
    """The recipe with what its poolings learnt: members `recipe/PART/POOLING/NAME`, both counted from 0."""
    members = members_under(arrays, "recipe/")
    learnt = [
        [members_under(members, f"{number}/{place}/") for place in range(len(part.learners))]
        for number, part in enumerate(recipe.parts)
    ]
    n_known = sum(len(of_pooling) for of_part in learnt for of_pooling in of_part)
    if n_known < len(members):
        raise ModelError(f"{len(members) - n_known} members of 'recipe/' are of no pooling that learns")
    try:
        return recipe.with_learnt(learnt)
    except ValueError as error:
        raise ModelError(f"what its recipe has learnt cannot be used: {error}") from error


def _classifier(
    manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray], registry: Registry, labels: tuple[str, ...]
) -> Classifier:
    counts = np.array([checked_count(count) for count in manifest["counts"]])
    machines = machines_of(manifest, arrays, registry)
    sets = label_sets_of(manifest, labels)
    plan = plan_of(manifest["plan"], len(labels) if sets is None else len(sets.sets))
    evaluates_itself, trainer = plan is not None and not isinstance(machines, Bank), manifest["trainer"]
    classifier = Classifier(
        labels,
        component_of(registry, "strategy", manifest["strategy"]),
        machines,
        counts,
        plan,
        component_of(registry, "trainer", trainer) if evaluates_itself else StatedComponent(trainer),
        component_of(registry, "calibrator", manifest["calibrator"]),
        tuple(manifest["calibrations"]),
        manifest["fitted"],
        label_sets=sets,
    )
    step = read_last_step(manifest, members_under(arrays, f"{STAGE}/"), registry, len(labels))
    _check_independence(classifier, step)
    return classifier.with_last_step(step)


def _check_independence(classifier: Classifier, step: LastStep) -> None:
    """A strategy that tells labels independently has sets of them and a threshold for each; no other strategy has."""
    tells = isinstance(classifier.strategy, TellsLabelsIndependently)
    if tells != classifier.is_multi_label:
        raise ModelError(f"strategy {classifier.strategy.name!r} {'needs' if tells else 'has no use for'} label sets")
    if not tells:
        return
    if (step.tempering, step.link, step.stage) != (None, None, None):
        raise ModelError("no last step can come after labels that are independent")
    try:
        thresholds = classifier.thresholds
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError("its thresholds must be a number for each label") from error
    if thresholds.shape != (len(classifier.labels),) or not ((thresholds >= 0) & (thresholds <= 1)).all():
        raise ModelError("its thresholds must be a probability for each label")
    if classifier.plan is None or len(classifier.plan.dichotomies) != len(classifier.labels):
        raise ModelError(f"its plan must have a dichotomy for each of {len(classifier.labels)} labels")


def _check_shapes(model: Model) -> None:
    """What the members say of one another."""
    n, classifier = model.recipe.n_features, model.classifier
    if model.preprocessing.n_features != n:
        raise ModelError(f"its preprocessing is for {model.preprocessing.n_features} features, its recipe has {n}")
    axes = model.preprocessing.axes
    if axes is not None and (axes.ndim != 2 or len(axes) != n or not axes.shape[1]):
        raise ModelError(f"its axes have shape {axes.shape}, its recipe {n} features")
    n_prepared = model.preprocessing.n_prepared
    if isinstance(classifier.machines, Bank) and classifier.machines.X.shape[1] != n_prepared:
        raise ModelError(f"its bank has {classifier.machines.X.shape[1]} numbers a row, its preprocessing {n_prepared}")
    expected = len(classifier.labels) if classifier.plan is None else len(classifier.plan.dichotomies)
    n_machines = classifier.machines.n_machines if isinstance(classifier.machines, Bank) else len(classifier.machines)
    if (isinstance(classifier.machines, Bank) or classifier.plan is not None) and n_machines != expected:
        raise ModelError(f"{n_machines} machines for {expected} scores")
    if classifier.plan is not None and len(classifier.calibrations) != expected:
        raise ModelError(f"{len(classifier.calibrations)} calibrations for {expected} dichotomies")
    stage = classifier.second_stage
    if stage is not None and stage.n_columns:
        columns = classifier.evidence(np.zeros((1, expected))).columns
        if columns is None or columns.shape[1] != stage.n_columns:
            raise ModelError(f"{STAGE} reads {stage.n_columns} scores of groups, which its strategy does not have")
    if len(classifier.counts) != len(classifier.classes):
        raise ModelError(f"{len(classifier.counts)} counts for {len(classifier.classes)} labels")
    if model.golden.P.shape != (len(model.golden.X), len(classifier.labels)):
        raise ModelError(f"golden posteriors of shape {model.golden.P.shape} for {len(classifier.labels)} labels")


def _names(group: type[Any]) -> set[str]:
    return {field.name for field in fields(group)}


def _check_members(group: str, names: Sequence[str], expected: set[str]) -> None:
    """A group that is read as a whole has exactly its members: one more would change what the others mean."""
    present = {name.removeprefix(f"{group}/") for name in names if name.startswith(f"{group}/")}
    for name in sorted(expected - present):
        raise ModelError(f"member '{group}/{name}.npy' is missing")
    for name in sorted(present - expected):
        raise ModelError(f"member '{group}/{name[:40]}.npy' is not known to schema {SCHEMA}; pip install -U audioclass")
