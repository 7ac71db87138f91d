"""Near-duplicates among the clips of a corpus that its groups do not hold together, and what a user is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.engine.datasets import Dataset
from audioclass.evaluation.evaluation import Evaluation
from audioclass.training.near_duplicates import NearDuplicateLinks, NearDuplicates, find_links


def near_duplicates_among(
    dataset: Dataset, X: np.ndarray, feature_groups: Sequence[str], apart: np.ndarray | None = None
) -> NearDuplicates | None:
    """What held-out figures owe to near-duplicate clips, with windows as rows; None where these are not many."""
    return NearDuplicateClips.among(dataset, X, feature_groups, apart).worth()


@dataclass(frozen=True, eq=False)
class NearDuplicateClips:
    """Near-duplicates among the clips of a corpus; `first` is the first window of each clip, `which` that of a window.

    `links` are None where they could not be told.
    """

    links: NearDuplicateLinks | None
    first: np.ndarray
    which: np.ndarray

    @classmethod
    def among(
        cls, dataset: Dataset, X: np.ndarray, feature_groups: Sequence[str], apart: np.ndarray | None = None
    ) -> NearDuplicateClips:
        """Those of clips in different groups, by the means of their windows' prepared features `X`.

        With `apart`, the fold of each window, only those in different folds count.
        """
        first, which, counts = np.unique(dataset.which, return_index=True, return_inverse=True, return_counts=True)[1:]
        order = np.argsort(which, kind="stable")
        means = np.add.reduceat(X[order], np.cumsum(counts) - counts, axis=0) / counts[:, None]
        apart = None if apart is None else apart[first]
        links = find_links(means, feature_groups, dataset.y[first], dataset.groups[first], apart)
        return cls(links, first, which)

    @property
    def windows(self) -> np.ndarray:
        """(n_windows,): whether the clip of a window has a near-duplicate, of those that were looked at."""
        has_one = np.zeros(len(self.first), bool)
        if self.links is not None:
            has_one[self.links.linked] = True
        return np.asarray(has_one[self.which])

    def worth(self) -> NearDuplicates | None:
        """What held-out figures owe to them, with windows as rows; None where they are not many."""
        worth = None if self.links is None else self.links.worth()
        return None if worth is None else worth.of_rows(self.first)


def near_duplicate_warning(duplicates: NearDuplicates, dataset: Dataset, evaluation: Evaluation) -> str:
    """That the figures of an evaluation are optimistic, and by how much at least."""
    names = ", ".join(" and ".join(Path(dataset.clip_names[row]).name for row in pair) for pair in duplicates.pairs)
    accuracy, log_loss = expected_figures(duplicates, evaluation)
    claimed = [evaluation.main.value(name) for name in ("accuracy", "log_loss")]
    return (
        f"{duplicates.share:.0%} of the recordings have a near-duplicate that was not held out with them, such as"
        f" {names}: recordings of one source or session seem to stand in different groups, which flatters the figures;"
        f" with such clusters held out whole, accuracy {claimed[0]:.3f} becomes about {accuracy:.3f} and log-loss"
        f" {claimed[1]:.3f} about {log_loss:.3f}, or worse where sessions go across labels; name the sources of"
        " recordings as their group"
    )


def expected_figures(duplicates: NearDuplicates, evaluation: Evaluation) -> tuple[float, float]:
    """Accuracy and log-loss of the main view, were clusters of near-duplicates held out whole."""
    accuracy = max(0.0, evaluation.main.value("accuracy") + duplicates.accuracy)
    return accuracy, evaluation.main.value("log_loss") + duplicates.log_loss


def near_duplicate_facts(duplicates: NearDuplicates | None, evaluation: Evaluation) -> dict[str, Any]:
    """What a model says of near-duplicates in its training: nothing where they are not many."""
    if duplicates is None:
        return {}
    accuracy, log_loss = expected_figures(duplicates, evaluation)
    counts = {"share": duplicates.share, "groups": duplicates.n_groups, "clusters": duplicates.n_clusters}
    return {"near_duplicates": counts | {"accuracy": accuracy, "log_loss": log_loss}}
