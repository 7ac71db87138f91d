"""Who computes otherwise than when a model was made: a component that changed, or a library, or the machine."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any

from audioclass import __version__
from audioclass.classifier.golden import Drift
from audioclass.errors import AudioclassError
from audioclass.hookspecs import NOT_INSTALLED, PROJECT
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
        versioned = all(one["version"] != NOT_INSTALLED for one in foreign)
        where = ", at the same version" if versioned else ""
        return f"{_listed(foreign)} computes otherwise than when the model was made{where}"
    here, stated = versions(), about.get("versions", {})
    others = [
        f"{name} {here[name]} instead of {stated[name]}" for name in here if stated.get(name, here[name]) != here[name]
    ]
    return ", ".join(others) or "the versions are those that it was made with: this processor computes otherwise"


def remedy(component: Mapping[str, str]) -> str:
    """What brings a component that is not there: of a module that was never installed, no package has to be it."""
    if component.get("version") == NOT_INSTALLED:
        return "use its module with `audioclass -p`"
    return f"pip install {str(component['distribution']).split()[0]}"


def _difference(component: Mapping[str, str], registry: Registry) -> str:
    """What is other than stated; empty where nothing is."""
    kind, name = component["kind"], component["name"]
    stated = f"{component['distribution']} {component['version']}"
    try:
        here = registry.origin(kind, name)
    except AudioclassError:
        return f"lacks the {kind} {name!r} of {_origin(stated)}; {remedy(component)}"
    if here == stated:
        return ""
    return f"the {kind} {name!r} is of {_origin(here)}, was of {_origin(stated)} when the model was made"


def _origin(text: str) -> str:
    """A distribution and its version, as a sentence can have them."""
    return text.replace(f" {NOT_INSTALLED}", f" ({NOT_INSTALLED})")


def _listed(components: Sequence[Mapping[str, str]]) -> str:
    return " or ".join(_named(components))


def _named(components: Sequence[Mapping[str, str]]) -> Iterator[str]:
    for one in components[:3]:
        origin = _origin(f"{one['distribution']} {one['version']}")
        yield f"the {one['kind']} {one['name']!r} of {origin}"
