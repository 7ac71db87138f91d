"""Near-duplicates among the clips of a corpus that its groups do not hold together, and what a user is told of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.engine.datasets import Dataset
from audioclass.evaluation.evaluation import Evaluation
from audioclass.training.examples import spread_rows
from audioclass.training.near_duplicates import ROWS, NearDuplicateLinks, NearDuplicates, find_links

WINDOWS_TOGETHER = 2048  # that are prepared at a time: of long recordings all at once would fill the memory

Prepare = Callable[[np.ndarray], np.ndarray]


def near_duplicates_among(
    dataset: Dataset, prepare: Prepare, feature_groups: Sequence[str], apart: np.ndarray | None = None
) -> NearDuplicates | None:
    """What held-out figures owe to near-duplicate clips, with windows as rows; None where these are not many."""
    return NearDuplicateClips.among(dataset, prepare, feature_groups, apart).worth()


@dataclass(frozen=True, eq=False)
class NearDuplicateClips:
    """Near-duplicates among the clips of a corpus; `first` is the first window of each clip, `which` that of a window.

    `links` are None where they could not be told; their rows are clips.
    """

    links: NearDuplicateLinks | None
    groups: np.ndarray
    first: np.ndarray
    which: np.ndarray

    @classmethod
    def among(
        cls, dataset: Dataset, prepare: Prepare, feature_groups: Sequence[str], apart: np.ndarray | None = None
    ) -> NearDuplicateClips:
        """Those of clips in different groups, by the means of their windows' prepared features.

        `prepare` is given raw ones, those of `feature_groups`, of at most as many clips as are looked at. With `apart`,
        the fold of each window, only near-duplicates in different folds count.
        """
        first, which = np.unique(dataset.which, return_index=True, return_inverse=True)[1:]
        clips = spread_rows(dataset.y[first], ROWS)
        means = _means_of_clips(dataset.X[:, : len(feature_groups)], which, clips, prepare)
        looked_at = first[clips]
        apart = None if apart is None else apart[looked_at]
        links = find_links(means, feature_groups, dataset.y[looked_at], dataset.groups[looked_at], apart)
        links = None if links is None else replace(links, rows=clips[links.rows])
        return cls(links, dataset.groups[first], first, which)

    @cached_property
    def same_groups(self) -> dict[str, str]:
        """Groups that near-duplicates tell to be one with another, each with the name that all of them go by."""
        if self.links is None:
            return {}
        names = self.groups[self.links.rows]
        leaders = names[np.unique(self.links.joined, return_index=True)[1]][self.links.joined]
        return {str(name): str(leader) for name, leader in zip(names, leaders, strict=True) if name != leader}

    @property
    def left_apart(self) -> np.ndarray:
        """(n_windows,): whether the clip of a window has a near-duplicate in a group that is not one with its own."""
        has_one = np.zeros(len(self.first), bool)
        if self.links is not None:
            has_one[self.links.left_apart] = True
        return np.asarray(has_one[self.which])

    def worth(self, *, are_joined: bool = False) -> NearDuplicates | None:
        """What held-out figures owe to them, with windows as rows; None where they are not many."""
        worth = None if self.links is None else self.links.worth(are_joined=are_joined)
        return None if worth is None else worth.of_rows(self.first)

    @property
    def choices(self) -> tuple[str, ...]:
        """What was done about them, for the user."""
        if not self.same_groups:
            return ()
        n, n_leaders = len(self.same_groups), len(set(self.same_groups.values()))
        return (
            f"near-duplicates: {n + n_leaders} groups hold recordings that are too much alike for different sources,"
            f" and are held out as {n_leaders}",
        )


def _means_of_clips(X: np.ndarray, which: np.ndarray, clips: np.ndarray, prepare: Prepare) -> np.ndarray:
    """(n_clips, n_features): the mean of the prepared windows of each of some clips, those of a few clips at a time."""
    windows = np.flatnonzero(np.isin(which, clips))
    windows = windows[np.argsort(which[windows], kind="stable")]
    counts = np.bincount(which)[clips]
    starts = np.cumsum(counts) - counts
    means = []
    for block in np.split(np.arange(len(clips)), np.flatnonzero(np.diff(starts // WINDOWS_TOGETHER)) + 1):
        first, last = starts[block[0]], starts[block[-1]] + counts[block[-1]]
        sums = np.add.reduceat(prepare(X[windows[first:last]]), starts[block] - first, axis=0)
        means.append(sums / counts[block][:, None])
    return np.concatenate(means)


def near_duplicate_warning(duplicates: NearDuplicates, dataset: Dataset, evaluation: Evaluation) -> str:
    """That the figures of an evaluation are optimistic, and by how much at least."""
    names = ", ".join(" and ".join(Path(dataset.clip_names[row]).name for row in pair) for pair in duplicates.pairs)
    accuracy, log_loss = expected_figures(duplicates, evaluation)
    claimed = [evaluation.main.value(name) for name in ("accuracy", "log_loss")]
    where = "in another group" if duplicates.are_joined else "that was not held out with them"
    beyond = "; though these pairs were held out together," if duplicates.are_joined else ";"
    return (
        f"{duplicates.share:.0%} of the recordings have a near-duplicate {where}, such as {names}: recordings of one"
        f" source or session seem to stand in different groups, which flatters the figures{beyond} with such clusters"
        f" held out whole, accuracy {claimed[0]:.3f} becomes about {accuracy:.3f} and log-loss {claimed[1]:.3f} about"
        f" {log_loss:.3f}, or worse where sessions go across labels; name the sources of recordings as their group"
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
