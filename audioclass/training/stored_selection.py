"""What was chosen for a dichotomy, and the same as arrays that a store holds: a finished search is not made again."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audioclass.contracts import Kernel
from audioclass.parameters import make, parameter_values
from audioclass.problems import Trial
from audioclass.storage import Store

MEMBER = "selected"


@dataclass(frozen=True)
class Selected:
    """The kernel and C of a dichotomy, every point that was looked at, and what could not be judged.

    `value` is the criterion's own at the choice, NaN where nothing was judged; the points of `trace` name the
    parameters, C where it was searched, and hold the criterion's values as it states them.
    """

    kernel: Kernel
    C: float
    trace: tuple[Trial, ...] = ()
    note: str = ""
    value: float = math.nan


def restored(
    store: Store | None, key: Callable[[], str], kernels: Sequence[Kernel], choose: Callable[[], list[Selected]]
) -> list[Selected]:
    """What was chosen before under the same key, else what is chosen now; the same to the bit either way."""
    if store is None:
        return choose()
    classes = {kernel.name: type(kernel) for kernel in kernels}
    chosen: list[Selected] = []

    def compute() -> dict[str, np.ndarray]:
        chosen.extend(choose())
        return _arrays(chosen, classes)

    arrays = store.computed(key(), compute)
    return chosen or (_selected(arrays[MEMBER], classes) if MEMBER in arrays else choose())


def _arrays(selected: Sequence[Selected], classes: Mapping[str, type[Kernel]]) -> dict[str, np.ndarray]:
    """Nothing where a kernel is of a class that could not be made again from its name."""
    if any(type(one.kernel) is not classes.get(one.kernel.name) for one in selected):
        return {}
    text = json.dumps([_plain(one) for one in selected], default=float)
    return {MEMBER: np.frombuffer(text.encode(), np.uint8)}


def _plain(one: Selected) -> dict[str, Any]:
    kernel = {"name": one.kernel.name, "parameters": parameter_values(one.kernel)}
    trace = [[trial.point, trial.value] for trial in one.trace]
    return {"kernel": kernel, "C": one.C, "trace": trace, "note": one.note, "value": one.value}


def _selected(array: np.ndarray, classes: Mapping[str, type[Kernel]]) -> list[Selected]:
    return [_one(table, classes) for table in json.loads(array.tobytes())]


def _one(table: Mapping[str, Any], classes: Mapping[str, type[Kernel]]) -> Selected:
    kernel = make(classes[table["kernel"]["name"]], table["kernel"]["parameters"])
    trace = tuple(Trial(point, value) for point, value in table["trace"])
    return Selected(kernel, table["C"], trace, table["note"], table["value"])
