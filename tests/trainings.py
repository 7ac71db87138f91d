"""Runs and configurations for tests of training: one process, no cache, components handed in as objects."""

from collections.abc import Mapping
from typing import Any

from audioclass.calibrators.platt import Platt
from audioclass.kernels.gaussian import Gaussian
from audioclass.run import Progress, Run, executor_for, silent
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.trainers.svm import SVM
from audioclass.training.config import TrainingConfig

PLAIN = {
    "strategy": OneVsOne(),
    "kernels": (Gaussian(),),
    "trainer": SVM(),
    "calibrator": Platt(),
    "criterion": None,
    "search": None,
    "large": None,
}


class NoRegistry:
    """Stands for the plugin manager where nobody asks for a component by its name."""

    def load(self, kind: str, name: str) -> type:
        """Nobody should ask."""
        raise AssertionError(f"{kind} {name!r} was asked for by name")

    def make(self, kind: str, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Nobody should ask."""
        raise AssertionError(f"{kind} {name!r} was asked for by name")

    def origin(self, kind: str, name: str) -> str:
        """Nobody should ask."""
        raise AssertionError(f"the origin of {kind} {name!r} was asked for")


def make_run(*, jobs: int = 1, seed: int = 0, progress: Progress = silent) -> Run:
    """A run of so many processes."""
    return Run(NoRegistry(), executor_for(jobs), progress=progress, seed=seed)


def make_config(**fields: Any) -> TrainingConfig:
    """One-vs-one support vector machines with a Gaussian kernel as it is, but for these fields."""
    return TrainingConfig(**{**PLAIN, **fields})
