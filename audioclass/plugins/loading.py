"""Modules of plugins imported and asked what they offer, phase by phase; whatever goes wrong is a LoadFailure."""

from __future__ import annotations

import contextlib
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import pluggy

from audioclass import __version__, hookspecs
from audioclass.errors import PluginError, did_you_mean, named_text_of
from audioclass.hookspecs import KINDS, PROJECT
from audioclass.plugins import validation
from audioclass.plugins.importing import ImportTimeout, UserInterrupt, contained, import_limit
from audioclass.plugins.manifests import Entry, describe, read_manifest
from audioclass.plugins.sources import PluginSource, unmet_requirement


class LoadFailure(PluginError):
    """A distribution failed in a phase of its loading; the cause is kept."""

    def __init__(self, phase: str, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.phase = phase
        self.remedy = remedy


class ModuleLoader:
    """Imports modules, each once, and calls their hooks; `modules` are those that are there already, by name."""

    def __init__(self) -> None:
        self.modules: dict[str, Any] = {}
        self._hooks = pluggy.PluginManager(PROJECT)
        self._hooks.add_hookspecs(hookspecs)
        self._stop_tracing: Callable[[], None] | None = None

    def trace(self, wanted: bool) -> bool:
        """Write every call of a hook to standard error from now on, or no longer; whether it begins now."""
        begins = wanted and self._stop_tracing is None
        if begins:
            self._stop_tracing = self._hooks.add_hookcall_monitoring(lambda *_: None, _write_call)
        elif not wanted and self._stop_tracing is not None:
            self._stop_tracing()
            self._stop_tracing = None
        return begins

    def forget(self, name: str) -> None:
        """A module is known no longer."""
        if self._hooks.has_plugin(name):
            self._hooks.unregister(name=name)
        self.modules.pop(name, None)

    def load(self, source: PluginSource, name: str) -> list[tuple[Entry, type[Any]]]:
        """Import a module and ask it: its entries, each with its class; what goes wrong is a LoadFailure."""
        surroundings: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if not source.is_builtin:
            surroundings = contained(source.distribution, import_limit())
        with _phase("import"), surroundings:  # the limit may be over at any moment, between two phases too
            with _phase("import"):
                module = self.modules[name] if name in self.modules else _resolve(name)
            with _phase("registration"):
                offered = self._call_hooks(module, name)
        with _phase("validation"):
            for kind, cls in offered:
                validation.check_class(cls, kind)
            return [(describe(cls, kind, name, source.distribution, source.version), cls) for kind, cls in offered]

    def _call_hooks(self, module: Any, name: str) -> list[tuple[str, type[Any]]]:
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
    name, _, attribute = value.partition(":")
    module = import_module(name.strip())
    return operator.attrgetter(attribute.strip())(module) if attribute else module


def refuse_unmet(source: PluginSource) -> None:
    """A distribution that needs another version of audioclass is not imported."""
    if not source.requires:
        return
    with _phase("requirements"):
        needed = unmet_requirement(source)
    if needed:
        remedy = f"pip install '{needed}', or pip uninstall {source.distribution}"
        raise LoadFailure("requirements", f"needs {needed}, this is {PROJECT} {__version__}", remedy)


def manifest_entries(source: PluginSource) -> tuple[Entry, ...]:
    """What the manifest of a distribution lists."""
    with _phase("manifest"):
        return read_manifest(source.manifest or "", source.distribution, source.version)


def _write_call(outcome: Any, hook: str, methods: Sequence[Any], arguments: Any) -> None:
    """One line for a call of a hook: which module was asked, and what it gave or raised."""
    modules = ", ".join(method.plugin_name for method in methods)
    if outcome.exception is not None:
        given = named_text_of(outcome.exception)
    else:
        classes = [cls for returned in outcome.get_result() for cls in returned]
        given = ", ".join(getattr(cls, "__name__", repr(cls)) for cls in classes)
    sys.stderr.write(f"{hook} of {modules}: {given}\n")


@contextlib.contextmanager
def _phase(name: str) -> Iterator[None]:
    """Turn whatever a plugin raises into a LoadFailure of this phase."""
    try:
        yield
    except LoadFailure:
        raise
    except PluginError as error:
        raise LoadFailure(name, str(error)) from error
    except UserInterrupt:
        raise
    except ImportTimeout as error:
        raise LoadFailure(name, str(error)) from error
    except BaseException as error:  # foreign code may raise anything, and must not end the tool
        raise LoadFailure(name, named_text_of(error)) from error
