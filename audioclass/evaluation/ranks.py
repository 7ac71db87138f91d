"""Several systems on several corpora or folds: mean ranks, whether they differ at all, and which do (specification 16).

Rank 1 is the best; systems that do equally well share the mean of their ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from audioclass.evaluation.paired import HypothesisTest

ALPHA = 0.05


def mean_ranks(scores: np.ndarray, higher_is_better: bool = True) -> np.ndarray:
    """Mean rank of each system over the rows of (n_corpora, n_systems) scores; they sum to k(k+1)/2."""
    return np.asarray(_ranks(scores, higher_is_better).mean(axis=0))


def friedman(scores: np.ndarray) -> HypothesisTest:
    """Friedman's χ² with its correction for ties; without any difference in ranks p is 1."""
    scores = _checked(scores)
    statistic = _friedman_statistic(scores)
    return HypothesisTest("Friedman", statistic, float(stats.chi2.sf(statistic, scores.shape[1] - 1)))


def iman_davenport(scores: np.ndarray) -> HypothesisTest:
    """Iman and Davenport's F from Friedman's χ²: less timid, the one to read; p is 0 where all rows rank alike."""
    scores = _checked(scores)
    n, k = scores.shape
    statistic = _friedman_statistic(scores)
    left = n * (k - 1) - statistic
    if left <= 1e-9 * n * k:
        return HypothesisTest("Iman-Davenport", float("inf"), 0.0)
    f = (n - 1) * statistic / left
    return HypothesisTest("Iman-Davenport", float(f), float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))))


def critical_difference(n_systems: int, n_corpora: int, alpha: float = ALPHA) -> float:
    """Nemenyi's: mean ranks at least this far apart differ, all pairs taken together."""
    if n_systems < 2 or n_corpora < 1:
        raise ValueError(f"{n_systems} systems on {n_corpora} corpora, at least 2 on 1 are needed")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha} must be between 0 and 1")
    q = stats.studentized_range.ppf(1 - alpha, n_systems, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_systems * (n_systems + 1) / (6 * n_corpora)))


def cliques(ranks: np.ndarray, difference: float) -> tuple[tuple[int, ...], ...]:
    """The largest runs of two or more systems, best first, whose ranks all lie less than the difference apart."""
    order = [int(index) for index in np.argsort(ranks, kind="stable")]
    runs = [
        tuple(other for other in order[start:] if ranks[other] - ranks[one] < difference)
        for start, one in enumerate(order)
    ]
    return tuple(
        run
        for start, run in enumerate(runs)
        if len(run) > 1 and not any(set(run) <= set(earlier) for earlier in runs[:start])
    )


@dataclass(frozen=True, eq=False)
class Ranked:
    """Systems in the order given, ranked over the rows of `scores`; a row is one `block`, a corpus or a fold."""

    names: tuple[str, ...]
    block: str
    scores: np.ndarray
    mean_ranks: np.ndarray
    friedman: HypothesisTest
    iman_davenport: HypothesisTest
    critical_difference: float
    alpha: float
    cliques: tuple[tuple[int, ...], ...]

    def to_plain(self) -> dict[str, Any]:
        """Plain values only."""
        return {
            "block": self.block,
            "n_blocks": len(self.scores),
            "scores": self.scores.tolist(),
            "mean_ranks": dict(zip(self.names, self.mean_ranks.tolist(), strict=True)),
            "friedman": self.friedman.to_plain(),
            "iman_davenport": self.iman_davenport.to_plain(),
            "critical_difference": self.critical_difference,
            "alpha": self.alpha,
            "not_told_apart": [[self.names[member] for member in clique] for clique in self.cliques],
        }


def rank_systems(
    names: Sequence[str],
    scores: np.ndarray,
    *,
    block: str = "corpus",
    higher_is_better: bool = True,
    alpha: float = ALPHA,
) -> Ranked:
    """Rank several systems over (n_blocks, n_systems) scores; for two, `paired.wilcoxon` is the test to take."""
    scores = _checked(scores)
    if len(names) != scores.shape[1]:
        raise ValueError(f"{len(names)} names for {scores.shape[1]} systems")
    ranks = mean_ranks(scores, higher_is_better)
    apart = critical_difference(len(names), len(scores), alpha)
    tests = friedman(scores), iman_davenport(scores)
    return Ranked(tuple(names), block, scores, ranks, *tests, apart, alpha, cliques(ranks, apart))


def _friedman_statistic(scores: np.ndarray) -> float:
    """scipy's, which asks for three systems and rows that are not all of equals; of two it is that of the signs."""
    if (np.ptp(scores, axis=1) == 0).all():
        return 0.0
    if scores.shape[1] == 2:
        signs = np.sign(scores[:, 0] - scores[:, 1])
        return float(signs.sum() ** 2 / np.abs(signs).sum())
    return float(stats.friedmanchisquare(*scores.T).statistic)


def _ranks(scores: np.ndarray, higher_is_better: bool) -> np.ndarray:
    return np.asarray(stats.rankdata(-_checked(scores) if higher_is_better else _checked(scores), axis=1))


def _checked(scores: np.ndarray) -> np.ndarray:
    scores = np.asarray(scores, float)
    if scores.ndim != 2 or scores.shape[0] < 2 or scores.shape[1] < 2:
        raise ValueError(
            f"scores have shape {scores.shape}, must have at least 2 rows, corpora, and 2 columns, systems"
        )
    if not np.isfinite(scores).all():
        raise ValueError("scores hold NaN or infinite values")
    return scores
