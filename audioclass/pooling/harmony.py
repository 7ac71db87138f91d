"""Poolings of semitones that are the same in every key: chords, correlations and modulation of the pitch classes.

A chroma is the amplitude of the twelve pitch classes of a frame, summed over octaves, of length 1. Turning all of them
by a semitone, as a transposition does, changes nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import scipy.fft

from audioclass.contracts import Pooling
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter
from audioclass.pooling import tracks

CLASSES = 12
CHORDS = {
    "major": (0, 4, 7),
    "minor": (0, 3, 7),
    "fifth": (0, 7),
    "seventh": (0, 4, 7, 10),
    "major_seventh": (0, 4, 7, 11),
    "minor_seventh": (0, 3, 7, 10),
    "diminished": (0, 3, 6),
    "suspended": (0, 5, 7),
}
SMALLEST = np.float32(1e-6)


def chroma_of(windows: np.ndarray, depth: float) -> np.ndarray:
    """(n_windows, n_frames, 12) from semitones in decibels, the first class that of the lowest semitone.

    Amplitudes below `depth` decibels under the loudest of the window count nothing; a frame of none has equal classes.
    """
    below = windows - windows.max(axis=(1, 2), keepdims=True)
    amplitude = np.where(below > -np.float32(depth), 10 ** (below / np.float32(20)), 0).astype(np.float32)
    classes = np.stack([amplitude[:, :, i::CLASSES].sum(axis=2) for i in range(min(CLASSES, windows.shape[2]))], axis=2)
    classes = np.pad(classes, ((0, 0), (0, 0), (0, CLASSES - classes.shape[2]))) + SMALLEST
    return np.asarray(classes / np.sqrt((classes * classes).sum(axis=2, keepdims=True)))


@component
class Chords:
    """How well frames match chords of eight kinds, which kind matches best, and how the root moves: in any key."""

    name: ClassVar[str] = "chords"
    smoothing: float = parameter(0.25, low=0.0, high=10.0, help="seconds on either side over which chroma is averaged")
    steps: tuple[float, ...] = parameter((0.5, 1.0, 2.0), above=0.0, high=60.0, help="seconds between compared roots")
    depth: float = parameter(50.0, above=0.0, help="decibels below the window's loudest semitone that count")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Matches and shares of the kinds, moves of the root by semitones, entropy of roots, chords a second."""
        matches = tracks.suffixed(list(CHORDS), ["match", "match_deviation", "share"])
        moves = [f"move{step:g}s_{i}" for step in self.steps for i in range(CLASSES)]
        return [*matches, *moves, "root_entropy", "changes"]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Of each window's smoothed chroma; a move beyond the window is none."""
        chroma = tracks.moving_mean(chroma_of(windows, self.depth), round(self.smoothing * frame_rate), axis=1)
        chroma = chroma / np.sqrt((chroma * chroma).sum(axis=2, keepdims=True))
        matches = chroma @ _templates()  # (n_windows, n_frames, n_kinds · 12)
        of_kinds = matches.reshape(*matches.shape[:2], len(CHORDS), CLASSES).max(axis=3)
        best = matches.argmax(axis=2)
        kinds, roots = best // CLASSES, best % CLASSES
        shares = (kinds[:, :, None] == np.arange(len(CHORDS))).mean(axis=1)
        moves = [_moves(roots, round(step * frame_rate)) for step in self.steps]
        roots_share = (roots[:, :, None] == np.arange(CLASSES)).mean(axis=1)
        rest = np.stack([_entropy(roots_share), _changes(best) * frame_rate], axis=1)
        return np.concatenate([*tracks.moments(of_kinds, 2), shares, *moves, rest], axis=1).astype(np.float32)


