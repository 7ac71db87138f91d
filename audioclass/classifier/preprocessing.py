"""From raw features to what machines compare: each feature normalised, each group of features given the same say.

Fitted on training rows alone and kept as arrays, so that a model prepares new rows with numpy alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np

from audioclass.classifier.grouped_distance import GroupedDistance
from audioclass.classifier.normalisation import RankNormalisation, Standardisation
from audioclass.errors import unknown_name
from audioclass.threads import one_thread

FITTING_ROWS = 20_000  # of the training rows, evenly spaced: more change neither ranks nor spreads


class Normalisation(Protocol):
    """What was learnt of each feature."""

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Rows of features, normalised."""


@dataclass(frozen=True, eq=False)
class Unchanged:
    """Features as they are."""

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The same rows in float64."""
        return np.asarray(X, np.float64)


NORMALISATIONS: Mapping[str, Callable[[np.ndarray], Normalisation]] = {
    "rank": RankNormalisation.fit,
    "waves": lambda X: RankNormalisation.fit(X).as_waves,
    "standard": Standardisation.fit,
    "none": lambda X: Unchanged(),
}
STATES: Mapping[str, type[RankNormalisation | Standardisation | Unchanged]] = {
    "rank": RankNormalisation,
    "standard": Standardisation,
    "none": Unchanged,
}
KEPT_AS = {"waves": "rank"}  # tables of ranks say all there is to know of their waves


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """A normalisation of each feature, then a factor for each: squared distances are on average 1, groups share them.

    `normalisation` names what is kept of it; `state` holds what it learnt and `factors` is (n_features,). Where there
    are `axes`, (n_features, n_axes), machines compare what of a row lies along these.
    """

    normalisation: str
    state: Normalisation
    factors: np.ndarray
    axes: np.ndarray | None = None

    @classmethod
    def fit(
        cls,
        X: np.ndarray,
        groups: Sequence[str] | None = None,
        normalisation: str = "rank",
        scaled: bool = True,
        group_weights: Mapping[str, float] | None = None,
    ) -> Preprocessing:
        """From training rows; without `groups` all features are one, without `scaled` factors are 1.

        A group's share of the squared distance is its weight over the sum of all, the same for each unless told.
        """
        if normalisation not in NORMALISATIONS:
            raise unknown_name("normalisation", normalisation, NORMALISATIONS)
        some = _some(X)
        state = NORMALISATIONS[normalisation](some)
        factors = _factors(state, some, groups, group_weights) if scaled else np.ones(X.shape[1])
        return cls(KEPT_AS.get(normalisation, normalisation), state, factors)

    def as_waves(
        self, X: np.ndarray, groups: Sequence[str] | None = None, group_weights: Mapping[str, float] | None = None
    ) -> Preprocessing:
        """Waves of the ranks that this one has, as `fit` of the same training rows would give them."""
        if not isinstance(self.state, RankNormalisation):
            raise ValueError(f"waves are of ranks, not of {self.normalisation}")
        state = self.state.as_waves
        return Preprocessing(self.normalisation, state, _factors(state, _some(X), groups, group_weights))

    @one_thread()
    def along_axes(self, X: np.ndarray, n_axes: int) -> Preprocessing:
        """The same along the principal axes of training rows, in which squared distances are again 1 on average.

        Of a thousand features that go together a few hundred axes hold nearly all that tells rows apart; with fewer
        axes than features a machine costs that much less. Asked for as many axes as there are features, or more, it is
        itself.
        """
        if not 0 < n_axes < self.n_features:
            return self
        normalised = self.normalise(_some(X))
        variances, vectors = np.linalg.eigh(np.atleast_2d(np.cov(normalised, rowvar=False)))
        along = max(float(variances[-n_axes:].sum()), np.finfo(float).tiny)
        axes = vectors[:, ::-1][:, :n_axes] * np.sqrt(max(float(variances.sum()), 0.0) / along)
        return replace(self, axes=axes.astype(np.float32))

    @property
    def n_features(self) -> int:
        """How many features a row must have."""
        return len(self.factors)

    @property
    def n_prepared(self) -> int:
        """How many numbers a prepared row has."""
        return self.n_features if self.axes is None else self.axes.shape[1]

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Prepared rows in float64; NaN and infinite values are refused."""
        return self.project(self.normalise(X))

    def project(self, normalised: np.ndarray) -> np.ndarray:
        """Prepared rows from normalised ones; where there are axes, its last bits hang on how many come together."""
        return normalised if self.axes is None else np.asarray(normalised @ self.axes)

    def normalise(self, X: np.ndarray) -> np.ndarray:
        """Normalised rows in float64, each by itself; NaN and infinite values are refused."""
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"X has shape {X.shape}, must have {self.n_features} features")
        if not np.isfinite(X).all():
            raise ValueError("X holds NaN or infinite values")
        normalised: np.ndarray = self.state.apply(X) * self.factors
        return normalised

    def arrays(self) -> dict[str, np.ndarray]:
        """What it learnt, by name."""
        names = [each.name for each in fields(STATES[self.normalisation])]
        axes = {} if self.axes is None else {"axes": self.axes}
        return {"factors": self.factors, **axes, **{name: getattr(self.state, name) for name in names}}

    @classmethod
    def of_arrays(cls, normalisation: str, arrays: Mapping[str, np.ndarray]) -> Preprocessing:
        """The inverse of `arrays`."""
        if normalisation not in STATES:
            raise unknown_name("normalisation", normalisation, STATES)
        learnt = {name: array for name, array in arrays.items() if name not in ("factors", "axes")}
        return cls(normalisation, STATES[normalisation](**learnt), arrays["factors"], arrays.get("axes"))


def _some(X: np.ndarray) -> np.ndarray:
    return X[:: -(-len(X) // FITTING_ROWS)] if len(X) else X


def _factors(
    state: Normalisation, X: np.ndarray, groups: Sequence[str] | None, group_weights: Mapping[str, float] | None
) -> np.ndarray:
    names = ("all",) * X.shape[1] if groups is None else tuple(groups)
    return GroupedDistance.fit(state.apply(X), names, None if group_weights is None else dict(group_weights)).factors
