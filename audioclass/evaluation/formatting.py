"""How measures look outside: plain values for JSON, where None is undefined, and text for tables, where a dash is."""

from __future__ import annotations

from typing import Any

import numpy as np

from audioclass.evaluation.bootstrap import Interval
from audioclass.evaluation.calibration import Reliability
from audioclass.evaluation.mistakes import Mistake
from audioclass.evaluation.ranking import Roc


def shown(value: float | None) -> str:
    """A number with three decimals."""
    return "–" if value is None or not np.isfinite(value) else f"{value:.3f}"


def shown_interval(interval: Interval) -> str:
    """Both ends with three decimals."""
    return f"{interval.low:.3f} … {interval.high:.3f}" if interval.is_known else "–"


def plain_number(value: float) -> float | None:
    """A Python float, or None for NaN and infinity, which JSON lacks."""
    return float(value) if np.isfinite(value) else None


def plain_numbers(values: np.ndarray) -> list[float | None]:
    """A list of `plain_number`."""
    return [plain_number(value) for value in values]


def plain_interval(interval: Interval) -> dict[str, float | None]:
    """The two ends."""
    return {"low": plain_number(interval.low), "high": plain_number(interval.high)}


def plain_measure(value: float, interval: Interval) -> dict[str, float | None]:
    """A value and the two ends of its interval."""
    return {"value": plain_number(value), **plain_interval(interval)}


def plain_reliability(reliability: Reliability) -> dict[str, Any]:
    """The bins of a reliability curve and the error they add up to."""
    arrays = {name: plain_numbers(getattr(reliability, name)) for name in ("edges", "weights", "stated", "observed")}
    return {"error": plain_number(reliability.error), **arrays}


def plain_roc(curve: Roc) -> dict[str, Any]:
    """The corners of a curve; its first threshold, which is above every score, is None."""
    names = ("false_positive_rates", "true_positive_rates", "thresholds")
    return {name: plain_numbers(getattr(curve.corners(), name)) for name in names}


def plain_mistake(mistake: Mistake) -> dict[str, Any]:
    """A mistake with its times in seconds."""
    segment = mistake.segment
    times = {"start": segment.start, "end": segment.end} if segment else {"start": None, "end": None}
    values = {name: getattr(mistake, name) for name in ("reference", "estimated", "posterior", "reference_posterior")}
    return {"file": mistake.file, **times, **values}
