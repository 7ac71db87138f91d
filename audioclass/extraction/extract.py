"""The pure function of (recording, recipe): samples in, features of windows out, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.audio.blocks import resample
from audioclass.contracts import Descriptor, EmbedsMany, Named
from audioclass.data import Block, Features, Segment
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.errors import ComponentError
from audioclass.extraction.frames import spectra_blocks
from audioclass.extraction.parts import Part
from audioclass.extraction.recipe import DERIVATIVE_REACH, Recipe
from audioclass.pooling.tracks import derivative, sharing
from audioclass.pooling.windows import Windower
from audioclass.threads import one_thread

DECIMALS = 4


def extract_features(blocks: Iterable[Block], recipe: Recipe) -> Iterator[Features]:
    """Features of a recording's windows, a few windows at a time; blocks are mono and at the recipe's sample rate."""
    return _with_end(blocks, recipe.require_fitted())


def _with_end(blocks: Iterable[Block], recipe: Recipe) -> Iterator[Features]:
    clock = _Clock(recipe)
    last: Features | None = None  # it waits: where the recording ends, so does its last window
    for features in _all_windows(blocks, recipe, clock):
        if last is not None:
            yield last
        before, last = features.rows(slice(None, -1)), features.rows(slice(-1, None))
        if before.segments:
            yield before
    if last is not None:
        yield clock.end_with_recording(last)


def extract_windows(blocks: Iterable[Block], recipe: Recipe) -> Iterator[tuple[Segment, list[np.ndarray]]]:
    """Every window with its frames as they are pooled, a matrix for each track, as views of what is still held."""
    clock = _Clock(recipe)
    last: tuple[Segment, list[np.ndarray]] | None = None
    for starts, windows in _frames_of_windows(blocks, recipe, clock):
        for i, start in enumerate(starts):
            if last is not None:
                yield last
            last = clock.segment(start), [each[i] for each in windows.values()]
    if last is not None:
        segment, frames = last
        yield clock.ended(segment), frames


def _all_windows(blocks: Iterable[Block], recipe: Recipe, clock: _Clock) -> Iterator[Features]:
    for starts, windows in _frames_of_windows(blocks, recipe, clock):
        yield _pooled(recipe, clock, starts, windows)


def _frames_of_windows(
    blocks: Iterable[Block], recipe: Recipe, clock: _Clock
) -> Iterator[tuple[list[int], dict[FrameTrack, np.ndarray]]]:
    windower, tracks = Windower(recipe.windows), tracks_of(recipe)
    for spectra, inside in spectra_blocks(
        clock.watch(blocks), recipe.framing, recipe.reach, slowest=min(recipe.versions)
    ):
        for starts, windows in windower.push(_frame_matrices(tracks, spectra, inside)):
            yield starts, dict(zip(tracks, windows, strict=True))
    for starts, windows in windower.finish():
        yield starts, dict(zip(tracks, windows, strict=True))


@dataclass(frozen=True)
class FrameTrack:
    """Values of every frame that parts read: those of descriptors and of their derivatives, at one speed.

    Without descriptors it is the samples, which embeddings read at every speed. `frame_length` is that of parts whose
    frames are shorter than those of the recipe.
    """

    descriptors: tuple[Descriptor, ...] = ()
    derivatives: int = 0
    speed: float = 1.0
    frame_length: int | None = None

    @classmethod
    def of(cls, part: Part, speed: float) -> FrameTrack:
        """The one that a part reads."""
        if part.embedding is not None:
            return SAMPLES
        return cls(part.descriptors, part.derivatives, speed, part.frame_length)


SAMPLES = FrameTrack()


def tracks_of(recipe: Recipe) -> list[FrameTrack]:
    """Every track that a recipe needs, once; windows are cut also where it has no part."""
    return list(dict.fromkeys(FrameTrack.of(part, speed) for speed in recipe.versions for part in recipe.parts)) or [
        SAMPLES
    ]


class _Clock:
    """Where in time frames lie: the recording's start after trimming, and its end once it is known."""

    def __init__(self, recipe: Recipe) -> None:
        self._rate = recipe.framing.sample_rate
        self._hop = recipe.framing.hop_length
        self._length = recipe.windows.length
        self._offset = 0
        self._n_samples = 0

    def watch(self, blocks: Iterable[Block]) -> Iterator[np.ndarray]:
        for i, block in enumerate(blocks):
            if i == 0:
                self._offset = block.start
            self._n_samples += len(block.samples)
            yield block.samples[:, 0]

    def segment(self, frame: int) -> Segment:
        first, last = self._offset + frame * self._hop, self._offset + (frame + self._length) * self._hop
        return Segment(first / self._rate, last / self._rate)

    def end_with_recording(self, features: Features) -> Features:
        """The last window's segment ends where the recording does."""
        *others, last = features.segments
        return replace(features, segments=(*others, self.ended(last)))

    def ended(self, last: Segment) -> Segment:
        """The last window's segment as long as the recording: a remnant too short for a window is part of it."""
        end = (self._offset + self._n_samples) / self._rate
        return replace(last, end=max(end, last.start))


