"""Parts of a training kept on disk by what they were computed from, so that a run that was killed goes on.

An entry is a zip of `.npy` members without objects; one that does not read back whole is computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from audioclass.errors import UsageError
from audioclass.storage import atomic_open

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Store:
    """A folder of named arrays."""

    folder: Path

    def computed(self, key: str, compute: Callable[[], Arrays]) -> Arrays:
        """The arrays of a key: those that are kept, else computed now and kept."""
        name = hashlib.sha256(key.encode()).hexdigest()
        path = self.folder / name[:2] / f"{name}.npz"
        stored = _read(path)
        if stored is not None:
            return stored
        arrays = compute()
        _write(path, arrays)
        return arrays


@contextlib.contextmanager
def resumable(folder: Path) -> Iterator[Store]:
    """A store for one run: what it holds stays where the run is stopped, and is gone when it ends well."""
    yield Store(folder)
    shutil.rmtree(folder, ignore_errors=True)


def computed(store: Store | None, key: Callable[[], str], compute: Callable[[], Arrays]) -> Arrays:
    """From the store, or just computed where there is none; the key is made only where it is needed."""
    return compute() if store is None else store.computed(key(), compute)


def _write(path: Path, arrays: Arrays) -> None:
    """Keep the arrays; what cannot be kept, for want of room or leave, is only computed again next time."""
    with contextlib.suppress(OSError, UsageError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_open(path, "wb") as stream:
            np.savez(stream, **arrays)


def _read(path: Path) -> dict[str, np.ndarray] | None:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
