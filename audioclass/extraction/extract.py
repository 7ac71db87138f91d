"""The pure function of (recording, recipe): samples in, features of windows out, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from audioclass.audio.blocks import resample
from audioclass.contracts import EmbedsMany, Named
from audioclass.data import SHORTEST_PADDING, Block, Features, Segment
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.errors import ComponentError
from audioclass.extraction.frames import spectra_blocks
from audioclass.extraction.parts import Part
from audioclass.extraction.recipe import DERIVATIVE_REACH, Recipe
from audioclass.extraction.window_frames import SAMPLES, FrameTrack, WindowFrames, is_digital, tracks_of
from audioclass.pooling.tracks import derivative, sharing
from audioclass.pooling.windows import Windower
from audioclass.threads import one_thread

DECIMALS = 4


def extract_features(blocks: Iterable[Block], recipe: Recipe, *, whole: bool = False) -> Iterator[Features]:
    """Features of a recording's windows, a few windows at a time; blocks are mono and at the recipe's sample rate.

    They describe the sounding frames of a window: padding is left out, unless they are those of `whole` windows.
    """
    return _with_end(blocks, recipe.require_fitted(), whole)


def _with_end(blocks: Iterable[Block], recipe: Recipe, whole: bool) -> Iterator[Features]:
    clock = _Clock(recipe)
    last: Features | None = None  # it waits: where the recording ends, so does its last window
    for features in _all_windows(blocks, recipe, clock, whole):
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
    for windows in _frames_of_windows(blocks, recipe, clock):
        for i, segment in enumerate(clock.segments(windows)):
            if last is not None:
                yield last
            last = segment, [frames[0] for frames in windows.sounding(i).values()]
    if last is not None:
        segment, frames = last
        yield clock.ended(segment), frames


def _all_windows(blocks: Iterable[Block], recipe: Recipe, clock: _Clock, whole: bool) -> Iterator[Features]:
    for windows in _frames_of_windows(blocks, recipe, clock, whole):
        yield Features(_pooled(recipe, windows), recipe.columns, recipe.groups, clock.segments(windows))


def _frames_of_windows(
    blocks: Iterable[Block], recipe: Recipe, clock: _Clock, whole: bool = False
) -> Iterator[WindowFrames]:
    windower, tracks = Windower(recipe.windows), tracks_of(recipe)
    # Embeddings get all samples of a window: where there is nothing else, nothing is left out.
    leaves_out = not whole and tracks != [SAMPLES]
    shortest = SHORTEST_PADDING * recipe.framing.frame_rate if leaves_out else float("inf")
    for spectra, inside in spectra_blocks(
        clock.watch(blocks), recipe.framing, recipe.reach, slowest=min(recipe.versions)
    ):
        matrices = [*_frame_matrices(tracks, spectra, inside), is_digital(spectra)[inside]]
        for starts, frames in windower.push(matrices):
            yield WindowFrames.of(starts, tracks, frames, shortest)
    for starts, frames in windower.finish():
        yield WindowFrames.of(starts, tracks, frames, shortest)


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

    def segments(self, windows: WindowFrames) -> tuple[Segment, ...]:
        """Where windows lie, and how much of each is padding."""
        padding = windows.is_padding.sum(axis=1) * self._hop / self._rate
        return tuple(self._segment(start, float(silent)) for start, silent in zip(windows.starts, padding, strict=True))

    def _segment(self, frame: int, padding: float) -> Segment:
        first, last = self._offset + frame * self._hop, self._offset + (frame + self._length) * self._hop
        return Segment(first / self._rate, last / self._rate, padding=padding)

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
def _pooled(recipe: Recipe, windows: WindowFrames) -> np.ndarray:
    """(n_windows, n_features): windows without padding together, each of the others by itself."""
    is_padded = np.asarray(windows.is_padding.any(axis=1))
    if not is_padded.any():
        return _pool_tracks(recipe, windows.tracks)
    X = np.empty((len(is_padded), len(recipe.columns)), np.float32)
    if not is_padded.all():
        X[~is_padded] = _pool_tracks(recipe, {track: frames[~is_padded] for track, frames in windows.tracks.items()})
    for i in np.flatnonzero(is_padded).tolist():
        X[i] = _pool_tracks(recipe, windows.sounding(i))[0]
    return X


def _pool_tracks(recipe: Recipe, tracks: Mapping[FrameTrack, np.ndarray]) -> np.ndarray:
    parts = [np.empty((len(next(iter(tracks.values()))), 0), np.float32)]
    for speed in recipe.versions:
        played = {track: play_frames(tracks[track], speed) for track in tracks if track.speed == speed}
        with sharing():
            for part in recipe.parts:
                track = FrameTrack.of(part, speed)
                parts.append(_pool_part(part, recipe, tracks[track] if track == SAMPLES else played[track], speed))
    # Digits that differ by rounding alone must not survive to be ranked against one another.
    return np.round(np.concatenate(parts, axis=1, dtype=np.float32, casting="same_kind"), DECIMALS)


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
