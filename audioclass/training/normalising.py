"""How features are normalised: by waves of their ranks, or by the ranks where held-out groups are told better by these.

Both are judged on a sample of rows by plain least-squares machines of every label against the rest, at the best of a
few widths and ridges. Waves are one number for a feature as ranks are: they cost nothing where a model answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from audioclass.classifier.preprocessing import Preprocessing
from audioclass.kernels.statistics import pairwise, squared_distance
from audioclass.training.config import AUTO_NORMALISATION, TrainingConfig
from audioclass.training.examples import spread_rows
from audioclass.training.label_machines import LabelMachines
from audioclass.training.refinement import as_unscaled

ROWS = 600  # most that are looked at
GAMMAS = (0.125, 0.25, 0.5, 1.0)  # of exp(−γ · distance), whose mean is 1
RIDGES = (0.005, 0.02)
LEAST_SOURCES = 20  # of fewer, such as a handful of speakers, who is held out tells little of who is new
LEAST_FEATURES = 200  # over which phases even out
CLEARLY = 0.03  # of the log-loss with waves, by which that with ranks must be lower: less is chance


@dataclass(frozen=True)
class NormalisationChoice:
    """The name of a normalisation, and the held-out log-losses that decided; none where it was stated."""

    name: str
    losses: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        judged = ", ".join(f"{loss:.3f} with {name}" for name, loss in self.losses.items())
        return f"normalisation: held-out log-loss {judged}: {self.name}"


def choose_normalisation(
    X: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray,
    config: TrainingConfig,
    *,
    sample_weights: np.ndarray,
    feature_groups: Sequence[str] | None,
    given: Mapping[str, float] | None = None,
    ranks: Preprocessing | None = None,
) -> tuple[NormalisationChoice, Preprocessing]:
    """The normalisation that a configuration states, or waves unless ranks tell rows of held-out groups clearly better.

    Waves are for kernels of distances over many features in groups: elsewhere, and where few sources can be held out,
    ranks are taken. On words of FSDD, with five speakers to learn from, waves lose a point of accuracy. `ranks` are
    those of the rows where they are at hand.
    """
    if config.normalisation not in (AUTO_NORMALISATION, "rank", "waves"):
        fitted = Preprocessing.fit(X, feature_groups, config.normalisation, group_weights=given)
        return NormalisationChoice(config.normalisation), fitted
    ranks = ranks or Preprocessing.fit(X, feature_groups, "rank", group_weights=given)
    rows = spread_rows(y, ROWS)
    is_open = config.normalisation == AUTO_NORMALISATION
    if config.normalisation == "rank" or (is_open and not _may_have_waves(config, feature_groups, groups[rows])):
        return NormalisationChoice("rank"), ranks
    waves = ranks.as_waves(X, feature_groups, given)
    if not is_open:
        return NormalisationChoice("waves"), waves
    of_ranks, of_waves = (
        _held_out_loss(each.apply(X[rows]), y[rows], groups[rows], sample_weights[rows]) for each in (ranks, waves)
    )
    losses = {"rank": of_ranks, "waves": of_waves}
    if of_ranks < (1 - CLEARLY) * of_waves:
        return NormalisationChoice("rank", losses), ranks
    return NormalisationChoice("waves", losses), waves


def _may_have_waves(config: TrainingConfig, feature_groups: Sequence[str] | None, sources: np.ndarray) -> bool:
    """Whether kernels are of distances, over enough features, with enough sources to judge by."""
    is_of_distances = config.learner.wants != "features" and all(as_unscaled(kernel, 1) for kernel in config.kernels)
    has_many = feature_groups is not None and len(feature_groups) >= LEAST_FEATURES
    return has_many and is_of_distances and len(np.unique(sources)) >= LEAST_SOURCES


def _held_out_loss(X: np.ndarray, y: np.ndarray, groups: np.ndarray, weights: np.ndarray) -> float:
    """The lowest mean log-loss of rows by machines that never saw their group."""
    D, labels = pairwise(squared_distance, X), np.unique(y, return_inverse=True)[1]
    machines = (
        LabelMachines(np.exp(-gamma * D), labels, int(labels.max()) + 1, ridge, weights)
        for gamma, ridge in product(GAMMAS, RIDGES)
    )
    return min(float(np.average(each.held_out_losses(groups), weights=weights)) for each in machines)
