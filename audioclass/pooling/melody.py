"""How a pitch moves: held and on a scale where somebody sings or plays, gliding where somebody speaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

SEMITONES = 12  # of an octave
FURTHEST = np.float32(12.0)  # semitones beyond which a move counts no more: an error of an octave
STEADY = 2  # frames after one over which a pitch is held that counts for the scale
FEW = np.float32(1e-3)  # of the frames: what is told of fewer is 0


@component
class Melody:
    """How long the pitch is held and how it moves, of its strength and its log2, which are the first two columns.

    A frame counts by its strength: nothing up to `faint`, wholly from `clear` on.
    """

    name: ClassVar[str] = "melody"
    faint: float = parameter(0.4, low=0.0, high=1.0, help="strength up to which there is no pitch")
    clear: float = parameter(0.8, low=0.0, high=1.0, help="strength from which there is one")
    tolerance: float = parameter(0.5, above=0.0, help="semitones within which a pitch is held")
    spans: tuple[float, ...] = parameter((0.05, 0.1, 0.2, 0.4, 0.8), above=0.0, help="seconds over which it is held")

    def __post_init__(self) -> None:
        if self.faint >= self.clear:
            raise ValueError(f"melody: faint={self.faint:g} must be below clear={self.clear:g}")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Names that say what of the pitch they tell."""
        if len(columns) < 2:
            raise ValueError("melody: needs two columns, the strength of a pitch and the pitch")
        held = [f"{kind}_{span:g}" for kind in ("held", "move") for span in self.spans]
        return [f"melody_{name}" for name in ("voiced", "height", "spread", "scale", "held_scale", *held)]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Share of frames with a pitch; its mean and deviation; how well it keeps to semitones, anywhere and where it
        is held; then for every span the share of frames that hold their pitch so long, and the mean move.
        """
        strength, pitch = windows[:, :, 0], windows[:, :, 1] * np.float32(SEMITONES)
        weights = np.clip((strength - np.float32(self.faint)) / np.float32(self.clear - self.faint), 0, 1)
        height = _mean(pitch, weights)
        spread = np.sqrt(_mean((pitch - height[:, None]) ** 2, weights))
        reaches = [max(round(span * frame_rate), 1) for span in self.spans]
        stretches = _stretches(pitch, weights, {STEADY, *reaches})
        held, moves = [], []
        for reach in reaches:
            move, voiced = stretches[reach]
            held.append((voiced * (move <= np.float32(2 * self.tolerance))).sum(axis=1) / windows.shape[1])
            moves.append(_mean(np.minimum(move, FURTHEST), voiced))
        move, voiced = stretches[STEADY]
        steady = voiced * (move <= np.float32(self.tolerance))
        scales = [_on_semitones(pitch, weights), _on_semitones(pitch[:, : steady.shape[1]], steady)]
        values = [weights.mean(axis=1), height / np.float32(SEMITONES), spread, *scales, *held, *moves]
        return np.stack(values, axis=1).astype(windows.dtype)


def _mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted over time; 0 where hardly anything weighs."""
    if not values.shape[1]:
        return np.zeros(len(values), values.dtype)
    total = weights.mean(axis=1)
    mean = (values * weights).mean(axis=1) / np.maximum(total, FEW)
    return np.asarray(np.where(total >= FEW, mean, 0))


def _stretches(pitch: np.ndarray, weights: np.ndarray, reaches: set[int]) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """For each reach, of every frame and so many after it, as far as there are any: semitones from the lowest pitch to
    the highest, and the lowest weight.
    """
    highest, covered, stretches = np.stack([pitch, -pitch, -weights]), 1, {}
    for reach in sorted(reaches):
        while covered <= reach:  # each maximum of twice as many frames as before
            step = min(covered, reach + 1 - covered)
            highest = np.maximum(highest[:, :, : max(highest.shape[2] - step, 0)], highest[:, :, step:])
            covered += step
        stretches[reach] = (highest[0] + highest[1], -highest[2])
    return stretches


def _on_semitones(pitch: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """1 where all pitches are whole semitones apart, about 0 where they are anywhere."""
    turns = pitch * np.float32(2 * np.pi)
    return np.asarray(np.hypot(_mean(np.cos(turns), weights), _mean(np.sin(turns), weights)))


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """How a pitch moves."""
    return [Melody]
