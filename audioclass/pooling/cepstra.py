"""Poolings of log-mel bands through their cepstra: statistics, covariance, order in time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
import scipy.fft

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks

SHRINKAGE = 0.01  # of the mean variance, so that fewer frames than coefficients are fine


@component
class CepstralStatistics:
    """Moments and extremes of the cepstra of level-free log-mel bands and of their first and second derivatives."""

    name: ClassVar[str] = "cepstral_statistics"
    coefficients: int = parameter(20, low=1, high=128, help="how many cepstral coefficients")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each coefficient and derivative with the name of the statistic."""
        names = [f"cepstrum{order}_{i}" for order in ("", "_d1", "_d2") for i in range(self.coefficients)]
        return tracks.suffixed(names, ["mean", "deviation", "skewness", "kurtosis", "minimum", "maximum"])

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Level-free, cosine transform, derivatives, then statistics."""
        first = _cepstra(windows, self.coefficients, self.depth)
        second = tracks.derivative(first)
        every = np.concatenate([first, second, tracks.derivative(second)], axis=2)
        return np.concatenate([*tracks.moments(every, 4), every.min(axis=1), every.max(axis=1)], axis=1)


@component
class CepstralCovariance:
    """Matrix logarithm of the covariance of the cepstra, and of that of their derivatives: upper triangles."""

    name: ClassVar[str] = "cepstral_covariance"
    coefficients: int = parameter(20, low=1, high=64, help="how many cepstral coefficients")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Pairs of coefficients, for the cepstra and for their derivatives."""
        pairs = [(i, j) for i in range(self.coefficients) for j in range(i, self.coefficients)]
        return [f"{what}_{i}_{j}" for what in ("covariance", "covariance_d1") for i, j in pairs]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Off-diagonal entries times √2, so that distances are those of the matrices."""
        values = _cepstra(windows, self.coefficients, self.depth)
        return np.concatenate([_log_covariance(values), _log_covariance(tracks.derivative(values))], axis=1)


@component
class LaggedCovariance:
    """Matrix logarithm of the covariance of cepstra with those some frames later: what follows what, upper triangle."""

    name: ClassVar[str] = "lagged_covariance"
    coefficients: int = parameter(12, low=1, high=64, help="how many cepstral coefficients")
    lags: tuple[int, ...] = parameter((0, 4, 12, 24), low=0, high=1024, help="how many frames later")
    depth: float = parameter(60.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def __post_init__(self) -> None:
        if not self.lags or len(set(self.lags)) < len(self.lags):
            raise ValueError(f"lagged_covariance: lags={self.lags} must be one or more different numbers of frames")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Pairs of coefficients, each with its lag."""
        names = [f"{i}_lag{lag}" for lag in self.lags for i in range(self.coefficients)]
        return [f"covariance_{a}_{b}" for i, a in enumerate(names) for b in names[i:]]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Over the frames that have all their followers, but at least the first half: the last frame stands in."""
        values = _cepstra(windows, self.coefficients, self.depth)
        n_frames = values.shape[1]
        count = max(n_frames - max(self.lags), (n_frames + 1) // 2)
        stacked = [_continued(values[:, lag : lag + count], values, count) for lag in self.lags]
        return _log_covariance(np.concatenate(stacked, axis=2))


@component
class CepstralSlices:
    """Mean and deviation of the cepstra over equal slices of the sounding part of a window: order in time."""

    name: ClassVar[str] = "cepstral_slices"
    coefficients: int = parameter(16, low=1, high=128, help="how many cepstral coefficients")
    slices: int = parameter(5, low=1, high=64, help="how many slices of time")
    derivatives: bool = parameter(True, help="whether the first derivatives are kept too")
    normalised: bool = parameter(False, help="whether each coefficient first gets mean 0 and deviation 1")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")
    active: float = parameter(30.0, above=0.0, help="decibels below the loudest at which sound begins and ends")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each slice with the mean and deviation of each coefficient."""
        orders = ("", "_d1") if self.derivatives else ("",)
        names = [f"cepstrum{order}_{i}" for order in orders for i in range(self.coefficients)]
        return [
            f"slice{s}_{name}" for s in range(self.slices) for name in tracks.suffixed(names, ["mean", "deviation"])
        ]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Sounding parts differ in length, so windows are taken one by one."""
        if not len(windows):
            return np.empty((0, len(self.columns(["mel_0"]))), np.float32)
        values = _cepstra(windows, self.coefficients, self.depth)
        parts = [tracks.sounding(window, self.active) for window in windows]
        return np.concatenate([self._pool_one(values[i : i + 1, part]) for i, part in enumerate(parts)])

    def _pool_one(self, values: np.ndarray) -> np.ndarray:
        if self.normalised:
            values = values - values.mean(axis=1, keepdims=True)
            values /= np.sqrt((values * values).mean(axis=1, keepdims=True) + np.float32(0.5))
        if self.derivatives:
            values = np.concatenate([values, tracks.derivative(values)], axis=2)
        edges = np.arange(self.slices + 1) * values.shape[1] / self.slices
        cuts = [(int(a), max(int(a) + 1, int(b))) for a, b in pairwise(edges)]
        return np.concatenate([part for a, b in cuts for part in tracks.moments(values[:, a:b], 2)], axis=1)


@component
class TemporalShape:
    """Cosine transform over time of the low cepstra: how each of them moves through the window."""

    name: ClassVar[str] = "temporal_shape"
    coefficients: int = parameter(8, low=1, high=128, help="how many cepstral coefficients")
    terms: int = parameter(6, low=1, high=64, help="how many terms of the transform over time, from the first on")
    depth: float = parameter(50.0, low=0.0, help="decibels kept below the window's loudest value; 0 keeps levels")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each coefficient with the number of the term."""
        return [f"cepstrum_{i}_term{k}" for k in range(1, self.terms + 1) for i in range(self.coefficients)]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """The 0th term, the mean, is left out; terms that a short window lacks are 0."""
        values = _cepstra(windows, self.coefficients, self.depth)
        terms = scipy.fft.dct(values, norm="ortho", axis=1)[:, 1 : self.terms + 1] / np.sqrt(values.shape[1])
        missing = np.zeros((len(terms), self.terms - terms.shape[1], self.coefficients), np.float32)
        return tracks.flat(np.concatenate([terms, missing], axis=1)).astype(np.float32)


