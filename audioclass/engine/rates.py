"""The sample rate at which a recipe is taken: its own, or the highest that the recordings of a corpus have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from audioclass.audio.decode import open_audio
from audioclass.data import Corpus
from audioclass.errors import AudioFileError
from audioclass.extraction.recipe import Recipe

RATES = (44100, 32000, 22050, 16000, 8000)
ENOUGH = 0.95  # of the recordings: a few that are below are read as they are, without what they lack


def recipe_for(corpus: Corpus, recipe: Recipe) -> tuple[Recipe, tuple[str, ...]]:
    """The recipe at the highest rate that nearly all recordings reach, where it adapts, with a remark if that is lower.

    Only the heads of the recordings are read; those that cannot be read do not count.
    """
    if not recipe.adapts_rate:
        return recipe, ()
    rates = np.array(list(_rates_of(dict.fromkeys(clip.file for clip in corpus.clips))))
    highest = recipe.framing.sample_rate
    lower = [rate for rate in RATES if rate < highest]
    reached = [rate for rate in (highest, *lower) if not len(rates) or (rates >= rate).mean() >= ENOUGH]
    rate = max(reached, default=min((highest, *lower)))
    if rate == highest:
        return recipe, ()
    share = (rates >= highest).mean()
    remark = f"{share:.0%} of the recordings have {highest} Hz: recipe {recipe.name} is taken at {rate} Hz"
    return recipe.at_rate(rate), (remark,)


def _rates_of(files: Iterable[Path]) -> Iterator[int]:
    for file in files:
        try:
            with open_audio(file) as audio:
                yield audio.sample_rate
        except (AudioFileError, OSError):
            continue