@one_thread()
def _frame_matrices(tracks: Sequence[FrameTrack], spectra: CachedSpectra, inside: slice) -> list[np.ndarray]:
    """One matrix for each track; all speeds share one spectrum, and so do all tracks of one length of frames."""
    whole = spectra.framing.frame_length
    lengths = {length: spectra.middle(length or whole) for length in {track.frame_length for track in tracks}}
    views = {at: lengths[at[0]].at_speed(at[1]) for at in {(track.frame_length, track.speed) for track in tracks}}
    return [_track_frames(track, views[track.frame_length, track.speed])[inside] for track in tracks]


def _track_frames(track: FrameTrack, spectra: CachedSpectra) -> np.ndarray:
    if track == SAMPLES:
        half, hop = spectra.framing.frame_length // 2, spectra.framing.hop_length
        return spectra.frames[:, half : half + hop]
    columns = [_finite(spectra.values_of(each), "descriptor", each) for each in track.descriptors]
    values = np.concatenate(columns, axis=1) if len(columns) > 1 else columns[0]
    orders = [values]
    for _ in range(track.derivatives):  # a recording that is played faster changes more from frame to frame
        slope = derivative(orders[-1][None], DERIVATIVE_REACH)[0]
        orders.append(slope if track.speed == 1 else slope * np.float32(track.speed))
    return np.concatenate(orders, axis=1) if track.derivatives else values


@one_thread()
def _pooled(recipe: Recipe, clock: _Clock, starts: Sequence[int], windows: Mapping[FrameTrack, np.ndarray]) -> Features:
    parts = [np.empty((len(starts), 0), np.float32)]
    for speed in recipe.versions:
        played = {track: play_frames(windows[track], speed) for track in windows if track.speed == speed}
        with sharing():
            for part in recipe.parts:
                track = FrameTrack.of(part, speed)
                parts.append(_pool_part(part, recipe, windows[track] if track == SAMPLES else played[track], speed))
    # Digits that differ by rounding alone must not survive to be ranked against one another.
    X = np.round(np.concatenate(parts, axis=1, dtype=np.float32, casting="same_kind"), DECIMALS)
    return Features(X, recipe.columns, recipe.groups, tuple(clock.segment(start) for start in starts))


def play_frames(windows: np.ndarray, speed: float) -> np.ndarray:
    """(n_windows, n_frames, d) as they would be if they were played so many times as fast: about n_frames / speed.

    Each frame is the nearest in time. A mean of two neighbours would be smoother than any frame: deviations and changes
    of noise would shrink.
    """
    if speed == 1:
        return windows
    last = windows.shape[1] - 1
    nearest = np.floor(np.arange(int(last / speed + 1e-9) + 1) * speed + 0.5).astype(int)
    return windows[:, np.minimum(nearest, last)]


def _pool_part(part: Part, recipe: Recipe, windows: np.ndarray, speed: float) -> np.ndarray:
    if part.embedding is None:
        pooled = part.pool(windows, recipe.framing.frame_rate)
        return np.concatenate([_finite(values, "pooling", pooling) for pooling, values in pooled], axis=1)
    rate = part.embedding.sample_rate
    samples = [resample(window.reshape(-1), recipe.framing.sample_rate * speed, rate) for window in windows]
    if isinstance(part.embedding, EmbedsMany):
        embedded = part.embedding.embed_many(np.stack(samples), rate)
    else:
        embedded = np.stack([part.embedding.embed(window, rate) for window in samples])
    return _finite(embedded, "embedding", part.embedding)


def _finite(values: np.ndarray, kind: str, component: Named) -> np.ndarray:
    """The values themselves: what is not a number must reach no table, no cache and no machine."""
    if not np.isfinite(values).all():
        raise ComponentError(f"{kind} {component.name!r} gave NaN or infinite values, must give finite ones")
    return values
