"""Two-sided tests between two systems on the same examples, folds or corpora (specification 16); Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from audioclass.evaluation.formatting import plain_number

EXACT_BELOW = 25  # examples on which two systems part
ENUMERATED = 20  # pairs whose signs are all tried


@dataclass(frozen=True)
class HypothesisTest:
    """What a test found: its name, its statistic, and how probable one so far out is if the systems do not differ."""

    method: str
    statistic: float
    p: float

    def to_plain(self) -> dict[str, Any]:
        """Plain values only."""
        return {"method": self.method, "statistic": plain_number(self.statistic), "p": plain_number(self.p)}


def mcnemar(first_right: np.ndarray, second_right: np.ndarray, exact: bool | None = None) -> HypothesisTest:
    """Whether one of two systems is right more often where they part; exact below 25 such examples unless told.

    The examples must be independent of each other: recordings or groups rather than windows.
    """
    first, second = _paired(np.asarray(first_right, bool), np.asarray(second_right, bool))
    only_first, only_second = int((first & ~second).sum()), int((~first & second).sum())
    parted = only_first + only_second
    if parted < EXACT_BELOW if exact is None else exact:
        return HypothesisTest("McNemar, exact", min(only_first, only_second), _binomial(only_first, only_second))
    statistic = max(abs(only_first - only_second) - 1, 0) ** 2 / parted if parted else 0.0
    return HypothesisTest("McNemar, χ²", statistic, float(stats.chi2.sf(statistic, 1)))


def corrected_t(differences: np.ndarray, test_over_train: float) -> HypothesisTest:
    """Paired t test over resamplings that share training examples (Nadeau and Bengio 2003).

    `differences` are those of a measure in each fold of each repetition; `test_over_train` is n_test / n_train, which
    is 1/(k-1) for k folds. At 0 this is the ordinary t test, which takes overlapping folds for independent ones.
    """
    d = _differences(differences, least=2)
    if not 0 <= test_over_train < np.inf:
        raise ValueError(f"test_over_train={test_over_train} must be at least 0")
    method = "corrected t" if test_over_train else "t"
    if np.ptp(d) == 0:
        return HypothesisTest(method, 0.0 if d[0] == 0 else float(np.copysign(np.inf, d[0])), float(d[0] == 0))
    t = d.mean() / (np.sqrt(1 / len(d) + test_over_train) * d.std(ddof=1))
    return HypothesisTest(method, float(t), float(2 * stats.t.sf(abs(t), len(d) - 1)))


def wilcoxon(differences: np.ndarray) -> HypothesisTest:
    """Signed ranks of the differences over several corpora; zeros are dropped, equals share their rank.

    All signs are tried up to 20 pairs; beyond that a normal approximation with a correction for ties.
    """
    d = _differences(differences, least=1)
    d = d[d != 0]
    if not len(d):
        return HypothesisTest("Wilcoxon, exact", 0.0, 1.0)
    ranks = stats.rankdata(np.abs(d))
    statistic = float(min(ranks[d > 0].sum(), ranks[d < 0].sum()))
    if len(d) <= ENUMERATED:
        return HypothesisTest("Wilcoxon, exact", statistic, min(1.0, 2 * _share_at_most(ranks, statistic)))
    test = stats.wilcoxon(d, method="asymptotic", correction=False)
    return HypothesisTest("Wilcoxon, normal", float(test.statistic), float(test.pvalue))


def holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Holm's step-down adjustment: the smallest is multiplied by their number m, the next by m-1, and so on.

    Adjusted values never fall below an earlier one and never exceed 1; an undefined p (NaN) is no test and stays NaN.
    """
    values = np.asarray(p, float)
    tested = np.flatnonzero(~np.isnan(values))
    if ((values[tested] < 0) | (values[tested] > 1)).any():
        raise ValueError("p values must be between 0 and 1")
    order = tested[np.argsort(values[tested], kind="stable")]
    adjusted = np.full(len(values), np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1)))
    return adjusted


def _share_at_most(ranks: np.ndarray, statistic: float) -> float:
    """The part of all 2ⁿ choices of signs whose positive ranks sum to at most this.

    scipy's exact test knows no equals, and its permutations take seconds from 15 pairs on; here sums are counted.
    """
    doubled = np.rint(2 * ranks).astype(int)  # mid-ranks are halves
    counts = np.zeros(doubled.sum() + 1)
    counts[0] = 1
    for rank in doubled:
        counts[rank:] = counts[rank:] + counts[:-rank]
    return float(counts[: round(2 * statistic) + 1].sum() / counts.sum())


def _binomial(only_first: int, only_second: int) -> float:
    return float(min(1.0, 2 * stats.binom.cdf(min(only_first, only_second), only_first + only_second, 0.5)))


def _paired(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"predictions of shapes {first.shape} and {second.shape} are not paired")
    return first, second


def _differences(differences: np.ndarray, least: int) -> np.ndarray:
    d = np.asarray(differences, float)
    if d.ndim != 1 or len(d) < least:
        raise ValueError(f"{d.size} differences, at least {least} are needed")
    if not np.isfinite(d).all():
        raise ValueError("differences hold NaN or infinite values")
    return d
