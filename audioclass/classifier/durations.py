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
from audioclass.numerics import bounded_minimum, softmax

if TYPE_CHECKING:
    from audioclass.classifier.model import TrainedRecordings
    from audioclass.extraction.recipe import Recipe

SHARE = 0.25  # of the usual duration: what is longer has posteriors as they are
POWER = 0.6  # of the ratio to that share, where the training had too few short recordings to tell
LARGEST_POWER = 2.0
FEWEST_SHORT, FEWEST_SOURCES = 200, 20  # windows that are so short, and their sources, from which they tell themselves
LEAST = 1e-6  # a posterior below this counts as this
FEW = 0.1  # of the windows that were trained on may be shorter than the usual duration


def flatten_short(
    P: np.ndarray, segments: Sequence[Segment], usual: float | None, power: float | None = None
) -> np.ndarray:
    """Posteriors of windows, to the power (duration / (`SHARE` · usual)) ^ power where they are shorter than that.

    The largest stays the largest. The power is that of a model whose training told it, else `POWER`: this and `SHARE`
    are of the lowest log-loss for three models together, each on beginnings of recordings that it never heard, labels
    counting alike: the first edition of `broadcast`, which had heard no short recordings, on the sources of programmes
    and on 40 labels of ESC-50, and models of ESC-10 with windows of 2 and 10 s. From a thirtieth of the usual duration
    to 0.9 of it, log-loss falls from 0.535, 1.338 and 1.131 to 0.455, 1.176 and 0.992; the best for each model by
    itself are 0.451, 1.172 and 0.989.
    """
    short = [] if usual is None else [i for i, one in enumerate(segments) if one.described < SHARE * usual]
    if usual is None or not short:
        return P
    flat = np.array(P)
    for i in short:  # one by one: the bits of a power may depend on how many are computed together
        row = P[i] ** ((segments[i].described / (SHARE * usual)) ** (POWER if power is None else power))
        flat[i] = row / row.sum()
    return flat


def fit_power(
    P: np.ndarray, y: np.ndarray, segments: Sequence[Segment], groups: np.ndarray, usual: float | None
) -> float | None:
    """The power of the lowest log-loss of held-out windows that are so short; None where there are too few of them.

    A model that was trained on short recordings beside long ones is as sure of them as it may be: its power is near 0.
    """
    durations = np.array([segment.described for segment in segments])
    short = np.flatnonzero(durations < (0 if usual is None else SHARE * usual))
    if usual is None or len(short) < FEWEST_SHORT or len(np.unique(groups[short])) < FEWEST_SOURCES:
        return None
    logs, labels = np.log(np.maximum(P[short], LEAST)), y[short]
    ratios = np.log(np.maximum(durations[short], np.finfo(float).tiny) / (SHARE * usual))

    def loss(power: float) -> float:
        flat = softmax(np.exp(power * ratios)[:, None] * logs)
        return float(-np.log(flat[np.arange(len(labels)), labels]).mean())

    return bounded_minimum(loss, 0.0, LARGEST_POWER)


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
