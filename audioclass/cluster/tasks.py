"""What is done on a worker: items of work, and an inspection of its environment."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from audioclass import __version__
from audioclass.hookspecs import PROJECT
from audioclass.threads import one_thread

COMPUTING = ("numpy", "scipy", "scikit-learn", "librosa", "soundfile", "soxr", "distributed")
MODULES = "AUDIOCLASS_MODULES"
VARIABLES = ("AUDIOCLASS_PLUGINS", MODULES)  # which plugins a process has


class Payload:
    """A value that travels in one piece, so that its arrays arrive where numpy likes them to begin.

    Dask sends large arrays beside the object that holds them, and they may arrive at odd addresses; numpy reads these
    some at a time, and a sum over them is rounded otherwise.
    """

    def __init__(self, content: Any) -> None:
        self.content = content

    def __reduce__(self) -> tuple[Any, ...]:
        from cloudpickle import dumps  # as distributed does it: functions of a script or a notebook can travel

        return _unpack, (dumps(self.content),)


def _unpack(packed: bytes) -> Payload:
    return Payload(pickle.loads(packed))  # noqa: S301 (brought by distributed, like the call itself)


@dataclass(frozen=True)
class ProcessContext:
    """Where a command was started: its working folder, and what its environment says of plugins."""

    folder: Path
    variables: Mapping[str, str | None]

    @classmethod
    def current(cls) -> ProcessContext:
        """That of this process."""
        return cls(Path.cwd(), {name: os.environ.get(name) for name in VARIABLES})

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Relative paths are those of the command; a worker has one thread, so nobody else is led astray."""
        for name, value in self.variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        with contextlib.chdir(self.folder):
            yield


@dataclass(frozen=True)
class Environment:
    """What work depends on where it is done: versions by name, digests by path; None for what is not there."""

    versions: Mapping[str, str]
    files: Mapping[Path, str | None]

    def differences(self, there: Environment) -> list[str]:
        """What is other on a worker than here, in half a line each."""
        names = sorted({*self.versions, *there.versions})
        versions = [_version_difference(name, self.versions.get(name), there.versions.get(name)) for name in names]
        files = [_file_difference(path, digest, there.files.get(path)) for path, digest in self.files.items()]
        return [text for text in (*versions, *files) if text]


def _version_difference(name: str, here: str | None, there: str | None) -> str:
    if here == there:
        return ""
    if there is None:
        return f"{name} is not installed, here it is {here}"
    return f"{name} {there}, here {'it is not installed' if here is None else here}"


def _file_difference(path: Path, here: str | None, there: str | None) -> str:
    if here == there:
        return ""
    if there is None:
        return f"no {path}, which must lie where all machines see it"
    return f"{path} is another file than here"


def receive(payload: Payload) -> Payload:
    """The work of many items, as it arrived: it stays with the worker."""
    return payload


def run_item(work: Payload, item: Payload, context: ProcessContext) -> Payload:
    """An item of work, done as in the process that asks for it, on one thread."""
    with context.entered(), one_thread():
        return Payload(work.content(item.content))


def inspect_environment(files: Sequence[Path], context: ProcessContext) -> Environment:
    """What is installed here, and the digests of these files, of which one may be the folder that work is done in."""
    if not context.folder.is_dir():
        return Environment(_versions(), {context.folder: None, **dict.fromkeys(files)})
    with context.entered():
        versions = {**_versions(), "-p": _modules() or "without modules"}
        return Environment(versions, {context.folder: "folder", **{file: _digest(file) for file in files}})


@cache
def _versions() -> Mapping[str, str]:
    versions = {"python": ".".join(platform.python_version_tuple()[:2]), PROJECT: __version__}
    versions |= {name: version for name in COMPUTING if (version := _version(name)) is not None}
    plugins = [point.dist for point in metadata.entry_points(group=PROJECT) if point.dist is not None]
    return versions | {plugin.name: plugin.version for plugin in plugins}


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


@cache
def _modules() -> str:
    """Those that this process began with: its plugin manager has them, whatever the environment says later."""
    return os.environ.get(MODULES, "")


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
