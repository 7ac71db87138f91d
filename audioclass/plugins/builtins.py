"""Our own components: from the manifest that a built package carries, else from the source files themselves.

A checkout carries no manifest. Its files are read when the first manager is made, and the result is cached beside
Python's byte code until a file changes: a new component is its file and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from audioclass import __version__
from audioclass.errors import AudioclassError
from audioclass.hookspecs import PROJECT
from audioclass.outputs import atomic_write
from audioclass.plugins.manifests import BUILTIN_MANIFEST, write_builtin_manifest
from audioclass.plugins.sources import PluginSource

ROOT = Path(__file__).parents[1]


def builtin_source() -> PluginSource:
    """Our own components."""
    try:
        manifest = (ROOT / BUILTIN_MANIFEST).read_text(encoding="utf-8")
    except FileNotFoundError:
        manifest = _manifest_of_files(ROOT, ROOT / "__pycache__")
    return PluginSource(PROJECT, __version__, (), manifest)


def make_builtin_manifest(root: Path) -> str:
    """The manifest of the source files below a folder, without importing any of them."""
    from audioclass.plugins.static import read_components  # a built package never needs it

    return write_builtin_manifest(read_components(root, PROJECT, __version__))


def _manifest_of_files(root: Path, cache: Path) -> str:
    """The manifest of the files as they are now, from the cache where none has changed since it was written."""
    state = _state_of_files(root)
    cached = cache / BUILTIN_MANIFEST
    with contextlib.suppress(OSError, UnicodeDecodeError):
        written_for, _, manifest = cached.read_text(encoding="utf-8").partition("\n")
        if written_for == state:
            return manifest
    manifest = make_builtin_manifest(root)
    with contextlib.suppress(OSError, AudioclassError):  # a checkout that cannot be written is read again each time
        cache.mkdir(exist_ok=True)
        atomic_write(cached, f"{state}\n{manifest}")
    return manifest


def _state_of_files(root: Path) -> str:
    """A digest of the names, sizes and times of all source files."""
    digest = hashlib.sha256()
    folders = [str(root)]
    for folder in folders:
        with os.scandir(folder) as items:
            ordered = sorted(items, key=lambda item: item.name)
        for item in (item for item in ordered if item.name.endswith(".py")):
            status = item.stat()
            digest.update(f"{item.path} {status.st_size} {status.st_mtime_ns}\n".encode())
        folders += [item.path for item in ordered if item.is_dir() and item.name != "__pycache__"]
    return digest.hexdigest()
