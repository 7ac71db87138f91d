"""What a live stream would be called if it ended now: provisional segments, long before those that are final.

Final segments wait for blocks of many frames, which are cheap, and for windows that the smoother looks ahead to. Here
every window is cut out of the stream with a little context and described by itself as soon as it is whole. Its features
are those of the final window but for rounding; a copy of the smoother and of the segments is then brought to its end.
"""

from __future__ import annotations

import bisect
import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from audioclass.audio.blocks import longest_wait
from audioclass.audio.contours import ContourMeter
from audioclass.classifier.model import Model
from audioclass.contracts import SmoothsStreams
from audioclass.data import Block, Contours, Posteriors, Segment
from audioclass.engine.streaming import SHORT_BLOCK, SegmentationOptions
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipe import Recipe
from audioclass.segmentation.segments import ClassifiedSegment
from audioclass.segmentation.tiers import by_start
from audioclass.smoothers.none import NoSmoothing
from audioclass.threads import one_thread

LONGEST_STEP, SHORTEST_STEP = 1.0, 0.25  # seconds from one window that is previewed to the next


@dataclass(frozen=True)
class PreviewGrid:
    """Which windows are previewed, in frames: those of the recipe, more where they are far apart, fewer where close.

    `n_between` of them lie on the way from one window of the recipe to the next, or one in `n_left_out` is taken. So
    many frames `after` a window and `before` it are described with it, for descriptors that read them.
    """

    length: int
    hop: int
    n_between: int
    n_left_out: int
    after: int

    @classmethod
    def of(cls, recipe: Recipe) -> PreviewGrid:
        """That of a recipe."""
        framing, windows = recipe.framing, recipe.windows
        seconds = windows.hop / framing.frame_rate
        n_between = min(math.ceil(seconds / LONGEST_STEP - 1e-9), windows.hop)
        n_left_out = 1 if n_between > 1 else math.ceil(SHORTEST_STEP / seconds - 1e-9)
        after = recipe.reach + math.ceil(framing.frame_length / 2 / framing.hop_length)
        return cls(windows.length, windows.hop, n_between, n_left_out, after)

    @property
    def before(self) -> int:
        """So many that windows this far apart are two, the last of them the one that is wanted."""
        return 2 * self.after + 3

    def start(self, number: int) -> int:
        """The first frame of a window."""
        return number * self.n_left_out * self.hop // self.n_between

    def is_regular(self, number: int) -> bool:
        """Whether the recipe has this window too."""
        return number % self.n_between == 0

    @property
    def longest_step(self) -> int:
        """Frames from one window to the next."""
        return math.ceil(self.n_left_out * self.hop / self.n_between)


def preview_lag(model: Model, sample_rate: int | None = None) -> float:
    """Seconds of a live stream, at most, from a sample to the provisional segment that tells of it.

    From the end of the first window on; `sample_rate` is that of the stream, by default the recipe's.
    """
    recipe, framing = model.recipe, model.recipe.framing
    grid = PreviewGrid.of(recipe)
    rates = sample_rate or framing.sample_rate, framing.sample_rate
    waiting = longest_wait(*rates, block_length=SHORT_BLOCK, trim=recipe.trim)
    return waiting + (grid.longest_step + grid.after) / framing.frame_rate


