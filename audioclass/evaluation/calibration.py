"""Whether posteriors mean what they say: Brier score, reliability curves and calibration errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

N_BINS = 15


@dataclass(frozen=True, eq=False)
class Reliability:
    """Stated against observed, in bins of equal width ]a, b]; the first also holds 0.

    `stated` is the mean probability in a bin and `observed` how often it came true, both NaN in an empty bin;
    `weights` is how much the bin holds.
    """

    edges: np.ndarray
    weights: np.ndarray
    stated: np.ndarray
    observed: np.ndarray

    @property
    def error(self) -> float:
        """Expected calibration error: the mean gap, each bin counting by what it holds; NaN without examples."""
        full = self.weights > 0
        return float(np.average(self.gaps[full], weights=self.weights[full])) if full.any() else float("nan")

    @property
    def maximum_error(self) -> float:
        """Maximum calibration error: the widest gap of any bin; NaN without examples."""
        full = self.weights > 0
        return float(self.gaps[full].max()) if full.any() else float("nan")

    @property
    def gaps(self) -> np.ndarray:
        """|stated - observed| of each bin."""
        return np.asarray(np.abs(self.stated - self.observed))


@dataclass(frozen=True, eq=False)
class Binning:
    """Probabilities put into their bins once, for any number of weightings."""

    probabilities: np.ndarray
    came_true: np.ndarray
    bins: np.ndarray
    edges: np.ndarray

    @classmethod
    def of(cls, probabilities: np.ndarray, came_true: np.ndarray, n_bins: int = N_BINS) -> Binning:
        """`came_true` says for each probability whether what it was stated for holds."""
        edges = np.linspace(0, 1, n_bins + 1)
        bins = np.searchsorted(edges[1:-1], probabilities)
        return cls(np.asarray(probabilities, float), np.asarray(came_true, float), bins, edges)

    def reliability(self, weights: np.ndarray | None = None) -> Reliability:
        """The curve when each example counts as much as its weight."""
        weights = np.ones(len(self.bins)) if weights is None else np.asarray(weights, float)
        held, stated, observed = (
            np.bincount(self.bins, weights * values, minlength=len(self.edges) - 1)
            for values in (np.ones(len(self.bins)), self.probabilities, self.came_true)
        )
        below = np.where(held > 0, held, np.nan)
        return Reliability(self.edges, held, stated / below, observed / below)


@dataclass(frozen=True, eq=False)
class LabelBinnings:
    """The posteriors of all labels put into their bins once: the calibration errors alone, for any weighting.

    `cells` numbers the bin of each posterior through all labels; `excess` is the posterior less what came true.
    """

    cells: np.ndarray
    excess: np.ndarray
    n_bins: int

    @classmethod
    def of(cls, P: np.ndarray, y: np.ndarray, n_bins: int = N_BINS) -> LabelBinnings:
        """Binnings of posteriors `P` against the reference indices `y`."""
        bins = np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:-1], P)
        labels = np.arange(P.shape[1])
        return cls(bins + n_bins * labels, P - (y[:, None] == labels), n_bins)

    def errors(self, weights: np.ndarray | None = None) -> np.ndarray:
        """`label_reliability(…).error` of each label, (n_labels,); NaN without examples."""
        weights = np.ones(len(self.cells)) if weights is None else np.asarray(weights, float)
        n_labels = self.cells.shape[1]
        held = (weights[:, None] * self.excess).ravel()
        gaps = np.bincount(self.cells.ravel(), held, n_labels * self.n_bins).reshape(n_labels, self.n_bins)
        return np.asarray(np.abs(gaps).sum(axis=1) / (weights.sum() or np.nan))


def top_label_reliability(
    P: np.ndarray, y: np.ndarray, estimated: np.ndarray, weights: np.ndarray | None = None, n_bins: int = N_BINS
) -> Reliability:
    """The posterior of the label that was decided for, against how often it is the right one."""
    confidence = P[np.arange(len(y)), estimated]
    return Binning.of(confidence, estimated == y, n_bins).reliability(weights)


def label_reliability(
    P: np.ndarray, y: np.ndarray, label: int, weights: np.ndarray | None = None, n_bins: int = N_BINS
) -> Reliability:
    """The posterior of one label over all examples, against how often it is the right one."""
    return Binning.of(P[:, label], y == label, n_bins).reliability(weights)


def brier_scores(P: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared distance from the posteriors to the reference, summed over labels: from 0 to 2 for each example."""
    return np.asarray((P**2).sum(axis=1) - 2 * P[np.arange(len(y)), y] + 1)


def brier(P: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean of `brier_scores`."""
    return float(np.average(brier_scores(P, y), weights=weights))
