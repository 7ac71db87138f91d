"""The last steps of a classifier in a model file: plain tables of its tempering and link, arrays of its second stage.

All three are optional; a model of before there was one has none. What a file states is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from audioclass.errors import ModelError
from audioclass.run import Registry
from audioclass.strategies.last_step import FittedLink, LastStep
from audioclass.strategies.posterior_calibration import PosteriorCalibration
from audioclass.strategies.second_stage import SecondStage

STAGE = "second_stage"  # the first name of its members


def read_last_step(
    manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray], registry: Registry, n_labels: int
) -> LastStep:
    """From the manifest of a file and the arrays under `second_stage/`."""
    tempering, link = manifest.get("posterior_calibration"), manifest.get("label_link")
    if tempering is not None and link is not None:
        raise ModelError("posterior_calibration and label_link cannot both come after a strategy")
    return LastStep(_tempering(tempering), _link(link, registry), _stage(arrays, n_labels))


def _tempering(table: Any) -> PosteriorCalibration | None:
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ModelError(f"posterior_calibration {str(table)[:40]!r} must be a table")
    try:
        return PosteriorCalibration.of_plain(table)
    except ValueError as error:
        raise ModelError(f"posterior_calibration: {error}") from error


def _link(table: Any, registry: Registry) -> FittedLink | None:
    if table is None:
        return None
    parts = {"name": str, "parameters": dict, "fitted": dict}
    if not isinstance(table, dict) or not all(isinstance(table.get(key), of) for key, of in parts.items()):
        raise ModelError(f"label_link {str(table)[:40]!r} must be a table of {', '.join(parts)}")
    for name, value in table["fitted"].items():
        values = value if isinstance(value, list) else [value]
        if not all(type(each) in (int, float) and np.isfinite(each) for each in values):
            raise ModelError(f"label_link: {str(name)[:40]} must be a finite number or several")
    return FittedLink(registry.make("link", table["name"], table["parameters"]), table["fitted"])


def _stage(arrays: Mapping[str, np.ndarray], n_labels: int) -> SecondStage | None:
    if not arrays:
        return None
    try:
        stage = SecondStage.of_arrays(arrays)
    except ValueError as error:
        raise ModelError(f"{STAGE}: {error}") from error
    if stage.n_labels != n_labels:
        raise ModelError(f"{STAGE} is for {stage.n_labels} labels, the model has {n_labels}")
    return stage
