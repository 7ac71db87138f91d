"""What the fit of one item answers, and the same as named arrays that a store can keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from audioclass.problems import FeatureMachine, Machine

AnyMachine = Machine | FeatureMachine
Answer = tuple[int, int | None, AnyMachine | None, np.ndarray | None]  # problem, fold, machine, held-out scores
NONE = -1


def arrays_of(answers: Sequence[Answer]) -> dict[str, np.ndarray]:
    """Every answer under its number."""
    arrays = {"which": np.array([(index, NONE if fold is None else fold) for index, fold, _, _ in answers])}
    for number, (_, _, machine, scores) in enumerate(answers):
        own = dict(_machine_arrays(machine)) | ({} if scores is None else {"scores": scores})
        arrays |= {f"{number}/{name}": array for name, array in own.items()}
    return arrays


def answers_of(arrays: Mapping[str, np.ndarray]) -> list[Answer]:
    """The inverse of `arrays_of`."""
    return [
        (int(index), None if fold == NONE else int(fold), *_answered(_under(arrays, f"{number}/")))
        for number, (index, fold) in enumerate(arrays["which"])
    ]


def _answered(own: dict[str, np.ndarray]) -> tuple[AnyMachine | None, np.ndarray | None]:
    scores = own.pop("scores", None)
    features = _under(own, "features/")
    if features:
        return FeatureMachine(features), scores
    if "support" not in own:
        return None, scores
    return Machine(own["support"], own["coefficients"], own["intercept"][()]), scores


def _machine_arrays(machine: AnyMachine | None) -> dict[str, np.ndarray]:
    if machine is None:
        return {}
    if isinstance(machine, FeatureMachine):
        return {f"features/{name}": array for name, array in machine.arrays.items()}
    return {
        "support": machine.support,
        "coefficients": machine.coefficients,
        "intercept": np.asarray(machine.intercept),
    }


def _under(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
