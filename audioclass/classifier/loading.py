"""Models from files: components made by name, members checked against one another, golden vectors recomputed.

Keys and members of first names that are not known are ignored, those of groups that are read as a whole are refused:
see `saving` for when the schema is raised. What is stated is checked before it is read, and before it is computed with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.classifier.about import check_about
from audioclass.classifier.archive import DIGESTS, Archive, open_archive
from audioclass.classifier.bank import HIGHEST_CODE, Bank, KernelPart, Levels
from audioclass.classifier.blame import culprit, remedy
from audioclass.classifier.classifier import Classifier, Machines, StatedComponent
from audioclass.classifier.golden import Drift, Golden
from audioclass.classifier.last_steps import STAGE, read_last_step
from audioclass.classifier.model import Memory, Model, TrainedRecordings
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
    check_size,
)
from audioclass.classifier.summary import Summary
from audioclass.classifier.tree import written_tree
from audioclass.errors import AudioclassError, ModelError
from audioclass.extraction.recipe import Recipe, recipe_of, stated_versions
from audioclass.problems import LINKS, Dichotomy, FeatureMachine, Link, Members, Plan
from audioclass.run import Registry
from audioclass.strategies.second_stage import SecondStage
from audioclass.taxonomy import Taxonomy

# First names of the members that are read.
KNOWLEDGE = {
    "novelty": VIEWS_MEMBERS + CALIBRATION_MEMBERS,
    "risk": RISK_MEMBERS,
    "risk_nodes": NODES_MEMBERS,
}  # what models that know what they do not know have besides
GROUPS = ("preparation", "golden", "memory", "recordings", "bank", "machines", STAGE, "recipe", *KNOWLEDGE)
MOST_ROWS = 2**17  # of the bank: a batch of windows makes a Gram matrix with all of them
MOST_COPIED = 2**27  # bytes of rows that several kernels share, or that machines over features turn to doubles


def load_model(path: Path, registry: Registry, *, verify: bool = True) -> Model:
    """Read a model; its golden vectors are recomputed unless told not to, and drift beyond rounding is refused."""
    with open_archive(path) as archive:
        check_format(archive)
        _check_components(archive, registry)
        model = _model(archive.manifest, _arrays(archive), registry)
        if verify:
            check_drift(model, registry)
    return model


def check_drift(model: Model, registry: Registry) -> Drift:
    """How far the golden vectors are from what this machine computes; beyond rounding, who computes otherwise."""
    drift = model.drift()
    if not drift.is_rounding:
        raise ModelError(f"{drift}: {culprit(model.about, drift, registry)}")
    return drift


def read_summary(path: Path, registry: Registry) -> tuple[Summary, Mapping[str, Any]]:
    """What a model file says of itself, with its manifest; components that are not installed are not missed."""
    with open_archive(path) as archive:
        check_format(archive)
        manifest = archive.manifest
        archive.check_others(archive.names)
        labels, taxonomy = _labelled(manifest)
        plan, about = _plan(manifest["plan"], len(labels)), manifest["about"]
        check_about(about, labels, plan)
        strategy, recipe = _text(manifest["strategy"]["name"]), manifest["recipe"]
        try:
            component = _component(registry, "strategy", manifest["strategy"])
        except AudioclassError:
            component = None
        summary = Summary(
            _text(manifest["name"]),
            labels,
            taxonomy,
            strategy,
            1 if plan is None else len(plan.dichotomies),
            archive.shape("bank/rows")[0] if "bank/rows" in archive.names else 0,
            _text(recipe["name"]),
            archive.shape("preparation/factors")[0],
            stated_versions(_text(recipe["name"]), recipe),
            float(recipe["window"]),
            float(recipe["window_hop"]),
            _transitions(manifest.get("transitions"), len(labels)),
            about,
            written_tree(component, plan, labels, about, taxonomy),
        )
    return summary, manifest


def check_format(archive: Archive) -> None:
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


def _arrays(archive: Archive) -> dict[str, np.ndarray]:
    """The members of the groups that we know, all of them expected by the manifest; the others are only compared."""
    manifest, names = archive.manifest, archive.names
    normalisation = _text(manifest["normalisation"])
    if normalisation in STATES:  # otherwise who makes it says what is known
        _check_members("preparation", names, {"factors", *_names(STATES[normalisation])})
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
        for number, link in enumerate(_links(manifest)):
            expected |= {f"{number}/{name}" for name in PART_MEMBERS + (() if link is None else LINK_MEMBERS)}
        _check_members("bank", names, expected)
    known = [name for name in names if name.split("/")[0] in GROUPS]
    arrays = archive.arrays(known)
    if archive.has_digests:
        archive.check_others(set(names) - set(known))
    return arrays


def _check_components(archive: Archive, registry: Registry) -> None:
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


def _labelled(manifest: Mapping[str, Any]) -> tuple[tuple[str, ...], Taxonomy]:
    """The labels and the tree of groups that they stand in."""
    labels = labels_of(manifest)
    paths = manifest.get("taxonomy", manifest["paths"])  # the first where a label stands in several groups
    taxonomy = Taxonomy.of_paths([[_text(name) for name in path] for path in paths])
    taxonomy.check_labels(labels)
    return labels, taxonomy


def _model(manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray], registry: Registry) -> Model:
    labels, taxonomy = _labelled(manifest)
    table = dict(manifest["recipe"])
    recipe = _fitted(recipe_of(_text(table.pop("name")), table, registry.make, registry.origin), arrays)
    preprocessing = Preprocessing.of_arrays(_text(manifest["normalisation"]), _under(arrays, "preparation/"))
    golden = Golden(arrays["golden/features"], arrays["golden/posteriors"])
    classifier = _classifier(manifest, arrays, registry, labels)
    memory = _memory(_under(arrays, "memory/"), classifier)
    name, about, inverse_temperature = _text(manifest["name"]), manifest["about"], _sharpness(manifest["sharpness"])
    transitions = _transitions(manifest.get("transitions"), len(labels))
    model = Model(
        name,
        recipe,
        preprocessing,
        classifier,
        taxonomy,
        golden,
        about,
        memory,
        inverse_temperature,
        transitions,
        _recordings(manifest, _under(arrays, "recordings/"), memory),
    )
    _check_shapes(model)
    check_about(about, labels, classifier.plan)
    return replace(
        model,
        novelty=_novelty(_under(arrays, "novelty/"), model),
        risk=_risk(_under(arrays, "risk/")),
        node_risk=_node_risk(_under(arrays, "risk_nodes/"), len(labels)),
    )


def _novelty(arrays: Mapping[str, np.ndarray], model: Model) -> Novelty | None:
    """What is strange to the model; None where nobody learnt it, as before there was such a thing."""
    if not arrays:
        return None
    try:
        return Novelty.of_arrays(arrays, model.preprocessing.n_features, len(model.labels))
    except ValueError as error:
        raise ModelError(f"novelty: {error}") from error


def _risk(arrays: Mapping[str, np.ndarray]) -> Risk | None:
    """What sets of labels are calibrated on; None where nothing was held out, or the model is older."""
    if not arrays:
        return None
    try:
        return Risk.of_arrays(arrays)
    except ValueError as error:
        raise ModelError(f"risk: {error}") from error


def _node_risk(arrays: Mapping[str, np.ndarray], n_labels: int) -> NodeRisk | None:
    """The nodes of a tree as sets, and what they are calibrated on; None where the risk is, or the model is older."""
    if not arrays:
        return None
    try:
        return NodeRisk.of_arrays(arrays, n_labels)
    except ValueError as error:
        raise ModelError(f"risk_nodes: {error}") from error


def _fitted(recipe: Recipe, arrays: Mapping[str, np.ndarray]) -> Recipe:
    """The recipe with what its poolings learnt: members `recipe/PART/POOLING/NAME`, both counted from 0."""
    members = _under(arrays, "recipe/")
    learnt = [
        [_under(members, f"{number}/{place}/") for place in range(len(part.learners))]
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
    counts = np.array([_count(count) for count in manifest["counts"]])
    machines = _machines(manifest, arrays, registry)
    plan = _plan(manifest["plan"], len(labels))
    evaluates_itself, trainer = plan is not None and not isinstance(machines, Bank), manifest["trainer"]
    classifier = Classifier(
        labels,
        _component(registry, "strategy", manifest["strategy"]),
        machines,
        counts,
        plan,
        _component(registry, "trainer", trainer) if evaluates_itself else StatedComponent(trainer),
        _component(registry, "calibrator", manifest["calibrator"]),
        tuple(manifest["calibrations"]),
        manifest["fitted"],
    )
    return classifier.with_last_step(read_last_step(manifest, _under(arrays, f"{STAGE}/"), registry, len(labels)))


def _machines(manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray], registry: Registry) -> Machines:
    if "bank/rows" not in arrays:
        n_bytes = sum(array.nbytes for name, array in arrays.items() if name.startswith("machines/"))
        if n_bytes > MOST_COPIED:
            raise ModelError(f"its machines take {n_bytes // 2**20} MB, at most {MOST_COPIED // 2**20} are read")
        numbers = sorted({int(name.split("/")[1]) for name in arrays if name.startswith("machines/")})
        return tuple(FeatureMachine(_under(arrays, f"machines/{number}/")) for number in numbers)
    parts = []
    for number, (kernel, link) in enumerate(zip(manifest["kernels"], _links(manifest), strict=True)):
        of_part = _under(arrays, f"bank/{number}/")
        members = None if link is None else Members(link, **{name: of_part.pop(name) for name in LINK_MEMBERS})
        parts.append(KernelPart(_component(registry, "kernel", kernel), **of_part, members=members))
    levels = _levels(arrays)
    rows = arrays["bank/rows"] if levels is None else levels.rows
    bank = Bank(rows, tuple(parts), sum(len(part.places) for part in parts), levels)
    _check_bank(bank)
    return bank


def _levels(arrays: Mapping[str, np.ndarray]) -> Levels | None:
    """What the rows of the bank are codes of; None where they are the rows themselves."""
    if "bank/lowest" not in arrays:
        return None
    levels = Levels(arrays["bank/rows"], *(arrays[f"bank/{name}"] for name in LEVEL_MEMBERS))
    is_right = levels.codes.dtype == np.uint8 and {levels.lowest.dtype, levels.step.dtype} == {np.dtype(np.float32)}
    shapes = {levels.lowest.shape, levels.step.shape, levels.codes.shape[1:]}
    if not is_right or levels.codes.ndim != 2 or len(shapes) > 1:
        raise ModelError(f"bank/rows of shape {levels.codes.shape} are no codes of {levels.lowest.shape} levels")
    farthest = np.abs(levels.lowest.astype(np.float64)) + HIGHEST_CODE * np.abs(levels.step.astype(np.float64))
    if (farthest > np.finfo(np.float32).max).any():
        raise ModelError("bank/step is too large for rows of finite values")
    return levels


def _links(manifest: Mapping[str, Any]) -> list[Link | None]:
    """How the members of the machines of each kernel are combined; None where these have none, as in most models."""
    n_parts = len(_listed(manifest["kernels"], "kernels"))
    links = _listed(manifest.get("links", [None] * n_parts), "links")
    if len(links) != n_parts:
        raise ModelError(f"{len(links)} links for {n_parts} kernels")
    for link in links:
        if link is not None and link not in LINKS:
            raise ModelError(f"link {str(link)[:40]!r} of members must be {', '.join(LINKS)}")
    return links


def _memory(arrays: Mapping[str, np.ndarray], classifier: Classifier) -> Memory | None:
    if not arrays:
        return None
    memory, n_rows, n_labels = Memory(**arrays), classifier.n_support, len(classifier.labels)
    shapes = {name: array.shape[:1] for name, array in arrays.items()}
    if set(shapes.values()) != {(n_rows,)} or memory.held_out.shape[1:] != (classifier.n_machines,):
        raise ModelError(f"its memory has arrays of {shapes} for {n_rows} rows of the bank")
    if memory.y.dtype.kind != "i" or (n_rows and not 0 <= memory.y.min() <= memory.y.max() < n_labels):
        raise ModelError(f"its memory names labels beyond the {n_labels} there are")
    if memory.windows is not None and not _are_windows(memory.windows):
        raise ModelError("its memory must number windows from 0 on, in rising order")
    return memory


def _are_windows(windows: np.ndarray) -> bool:
    steps = np.diff(windows, prepend=-1)
    return windows.dtype.kind == "i" and bool(np.isin(steps, (0, 1)).all()) and bool((steps[:1] == 1).all())


def _recordings(
    manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray], memory: Memory | None
) -> TrainedRecordings | None:
    """The recordings that were trained on, every number of a group or recording within its list."""
    if not arrays:
        return None
    names = tuple(_text(name) for name in _listed(manifest.get("groups"), "groups"))
    recordings = TrainedRecordings(names, **arrays, aliases=_aliases(manifest.get("group_aliases", {}), len(names)))
    n, n_rows = len(recordings.digests), len(recordings.rows) if memory is None else len(memory.y)
    shapes = {name: array.shape for name, array in arrays.items()}
    if shapes != {"digests": (n, 16), "groups": (n,), "rows": (n_rows,), "times": (n_rows, 2)}:
        raise ModelError(f"its recordings have arrays of {shapes} for {n_rows} rows of the bank")
    numbers = [(recordings.groups, 0, len(names)), (recordings.rows, -1, n)]
    if memory is not None:
        numbers.append((memory.groups, 0, len(names)))
    for array, low, high in numbers:
        if array.dtype.kind != "i" or (len(array) and not low <= array.min() <= array.max() < high):
            raise ModelError(f"its recordings name groups or recordings beyond the {len(names)} and {n} there are")
    return recordings


def _aliases(table: Any, n_groups: int) -> dict[str, int]:
    """Further names of groups; none in files of before they were kept."""
    if not isinstance(table, dict):
        raise ModelError(f"group_aliases {str(table)[:40]!r} must be a table")
    for place in table.values():
        if type(place) is not int or not 0 <= place < n_groups:
            raise ModelError(f"group_aliases: group {str(place)[:40]!r} must be a number below {n_groups}")
    return table


def _check_bank(bank: Bank) -> None:
    """Every index within its array, every machine once; the members of a machine side by side."""
    if bank.X.ndim != 2 or len(bank.X) > MOST_ROWS:
        raise ModelError(f"bank/rows has shape {bank.X.shape}, must have 2 axes and at most {MOST_ROWS} rows")
    for part in bank.parts:
        shape = (len(part.rows), len(part.machines))
        is_right = part.coefficients.shape == shape and part.intercepts.shape == shape[1:]
        if not is_right or part.rows.ndim != 1 or part.rows.dtype.kind != "i" or part.machines.dtype.kind != "i":
            raise ModelError(f"a part of the bank has coefficients of {part.coefficients.shape}, must have {shape}")
        if len(part.rows) and not 0 <= part.rows.min() <= part.rows.max() < len(bank.X):
            raise ModelError(f"a part of the bank names row {part.rows.max()} of {len(bank.X)}")
        if part.members is not None and part.members.slopes.shape != shape[1:]:
            raise ModelError(f"a part of the bank has {len(part.members.slopes)} slopes for {shape[1]} members")
    copied = sum(len(part.rows) for part in bank.parts if len(part.rows) < len(bank.X)) * bank.X[:1].nbytes
    if copied > MOST_COPIED:
        raise ModelError(f"the rows of its parts take {copied // 2**20} MB, at most {MOST_COPIED // 2**20} are read")
    machines = np.concatenate([part.places for part in bank.parts])
    if sorted(machines.tolist()) != list(range(bank.n_machines)):
        raise ModelError("the parts of the bank do not hold every machine once")


def _check_shapes(model: Model) -> None:
    """What the members say of one another."""
    n, classifier = model.recipe.n_features, model.classifier
    if model.preprocessing.n_features != n:
        raise ModelError(f"its preprocessing is for {model.preprocessing.n_features} features, its recipe has {n}")
    if isinstance(classifier.machines, Bank) and classifier.machines.X.shape[1] != n:
        raise ModelError(f"its bank has {classifier.machines.X.shape[1]} features, its recipe {n}")
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
    if len(classifier.counts) != len(classifier.labels):
        raise ModelError(f"{len(classifier.counts)} counts for {len(classifier.labels)} labels")
    if model.golden.P.shape != (len(model.golden.X), len(classifier.labels)):
        raise ModelError(f"golden posteriors of shape {model.golden.P.shape} for {len(classifier.labels)} labels")


def _plan(table: Mapping[str, Any] | None, n_labels: int) -> Plan | None:
    if table is None:
        return None
    sides = [tuple(tuple(_index(k, n_labels) for k in side) for side in both) for both in table["dichotomies"]]
    return Plan(n_labels, tuple(Dichotomy(*both) for both in sides), dict(table["structure"]))


def _component(registry: Registry, kind: str, table: Mapping[str, Any] | None) -> Any:
    return None if table is None else registry.make(kind, _text(table["name"]), table["parameters"])


def _under(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _names(group: type[Any]) -> set[str]:
    return {field.name for field in fields(group)}


def _check_members(group: str, names: Sequence[str], expected: set[str]) -> None:
    """A group that is read as a whole has exactly its members: one more would change what the others mean."""
    present = {name.removeprefix(f"{group}/") for name in names if name.startswith(f"{group}/")}
    for name in sorted(expected - present):
        raise ModelError(f"member '{group}/{name}.npy' is missing")
    for name in sorted(present - expected):
        raise ModelError(f"member '{group}/{name[:40]}.npy' is not known to schema {SCHEMA}; pip install -U audioclass")


def labels_of(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The labels, as many as can be combined in bounded memory."""
    stated = _listed(manifest["labels"], "labels")
    check_size(len(stated), len(_listed((manifest["plan"] or {}).get("dichotomies", []), "dichotomies")))
    return tuple(_text(label) for label in stated)


def _listed(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ModelError(f"its {what} must be a list, not a {type(value).__name__}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ModelError(f"{str(value)[:40]!r} must be a text")
    return value


def _sharpness(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value < float("inf"):
        raise ModelError(f"inverse_temperature {str(value)[:40]!r} must be a number of at least 0")
    return float(value)


def _transitions(stated: Any, n_labels: int) -> np.ndarray | None:
    """Whole numbers, a row for each label; None where the model has none."""
    if stated is None:
        return None
    rows = stated if isinstance(stated, list) else []
    if [len(row) if isinstance(row, list) else -1 for row in rows] != [n_labels] * n_labels:
        raise ModelError(f"its transitions must be {n_labels} rows of {n_labels} counts")
    return np.array([[_count(count) for count in row] for row in rows], dtype=np.int64)


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ModelError(f"count {str(value)[:40]!r} must be a whole number")
    return value


def _index(value: Any, n_labels: int) -> int:
    if type(value) is not int or not 0 <= value < n_labels:
        raise ModelError(f"label index {str(value)[:40]!r} must be below {n_labels}")
    return value
