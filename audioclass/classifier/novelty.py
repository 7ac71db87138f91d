"""How strange a row is to a model: a conformal p-value that it belongs to what the model was trained on.

The nonconformity of a prepared row is the largest of several views of it, each in units of held-out training rows of
the label that the model decides for:

- how far it lies to the side of sounds that were imagined (tones, noise, music, voices, clipped sounds), one linear
  discriminant for each kind, against the training rows;
- the squared distance to the nearest training rows, within their main directions and beside them.

Whatever the views are, the p-value is the share of training groups (recordings) that were at least as strange when they
were held out. It is a tail fitted to the strangest groups where none was so strange, which no count can tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

NEIGHBOURS = 3
LARGEST_CODE = 2**15 - 1
MOST_ROWS = 1000  # of the training rows that views are fitted to
MOST_CALIBRATION = 8192  # of held-out windows that a model keeps
VIEWS_MEMBERS = ("codes", "scales", "offsets", "rows", "residual")
CALIBRATION_MEMBERS = ("centres", "spreads", "strangeness", "weights")


@dataclass(frozen=True, eq=False)
class Views:
    """What is seen of prepared rows; `codes` times `scales` are (n_features, n_kinds + n_axes + 1) directions.

    The directions are the discriminants, the main axes of the training rows and their mean; `offsets` are what the mean
    gives along each. `rows` are (n, n_axes) training rows along the main axes and `residual` is their mean squared
    distance beside these.
    """

    codes: np.ndarray
    scales: np.ndarray
    offsets: np.ndarray
    rows: np.ndarray
    residual: np.ndarray

    @classmethod
    def of(cls, directions: np.ndarray, X: np.ndarray, n_axes: int) -> Views:
        """From directions in double precision, their last the mean, and the training rows that they were fitted to."""
        scales = np.maximum(np.abs(directions).max(axis=0), np.finfo(np.float32).tiny) / LARGEST_CODE
        codes = np.rint(directions / scales).astype(np.int16)
        stored = codes * scales
        centred = X - X.mean(axis=0)
        rows = centred @ stored[:, -1 - n_axes : -1]
        residual = np.maximum((centred**2).sum(axis=1) - (rows**2).sum(axis=1), 0).mean()
        singles = (scales, X.mean(axis=0) @ stored, rows, np.array([residual]))
        return cls(codes, *(np.asarray(values, np.float32) for values in singles))

    @cached_property
    def directions(self) -> np.ndarray:
        """In single precision."""
        return np.asarray(self.codes.astype(np.float32) * self.scales)

    @property
    def n_axes(self) -> int:
        """How many main axes of the training rows."""
        return int(self.rows.shape[1])

    @property
    def n_views(self) -> int:
        """The distance and the discriminants."""
        return len(self.scales) - self.n_axes

    def of_rows(self, X: np.ndarray) -> np.ndarray:
        """(n, n_views) of prepared rows, larger the stranger."""
        X = np.asarray(X, np.float32)
        along = X @ self.directions
        shifted = along - self.offsets
        axes = shifted[:, -1 - self.n_axes : -1]
        lengths = np.einsum("ij,ij->i", X, X) - 2 * along[:, -1] + self.offsets[-1]
        beside = np.maximum(lengths - np.einsum("ij,ij->i", axes, axes), 0)
        distance = np.log(_nearest(axes, self.rows) + beside + self.residual + np.float32(1e-6))
        return np.column_stack([distance, shifted[:, : -1 - self.n_axes]]).astype(np.float64)


def _nearest(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The mean squared distance of each row to its nearest few."""
    S = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", rows, rows) - 2 * X @ rows.T
    k = min(NEIGHBOURS, len(rows))
    return np.asarray(np.maximum(np.partition(S, k - 1, axis=1)[:, :k], 0).mean(axis=1))


