"""Checks of what a user names: a component, an installed distribution, or a folder or module on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from audioclass.errors import PluginError, UsageError, unknown_name
from audioclass.hookspecs import KINDS
from audioclass.parameters import make, parse_assignments
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.manifests import MANIFEST, Offer, write_manifest
from audioclass.plugins.sources import BUILTINS, Source, builtin_source, canonical, manifest_of, read_source


def select_offers(
    what: str, kind: str | None, installed: Callable[[], PluginManager]
) -> tuple[PluginManager, list[Offer]]:
    """What a user meant by a name or path, and the manager that can load it."""
    if kind is not None and kind not in KINDS:
        raise unknown_name("kind", kind, KINDS)
    if "/" in what or what.endswith(".py") or what == "." or Path(what, "pyproject.toml").is_file():
        manager, source = _manager_of_path(Path(what))
        return manager, [o for o in manager.offers(kind) if o.distribution == source.distribution]
    manager = installed()
    offers = [o for o in manager.offers(kind) if what == o.name or canonical(what) == canonical(o.distribution)]
    if not offers:
        known = {name for offer in manager.offers(kind) for name in (offer.name, offer.distribution)}
        raise unknown_name("component or distribution", what, known)
    return manager, offers


def judge_offers(manager: PluginManager, offers: Sequence[Offer], settings: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The verdict of every law on each component, as plain values."""
    from audioclass.testing import run_checks

    for offer in offers:
        cls = manager.load(offer.kind, offer.name)
        verdicts = run_checks(offer.kind, make(cls, parse_assignments(cls, settings)))
        identity = {key: getattr(offer, key) for key in ("kind", "name", "distribution", "version")}
        yield {**identity, "laws": [vars(verdict) for verdict in verdicts]}


def write_manifest_file(path: Path) -> Path:
    """Write the manifest of a distribution's folder from its classes, beside what is there and then in its place."""
    if path.resolve() == Path(__file__).parents[1]:
        source, target = replace(builtin_source(), manifest=None, modules=BUILTINS), path / MANIFEST
    else:
        source, target = replace(read_source(path), manifest=None), _manifest_place(path)
    manager = PluginManager([source])
    manager.raise_quarantine()
    draft = target.with_suffix(".new")
    try:
        draft.write_text(write_manifest(manager.offers()), encoding="utf-8")
        draft.replace(target)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from error
    return target


def _manifest_place(path: Path) -> Path:
    found = sorted(path.rglob(MANIFEST)) if path.is_dir() else []
    return found[0] if found else (path if path.is_dir() else path.parent) / MANIFEST


def _manager_of_path(path: Path) -> tuple[PluginManager, Source]:
    """The built-ins and one distribution on disk, which must load."""
    source = replace(read_source(path), manifest=manifest_of(path))
    manager = PluginManager([builtin_source(), source])
    manager.load_all()
    if manager.quarantine:
        raise PluginError(f"{path}: {manager.quarantine[0].phase}: {manager.quarantine[0].reason}")
    return manager, source
