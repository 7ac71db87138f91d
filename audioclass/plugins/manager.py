"""The plugin manager: name → class, with one `try` per distribution and a quarantine for what fails.

The components of a distribution are read from its manifest where it ships one; its modules are imported when one is
used. Without a manifest they are imported at once. Built-ins come in by the same hooks; only they may raise.
"""

from __future__ import annotations

import contextlib
import os
import traceback as tracebacks
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from audioclass.errors import PluginError, did_you_mean, unknown_name
from audioclass.hookspecs import KINDS, NOT_INSTALLED, PROJECT
from audioclass.parameters import make
from audioclass.plugins.attribution import Origin, attributed
from audioclass.plugins.builtins import builtin_source
from audioclass.plugins.loading import LoadFailure, ModuleLoader, manifest_entries, refuse_unmet
from audioclass.plugins.manifests import Entry, explain_difference, sort_entries
from audioclass.plugins.sources import PluginSource, canonical, installed_sources, module_source

RESTRICT = "AUDIOCLASS_PLUGINS"
STRICT = "AUDIOCLASS_STRICT"
MODULES = "AUDIOCLASS_MODULES"  # modules given with `-p`, for the processes that a command starts
TRACE = "AUDIOCLASS_TRACE"


@dataclass(frozen=True)
class Quarantined:
    """A distribution that was put aside: in which phase, why, and what mends it."""

    distribution: str
    version: str
    phase: str
    reason: str
    remedy: str
    traceback: str = ""