def _cepstra(windows: np.ndarray, coefficients: int, depth: float) -> np.ndarray:
    values = tracks.cepstra(tracks.level_free(windows, depth), coefficients)
    missing = coefficients - values.shape[2]
    return np.pad(values, ((0, 0), (0, 0), (0, missing))) if missing else values


def _continued(part: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """So many frames: those of a part, then the last of all."""
    missing = count - part.shape[1]
    return part if not missing else np.concatenate([part, np.repeat(values[:, -1:], missing, axis=1)], axis=1)


def _log_covariance(values: np.ndarray) -> np.ndarray:
    centred = values - values.mean(axis=1, keepdims=True)
    covariance = (centred.transpose(0, 2, 1) @ centred).astype(np.float64) / values.shape[1]
    size = covariance.shape[1]
    variance = np.trace(covariance, axis1=1, axis2=2)[:, None, None] / size
    eigenvalues, vectors = np.linalg.eigh(covariance + np.eye(size) * (SHRINKAGE * variance + 1e-6))
    logarithm = (vectors * np.log(eigenvalues)[:, None, :]) @ vectors.transpose(0, 2, 1)
    places, factors = _upper_triangle(size)
    return np.asarray((logarithm.reshape(len(logarithm), size * size)[:, places] * factors).astype(np.float32))


@cache
def _upper_triangle(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Where its entries stand among those of a matrix, and √2 for each that stands for two."""
    i, j = np.triu_indices(size)
    return i * size + j, np.where(i == j, 1, np.sqrt(2))


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """Poolings through cepstra."""
    return [CepstralStatistics, CepstralCovariance, LaggedCovariance, CepstralSlices, TemporalShape]
