"""The contract of an embedding: one vector for a window of audio."""

from __future__ import annotations

from typing import Any

import numpy as np

from audioclass.contracts import EmbedsMany
from audioclass.testing.checks import (
    COMMON,
    Check,
    repeated,
    require,
    require_close,
    require_refusal,
    skip_unless,
    unchanged,
)


def _window(embedding: Any, seed: int = 0) -> np.ndarray:
    """One second of noise at the embedding's own sample rate."""
    noise = np.random.default_rng(seed).standard_normal(int(embedding.sample_rate))
    return np.float32(0.1) * noise.astype(np.float32)


def a_value_for_each_column(embedding: Any) -> None:
    """The vector has one finite value for each name, for noise and for digital silence."""
    columns = list(embedding.columns())
    require(len(set(columns)) == len(columns) > 0, f"columns {columns[:5]}: names must differ")
    for what, samples in (("noise", _window(embedding)), ("silence", np.zeros_like(_window(embedding)))):
        vector = embedding.embed(samples, embedding.sample_rate)
        require(np.shape(vector) == (len(columns),), f"shape {np.shape(vector)} for {len(columns)} columns")
        require(np.isfinite(vector).all(), f"NaN or infinite values for {what}")


def says_something(embedding: Any) -> None:
    """Noise and silence get different vectors."""
    noise, silence = _window(embedding), np.zeros_like(_window(embedding))
    loud, quiet = (np.asarray(embedding.embed(samples, embedding.sample_rate)) for samples in (noise, silence))
    require(not np.array_equal(loud, quiet), "noise and silence have the same vector")


def precision_does_not_matter(embedding: Any) -> None:
    """Samples in float32 and float64 give nearly the same vector."""
    samples = _window(embedding)
    single, double = (embedding.embed(samples.astype(t), embedding.sample_rate) for t in (np.float32, np.float64))
    require_close(single, double, 1e-3, "vector")


def samples_are_left_alone(embedding: Any) -> None:
    """It does not change the samples, and gives the same twice."""
    samples = _window(embedding)
    repeated(lambda: unchanged([samples], lambda: embedding.embed(samples, embedding.sample_rate)), "vector")


def windows_do_not_meet(embedding: Any) -> None:
    """Several windows at once get the vectors that they get one by one."""
    skip_unless(isinstance(embedding, EmbedsMany), "it has no embed_many(windows, sample_rate)")
    windows = np.stack([_window(embedding, seed) for seed in range(3)])
    together = unchanged([windows], lambda: embedding.embed_many(windows, embedding.sample_rate))
    alone = np.stack([embedding.embed(window, embedding.sample_rate) for window in windows])
    require_close(together, alone, 1e-5, "vectors of three windows")


def bad_samples_are_refused(embedding: Any) -> None:
    """No samples, NaN samples and another sample rate are a ValueError."""
    samples = _window(embedding)
    spoilt = np.where(np.arange(len(samples)) == 7, np.nan, samples)
    require_refusal(lambda: embedding.embed(samples[:0], embedding.sample_rate), "no sample")
    require_refusal(lambda: embedding.embed(spoilt, embedding.sample_rate), "NaN")
    require_refusal(lambda: embedding.embed(samples, embedding.sample_rate + 1), "another sample rate")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    a_value_for_each_column,
    says_something,
    precision_does_not_matter,
    samples_are_left_alone,
    windows_do_not_meet,
    bad_samples_are_refused,
)
