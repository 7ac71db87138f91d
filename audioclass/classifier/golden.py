"""Golden vectors: a signal that we generate, its features and its posteriors, recomputed wherever a model is loaded.

They tell whether this machine, with its libraries, still computes what the model was trained on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audioclass.data import Block, Features
from audioclass.errors import ModelError
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe import Recipe

SECONDS = 1.5
TOLERANCE = 1e-2  # of a posterior: what other processors and libraries may round otherwise


@dataclass(frozen=True, eq=False)
class Golden:
    """Features (n_windows, n_features) and posteriors (n_windows, n_labels) of the golden signal."""

    X: np.ndarray
    P: np.ndarray

    def drift(self, recipe: Recipe, posteriors: Callable[[np.ndarray], np.ndarray]) -> float:
        """The largest difference of a posterior from its golden value, from samples to posteriors."""
        X = golden_features(recipe)
        if X.shape != self.X.shape:
            raise ModelError(f"the golden signal gives features of shape {X.shape}, the model has {self.X.shape}")
        return float(np.abs(posteriors(X) - self.P).max(initial=0.0))

    @classmethod
    def of(cls, recipe: Recipe, posteriors: Callable[[np.ndarray], np.ndarray]) -> Golden:
        """Made when a model is."""
        X = golden_features(recipe)
        return cls(X, posteriors(X))


def golden_signal(sample_rate: int) -> np.ndarray:
    """A tone that glides, breaks and meets noise; (n_samples,) in float32, the same for everyone.

    The noise is a linear congruence of our own: it must not change with the version of a library.
    """
    n = round(SECONDS * sample_rate)
    time = np.arange(n) / sample_rate
    tone = 0.4 * np.sin(2 * np.pi * (220 * time + 330 * time**2)) * (1 + 0.5 * np.sin(2 * np.pi * 4 * time))
    state, noise = 12345, np.empty(n)
    for i in range(n):
        state = (1103515245 * state + 12345) % 2**31
        noise[i] = state / 2**30 - 1
    part = np.where(time < 0.5, 0.02, np.where(time < 1.0, 0.3, 0.0))
    return np.round(tone * (time < 1.2) + part * noise, 6).astype(np.float32)


def golden_features(recipe: Recipe) -> np.ndarray:
    """The features of the golden signal, in windows of the recipe."""
    samples = golden_signal(recipe.framing.sample_rate)[:, None]
    blocks = [Block(samples, recipe.framing.sample_rate)]
    return Features.joined(extract_features(iter(blocks), recipe), recipe.columns, recipe.groups).X
