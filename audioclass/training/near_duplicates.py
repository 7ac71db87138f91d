"""Recordings of one session that stand in different groups: found by how alike they are, and what they are worth.

Two recordings of a label agree where each is among the nearest of the other in most groups of features. How much
recordings agree that have nothing in common is seen between labels: of a label's own pairs, those that agree more than
all but the rarest of these are near-duplicates. A training holds them out together: what is chosen and calibrated on
held-out scores would else be for recordings that are nearly known. Where they are many, groups that should have been
named are missing; the sessions that they tell of, held out whole, say how much of a held-out figure is owed to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from audioclass.kernels.statistics import pairwise, squared_distance
from audioclass.numerics import log_loss, softmax
from audioclass.training.examples import spread_rows
from audioclass.training.label_machines import LabelMachines
from audioclass.training.sessions import session_clusters

ROWS = 1500  # most recordings that are looked at
CHANCE = 0.02  # of a recording to have a neighbour that agrees so much with it by chance
MANY = 0.25  # of the recordings with a near-duplicate: single ones are in every corpus
FEWEST = 8  # recordings of a label that ranks need: others are not looked at
SHOWN = 3
ALIKE = 0.25  # of the recordings of the smaller of two groups, with a near-duplicate in the other: the two are one
FEWEST_JOINED = 5  # groups that a label keeps: with fewer little can be held out
GAMMA, RIDGE = 0.7, 0.02  # of machines on distances whose mean is 1


@dataclass(frozen=True, eq=False)
class NearDuplicates:
    """How many recordings have a near-duplicate in another group, and what held-out figures owe to them.

    `share` is of all recordings and `n_clusters` of what is left of `n_groups` when near-duplicates are joined.
    `accuracy` and `log_loss` are the differences that holding out whole clusters makes; `pairs` are rows of the
    recordings that agree most. Where `are_joined`, near-duplicates were held out together, and the differences are
    what their whole clusters make beyond that.
    """

    share: float
    n_groups: int
    n_clusters: int
    accuracy: float
    log_loss: float
    pairs: tuple[tuple[int, int], ...]
    are_joined: bool = False

    def of_rows(self, rows: np.ndarray) -> NearDuplicates:
        """The same with pairs of `rows`, the place of each recording in something larger."""
        return replace(self, pairs=tuple((int(rows[i]), int(rows[j])) for i, j in self.pairs))


def find_near_duplicates(
    X: np.ndarray,
    feature_groups: Sequence[str],
    y: np.ndarray,
    groups: np.ndarray,
    apart: np.ndarray | None = None,
) -> NearDuplicates | None:
    """What held-out figures owe to those of `find_links`; None where they are not many, or cannot be told."""
    links = find_links(X, feature_groups, y, groups, apart)
    return None if links is None else links.worth()


@dataclass(frozen=True, eq=False)
class NearDuplicateLinks:
    """Near-duplicates among the `rows` that were looked at, with the labels, groups and distances of these.

    `links` are (n_links, 2) places among the rows, those that agree most first.
    """

    rows: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    distances: np.ndarray
    links: np.ndarray

    @property
    def linked(self) -> np.ndarray:
        """The rows that have a near-duplicate."""
        return np.asarray(self.rows[np.unique(self.links)])

    @cached_property
    def joined(self) -> np.ndarray:
        """(n,): the groups of the rows, of which those that near-duplicates tell to be one have the same number.

        Groups of many recordings, such as speakers, are not one for a few that are alike by chance. Of a label that
        would be left with too few groups all stay apart.
        """
        parts = [links for links in self._links_by_label if self._n_groups_with(links) >= FEWEST_JOINED]
        return self._joined_by(np.concatenate([self.links[:0], *parts]))

    @property
    def left_apart(self) -> np.ndarray:
        """The rows that have a near-duplicate in a group that was not joined with theirs."""
        is_apart = self.joined[self.links[:, 0]] != self.joined[self.links[:, 1]]
        return np.asarray(self.rows[np.unique(self.links[is_apart])])

    @property
    def _links_by_label(self) -> list[np.ndarray]:
        label = self.y[self.links[:, 0]]
        return [self.links[label == each] for each in np.unique(label)]

    def _n_groups_with(self, links: np.ndarray) -> int:
        """How many groups are left of a label with these links."""
        return len(np.unique(self._joined_by(links)[self.y == self.y[links[0, 0]]]))

    def _joined_by(self, links: np.ndarray) -> np.ndarray:
        from scipy.sparse import coo_array  # classification goes without it
        from scipy.sparse.csgraph import connected_components

        sizes = np.bincount(self.groups)
        both = np.concatenate([links, links[:, ::-1]])
        here, there = self.groups[both].T
        pairs = np.unique(np.stack([here, there, both[:, 0]], axis=1), axis=0)[:, :2]
        pairs, n_alike = np.unique(pairs, axis=0, return_counts=True)
        of_smaller = sizes[pairs[:, 0]] <= sizes[pairs[:, 1]]
        same = pairs[of_smaller & (n_alike >= ALIKE * sizes[pairs[:, 0]])]
        graph = coo_array((np.ones(len(same)), (same[:, 0], same[:, 1])), shape=(len(sizes), len(sizes)))
        return np.asarray(connected_components(graph, directed=False)[1][self.groups])

    def worth(self, *, are_joined: bool = False) -> NearDuplicates | None:
        """What figures owe to them; None where they are not many, or all is one cluster.

        Where they `are_joined`, the figures are of such groups held out.
        """
        share = len(self.linked) / len(self.rows)
        if share < MANY:
            return None
        groups = self.joined if are_joined else self.groups
        pairs = [(int(i), int(j)) for i, j in self.rows[self.links[:SHOWN]]]
        worth = _worth(self.distances, self.y, groups, share, self.links, tuple(pairs))
        return None if worth is None else replace(worth, n_groups=int(self.groups.max()) + 1, are_joined=are_joined)


def find_links(
    X: np.ndarray,
    feature_groups: Sequence[str],
    y: np.ndarray,
    groups: np.ndarray,
    apart: np.ndarray | None = None,
) -> NearDuplicateLinks | None:
    """Near-duplicates among recordings of prepared features `X` and labels `y`; None where they cannot be told.

    `groups` are held out together; near-duplicates of different groups count, or of different values of `apart` where
    that is given, such as the folds of an evaluation.
    """
    rows = spread_rows(y, ROWS)
    rows = rows[np.isin(y[rows], np.flatnonzero(np.bincount(y[rows]) >= FEWEST))]
    labels, y = np.unique(y[rows], return_inverse=True)
    groups = np.unique(groups[rows], return_inverse=True)[1]
    if len(labels) < 2 or not groups.any():
        return None
    apart = groups if apart is None else np.unique(apart[rows], return_inverse=True)[1]
    agreement, distances = _Agreement(y, groups, apart), np.zeros((len(rows), len(rows)))
    names = np.asarray(feature_groups)
    for name in dict.fromkeys(feature_groups):
        D = pairwise(squared_distance, X[rows][:, names == name])
        if D.any():  # a group of weight 0 has no neighbours to tell of
            agreement.add(D)
            distances += D
    if not distances.any():
        return None
    links, agreed = agreement.links()
    return NearDuplicateLinks(rows, y, groups, distances, links[np.argsort(-agreed, kind="stable")])


class _Agreement:
    """Mean of −log(rank / number of candidates) over groups of features and both ways, for pairs of labels.

    Pairs of a label are told from those of it and the next label, which have nothing in common but chance.
    """

    def __init__(self, y: np.ndarray, groups: np.ndarray, apart: np.ndarray) -> None:
        self._members = [np.flatnonzero(y == label) for label in range(y.max() + 1)]
        self._groups, self._apart = groups, apart
        self._within = [np.zeros((len(rows), len(rows))) for rows in self._members]
        self._between = [np.zeros((len(rows), len(other))) for rows, other in self._neighbours()]
        self._count = 0

    def _neighbours(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Each label with the next; of two labels the first alone."""
        members = self._members
        pairs = list(zip(members, members[1:] + members[:1], strict=True))
        return pairs[:1] if len(members) == 2 else pairs

    def add(self, D: np.ndarray) -> None:
        """What a group of features says, by its distances (n, n)."""
        self._count += 1
        D = D.copy()
        np.fill_diagonal(D, np.inf)
        for rows, total in zip(self._members, self._within, strict=True):
            part = _surprise(D[np.ix_(rows, rows)])
            total += (part + part.T) / 2
        for (rows, other), total in zip(self._neighbours(), self._between, strict=True):
            total += (_surprise(D[np.ix_(rows, other)]) + _surprise(D[np.ix_(other, rows)]).T) / 2

    def links(self) -> tuple[np.ndarray, np.ndarray]:
        """(n_links, 2) rows of near-duplicates, and how much each pair agrees."""
        chance = np.concatenate([total.ravel() for total in self._between]) / self._count
        links, agreed = [], []
        for rows, total in zip(self._members, self._within, strict=True):
            mean = np.triu(total / self._count, 1)
            lowest = np.quantile(chance, 1 - CHANCE / len(rows))
            i, j = np.nonzero(mean > lowest)
            is_apart = (self._groups[rows[i]] != self._groups[rows[j]]) & (self._apart[rows[i]] != self._apart[rows[j]])
            links.append(np.stack([rows[i], rows[j]], axis=1)[is_apart])
            agreed.append(mean[i, j][is_apart])
        return np.concatenate(links), np.concatenate(agreed)


