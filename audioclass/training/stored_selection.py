"""The choice of kernels and C as arrays that a store keeps: a search that was finished is not made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from audioclass.contracts import Kernel
from audioclass.parameters import make, parameter_values
from audioclass.problems import Trial
from audioclass.storage import Store
from audioclass.training.selection import Selected

MEMBER = "selected"


def kept_selection(
    store: Store | None, key: Callable[[], str], kernels: Sequence[Kernel], choose: Callable[[], list[Selected]]
) -> list[Selected]:
    """What was chosen before under the same key, else what is chosen now; the same to the bit either way."""
    if store is None:
        return choose()
    known = {kernel.name: type(kernel) for kernel in kernels}
    made: list[Selected] = []

    def compute() -> dict[str, np.ndarray]:
        made.extend(choose())
        return _arrays(made, known)

    kept = store.computed(key(), compute)
    return made or (_selected(kept[MEMBER], known) if MEMBER in kept else choose())


def _arrays(selected: Sequence[Selected], known: Mapping[str, type]) -> dict[str, np.ndarray]:
    """Nothing where a kernel is of a class that could not be made again from its name."""
    if any(type(one.kernel) is not known.get(one.kernel.name) for one in selected):
        return {}
    text = json.dumps([_plain(one) for one in selected], default=float)
    return {MEMBER: np.frombuffer(text.encode(), np.uint8)}


def _plain(one: Selected) -> dict[str, Any]:
    kernel = {"name": one.kernel.name, "parameters": parameter_values(one.kernel)}
    trace = [[trial.point, trial.value] for trial in one.trace]
    return {"kernel": kernel, "C": one.C, "trace": trace, "note": one.note, "value": one.value}


def _selected(array: np.ndarray, known: Mapping[str, type]) -> list[Selected]:
    return [_one(said, known) for said in json.loads(array.tobytes())]


def _one(said: Mapping[str, Any], known: Mapping[str, type]) -> Selected:
    kernel = make(known[said["kernel"]["name"]], said["kernel"]["parameters"])
    trace = tuple(Trial(point, value) for point, value in said["trace"])
    return Selected(kernel, said["C"], trace, said["note"], said["value"])
