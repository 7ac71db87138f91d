"""What a model file remembers of its training: rows with their labels and groups, and the recordings these are of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from audioclass.classifier.classifier import Classifier
from audioclass.classifier.model import Memory, TrainedRecordings
from audioclass.classifier.stored_values import checked_list, checked_text
from audioclass.errors import ModelError


def memory_of(arrays: Mapping[str, np.ndarray], classifier: Classifier) -> Memory | None:
    """What a model remembers of its rows; None where it was saved without."""
    if not arrays:
        return None
    memory, n_rows, n_labels = Memory(**arrays), classifier.n_support, len(classifier.classes)
    shapes = {name: array.shape[:1] for name, array in arrays.items()}
    if set(shapes.values()) != {(n_rows,)} or memory.held_out.shape[1:] != (classifier.n_machines,):
        raise ModelError(f"its memory has arrays of {shapes} for {n_rows} rows of the bank")
    if memory.y.dtype.kind != "i" or (n_rows and not 0 <= memory.y.min() <= memory.y.max() < n_labels):
        raise ModelError(f"its memory names labels beyond the {n_labels} there are")
    if memory.windows is not None and not _are_windows(memory.windows):
        raise ModelError("its memory must number windows from 0 on, in rising order")
    return memory


def _are_windows(windows: np.ndarray) -> bool:
    steps = np.diff(windows, prepend=-1)
    return windows.dtype.kind == "i" and bool(np.isin(steps, (0, 1)).all()) and bool((steps[:1] == 1).all())


def recordings_of(
    manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray], memory: Memory | None
) -> TrainedRecordings | None:
    """The recordings that were trained on, every number of a group or recording within its list."""
    if not arrays:
        return None
    names = tuple(checked_text(name) for name in checked_list(manifest.get("groups"), "groups"))
    recordings = TrainedRecordings(names, **arrays, aliases=_aliases(manifest.get("group_aliases", {}), len(names)))
    n, n_rows = len(recordings.digests), len(recordings.rows) if memory is None else len(memory.y)
    shapes = {name: array.shape for name, array in arrays.items()}
    if shapes != {"digests": (n, 16), "groups": (n,), "rows": (n_rows,), "times": (n_rows, 2)}:
        raise ModelError(f"its recordings have arrays of {shapes} for {n_rows} rows of the bank")
    numbers = [(recordings.groups, 0, len(names)), (recordings.rows, -1, n)]
    if memory is not None:
        numbers.append((memory.groups, 0, len(names)))
    for array, low, high in numbers:
        if array.dtype.kind != "i" or (len(array) and not low <= array.min() <= array.max() < high):
            raise ModelError(f"its recordings name groups or recordings beyond the {len(names)} and {n} there are")
    return recordings


def _aliases(table: Any, n_groups: int) -> dict[str, int]:
    """Further names of groups; none in files of before they were kept."""
    if not isinstance(table, dict):
        raise ModelError(f"group_aliases {str(table)[:40]!r} must be a table")
    for place in table.values():
        if type(place) is not int or not 0 <= place < n_groups:
            raise ModelError(f"group_aliases: group {str(place)[:40]!r} must be a number below {n_groups}")
    return table