def _surprise(D: np.ndarray) -> np.ndarray:
    """−log of the rank of each column among those of its row, over their number."""
    ranks = np.empty(D.shape)
    np.put_along_axis(ranks, np.argsort(D, axis=1, kind="stable"), np.arange(D.shape[1]) + 0.5, axis=1)
    return np.asarray(-np.log(ranks / D.shape[1]))


def _worth(
    distances: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray,
    share: float,
    links: np.ndarray,
    pairs: tuple[tuple[int, int], ...],
) -> NearDuplicates | None:
    """What whole clusters held out change, from one factorisation; None where all is one cluster."""
    clusters = session_clusters(distances, y, groups, links)
    if clusters.max() < 1:
        return None
    machines = LabelMachines(np.exp(-GAMMA * distances / distances.mean()), y, int(y.max()) + 1, RIDGE, np.ones(len(y)))
    figures = []
    for held in (groups, clusters):
        scores = machines.held_out(held)
        P = softmax(scores, machines.temperature(scores))
        figures.append((float((P.argmax(axis=1) == y).mean()), log_loss(P, y)))
    (accuracy, loss), (new_accuracy, new_loss) = figures
    n_groups, n_clusters = int(groups.max()) + 1, int(clusters.max()) + 1
    return NearDuplicates(share, n_groups, n_clusters, new_accuracy - accuracy, new_loss - loss, pairs)
