"""Contours of sounds that change, and the ways in which they come."""

import numpy as np

from audioclass.data import Contours

CELL = 0.02


def heard(changes, seconds, seed=0, n_bands=6, silent=()):
    """Contours of sounds that change at these times; of -90 dB in stretches that are silent."""
    rng = np.random.default_rng(seed)
    times = np.arange(round(seconds / CELL)) * CELL
    kind = np.searchsorted(changes, times + 1e-9)
    colours = rng.normal(0, 8, (len(changes) + 1, n_bands))
    bands = (colours[kind] + rng.normal(0, 3, (len(times), n_bands))).astype(np.float32)
    levels = np.full(len(times), -20, np.int8)
    for start, end in silent:
        levels[round(start / CELL) : round(end / CELL)] = -90
        bands[round(start / CELL) : round(end / CELL)] = -100
    return Contours(levels, bands, CELL)


def pieces(contours, *sizes):
    at = 0
    for size in [*sizes, len(contours.levels)]:
        yield Contours(
            contours.levels[at : at + size], contours.bands[at : at + size], CELL, contours.start + at * CELL
        )
        at += size
