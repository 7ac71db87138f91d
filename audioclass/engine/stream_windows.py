"""The windows with which a model of clips classifies longer recordings: as long as its clips were, five to a clip.

A recipe for clips has windows as long as any clip may be, and a clip is one window. In a longer recording such windows
would hold several sounds at once, and part them coarsely. The choice depends on the model alone: a pipe does not know
how long it will be, and gives the same segments as a file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from audioclass.classifier.model import Model
from audioclass.engine.durations import TrainedDurations
from audioclass.errors import UsageError

RECIPE: Literal["recipe"] = "recipe"
Hop = float | Literal["recipe"] | None

MOST_PARTS = 0.5  # share of segments that are parts of recordings: a model of more is none of clips
ROOM = 1.05  # of a clip: one that is as long as those of the training must fit into a window
COARSE = 0.5  # of a clip: a hop that is longer misses what lies between
SHARE = 0.2  # of a clip: the hop that is taken then
SHORTEST_HOP = 0.1  # seconds


def hop_of(stated: str | float | None) -> Hop:
    """A hop as it is stated: seconds, `recipe` for the windows of the recipe, or nothing."""
    if stated in (None, RECIPE):
        return None if stated is None else RECIPE
    try:
        hop = float(stated)
    except (TypeError, ValueError) as error:
        raise UsageError(f"hop={stated!r} must be a number of seconds or {RECIPE!r}") from error
    if not 0 < hop < float("inf"):
        raise UsageError(f"hop={stated} must be a positive number of seconds")
    return hop


def with_stream_windows(model: Model, hop: Hop = None) -> Model:
    """The model with the windows that it classifies recordings with; itself where these are its recipe's.

    A model that was trained on parts of recordings, or with a hop that somebody stated, keeps its own.
    """
    if hop == RECIPE:
        return model
    recipe = model.recipe
    window, fitting = _fitting(model)
    chosen = fitting if hop is None else float(hop)
    if (window, chosen) == (recipe.window, recipe.window_hop):
        return model
    transitions = model.transitions
    if transitions is not None:
        transitions = _rescaled(transitions, recipe.window_hop / chosen)
    return replace(model, recipe=recipe.with_windows(window, chosen), transitions=transitions)


def stream_windows_note(model: Model, hop: Hop = None) -> str:
    """Which windows are taken instead of the recipe's, and why; empty where none are, or the hop was stated."""
    fitted = with_stream_windows(model, hop).recipe
    if fitted is model.recipe or hop is not None:
        return ""
    clip = TrainedDurations.of(model.about).recordings["0.5"]
    return (
        f"the model was trained on clips of {clip:.2g} s: windows of {fitted.window:g} s every {fitted.window_hop:g} s"
        f" instead of {model.recipe.window:g} every {model.recipe.window_hop:g} (--hop recipe keeps these)"
    )


def windows_of_labels(model: Model) -> np.ndarray | None:
    """(n_labels,): how many windows the segments of each label last on average, where the model knows."""
    durations = TrainedDurations.of(model.about)
    if not durations.labels:
        return None
    known = [durations.labels[label] for label in model.labels if label in durations.labels]
    usual = float(np.mean(known)) if known else 0.0
    seconds = np.array([durations.labels.get(label, usual) for label in model.labels])
    return seconds / model.recipe.window_hop


def _fitting(model: Model) -> tuple[float, float]:
    """Window and hop for the clips that a model was trained on; the recipe's where it was trained on others."""
    recipe, durations = model.recipe, TrainedDurations.of(model.about)
    if not durations.recordings or durations.parts >= MOST_PARTS or durations.hop_is_stated:
        return recipe.window, recipe.window_hop
    clip, longest = durations.recordings["0.5"], durations.recordings["0.95"]
    hop = max(float(f"{SHARE * clip:.2g}"), SHORTEST_HOP) if recipe.window_hop > COARSE * clip else recipe.window_hop
    return min(recipe.window, float(f"{ROOM * longest:.3g}")), min(recipe.window_hop, hop)


def _rescaled(counts: np.ndarray, ratio: float) -> np.ndarray:
    """Counts where the same time has so many times as many windows: labels change as often and stay longer."""
    changes = counts.sum(axis=1) - counts.diagonal()
    rescaled = counts.astype(np.float64)
    np.fill_diagonal(rescaled, np.maximum(counts.sum(axis=1) * ratio - changes, 0.0))
    return rescaled
