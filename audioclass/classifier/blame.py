"""Who computes otherwise than when a model was made: a component that changed, or a library, or the machine."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any

from audioclass import __version__
from audioclass.classifier.golden import Drift
from audioclass.errors import AudioclassError
from audioclass.hookspecs import PROJECT
from audioclass.run import Registry

OF_FEATURES = ("descriptor", "pooling", "embedding")


def versions() -> dict[str, str]:
    """What computes here: ourselves, Python and the libraries whose rounding matters."""
    libraries = {name: metadata.version(name) for name in ("numpy", "scipy")}
    return {"audioclass": __version__, "python": platform.python_version(), **libraries}


def changed_components(about: Mapping[str, Any], registry: Registry) -> list[str]:
    """A line for each component that is not there, or not of the distribution and version that the model states."""
    return [line for one in about.get("pieces", []) if (line := _difference(one, registry))]


def culprit(about: Mapping[str, Any], drift: Drift, registry: Registry) -> str:
    """The likeliest cause of a drift, in half a line: what changed before what may have changed.

    Features that differ are the work of descriptors, poolings and embeddings; posteriors from the same features that of
    kernels, strategy, trainer and calibrator.
    """
    suspects = [one for one in about.get("pieces", []) if (one["kind"] in OF_FEATURES) == bool(drift.columns)]
    changed = [line for one in suspects if (line := _difference(one, registry))]
    if changed:
        return "; ".join(changed[:3])
    foreign = [one for one in suspects if one["distribution"] != PROJECT]
    if foreign:
        return f"{_listed(foreign)} computes otherwise than when the model was made, at the same version"
    here, stated = versions(), about.get("versions", {})
    others = [
        f"{name} {here[name]} instead of {stated[name]}" for name in here if stated.get(name, here[name]) != here[name]
    ]
    return ", ".join(others) or "the versions are those that it was made with: this processor computes otherwise"


def _difference(component: Mapping[str, str], registry: Registry) -> str:
    """What is other than stated; empty where nothing is."""
    kind, name = component["kind"], component["name"]
    stated = f"{component['distribution']} {component['version']}"
    try:
        here = registry.origin(kind, name)
    except AudioclassError:
        return f"needs the {kind} {name!r} of {stated}; pip install {component['distribution']}"
    return "" if here == stated else f"the {kind} {name!r} is of {here}, was of {stated} when the model was made"


def _listed(components: Sequence[Mapping[str, str]]) -> str:
    return " or ".join(_named(components))


def _named(components: Sequence[Mapping[str, str]]) -> Iterator[str]:
    for one in components[:3]:
        yield f"the {one['kind']} {one['name']!r} of {one['distribution']} {one['version']}"
