"""What is strange to a model, learnt from its training rows: each group is seen as one that was held out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audioclass.classifier.novelty import MOST_CALIBRATION, MOST_ROWS, Novelty, Views, largest_view
from audioclass.training.examples import spread_rows
from audioclass.training.folds import calibration_folds

FEWEST_GROUPS = 20  # of fewer, nothing can be said of the strange
RIDGE = 0.5
N_AXES = 16
SHRINKAGE = 300.0  # groups of a label from which on its own centre counts for more than that of all
FAR = 0.99  # the quantile of held-out distances that is a third of a unit above their centre


def fit_novelty(
    X: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray,
    held_out: np.ndarray,
    imagined: Sequence[np.ndarray],
    units: Sequence[float] | None = None,
) -> Novelty | None:
    """From prepared rows, their labels and groups, held-out posteriors, and rows of imagined sounds of each kind.

    The larger the unit of a kind, by default 1, the farther to its side strange rows must lie. None where there are too
    few groups.
    """
    n_groups = len(np.unique(groups))
    if n_groups < FEWEST_GROUPS:
        return None
    decided, n_labels = held_out.argmax(axis=1), held_out.shape[1]
    folds = calibration_folds(y, groups)
    if folds is None:
        return None
    places = spread_rows(y, MOST_ROWS)
    seen = _SharedGram(X[places], imagined, places)
    views = np.empty((len(X), 1 + len(imagined)))
    for fold in np.unique(folds):
        views[folds == fold] = seen.views(folds != fold).of_rows(X[folds == fold])
    weights = group_shares(groups)
    spreads = np.array([1.0, *(units or [1.0] * len(imagined))])
    centres = _centres(views, decided, weights, n_labels)
    spreads[0] = max(3 * float(np.quantile(views[:, 0] - centres[decided, 0], FAR)), 1e-6)
    strangeness = largest_view(views, centres[decided], spreads)
    order = np.argsort(-strangeness, kind="stable")
    if len(order) > MOST_CALIBRATION:
        order = order[np.linspace(0, len(order) - 1, MOST_CALIBRATION).round().astype(int)]
    scaled = weights[order] * (weights.sum() / weights[order].sum())
    arrays = (centres, spreads, strangeness[order], scaled)
    return Novelty(seen.views(np.ones(len(X), bool)), *(array.astype(np.float32) for array in arrays))


def _centres(views: np.ndarray, decided: np.ndarray, weights: np.ndarray, n_labels: int) -> np.ndarray:
    """The centre of each view for each decided label, drawn to that of all where it has few groups."""
    overall = np.average(views, axis=0, weights=weights)
    sums = np.zeros((n_labels, views.shape[1]))
    np.add.at(sums, decided, weights[:, None] * views)
    n = np.bincount(decided, weights, n_labels)[:, None]
    return np.asarray((sums + SHRINKAGE * overall) / (n + SHRINKAGE))


def group_shares(groups: np.ndarray) -> np.ndarray:
    """The weight of each row: those of a group sum to 1."""
    _, places, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return np.asarray(1 / counts[places])


class _SharedGram:
    """Products of all rows with all, computed once for the views of every fold."""

    def __init__(self, X: np.ndarray, imagined: Sequence[np.ndarray], places: np.ndarray) -> None:
        self._X, self._places = np.asarray(X, np.float64), places
        self._imagined = [np.asarray(rows, np.float64) for rows in imagined]
        self._all = np.concatenate([self._X, *self._imagined])
        self._K = self._all @ self._all.T

    def views(self, known: np.ndarray) -> Views:
        """The views that are fitted to those of the rows that are known."""
        here = np.flatnonzero(known[self._places])
        X, n = self._X[here], len(here)
        kinds, start = [], len(self._X)
        for rows in self._imagined:
            there = np.arange(start, start + len(rows))
            kinds.append(self._discriminant(here, there))
            start += len(rows)
        mean = X.mean(axis=0)
        K = self._K[np.ix_(here, here)]
        centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        values, vectors = np.linalg.eigh(centred)
        n_axes = int(min(N_AXES, (values > 1e-9 * max(values[-1], 1e-30)).sum(), n - 1))
        top = slice(len(values) - n_axes, None)
        axes = (X - mean).T @ (vectors[:, top] / np.sqrt(values[top]))
        return Views.of(np.column_stack([*kinds, axes, mean]), X, n_axes)

    def _discriminant(self, here: np.ndarray, there: np.ndarray) -> np.ndarray:
        """The direction from the known rows to imagined ones, by ridge regression in which both sides weigh alike."""
        places = np.concatenate([here, there])
        K = self._K[np.ix_(places, places)]
        side = self._K[np.ix_(places, here)].mean(axis=1)
        K = K - side - side[:, None] + self._K[np.ix_(here, here)].mean() + 1
        sizes = np.repeat([len(here), len(there)], [len(here), len(there)])
        targets = np.repeat([-1.0, 1.0], [len(here), len(there)])
        K[np.diag_indices(len(K))] += RIDGE * 2 * sizes / len(places)
        a = np.linalg.solve(K, targets)
        return np.asarray(self._all[places].T @ a - self._X[here].mean(axis=0) * a.sum())
