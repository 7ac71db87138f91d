"""Levels of the semitones of a keyboard."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.descriptors.filters import bin_frequencies
from audioclass.descriptors.spectra import decibels
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter


@component
class Semitones:
    """Power around each semitone, in decibels, floored at −100; A4, MIDI 69, is 440 Hz.

    Below the pitch where a bin is as wide as a semitone, neighbours share their bins.
    """

    name: ClassVar[str] = "semitones"
    lowest: int = parameter(36, low=0, high=127, help="lowest semitone, as a MIDI number")
    count: int = parameter(60, low=1, high=128, help="how many semitones")

    def columns(self, framing: Framing) -> list[str]:
        """One for each semitone, by its MIDI number."""
        return [f"semitone_{self.lowest + i}" for i in range(self.count)]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """10 log10 Σ_k w_sk |X_k|², the weights of each semitone summing to 1."""
        return decibels(np.asarray(spectra.power @ semitone_matrix(spectra.framing, self.lowest, self.count)))


@cache
def semitone_matrix(framing: Framing, lowest: int, count: int) -> np.ndarray:
    """(n_bins, count): Gaussians of the distance in semitones, as wide as one or as a bin where that is wider."""
    hertz = bin_frequencies(framing)[1:, None]
    pitches = lowest + np.arange(count)
    if pitch_hertz(pitches[-1]) >= framing.sample_rate / 2:
        raise ValueError(f"semitone {pitches[-1]} lies beyond half the sample rate, {framing.sample_rate / 2:g} Hz")
    distance = 12 * np.log2(hertz / 440) + 69 - pitches
    width = np.maximum(12 / np.log(2) * framing.bin_rate / framing.frame_length / pitch_hertz(pitches), 0.5)
    weights = np.exp(-0.5 * (2 * distance / width) ** 2)
    weights = np.concatenate([np.zeros((1, count)), weights / weights.sum(axis=0)])
    return np.asarray(weights.astype(np.float32))


def pitch_hertz(pitch: np.ndarray | float) -> np.ndarray:
    """The frequency of a MIDI number."""
    return np.asarray(440.0 * 2.0 ** ((np.asarray(pitch) - 69) / 12))


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Semitones."""
    return [Semitones]