@component
class ChromaCorrelation:
    """How the pitch classes of a window stand to one another and to those a little later, whatever the key."""

    name: ClassVar[str] = "chroma_correlation"
    lags: tuple[float, ...] = parameter((0.0, 0.2, 0.5, 1.0, 2.0), low=0.0, high=60.0, help="seconds later")
    depth: float = parameter(50.0, above=0.0, help="decibels below the window's loudest semitone that count")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """By semitones between classes, at every lag; then means sorted, from the strongest on, and their transform."""
        lagged = [f"lag{lag:g}s_{kind}_{i}" for lag in self.lags for kind in ("mean", "deviation") for i in _CLASS]
        means = [f"{kind}_{i}" for kind in ("sorted", "above_mean", "above_deviation") for i in _CLASS]
        turns = [f"{kind}_{i}" for kind in ("turns_of_mean", "turns") for i in range(1, CLASSES // 2 + 1)]
        return [*lagged, *means, *turns, "entropy_mean", "entropy_deviation", "flux_mean", "flux_deviation"]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """Circular correlations by the transform over the classes; a lag beyond the window reads its last frame."""
        chroma = chroma_of(windows, self.depth)
        mean, deviation = tracks.moments(chroma, 2)
        over = scipy.fft.rfft(chroma, axis=2)
        n_frames, pooled = chroma.shape[1], []
        for lag in self.lags:
            later = np.minimum(np.arange(n_frames) + round(lag * frame_rate), n_frames - 1)
            pooled += tracks.moments(scipy.fft.irfft(np.conj(over) * over[:, later], CLASSES, axis=2), 2)
        turned = (mean.argmax(axis=1)[:, None] + np.arange(CLASSES)) % CLASSES
        pooled += [-np.sort(-mean, axis=1), *(np.take_along_axis(each, turned, axis=1) for each in (mean, deviation))]
        pooled += [np.abs(scipy.fft.rfft(mean, axis=1))[:, 1:], np.abs(over).mean(axis=1)[:, 1:]]
        entropy = _entropy(chroma / chroma.sum(axis=2, keepdims=True))[:, :, None]
        flux = np.abs(np.diff(chroma, axis=1, prepend=chroma[:, :1])).sum(axis=2, keepdims=True)
        pooled += [each for track in (entropy, flux) for each in tracks.moments(track, 2)]
        return np.concatenate(pooled, axis=1).astype(np.float32)


@component
class ChromaModulation:
    """How fast the pitch classes come and go: mean logarithm of the two-dimensional spectrum of chroma."""

    name: ClassVar[str] = "chroma_modulation"
    frames: int = parameter(48, low=2, high=1024, help="length of a patch, in merged frames; half of it is the hop")
    merge_frames: int = parameter(2, low=1, high=64, help="frames of the descriptor that are merged to one")
    depth: float = parameter(50.0, above=0.0, help="decibels below the window's loudest semitone that count")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """Each rate with the number of turns over the twelve classes."""
        return [f"rate{i}_turns{k}" for i in range(self.frames // 2 + 1) for k in _CLASS]

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """A window shorter than a patch is continued by its mean."""
        chroma = chroma_of(windows, self.depth)
        n_merged = max(1, chroma.shape[1] // self.merge_frames)
        parts = np.array_split(chroma, n_merged, axis=1)
        merged = np.stack([part.mean(axis=1) for part in parts], axis=1)
        missing = max(0, self.frames - n_merged)
        filling = np.repeat(merged.mean(axis=1, keepdims=True), missing, axis=1)
        merged = np.concatenate([merged, filling], axis=1)
        views = np.lib.stride_tricks.sliding_window_view(merged, self.frames, axis=1)[:, :: max(1, self.frames // 2)]
        turns = scipy.fft.fft(views, axis=2)
        power = np.abs(scipy.fft.fft(turns, axis=3)[..., : self.frames // 2 + 1]) ** 2
        return tracks.flat(np.log(power + np.float32(1e-3)).mean(axis=1).transpose(0, 2, 1)).astype(np.float32)


_CLASS = range(CLASSES)


def _templates() -> np.ndarray:
    """(12, n_kinds · 12): every chord on every root, of length 1."""
    chords = np.zeros((len(CHORDS), CLASSES, CLASSES), np.float32)
    for kind, notes in enumerate(CHORDS.values()):
        for root in range(CLASSES):
            chords[kind, root, [(root + note) % CLASSES for note in notes]] = len(notes) ** -0.5
    return chords.reshape(-1, CLASSES).T


def _moves(roots: np.ndarray, step: int) -> np.ndarray:
    """(n_windows, 12): shares of the moves by so many semitones up, from a frame to the one `step` later."""
    later = np.minimum(np.arange(roots.shape[1]) + step, roots.shape[1] - 1)
    moves = (roots[:, later] - roots) % CLASSES
    return np.asarray((moves[:, :, None] == np.arange(CLASSES)).mean(axis=1))


def _changes(best: np.ndarray) -> np.ndarray:
    return np.asarray((np.diff(best, axis=1, prepend=best[:, :1]) != 0).mean(axis=1))


def _entropy(shares: np.ndarray) -> np.ndarray:
    return np.asarray(-(shares * np.log(np.maximum(shares, SMALLEST))).sum(axis=-1))


@hookimpl
def register_poolings() -> list[type[Pooling]]:
    """Harmony in any key."""
    return [Chords, ChromaCorrelation, ChromaModulation]
