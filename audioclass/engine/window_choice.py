"""Windows that fit what is labelled: a window is at most half as long as most labelled segments.

A window that is longer than an event describes what is around it and shares events with its neighbours; where windows
start every half of half an event, two or three of them lie in it wherever it begins. Segments that are whole recordings
bound nothing: a recording shorter than a window is one shorter window, and a longer one gives several.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from audioclass.data import Corpus
from audioclass.engine.durations import Durations, stated_lengths
from audioclass.extraction.recipe import Recipe
from audioclass.training.config import TrainingConfig

MOST = 0.25  # quantile of the segments' durations: windows fit those that are longer
SHARE = 0.5  # of a segment that a window is at most
SHORTEST = 0.5  # seconds: below, poolings have too few frames; shorter segments are found within a longer window


@dataclass(frozen=True)
class FittingWindows:
    """How long a window may be for the labelled segments of a corpus, infinite where these bound nothing.

    `segment` and `recording` are medians in seconds. With `window` given, somebody stated it.
    """

    longest: float
    segment: float = 0.0
    recording: float = 0.0
    window: float | None = None
    hop: float | None = None

    @classmethod
    def of(cls, durations: Durations) -> FittingWindows:
        """Those that fit these durations; segments that are whole recordings are as good as endless."""
        if not durations.are_parts.any():
            return cls(np.inf)
        endless = np.where(durations.are_parts, durations.segments, np.inf)
        # Between a length and infinity there is nothing to interpolate: the lower one bounds the window.
        longest = SHARE * float(np.quantile(endless, MOST, method="lower"))
        recording = float(np.median(durations.recordings)) if len(durations.recordings) else 0.0
        segment = float(np.median(durations.segments[durations.are_parts]))
        return cls(max(_two_digits(longest), SHORTEST), segment, recording)

    @classmethod
    def for_corpus(cls, corpus: Corpus, config: TrainingConfig) -> FittingWindows:
        """Those that fit the clips of a corpus, or what was stated; only the heads of recordings are read."""
        files = dict.fromkeys(clip.file for clip in corpus.clips if clip.start > 0 or clip.end is not None)
        has_to_fit = config.window is None and bool(files)
        fitting = cls.of(Durations.of(corpus.clips, stated_lengths(files))) if has_to_fit else cls(np.inf)
        return replace(fitting, window=config.window, hop=config.hop)

    def applied(self, recipe: Recipe) -> Recipe:
        """The recipe with windows that fit, or those that were stated; the same where its own do."""
        window = min(recipe.window, self.longest) if self.window is None else self.window
        return recipe.with_windows(window, recipe.hop_for(window) if self.hop is None else self.hop)

    def reason(self, recipe: Recipe) -> str:
        """Why the recipe has its windows, in one line; empty where they were stated or nothing bounds them."""
        if self.window is not None or self.longest == np.inf:
            return ""
        lengths = f"labelled segments last {self.segment:.3g} s (median)"
        lengths += f", recordings {self.recording:.3g} s" if self.recording else ""
        return f"windows of {recipe.window:g} s every {recipe.window_hop:g} s: {lengths}"


def _two_digits(seconds: float) -> float:
    return float(f"{seconds:.2g}")
