"""The configuration of a training: every choice in one frozen value.

Options of the command line, tables of a configuration file and parameters of the estimator are all made from its
fields: a new choice is one field here and the code that reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from audioclass.classifier.preprocessing import NORMALISATIONS
from audioclass.contracts import Calibrator, Criterion, DirectStrategy, Kernel, Search, Strategy, Trainer
from audioclass.errors import UsageError, unknown_name

HeldOutMethod = Literal["auto", "folds", "span"]
ErrorFactorRule = Literal["searched", "joachims", "fixed"]


@dataclass(frozen=True)
class TrainingConfig:
    """Components and numbers of a training.

    `kernels` compete under the `criterion`; without one the first is taken as it is, with `C`. `large` is the trainer
    of dichotomies that are too large for `trainer`. `chosen` names the fields that somebody stated.
    """

    strategy: Strategy | DirectStrategy
    kernels: tuple[Kernel, ...]
    trainer: Trainer
    calibrator: Calibrator
    criterion: Criterion | None = None
    search: Search | None = None
    large: Trainer | None = None
    C: float = 10.0
    c_rule: ErrorFactorRule = "searched"
    c_range: tuple[float, float] = (0.1, 1000.0)
    normalisation: str = "rank"
    weigh_groups: bool = False
    feature_shares: tuple[float, ...] = ()
    shared_selection: bool = True
    selection_rows: int = 400
    selection_folds: int = 10
    held_out: HeldOutMethod = "auto"
    folds: int = 5
    large_rows: int = 6000
    chosen: frozenset[str] = field(default=frozenset(), compare=False)

    def __post_init__(self) -> None:
        if not 0 < self.C < float("inf"):
            raise UsageError(f"C={self.C} must be positive and finite")
        if self.folds < 2:
            raise UsageError(f"folds={self.folds} must be at least 2")
        if self.selection_rows < 2:
            raise UsageError(f"selection_rows={self.selection_rows} must be at least 2")
        if self.normalisation not in NORMALISATIONS:
            raise unknown_name("normalisation", str(self.normalisation), NORMALISATIONS)
        if not all(0 < share <= 1 for share in self.feature_shares):
            raise UsageError(f"feature_shares={self.feature_shares} must lie above 0 and at most at 1")

    @property
    def is_direct(self) -> bool:
        """Whether the strategy fits all labels at once."""
        return not hasattr(self.strategy, "plan")
