"""Normalisation of features, fitted on training data alone and kept as arrays: part of every model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np

LARGEST = 3.0  # deviations: what lies beyond the training data lies here
KNOTS = 64
FEW_ROWS = 192  # up to which a loop over features costs more than the search
FEATURES_TOGETHER = 64
NORMAL = NormalDist()
FREQUENCY = 0.7  # of waves, per deviation
PHASE = math.pi / 4
PHASES_SEED = 0


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Mean 0 and variance 1 for each feature; one that does not vary stays at 0."""

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(cls, X: np.ndarray) -> Standardisation:
        """From training rows."""
        deviation = _finite(X).std(axis=0, dtype=np.float64)
        return cls(X.mean(axis=0, dtype=np.float64), np.where(deviation > 0, deviation, 1.0))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Rows in units of the training deviation."""
        scaled: np.ndarray = (X - self.mean) / self.scale
        return scaled


@dataclass(frozen=True, eq=False)
class RankNormalisation:
    """Each feature by its rank among the training values, to a normal distribution clipped at ±3.

    `values` and `scores` are (n_features, n_knots): between two knots the map is a line; equal training values share
    the score of their middle rank, and a feature that does not vary is 0.
    """

    values: np.ndarray
    scores: np.ndarray

    @classmethod
    def fit(cls, X: np.ndarray) -> RankNormalisation:
        """From training rows; more than 64 different values of a feature are thinned, evenly in score."""
        columns = np.sort(np.ascontiguousarray(_finite(X).T, dtype=np.float64), axis=1)
        scores = _scores_of_ranks(len(X))
        knots = [_knots(column, scores) for column in columns]
        shape = (len(knots), max((len(values) for values, _ in knots), default=0))
        tables = np.empty(shape), np.empty(shape)
        for feature, pair in enumerate(knots):
            for table, part in zip(tables, pair, strict=True):
                table[feature, : len(part)], table[feature, len(part) :] = part, part[-1]
        return cls(*tables)

    @property
    def as_waves(self) -> RankNormalisation:
        """The same ranks, each score z as one Fourier feature cos(ωz ± π/4), brought to mean 0 and variance 1.

        With half of the signs each way, drawn once for all, the product of two rows estimates Σ cos(ω(z − z')) over the
        features of a group: a kernel of each feature by itself, which tells what is usual in it from what is not. The
        distance of rank scores knows only more and less.
        """
        signs = 2 * np.random.default_rng(PHASES_SEED).integers(0, 2, len(self.scores)) - 1
        mean = math.exp(-(FREQUENCY**2) / 2) * math.cos(PHASE)  # of a normal z, whichever the sign
        deviation = math.sqrt((1 - math.exp(-(FREQUENCY**2))) / 2)
        waves = np.cos(FREQUENCY * self.scores + PHASE * signs[:, None])
        return replace(self, scores=(waves - mean) / deviation)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Scores from −3 to 3, or waves of them, (n, n_features).

        Of a few rows all features are looked up together: the knots that a value lies between are found by halving.
        Of many each feature by itself. Both give the same bits.
        """
        X = np.asarray(X)
        if len(X) > FEW_ROWS:
            return self._apply_by_feature(X)
        X = X.astype(np.float64)
        knots, scores, slopes = self._tables
        width = knots.shape[1]
        at = np.broadcast_to(np.arange(len(knots)) * width, X.shape).copy()
        step = width // 2
        while step:
            at += step * (knots.take(at + step) <= X)
            step //= 2
        beyond = X - knots.take(at)
        return np.asarray(np.where(beyond > 0, slopes.take(at) * beyond, 0.0) + scores.take(at))

    def _apply_by_feature(self, X: np.ndarray) -> np.ndarray:
        """Some features at a time, whose columns are laid side by side in memory before they are looked up."""
        normalised = np.empty(X.shape)
        for first in range(0, X.shape[1], FEATURES_TOGETHER):
            here = slice(first, first + FEATURES_TOGETHER)
            columns = np.ascontiguousarray(X[:, here].T, dtype=np.float64)
            for column, values, scores in zip(columns, self.values[here], self.scores[here], strict=True):
                column[:] = np.interp(column, values, scores)
            normalised[:, here] = columns.T
        return normalised

    @cached_property
    def _tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Knots, their scores and the slopes after them, each with a power of two of columns; no value reaches them."""
        values, scores = (np.asarray(table, np.float64) for table in (self.values, self.scores))
        widths, rises = np.diff(values, axis=1), np.diff(scores, axis=1)
        slopes = np.divide(rises, widths, out=np.zeros_like(rises), where=widths >= np.finfo(float).tiny)
        width = 2 ** max(values.shape[1] - 1, 0).bit_length()
        return (
            _widened(values, width, np.inf),
            _widened(scores, width, 0.0),
            _widened(slopes, width, 0.0),
        )


def _widened(table: np.ndarray, width: int, fill: float) -> np.ndarray:
    return np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=fill)


def _scores_of_ranks(n: int) -> np.ndarray:
    """(2n + 1,): what lies at k/2 of n ranks, k from 0 on; the ends are never asked for."""
    ranks = np.arange(1, 2 * n) / (2 * n)
    return np.clip([np.nan, *map(NORMAL.inv_cdf, ranks.tolist()), np.nan], -LARGEST, LARGEST)


def _knots(column: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values of a sorted column, each once, with the scores of their middle ranks; not more than can be kept."""
    last = np.append(np.flatnonzero(column[1:] != column[:-1]), len(column) - 1)
    middles = last + 1 + np.append(0, last[:-1] + 1)  # twice the middle rank
    if len(last) > KNOTS:
        places = _thinned(middles.tobytes(), len(column))
        last, middles = last[places], middles[places]
    return column[last], scores[middles]


@lru_cache(maxsize=8)
def _thinned(middles: bytes, n: int) -> np.ndarray:
    """Which of so many values are kept, evenly in score; the same for all features without equal values."""
    ranks = np.frombuffer(middles, dtype=np.int64) / (2 * n)
    places = np.interp(_ranks_of_knots(), ranks, np.arange(len(ranks))).round().astype(int)
    return np.asarray(places[np.append(True, places[1:] != places[:-1])])


@lru_cache(maxsize=1)
def _ranks_of_knots() -> np.ndarray:
    """(KNOTS,): the shares of a normal distribution below scores that are evenly spaced."""
    return np.array([NORMAL.cdf(score) for score in np.linspace(-LARGEST, LARGEST, KNOTS)])


def _finite(X: np.ndarray) -> np.ndarray:
    if X.ndim != 2 or not len(X):
        raise ValueError(f"X has shape {X.shape}, must be examples by features, at least one")
    if not np.isfinite(X).all():
        raise ValueError("X holds NaN or infinite values")
    return X
