"""The features of imagined sounds under a recipe: what a model learns the strange from."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from audioclass import __version__
from audioclass.audio.blocks import BLOCK_LENGTH, resample
from audioclass.data import Block, Features
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe import Recipe
from audioclass.run import Run
from audioclass.storage import Store, computed
from audioclass.threads import one_thread
from audioclass.training.imagined import KINDS, RATE, imagine

MOST_WINDOWS = 2  # of each sound, evenly spaced


def imagined_rows(recipe: Recipe, run: Run) -> list[np.ndarray]:
    """Raw features of some windows of every imagined sound, an array for each kind; kept in the cache of the run.

    Those of a recipe that learnt something belong to one training, and are not kept.
    """
    store = None if run.cache is None or recipe.learns else Store(run.cache / "imagined")
    arrays = computed(store, lambda: f"{__version__} {recipe.fingerprint}", lambda: _extracted(recipe))
    return [arrays[kind] for kind in KINDS]


@lru_cache(maxsize=2)
def _extracted(recipe: Recipe) -> dict[str, np.ndarray]:
    rate = recipe.framing.sample_rate
    return {
        kind: np.concatenate([_rows(resample(samples, RATE, rate), recipe) for samples in sounds])
        for kind, sounds in imagine().items()
    }


@one_thread()
def _rows(samples: np.ndarray, recipe: Recipe) -> np.ndarray:
    rate = recipe.framing.sample_rate
    starts = range(0, len(samples), BLOCK_LENGTH)
    blocks = (Block(samples[start : start + BLOCK_LENGTH, None], rate, start) for start in starts)
    X = Features.joined(extract_features(blocks, recipe), recipe.columns, recipe.groups).X
    return np.asarray(X[np.unique(np.linspace(0, len(X) - 1, min(MOST_WINDOWS, len(X))).round().astype(int))])
