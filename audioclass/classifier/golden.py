"""Golden vectors: a signal that we generate, its features and its posteriors, recomputed wherever a model is loaded.

They tell whether this machine, with its libraries, still computes what the model was trained on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audioclass.data import Block, Features
from audioclass.errors import ModelError
from audioclass.extraction.extract import DECIMALS, extract_features
from audioclass.extraction.recipe import Recipe

SECONDS = 1.5

# What rounding may change, and no more. Features are rounded to decimals when they are computed, so that a value that
# falls between two goes to the one or the other: by one unit of the last decimal, or what single precision leaves of
# large values. Posteriors from the same features differ by what single precision leaves of the sum over the bank. Over
# one and two threads, four sorts of processors, and a bank in double precision the models at hand differed by one unit
# and by 1.4e-4 at most.
UNIT = 10.0**-DECIMALS
RELATIVE = 1e-5
FEATURE_TOLERANCE = 2.0  # units
TOLERANCE = 5e-4  # of a posterior


@dataclass(frozen=True)
class Drift:
    """How far what this machine computes is from the golden vectors.

    `features` is the largest difference of a feature, in units of its last decimal; `posteriors` that of a posterior,
    from the golden features. `columns` are the features that differ by more than rounding.
    """

    features: float
    posteriors: float
    columns: tuple[str, ...] = ()

    @property
    def is_rounding(self) -> bool:
        """Whether nothing is computed otherwise."""
        return self.features <= FEATURE_TOLERANCE and self.posteriors <= TOLERANCE

    def __str__(self) -> str:
        return (
            f"golden features differ by {self.features:.2g} units of their last decimal, golden posteriors by"
            f" {self.posteriors:.2g}; up to {FEATURE_TOLERANCE:g} and {TOLERANCE:g} is rounding"
        )


@dataclass(frozen=True, eq=False)
class Golden:
    """Features (n_windows, n_features) and posteriors (n_windows, n_labels) of the golden signal."""

    X: np.ndarray
    P: np.ndarray

    def drift(self, recipe: Recipe, posteriors: Callable[[np.ndarray], np.ndarray]) -> Drift:
        """From samples to features, and from the golden features to posteriors.

        Each by itself has a bound: a feature that is nearly the same in all training rows may turn one unit of rounding
        into a hundredth of a posterior.
        """
        X = golden_features(recipe)
        if X.shape != self.X.shape:
            raise ModelError(f"the golden signal gives features of shape {X.shape}, the model has {self.X.shape}")
        golden = self.X.astype(np.float64)
        units = np.abs(X - golden) / (UNIT + RELATIVE * np.abs(golden))
        columns = np.flatnonzero((~(units <= FEATURE_TOLERANCE)).any(axis=0))
        return Drift(
            float(units.max(initial=0.0)),
            float(np.abs(posteriors(self.X) - self.P).max(initial=0.0)),
            tuple(recipe.columns[i] for i in columns),
        )

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
    """The features of the golden signal, in windows of the recipe; it ends with silence, which they describe too."""
    samples = golden_signal(recipe.framing.sample_rate)[:, None]
    blocks = [Block(samples, recipe.framing.sample_rate)]
    return Features.joined(extract_features(iter(blocks), recipe, whole=True), recipe.columns, recipe.groups).X
