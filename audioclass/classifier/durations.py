"""Recordings that are much shorter than what a model was trained on: how far its posteriors can be trusted.

A recording shorter than a window is one window of the frames there are. Its statistics are less sure than those that
the machines and their calibration have seen, and posteriors of very short ones are far too high: of excerpts of 0.1 s,
the shipped model was right in 40 % (labels counting alike) and gave its errors 0.78 on average.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from audioclass.data import Segment

if TYPE_CHECKING:
    from audioclass.classifier.model import TrainedRecordings
    from audioclass.extraction.recipe import Recipe

SHARE = 0.25  # of the usual duration: what is longer has posteriors as they are
POWER = 0.6  # of the ratio to that share
FEW = 0.1  # of the windows that were trained on may be shorter than the usual duration


def flatten_short(P: np.ndarray, segments: Sequence[Segment], usual: float | None) -> np.ndarray:
    """Posteriors of windows, to the power (duration / (`SHARE` · usual)) ^ `POWER` where they are shorter than that.

    The largest stays the largest. `SHARE` and `POWER` are of the lowest log-loss for three models together, each on
    beginnings of recordings that it never heard, labels counting alike: `broadcast` on the sources of programmes and on
    40 labels of ESC-50, and models of ESC-10 with windows of 2 and 10 s. From a thirtieth of the usual duration to 0.9
    of it, log-loss falls from 0.535, 1.338 and 1.131 to 0.455, 1.176 and 0.992; the best for each model by itself are
    0.451, 1.172 and 0.989.
    """
    short = [] if usual is None else [i for i, one in enumerate(segments) if one.described < SHARE * usual]
    if usual is None or not short:
        return P
    flat = np.array(P)
    for i in short:  # one by one: the bits of a power may depend on how many are computed together
        row = P[i] ** ((segments[i].described / (SHARE * usual)) ** POWER)
        flat[i] = row / row.sum()
    return flat


def usual_duration(recipe: Recipe, recordings: TrainedRecordings | None, about: Mapping[str, Any]) -> float | None:
    """Seconds that nearly all windows of a training lasted at least; None where nobody knows.

    A model that does not remember its windows tells by their number: where recordings had several they were whole.
    """
    window = recipe.windows.length / recipe.framing.frame_rate
    if recordings is not None and (recordings.rows >= 0).any():
        start, end = recordings.times[recordings.rows >= 0].T
        return min(window, float(np.quantile(end - start, FEW)))
    corpus = about.get("corpus", {})
    n_windows, n_recordings = sum(corpus.get("windows", {}).values()), corpus.get("recordings", 0)
    return window if n_windows >= 2 * n_recordings > 0 else None