@dataclass(frozen=True, eq=False)
class Novelty:
    """Views of rows, their units for each label, and what they gave for training groups that were held out.

    `centres` are (n_labels, n_views), `spreads` (n_views,). `strangeness` is that of held-out windows, from the
    largest down, and `weights` are one over the windows of the group that each is of.
    """

    views: Views
    centres: np.ndarray
    spreads: np.ndarray
    strangeness: np.ndarray
    weights: np.ndarray

    def strangeness_of(self, X: np.ndarray, decided: np.ndarray) -> np.ndarray:
        """(n,) nonconformities of prepared rows, given the label that the model decides for each."""
        return largest_view(self.views.of_rows(X), self.centres[decided], self.spreads)

    @property
    def n_groups(self) -> int:
        """How many groups were held out."""
        return round(float(self.weights.sum()))

    def p_values(self, strangeness: np.ndarray | Sequence[float]) -> np.ndarray:
        """(1 + groups at least as strange) / (1 + groups); below the least of these by the tail."""
        strangeness = np.asarray(strangeness, np.float64)
        at_least = np.searchsorted(-self.strangeness, -strangeness, side="right")
        p = (1 + self._cumulated[at_least]) / (1 + self._cumulated[-1])
        beyond = np.maximum(strangeness - self.strangeness[0], 0)
        return np.asarray(np.where(at_least == 0, p * np.exp(-beyond / self._tail), p))

    @cached_property
    def _cumulated(self) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum(self.weights, dtype=np.float64)])

    @cached_property
    def _tail(self) -> float:
        """The mean excess of the strangest tenth of the groups, five at least: the scale of an exponential tail."""
        most = max(5.0, self._cumulated[-1] / 10)
        n = int(np.searchsorted(self._cumulated, most))
        top = self.strangeness[:n].astype(np.float64)
        excess = np.average(top - self.strangeness[min(n, len(self.strangeness) - 1)], weights=self.weights[:n])
        return float(max(excess, 1e-3))

    def arrays(self) -> dict[str, np.ndarray]:
        """Every array by its name."""
        views = {name: getattr(self.views, name) for name in VIEWS_MEMBERS}
        return views | {name: getattr(self, name) for name in CALIBRATION_MEMBERS}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int, n_labels: int) -> Novelty:
        """The inverse of `arrays`; a ValueError where they do not fit one another, the features or the labels."""
        views = Views(**{name: arrays[name] for name in VIEWS_MEMBERS})
        novelty = cls(views, **{name: arrays[name] for name in CALIBRATION_MEMBERS})
        novelty.check(n_features, n_labels)
        return novelty

    def check(self, n_features: int, n_labels: int) -> None:
        """Refuse arrays that cannot be computed with."""
        views, shapes = self.views, {name: array.shape for name, array in self.arrays().items()}
        n_rows, n_axes = views.rows.shape if views.rows.ndim == 2 else (0, 0)
        n_directions, n = len(np.ravel(views.scales)), len(np.ravel(self.strangeness))
        n_views = n_directions - n_axes
        expected: dict[str, tuple[int, ...]] = {
            "codes": (n_features, n_directions),
            "scales": (n_directions,),
            "offsets": (n_directions,),
            "rows": (n_rows, n_axes),
            "residual": (1,),
            "centres": (n_labels, n_views),
            "spreads": (n_views,),
            "strangeness": (n,),
            "weights": (n,),
        }
        if shapes != expected or n_views < 1 or not 1 <= n_rows <= MOST_ROWS or not 1 <= n <= MOST_CALIBRATION:
            raise ValueError(f"arrays of {shapes} for {n_features} features and {n_labels} labels")
        if views.codes.dtype != np.int16 or any(
            array.dtype.kind != "f" for name, array in self.arrays().items() if name != "codes"
        ):
            raise ValueError("arrays of other types than were saved")
        if not (np.diff(self.strangeness) <= 0).all() or not (self.weights > 0).all() or not (self.spreads > 0).all():
            raise ValueError("strangeness must fall, weights and spreads be positive")


def largest_view(views: np.ndarray, centres: np.ndarray, spreads: np.ndarray) -> np.ndarray:
    """(n,): the largest view of each row above its label's centre, in units of its spread."""
    return np.asarray(((views - centres) / spreads).max(axis=1))
