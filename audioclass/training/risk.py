"""How far held-out posteriors of training groups miss their labels: what sets of labels are calibrated on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audioclass.classifier.risk import MOST_CALIBRATION, Risk, nonconformities
from audioclass.classifier.risk_nodes import NodeRisk, node_nonconformities
from audioclass.training.folds import calibration_folds
from audioclass.training.novelty import group_shares
from audioclass.trees.branches import agglomerate

Nonconformity = Callable[["HeldOutPosteriors"], np.ndarray]


@dataclass(frozen=True, eq=False)
class HeldOutPosteriors:
    """Held-out posteriors `P` of windows, with their labels, groups and clips.

    The posteriors of a clip are the mean over its windows, as those of a segment are.
    """

    P: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    clips: Sequence[str]

    def rows(self, which: np.ndarray) -> HeldOutPosteriors:
        """Those of some of the windows."""
        clips = [self.clips[i] for i in which.tolist()]
        return HeldOutPosteriors(self.P[which], np.asarray(self.y)[which], np.asarray(self.groups)[which], clips)

    @cached_property
    def of_clips(self) -> HeldOutPosteriors:
        """The same with clips in the place of windows."""
        names, first, which = np.unique(self.clips, return_index=True, return_inverse=True)
        sums = np.zeros((len(first), self.P.shape[1]))
        np.add.at(sums, which, self.P)
        means = sums / np.bincount(which)[:, None]
        return HeldOutPosteriors(means, np.asarray(self.y)[first], np.asarray(self.groups)[first], names.tolist())


def fit_risk(held_out: HeldOutPosteriors, nonconformity: Nonconformity | None = None) -> Risk | None:
    """The risk of sets of labels, or by another nonconformity; None where there is a single group."""
    if len(np.unique(held_out.groups)) < 2:
        return None
    values = nonconformity or (lambda these: nonconformities(these.P, these.y))
    parts = (_calibration(values(these), these.groups) for these in (held_out, held_out.of_clips))
    return Risk(*(array for part in parts for array in part))


def fit_node_risk(held_out: HeldOutPosteriors, nodes: np.ndarray) -> NodeRisk | None:
    """That of nodes of a given tree, which are (n_groups, n_labels) marks of what is in each group."""
    risk = fit_risk(held_out, lambda these: node_nonconformities(these.P, these.y, nodes))
    return None if risk is None else NodeRisk(nodes, risk)


def fit_confusion_risk(held_out: HeldOutPosteriors) -> NodeRisk | None:
    """That of nodes of the tree of confusion, which for each group is learnt from others."""

    def cross_fitted(these: HeldOutPosteriors) -> np.ndarray:
        values, folds = np.empty(len(these.y)), calibration_folds(these.y, these.groups)
        for fold in np.unique([] if folds is None else folds):
            known, new = folds != fold, folds == fold
            nodes = groups_of_confusion(these.P[known], these.y[known])
            values[new] = node_nonconformities(these.P[new], these.y[new], nodes)
        return values

    risk = fit_risk(held_out, cross_fitted)
    return None if risk is None else NodeRisk(groups_of_confusion(held_out.P, held_out.y), risk)


def groups_of_confusion(held_out: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The groups of a binary tree in which labels stand together that held-out posteriors take for one another.

    Labels are as near as the mean posterior that recordings of each give the other.
    """
    n_labels = held_out.shape[1]
    sums = np.zeros((n_labels, n_labels))
    np.add.at(sums, y, held_out)
    shares = sums / np.maximum(np.bincount(y, minlength=n_labels), 1)[:, None]
    near = (shares + shares.T) / 2
    distances = 1 - near
    np.fill_diagonal(distances, 0)
    tree = agglomerate(distances)
    nodes = [node.labels for node in tree.walk() if 1 < len(node.labels) < n_labels]
    marks = np.zeros((len(nodes), n_labels), bool)
    for row, labels in zip(marks, nodes, strict=True):
        row[list(labels)] = True
    return marks


def _calibration(values: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values from the smallest up with their weights, thinned evenly where there are many."""
    weights, order = group_shares(groups), np.argsort(values, kind="stable")
    if len(order) > MOST_CALIBRATION:
        order = order[np.linspace(0, len(order) - 1, MOST_CALIBRATION).round().astype(int)]
    scaled = weights[order] * (weights.sum() / weights[order].sum())
    return values[order].astype(np.float32), scaled.astype(np.float32)