def select_installed(only: Collection[str] | None = None) -> tuple[list[PluginSource], list[Quarantined]]:
    """What is installed, or the part of it that is named, and the names that are not installed.

    Without names AUDIOCLASS_PLUGINS gives them, separated by commas; set and empty, it names none.
    """
    if only is None and RESTRICT in os.environ:
        only = _names(os.environ[RESTRICT])
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
    error (default: AUDIOCLASS_STRICT). Without arguments there is one manager in a process, which all share. With
    AUDIOCLASS_TRACE every call of a hook is a line on standard error.
    """
    if strict is None:
        strict = _is_on(STRICT)
    if installed and only is None:
        manager = shared_manager(os.environ.get(RESTRICT))
        manager.trace(_is_on(TRACE))
    else:
        manager = PluginManager([builtin_source()], _is_on(TRACE))
        if installed:
            manager.admit_installed(only)
    if strict:
        manager.raise_quarantine()
    return manager


@cache
def shared_manager(restriction: str | None) -> PluginManager:
    """The manager of the process, for the distributions that the environment names."""
    manager = PluginManager([builtin_source()], _is_on(TRACE))
    manager.admit_installed(None if restriction is None else _names(restriction))
    for module in filter(None, os.environ.get(MODULES, "").split(os.pathsep)):
        manager.register(module)
    return manager


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "") not in ("", "0")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


class PluginManager:
    """Knows every entry, loads the class behind one when it is asked for, and sets apart what failed."""

    def __init__(self, sources: Iterable[PluginSource] = (), trace: bool = False) -> None:
        self.quarantine: list[Quarantined] = []
        self._loader = ModuleLoader()
        self._entries: dict[tuple[str, str], Entry] = {}
        self._classes: dict[tuple[str, str], type[Any]] = {}
        self._described: dict[tuple[str, str], Entry] = {}
        self._sources: dict[str, PluginSource] = {}
        self.trace(trace)
        for source in sources:
            self.admit(source)

    def trace(self, wanted: bool = True) -> None:
        """Write every call of a hook to standard error from now on, or no longer.

        A module that was asked before is asked again: a trace does not depend on what ran earlier in the process.
        """
        if self._loader.trace(wanted):
            self._classes.clear()

    # --- what there is

    def entries(self, kind: str | None = None) -> list[Entry]:
        """Every component by kind and name; imports nothing that has a manifest."""
        if kind is not None and kind not in KINDS:
            raise unknown_name("kind", kind, KINDS)
        return sort_entries([entry for entry in self._entries.values() if kind in (None, entry.kind)])

    def find(self, kind: str, name: str) -> Entry:
        """The entry of a name; kinds that one option chooses are looked up together."""
        if kind not in KINDS:
            raise unknown_name("kind", kind, KINDS)
        namespace = KINDS[kind].namespace
        if (namespace, name) not in self._entries:
            known = [known for space, known in self._entries if space == namespace]
            raise unknown_name(namespace.replace("_", " "), name, known)
        return self._entries[namespace, name]

    def names(self, kind: str) -> list[str]:
        """The names of a kind, sorted."""
        return [entry.name for entry in self.entries(kind)]

    def kind(self, kind: str, name: str) -> str:
        """The kind of a name: an option that chooses among several kinds looks them up together."""
        return self.find(kind, name).kind

    def origin(self, kind: str, name: str) -> str:
        """The distribution of a name and its version."""
        entry = self.find(kind, name)
        return f"{entry.distribution} {entry.version}"

    def load(self, kind: str, name: str) -> type[Any]:
        """The class of a name, imported now if it was not before."""
        entry = self.find(kind, name)
        if entry.key not in self._classes:
            source = self._sources[entry.distribution]
            with self._quarantining(source):
                self._keep(self._load_modules(source, [entry.module]))
        if entry.key not in self._classes:
            reason = self.quarantine[-1].reason
            raise PluginError(f"{entry.kind} {name!r} of {source} does not load: {reason}")
        return self._classes[entry.key]

    def make(self, kind: str, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """The component of a name with these parameters; one of a third party says who it is where it fails."""
        cls, entry = self.load(kind, name), self.find(kind, name)
        if not self._sources[entry.distribution].is_builtin:
            cls = attributed(cls, Origin(entry.kind, entry.name, entry.distribution, entry.version))
        return make(cls, parameters or {})

    def load_all(self) -> None:
        """Import everything; what fails is in the quarantine afterwards."""
        for source in list(self._sources.values()):
            modules = {entry.module for entry in self._entries.values() if entry.distribution == source.distribution}
            if modules:  # none is left of what was put aside
                with self._quarantining(source):
                    self._keep(self._load_modules(source, sorted(modules)))

    def outdated(self, entries: Iterable[Entry]) -> dict[tuple[str, str], str]:
        """What the manifest says otherwise than the class does, for those of the entries that are loaded."""
        return {
            entry.key: difference
            for entry in entries
            if entry.key in self._described
            and (difference := explain_difference(self._entries[entry.key], self._described[entry.key]))
        }

    def raise_quarantine(self) -> None:
        """The strict mode: what was put aside is an error after all."""
        if self.quarantine:
            first, more = self.quarantine[0], len(self.quarantine) - 1
            others = f" (and {more} more in quarantine)" if more else ""
            raise PluginError(f"{first.distribution} {first.version}: {first.phase}: {first.reason}{others}")

    # --- modules that are not installed

    def register(self, plugin: ModuleType | str) -> PluginSource:
        """Take in a module, by itself, by its name or by the path of its file; what fails is an error.

        `unregister` takes it out again: a test leaves the manager as it was.
        """
        if isinstance(plugin, str):
            source = module_source(plugin)
        else:
            source = PluginSource(plugin.__name__, NOT_INSTALLED, (plugin.__name__,))
            self._loader.modules[plugin.__name__] = plugin
        if source.distribution in self._sources:
            raise PluginError(f"{source.distribution} is registered already")
        before = list(self.quarantine)
        self.admit(source)
        if self.quarantine != before:
            failure, self.quarantine = self.quarantine[-1], before
            self._forget(source)
            raise PluginError(f"{source.distribution}: {failure.phase}: {failure.reason}")
        return source

    def unregister(self, plugin: ModuleType | PluginSource) -> None:
        """Take out what `register` took in."""
        name = plugin.distribution if isinstance(plugin, PluginSource) else plugin.__name__
        if name not in self._sources:
            raise PluginError(f"{name} is not registered")
        self._forget(self._sources[name])

    def _forget(self, source: PluginSource) -> None:
        self._drop_entries(source)
        del self._sources[source.distribution]
        for name in source.modules:
            self._loader.forget(name)

    # --- letting in and putting aside

    def admit_installed(self, only: Collection[str] | None = None) -> None:
        """Admit what is installed, or the named part of it; a name that is not installed is put in quarantine."""
        sources, missing = select_installed(only)
        for source in sources:
            self.admit(source)
        self.quarantine += missing

    def admit(self, source: PluginSource) -> None:
        """Take in the entries of a distribution, all of them or none."""
        self._sources[source.distribution] = source
        with self._quarantining(source):
            loaded = self._load_modules(source, source.modules) if source.manifest is None else []
            entries = [entry for entry, _ in loaded] if source.manifest is None else manifest_entries(source)
            self._refuse_clashes(source, entries)
            self._entries |= {entry.key: entry for entry in entries}
            self._keep(loaded)

    def _refuse_clashes(self, source: PluginSource, entries: Sequence[Entry]) -> None:
        """A name that is taken is refused, naming both; of two third parties neither can be trusted to be meant."""
        taken: dict[tuple[str, str], Entry] = dict(self._entries)
        for entry in entries:
            if entry.name in KINDS[entry.kind].reserved:
                reason = f"the {entry.kind} {entry.name!r} of {entry.module} has the name of one of ours"
                raise LoadFailure("validation", reason, f"pip uninstall {source.distribution}")
            other = taken.setdefault(entry.key, entry)
            if other is entry:
                continue
            reason = f"two plugins offer a {entry.kind} named {entry.name!r}: {other.module} and {entry.module}"
            remedy = f"pip uninstall {source.distribution}"
            if other.distribution not in (PROJECT, source.distribution):
                remedy += f", or pip uninstall {other.distribution}"
                self._put_aside(self._sources[other.distribution], LoadFailure("validation", reason, remedy))
            raise LoadFailure("validation", reason, remedy)

    @contextlib.contextmanager
    def _quarantining(self, source: PluginSource) -> Iterator[None]:
        """A third party that fails a step of its loading is put aside; a built-in that does is a bug and raises."""
        try:
            yield
        except LoadFailure as failure:
            if source.is_builtin:
                raise
            self._put_aside(source, failure)

    def _put_aside(self, source: PluginSource, failure: LoadFailure) -> None:
        self._drop_entries(source)
        name = source.distribution
        remedy = failure.remedy or f"pip install --upgrade {name}, or pip uninstall {name}"
        trace = "".join(tracebacks.format_exception(failure.__cause__ or failure))
        self.quarantine.append(Quarantined(name, source.version, failure.phase, str(failure), remedy, trace))

    def _drop_entries(self, source: PluginSource) -> None:
        for entry in [entry for entry in self._entries.values() if entry.distribution == source.distribution]:
            del self._entries[entry.key]
            self._classes.pop(entry.key, None)
            self._described.pop(entry.key, None)

    # --- importing

    def _keep(self, loaded: Sequence[tuple[Entry, type[Any]]]) -> None:
        self._classes |= {entry.key: cls for entry, cls in loaded}
        self._described |= {entry.key: entry for entry, _ in loaded}

    def _load_modules(self, source: PluginSource, modules: Sequence[str]) -> list[tuple[Entry, type[Any]]]:
        """Import and register modules; the classes they offer, which must be those of the manifest if there is one."""
        refuse_unmet(source)
        loaded = [pair for module in modules for pair in self._loader.load(source, module)]
        if source.manifest is None and not loaded:
            raise LoadFailure("registration", f"{', '.join(modules)} offers nothing: no hook in it returned a class")
        if source.manifest is not None:
            ours = (entry for entry in self._entries.values() if entry.distribution == source.distribution)
            listed = {entry.key for entry in ours if entry.module in modules}
            for key in sorted(listed ^ {entry.key for entry, _ in loaded}):
                where = "in the manifest but not offered" if key in listed else "offered but not in the manifest"
                reason = f"{' '.join(key)} is {where}; `audioclass plugins manifest` writes it anew"
                raise LoadFailure("validation", reason)
        return loaded
