"""How far held-out posteriors of training groups miss their labels: what sets of labels are calibrated on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audioclass.classifier.risk import MOST_CALIBRATION, Risk, nonconformities
from audioclass.training.novelty import group_shares


def fit_risk(held_out: np.ndarray, y: np.ndarray, groups: np.ndarray, clips: Sequence[str]) -> Risk | None:
    """From held-out posteriors of windows, their labels, groups and clips; None where there is a single group.

    The posteriors of a clip are the mean over its windows, as those of a segment are.
    """
    if len(np.unique(groups)) < 2:
        return None
    _, first, which = np.unique(clips, return_index=True, return_inverse=True)
    sums = np.zeros((len(first), held_out.shape[1]))
    np.add.at(sums, which, held_out)
    means = sums / np.bincount(which)[:, None]
    windows = _calibration(nonconformities(held_out, y), groups)
    of_clips = _calibration(nonconformities(means, np.asarray(y)[first]), np.asarray(groups)[first])
    return Risk(*windows, *of_clips)


def _calibration(values: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values from the smallest up with their weights, thinned evenly where there are many."""
    weights, order = group_shares(groups), np.argsort(values, kind="stable")
    if len(order) > MOST_CALIBRATION:
        order = order[np.linspace(0, len(order) - 1, MOST_CALIBRATION).round().astype(int)]
    scaled = weights[order] * (weights.sum() / weights[order].sum())
    return values[order].astype(np.float32), scaled.astype(np.float32)
