"""Parts of a training kept on disk by what they were computed from, so that a run that was killed goes on.

An entry is a zip of `.npy` members without objects; one that does not read back whole is computed again.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from audioclass.writing import opened_beside

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Store:
    """A folder of named arrays."""

    folder: Path

    def computed(self, key: str, compute: Callable[[], Arrays]) -> Arrays:
        """The arrays of a key: those that are kept, else computed now and kept."""
        name = hashlib.sha256(key.encode()).hexdigest()
        path = self.folder / name[:2] / f"{name}.npz"
        kept = _read(path)
        if kept is None:
            kept = compute()
            path.parent.mkdir(parents=True, exist_ok=True)
            with opened_beside(path, "wb") as stream:
                np.savez(stream, **kept)
        return kept


def computed(store: Store | None, key: Callable[[], str], compute: Callable[[], Arrays]) -> Arrays:
    """From the store, or just computed where there is none; the key is made only where it is needed."""
    return compute() if store is None else store.computed(key(), compute)


def _read(path: Path) -> dict[str, np.ndarray] | None:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
