"""The contract of a descriptor: values per frame, read from the shared spectrum."""

from __future__ import annotations

from typing import Any

import numpy as np

from audioclass.data import Framing
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.testing.checks import COMMON, Check, repeated, require, require_close

FRAMING = Framing(sample_rate=16000, frame_length=512, hop_length=160)
VIEWS = ("samples", "spectrum", "power", "magnitude", "log_power", "cumulated", "chroma", "autocorrelation")


def _signals() -> dict[str, np.ndarray]:
    """Half a second of each of what descriptors must survive."""
    rng = np.random.default_rng(0)
    t = np.arange(8000) / FRAMING.sample_rate
    return {
        "noise": 0.1 * rng.standard_normal(8000),
        "a tone": 0.5 * np.sin(2 * np.pi * 440 * t),
        "digital silence": np.zeros(8000),
        "full scale": np.sign(np.sin(2 * np.pi * 100 * t)),
        "a constant": np.full(8000, 0.25),
        "one click": np.where(np.arange(8000) == 4000, 1.0, 0.0),
    }


def _values(descriptor: Any, samples: np.ndarray) -> np.ndarray:
    values: np.ndarray = descriptor.frames(CachedSpectra(samples, FRAMING))
    return values


def columns_are_named(descriptor: Any) -> None:
    """Each column has a name of its own."""
    columns = list(descriptor.columns(FRAMING))
    require(columns and all(isinstance(name, str) and name for name in columns), f"columns {columns}")
    require(len(set(columns)) == len(columns), "a name stands twice")


def a_row_for_each_frame(descriptor: Any) -> None:
    """There is one row for each frame, also where there is one frame or none."""
    width = len(descriptor.columns(FRAMING))
    for n_frames in (0, 1, 2, 30):
        n_samples = FRAMING.frame_length + (n_frames - 1) * FRAMING.hop_length if n_frames else 10
        values = _values(descriptor, _signals()["noise"][:n_samples])
        require(values.shape == (n_frames, width), f"shape {values.shape} for {n_frames} frames of {width} columns")


def values_are_finite(descriptor: Any) -> None:
    """Values are finite for every signal: noise, tones, clicks, full scale and digital silence."""
    for what, samples in _signals().items():
        require(np.isfinite(_values(descriptor, samples)).all(), f"NaN or infinite values for {what}")


def a_row_at_every_speed(descriptor: Any) -> None:
    """A version of a recording, whose spectra have more bins or fewer, has the same columns, with finite values."""
    spectra, width = CachedSpectra(_signals()["noise"], FRAMING), len(descriptor.columns(FRAMING))
    for speed in (15 / 14, 14 / 15):
        values = descriptor.frames(spectra.at_speed(speed))
        require(values.shape == (spectra.n_frames, width), f"shape {values.shape} at speed {speed:.3f}")
        require(np.isfinite(values).all(), f"NaN or infinite values at speed {speed:.3f}")


def frames_do_not_meet(descriptor: Any) -> None:
    """A row depends on its own frame and its stated context alone, so cutting the audio changes nothing."""
    context, first, n_rows = getattr(descriptor, "context", 0), 10, 20
    n_samples = FRAMING.frame_length + (first + n_rows + 2 * context) * FRAMING.hop_length
    noise = 0.1 * np.random.default_rng(0).standard_normal(n_samples)
    whole = _values(descriptor, noise)[first + context :]
    part = _values(descriptor, noise[first * FRAMING.hop_length :])[context:]
    require_close(part[:n_rows], whole[:n_rows], 1e-5, "rows of a part")


def views_are_left_alone(descriptor: Any) -> None:
    """It does not change the views that others read, and gives the same twice."""
    spectra = CachedSpectra(_signals()["noise"], FRAMING)
    before = {name: getattr(spectra, name).copy() for name in VIEWS}
    repeated(lambda: descriptor.frames(spectra), "values")
    for name, was in before.items():
        require(np.array_equal(was, getattr(spectra, name)), f"{name} was changed in place")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    columns_are_named,
    a_row_for_each_frame,
    values_are_finite,
    a_row_at_every_speed,
    frames_do_not_meet,
    views_are_left_alone,
)
