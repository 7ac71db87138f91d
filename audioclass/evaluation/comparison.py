"""Two or more systems on the same examples and folds: what was found of each, of every pair, and of all together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audioclass.evaluation.bootstrap import Interval
from audioclass.evaluation.formatting import plain_measure, plain_number, shown, shown_interval
from audioclass.evaluation.paired import HypothesisTest
from audioclass.evaluation.ranks import Ranked

MAIN_MEASURES = {
    "accuracy": "accuracy",
    "mean_average_precision": "mAP",
    "exact_match": "all right",
    "log_loss": "log-loss",
    "calibration_error": "ECE",
}


@dataclass(frozen=True)
class System:
    """One system: its measures over all examples and what it cost, by names such as `train_seconds`."""

    name: str
    measures: Mapping[str, float]
    costs: Mapping[str, float]


@dataclass(frozen=True)
class Pair:
    """Two systems: first minus second in the measure compared by, its interval over groups, and the tests.

    `adjusted` holds the p values of `tests` after Holm's correction over all pairs of the comparison.
    """

    first: str
    second: str
    difference: float
    interval: Interval
    tests: Mapping[str, HypothesisTest]
    adjusted: Mapping[str, float]

    def to_plain(self) -> dict[str, Any]:
        """Plain values only."""
        tests = {
            name: each.to_plain() | {"adjusted_p": plain_number(self.adjusted[name])}
            for name, each in self.tests.items()
        }
        return {
            "first": self.first,
            "second": self.second,
            "difference": plain_measure(self.difference, self.interval),
            "tests": tests,
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Systems in the order given, every pair of them, and their ranks over the folds where there are three or more.

    `failures` say which recordings could not be used, each with its reason.
    """

    measure: str
    systems: tuple[System, ...]
    pairs: tuple[Pair, ...]
    ranked: Ranked | None
    failures: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The systems' names."""
        return tuple(system.name for system in self.systems)

    @property
    def costs(self) -> tuple[str, ...]:
        """The names of the costs that any system states."""
        return tuple(dict.fromkeys(name for system in self.systems for name in system.costs))

    @property
    def tests(self) -> tuple[str, ...]:
        """The names of the tests that any pair was put to."""
        return tuple(dict.fromkeys(name for pair in self.pairs for name in pair.tests))

    @property
    def main_measures(self) -> dict[str, str]:
        """The few that a table shows first, with what they are called there."""
        return {name: text for name, text in MAIN_MEASURES.items() if name in self.systems[0].measures}

    def rows(self) -> list[tuple[str, ...]]:
        """Name, `main_measures` and the `costs` of each system, as a table shows them."""
        return [
            (
                each.name,
                *(shown(each.measures[name]) for name in self.main_measures),
                *(_cost(each.costs.get(name)) for name in self.costs),
            )
            for each in self.systems
        ]

    def pair_rows(self) -> list[tuple[str, ...]]:
        """First, second, difference, interval and the adjusted p of each of `tests`, as a table shows them."""
        return [
            (
                each.first,
                each.second,
                shown(each.difference),
                shown_interval(each.interval),
                *(shown(each.adjusted.get(name)) for name in self.tests),
            )
            for each in self.pairs
        ]

    def to_plain(self) -> dict[str, Any]:
        """Plain values only, as JSON holds them."""
        systems = [
            {"name": each.name, "measures": _plain(each.measures), "costs": _plain(each.costs)} for each in self.systems
        ]
        return {
            "measure": self.measure,
            "systems": systems,
            "pairs": [pair.to_plain() for pair in self.pairs],
            "ranks": self.ranked.to_plain() if self.ranked else None,
        }


def _plain(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: plain_number(value) for name, value in values.items()}


def _cost(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