class Preview:
    """Takes in a stream's blocks and the segments of it that are final; gives the provisional ones after these.

    A smoother that wants the whole recording is left out.
    """

    def __init__(self, model: Model, options: SegmentationOptions) -> None:
        if not isinstance(options.smoother_for(model), SmoothsStreams):
            options = replace(options, smoother=NoSmoothing(), adapts=False)
        model = options.fitted(model)
        self._model, self._grid = model, PreviewGrid.of(model.recipe)
        seconds = self._grid.before / model.recipe.framing.frame_rate
        self._recipe = replace(model.recipe, window_hop=seconds)
        self._stream, self._meter = options.stream(model), ContourMeter(model.recipe.framing.sample_rate)
        self._contours: list[Contours] = []
        self._n_heard = 0  # cells of contours that the stream has
        self._samples = np.empty(0, np.float32)
        self._offset: int | None = None  # of the stream's first sample
        self._first = 0  # the place of the first sample that is held
        self._number = 0  # of the next window
        self._settled: list[ClassifiedSegment] = []  # that no window changes any more, but that are not final yet
        self._told: list[ClassifiedSegment] = []
        self._final_ends: dict[str, float] = {}  # by tier

    def settle(self, final: ClassifiedSegment) -> None:
        """A segment is final: nothing up to its end is provisional any more; of labels that overlap, nothing of it."""
        self._final_ends[self._tier(final)] = final.segment.end
        self._settled = [one for one in self._settled if one.segment.end > self._final_end(one)]

    def push(self, block: Block) -> Iterator[list[ClassifiedSegment]]:
        """After each window that is whole now the segments that differ from what was told before, in their order.

        Each stands for all provisional ones from its start on.
        """
        if self._offset is None:
            self._offset = block.start
        self._samples = np.concatenate([self._samples, block.samples[:, 0]])
        self._meter.push(block)
        self._contours.append(self._meter.take())
        grid, hop = self._grid, self._model.recipe.framing.hop_length
        while (self._start + grid.length + grid.after) * hop <= self._first + len(self._samples):
            if not 0 < self._start < grid.before:  # too near to the beginning to have the context of the others
                yield self._told_anew(self._provisional(self._window(self._start)))
            self._number += 1
            forgotten = max(self._start - grid.before, 0) * hop - self._first
            self._samples, self._first = self._samples[forgotten:], self._first + forgotten

    @property
    def _start(self) -> int:
        """The first frame of the next window."""
        return self._grid.start(self._number)

    @one_thread()
    def _window(self, start: int) -> Posteriors:
        """The posteriors of a window, from its stretch of the stream as if that were a recording."""
        framing, length, offset = self._model.recipe.framing, self._grid.length, self._offset or 0
        begin = max(start - self._grid.before, 0) * framing.hop_length
        end = (start + length + self._grid.after) * framing.hop_length
        stretch = self._samples[begin - self._first : end - self._first, None]
        *_, features = extract_features([Block(stretch, framing.sample_rate, offset + begin)], self._recipe)
        P, strangeness = self._model.classify_rows(features.X[-1:])
        first, last = offset + start * framing.hop_length, offset + (start + length) * framing.hop_length
        padding = features.segments[-1].padding
        window = Segment(first / framing.sample_rate, last / framing.sample_rate, padding=padding)
        P = self._model.flatten_short(P, (window,))
        return Posteriors(P, self._model.labels, (window,), strangeness, self._model.is_multi_label)

    @one_thread()
    def _provisional(self, window: Posteriors) -> list[ClassifiedSegment]:
        """The segments that are not final, if the stream ended with this window."""
        is_regular = self._grid.is_regular(self._number)
        if is_regular:
            self._settled += self._stream.push(window, self._heard())
        novelty = self._model.novelty
        ended = copy.deepcopy(self._stream, {id(novelty): novelty})  # which is large and never changes
        rest = [*(() if is_regular else ended.push(window)), *ended.finish()]
        provisional = list(filter(None, map(self._after_final, [*self._settled, *rest])))
        return by_start(provisional, self._model.labels) if self._model.is_multi_label else provisional

    def _heard(self) -> Contours:
        """The contours that are known with the next window, however the blocks were cut."""
        grid, framing = self._grid, self._model.recipe.framing
        n_samples = (self._start + grid.length + grid.after) * framing.hop_length
        known, rest = Contours.joined(self._contours).split(self._meter.n_known(n_samples) - self._n_heard)
        self._contours = [rest]
        self._n_heard += len(known.levels)
        return known

    def _tier(self, one: ClassifiedSegment) -> str:
        """What a segment never overlaps: all, or those of the same label."""
        return one.segment.label if self._model.is_multi_label else ""

    def _final_end(self, one: ClassifiedSegment) -> float:
        """Where what is final of its tier ends."""
        return self._final_ends.get(self._tier(one), 0.0)

    def _after_final(self, one: ClassifiedSegment) -> ClassifiedSegment | None:
        start, end = max(one.segment.start, self._final_end(one)), one.segment.end
        return replace(one, segment=replace(one.segment, start=start)) if end > start else None

    def _told_anew(self, segments: list[ClassifiedSegment]) -> list[ClassifiedSegment]:
        """From the last on that starts no later than what differs, be it new or gone, with all that start with it."""
        before = [one.segment for one in self._told if one.segment.end > self._final_end(one)]
        self._told, now = segments, [one.segment for one in segments]
        if before == now:
            return []
        same = 0
        while same < min(len(before), len(now)) and before[same] == now[same]:
            same += 1
        starts = [one.start for one in now]
        differs = min(one.start for one in (*before[same : same + 1], *now[same : same + 1]))
        at = bisect.bisect_right(starts, differs) - 1
        return segments[bisect.bisect_left(starts, starts[at]) :] if at >= 0 else segments
