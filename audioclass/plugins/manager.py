"""The plugin manager: name → class, with one `try` per distribution and a quarantine for what fails.

What a distribution offers is read from its manifest where it ships one; its modules are imported when a component is
used. Without a manifest they are imported at once. Built-ins come in by the same hooks; only they may raise.
"""

from __future__ import annotations

import contextlib
import operator
import os
import sys
import traceback as tracebacks
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pluggy

from audioclass import hookspecs
from audioclass.errors import PluginError, did_you_mean, unknown_name
from audioclass.hookspecs import KINDS, PROJECT
from audioclass.parameters import make
from audioclass.plugins import validation
from audioclass.plugins.manifests import Offer, describe, read_manifest
from audioclass.plugins.sources import Source, builtin_source, canonical, installed_sources

RESTRICT = "AUDIOCLASS_PLUGINS"
STRICT = "AUDIOCLASS_STRICT"


@dataclass(frozen=True)
class Quarantined:
    """A distribution that was put aside: in which phase, why, and what mends it."""

    distribution: str
    version: str
    phase: str
    reason: str
    remedy: str
    traceback: str = ""


class LoadFailure(PluginError):
    """A distribution failed in a phase of its loading; the cause is kept."""

    def __init__(self, phase: str, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.phase = phase
        self.remedy = remedy


def select_installed(only: Collection[str] | None = None) -> tuple[list[Source], list[Quarantined]]:
    """What is installed, or the part of it that is named, and the names that are not installed.

    Without names AUDIOCLASS_PLUGINS gives them, separated by commas; set and empty, it names none.
    """
    if only is None and RESTRICT in os.environ:
        only = [name.strip() for name in os.environ[RESTRICT].split(",") if name.strip()]
    installed = {canonical(source.distribution): source for source in installed_sources()}
    if only is None:
        return list(installed.values()), []
    wanted = [name for name in map(canonical, only) if name != PROJECT]
    missing = [
        Quarantined(
            name, "", "discovery", f"asked for but not installed{did_you_mean(name, installed)}", f"pip install {name}"
        )
        for name in wanted
        if name not in installed
    ]
    return [installed[name] for name in wanted if name in installed], missing


def plugin_manager(
    *, installed: bool = True, only: Collection[str] | None = None, strict: bool | None = None
) -> PluginManager:
    """The built-ins, then what is installed under the `audioclass` entry point.

    `only` restricts the distributions by name, as in `select_installed`; `strict` makes a failure of any of them an
    error (default: AUDIOCLASS_STRICT).
    """
    manager = PluginManager([builtin_source()])
    if installed:
        manager.admit_installed(only)
    if strict is None:
        strict = os.environ.get(STRICT, "") not in ("", "0")
    if strict:
        manager.raise_quarantine()
    return manager


class PluginManager:
    """Knows every offer, loads the class behind one when it is asked for, and keeps what failed apart."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self.quarantine: list[Quarantined] = []
        self._hooks = pluggy.PluginManager(PROJECT)
        self._hooks.add_hookspecs(hookspecs)
        self._offers: dict[tuple[str, str], Offer] = {}
        self._classes: dict[tuple[str, str], type] = {}
        self._sources: dict[str, Source] = {}
        for source in sources:
            self.admit(source)

    # --- what there is

    def offers(self, kind: str | None = None) -> list[Offer]:
        """Everything on offer, by kind and name; imports nothing that has a manifest."""
        if kind is not None and kind not in KINDS:
            raise unknown_name("kind", kind, KINDS)
        order = {name: i for i, name in enumerate(KINDS)}
        offers = [offer for offer in self._offers.values() if kind in (None, offer.kind)]
        return sorted(offers, key=lambda offer: (order[offer.kind], offer.name))

    def find(self, kind: str, name: str) -> Offer:
        """The offer of a name; kinds that one option chooses are looked up together."""
        if kind not in KINDS:
            raise unknown_name("kind", kind, KINDS)
        namespace = KINDS[kind].namespace
        if (namespace, name) not in self._offers:
            known = [known for space, known in self._offers if space == namespace]
            raise unknown_name(namespace.replace("_", " "), name, known)
        return self._offers[namespace, name]

    def names(self, kind: str) -> list[str]:
        """The names of a kind, sorted."""
        return [offer.name for offer in self.offers(kind)]

    def kind(self, kind: str, name: str) -> str:
        """The kind of a name: an option that chooses among several kinds looks them up together."""
        return self.find(kind, name).kind

    def origin(self, kind: str, name: str) -> str:
        """The distribution of a name and its version."""
        offer = self.find(kind, name)
        return f"{offer.distribution} {offer.version}"

    def load(self, kind: str, name: str) -> type:
        """The class of a name, imported now if it was not before."""
        offer = self.find(kind, name)
        if offer.key not in self._classes:
            source = self._sources[offer.distribution]
            with self._quarantining(source):
                self._keep(self._load_modules(source, [offer.module]))
        if offer.key not in self._classes:
            reason = self.quarantine[-1].reason
            raise PluginError(f"{offer.kind} {name!r} of {source} does not load: {reason}")
        return self._classes[offer.key]

    def make(self, kind: str, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """The component of a name with these parameters."""
        return make(self.load(kind, name), parameters or {})

    def load_all(self) -> None:
        """Import everything; what fails is in the quarantine afterwards."""
        for source in list(self._sources.values()):
            modules = {offer.module for offer in self._offers.values() if offer.distribution == source.distribution}
            with self._quarantining(source):
                self._keep(self._load_modules(source, sorted(modules)))

    def raise_quarantine(self) -> None:
        """The strict mode: what was put aside is an error after all."""
        if self.quarantine:
            first, more = self.quarantine[0], len(self.quarantine) - 1
            others = f" (and {more} more in quarantine)" if more else ""
            raise PluginError(f"{first.distribution} {first.version}: {first.phase}: {first.reason}{others}")

    # --- letting in and putting aside

    def admit_installed(self, only: Collection[str] | None = None) -> None:
        """Admit what is installed, or the named part of it; a name that is not installed is put in quarantine."""
        sources, missing = select_installed(only)
        for source in sources:
            self.admit(source)
        self.quarantine += missing

    def admit(self, source: Source) -> None:
        """Take in the offers of a distribution, all of them or none."""
        self._sources[source.distribution] = source
        with self._quarantining(source):
            loaded = self._load_modules(source, source.modules) if source.manifest is None else []
            offers = [offer for offer, _ in loaded] or _manifest_offers(source)
            self._refuse_clashes(source, offers)
            self._offers |= {offer.key: offer for offer in offers}
            self._keep(loaded)

    def _refuse_clashes(self, source: Source, offers: Sequence[Offer]) -> None:
        """A name that is taken is refused, naming both; of two third parties neither can be trusted to be meant."""
        taken: dict[tuple[str, str], Offer] = dict(self._offers)
        for offer in offers:
            other = taken.setdefault(offer.key, offer)
            if other is offer:
                continue
            reason = f"two plugins offer a {offer.kind} named {offer.name!r}: {other.module} and {offer.module}"
            remedy = f"pip uninstall {source.distribution}"
            if other.distribution not in (PROJECT, source.distribution):
                remedy += f", or pip uninstall {other.distribution}"
                self._put_aside(self._sources[other.distribution], LoadFailure("validation", reason, remedy))
            raise LoadFailure("validation", reason, remedy)

    @contextlib.contextmanager
    def _quarantining(self, source: Source) -> Iterator[None]:
        """A third party that fails a step of its loading is put aside; a built-in that does is a bug and raises."""
        try:
            yield
        except LoadFailure as failure:
            if source.is_builtin:
                raise
            self._put_aside(source, failure)

    def _put_aside(self, source: Source, failure: LoadFailure) -> None:
        for offer in [o for o in self._offers.values() if o.distribution == source.distribution]:
            del self._offers[offer.key]
            self._classes.pop(offer.key, None)
        name = source.distribution
        remedy = failure.remedy or f"pip install --upgrade {name}, or pip uninstall {name}"
        trace = "".join(tracebacks.format_exception(failure.__cause__ or failure))
        self.quarantine.append(Quarantined(name, source.version, failure.phase, str(failure), remedy, trace))

    # --- importing

    def _keep(self, loaded: Sequence[tuple[Offer, type]]) -> None:
        self._classes |= {offer.key: cls for offer, cls in loaded}

    def _load_modules(self, source: Source, modules: Sequence[str]) -> list[tuple[Offer, type]]:
        """Import and register modules; the classes they offer, which must be those of the manifest if there is one."""
        loaded = [pair for module in modules for pair in self._load_module(source, module)]
        if source.manifest is not None:
            ours = (offer for offer in self._offers.values() if offer.distribution == source.distribution)
            said = {offer.key for offer in ours if offer.module in modules}
            for key in sorted(said ^ {offer.key for offer, _ in loaded}):
                where = "in the manifest but not offered" if key in said else "offered but not in the manifest"
                reason = f"{' '.join(key)} is {where}; `audioclass plugins manifest` writes it anew"
                raise LoadFailure("validation", reason)
        return loaded

    def _load_module(self, source: Source, name: str) -> list[tuple[Offer, type]]:
        with contextlib.redirect_stdout(sys.stderr):  # what a plugin prints is no result of ours
            with _phase("import"):
                module = _resolve(name)
            with _phase("registration"):
                offered = self._call_hooks(module, name)
        with _phase("validation"):
            for kind, cls in offered:
                validation.check_class(cls, kind)
            return [(describe(cls, kind, name, source.distribution, source.version), cls) for kind, cls in offered]

    def _call_hooks(self, module: Any, name: str) -> list[tuple[str, type]]:
        """What the hooks of one module return, as (kind, class); registering twice is no harm."""
        if not self._hooks.has_plugin(name):
            self._hooks.register(module, name=name)
        callers = self._hooks.get_hookcallers(module) or []
        if not callers:
            raise PluginError(f"{name} offers nothing: no function in it is marked with @audioclass.hookimpl")
        for caller in callers:
            if not caller.has_spec():
                known = [kind.hook for kind in KINDS.values()]
                raise PluginError(f"{name}: unknown hook {caller.name!r}{did_you_mean(caller.name, known)}")
        others = [plugin for plugin in self._hooks.get_plugins() if plugin is not module]
        kinds = {kind.hook: kind.name for kind in KINDS.values()}
        return [
            (kinds[caller.name], cls)
            for caller in callers
            for classes in self._hooks.subset_hook_caller(caller.name, others)()
            for cls in validation.check_list(classes, caller.name)
        ]


def _resolve(value: str) -> Any:
    """The module, or the object in a module, that an entry point names."""
    module, _, attribute = value.partition(":")
    found = import_module(module.strip())
    return operator.attrgetter(attribute.strip())(found) if attribute else found


def _manifest_offers(source: Source) -> tuple[Offer, ...]:
    with _phase("manifest"):
        return read_manifest(source.manifest or "", source.distribution, source.version)


@contextlib.contextmanager
def _phase(name: str) -> Iterator[None]:
    """Turn whatever a plugin raises into a LoadFailure of this phase."""
    try:
        yield
    except LoadFailure:
        raise
    except PluginError as error:
        raise LoadFailure(name, str(error)) from error
    except (Exception, SystemExit) as error:  # foreign code may raise anything, and must not end the tool
        raise LoadFailure(name, " ".join(f"{type(error).__name__}: {error}".split())) from error
