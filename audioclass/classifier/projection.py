"""Prepared rows as a few small whole numbers: near in these is near in the space in which the model's kernels compare.

The axes are the main ones of the model's support rows, so that distances between projected rows are those between the
rows themselves but for what lies beside the axes. Rounded to whole numbers from -127 to 127 a row takes 128 bytes.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import dataclass

import numpy as np

from audioclass.classifier.bank import Bank
from audioclass.classifier.model import ROWS_TOGETHER, Model
from audioclass.threads import one_thread

MOST_AXES = 128
MOST_ROWS = 1000  # of the support rows that axes are fitted to
LARGEST_CODE = 127
REACH = 0.7  # of the largest support row along any axis: few rows are beyond, and all others are told finer
MEMBERS = ("mean", "axes", "step")


@dataclass(frozen=True, eq=False)
class Projection:
    """(n_features,) `mean`, (n_features, n_axes) orthonormal `axes`, and the `step` from one code to the next, (1,)."""

    mean: np.ndarray
    axes: np.ndarray
    step: np.ndarray

    @classmethod
    @one_thread()
    def of(cls, model: Model) -> Projection:
        """That of a model; where it keeps no support rows, its axes are drawn from a fixed seed."""
        machines, n_features = model.classifier.machines, model.preprocessing.n_prepared
        if not isinstance(machines, Bank) or len(machines.X) < 2:
            drawn = np.random.default_rng(0).normal(size=(n_features, min(MOST_AXES, n_features)))
            return cls._rounded(np.zeros(n_features), np.linalg.qr(drawn)[0], 1.0)
        X = machines.X[:: -(-len(machines.X) // MOST_ROWS)].astype(np.float64)
        mean = X.mean(axis=0)
        axes = np.linalg.svd(X - mean, full_matrices=False)[2][:MOST_AXES].T
        return cls._rounded(mean, axes, float(np.abs((X - mean) @ axes).max()))

    @classmethod
    def _rounded(cls, mean: np.ndarray, axes: np.ndarray, largest: float) -> Projection:
        step = max(REACH * largest / LARGEST_CODE, float(np.finfo(np.float32).tiny))
        return cls(mean.astype(np.float32), axes.astype(np.float32), np.array([step], np.float32))

    @property
    def n_axes(self) -> int:
        """How many numbers a row becomes."""
        return int(self.axes.shape[1])

    @one_thread()
    def codes(self, X: np.ndarray) -> np.ndarray:
        """(n, n_axes) whole numbers of prepared rows, which are computed as many together as a model computes."""
        codes = np.empty((len(X), self.n_axes), np.int8)
        for first in range(0, len(X), ROWS_TOGETHER):
            rows = slice(first, first + ROWS_TOGETHER)
            along = (np.asarray(X[rows], np.float32) - self.mean) @ self.axes
            codes[rows] = np.rint(along / self.step).clip(-LARGEST_CODE, LARGEST_CODE)
        return codes

    def similarity(self, squared: np.ndarray) -> np.ndarray:
        """exp(-d²) of squared distances between codes, d² being 1 on average between two training rows; 1 is equal."""
        return np.asarray(np.exp(-np.asarray(squared, np.float64) * float(self.step[0]) ** 2))

    def to_bytes(self) -> bytes:
        """As a zip of arrays."""
        stream = io.BytesIO()
        np.savez(stream, mean=self.mean, axes=self.axes, step=self.step)
        return stream.getvalue()

    @classmethod
    def of_bytes(cls, content: bytes) -> Projection:
        """The inverse of `to_bytes`; a ValueError where the arrays are not those of a projection."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as members:
                mean, axes, step = (np.asarray(members[name]) for name in MEMBERS)
        except (EOFError, KeyError, OSError, TypeError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError("not the arrays of a projection") from error
        fits = mean.ndim == 1 and axes.shape[:1] == mean.shape and axes.ndim == 2 and step.shape == (1,)
        numbers = all(array.dtype.kind == "f" and np.isfinite(array).all() for array in (mean, axes, step))
        if not fits or not numbers or axes.shape[1] > MOST_AXES or step[0] <= 0:
            raise ValueError("not the arrays of a projection")
        return cls(mean, axes, step)
