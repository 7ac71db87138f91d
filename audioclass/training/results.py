"""What one fit gives, and the same as named arrays that a store can keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.problems import LINKS, FeatureMachine, Machine, Members
from audioclass.training.problem import AnyMachine

COUNT = "count"


@dataclass(frozen=True, eq=False)
class FitResult:
    """The machine on all rows of a problem and, where it knows them, held-out scores; or the scores of a fold alone."""

    machine: AnyMachine | None
    scores: np.ndarray | None


def arrays_of(results: Sequence[FitResult]) -> dict[str, np.ndarray]:
    """Every result under its number."""
    arrays = {COUNT: np.array(len(results))}
    for number, result in enumerate(results):
        parts = _machine_arrays(result.machine) | ({} if result.scores is None else {"scores": result.scores})
        arrays |= {f"{number}/{name}": array for name, array in parts.items()}
    return arrays


def results_of(arrays: Mapping[str, np.ndarray]) -> list[FitResult]:
    """The inverse of `arrays_of`."""
    return [_result(_under(arrays, f"{number}/")) for number in range(int(arrays[COUNT]))]


def _result(parts: dict[str, np.ndarray]) -> FitResult:
    scores = parts.pop("scores", None)
    features = _under(parts, "features/")
    if features:
        return FitResult(FeatureMachine(features), scores)
    if "support" not in parts:
        return FitResult(None, scores)
    machine = Machine(parts["support"], parts["coefficients"], parts["intercept"][()], _members(parts))
    return FitResult(machine, scores)


def _members(parts: Mapping[str, np.ndarray]) -> Members | None:
    if "link" not in parts:
        return None
    return Members(LINKS[int(parts["link"])], parts["slopes"], parts["offsets"])


def _machine_arrays(machine: AnyMachine | None) -> dict[str, np.ndarray]:
    if machine is None:
        return {}
    if isinstance(machine, FeatureMachine):
        return {f"features/{name}": array for name, array in machine.arrays.items()}
    arrays = {
        "support": machine.support,
        "coefficients": machine.coefficients,
        "intercept": np.asarray(machine.intercept),
    }
    members = machine.members
    if members is None:
        return arrays
    return arrays | {
        "link": np.array(LINKS.index(members.link)),
        "slopes": members.slopes,
        "offsets": members.offsets,
    }


def _under(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
