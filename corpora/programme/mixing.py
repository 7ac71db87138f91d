"""Items as samples: pieces joined, levelled, mixed, and laid into the programme with their fades."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile
import soxr
from schedule import STEP, Item, Piece

JOIN = 0.1  # seconds of nothing between two pieces: less than a silence
SHORT = 2.0  # seconds up to which a piece is a word or a blow
QUIET = -40.0  # decibels below a piece's own level: before it begins and after it has died away
PAUSING = -55.0  # decibels under full scale: a pause of a sound at its level, some way above what counts as silence
LONGEST_GAP = {"speech": 0.3, "environment": 0.1}  # seconds that are left of a pause where pauses are closed
PEAK = 0.98
EDGE = 0.005  # seconds over which a piece begins and ends


def mix_programme(items: Sequence[Item], work: Path, rate: int) -> np.ndarray:
    """The samples of a programme, float32 in steps of 16 bits."""
    step = round(rate * STEP)
    edges = boundaries(items)
    x = np.zeros(edges[-1] * step, dtype=np.float32)
    fades_out = [*(item.fade for item in items[1:]), 0.0]
    for item, start, end, fade_out in zip(items, edges[:-1], edges[1:], fades_out, strict=True):
        first = start * step - round(item.fade / 2 * rate)
        last = end * step + round(fade_out / 2 * rate)
        samples = item_samples(item, work, last - first, rate)
        x[first:last] += _faded(samples, round(item.fade * rate), round(fade_out * rate))
    return (np.rint(np.clip(x, -1.0, 1.0) * 32767) / 32768).astype(np.float32)


def boundaries(items: Sequence[Item]) -> list[int]:
    """The middles of all fades in steps of the grid, with the start and the end."""
    return np.cumsum([0, *(round(item.seconds / STEP) for item in items)]).tolist()


def item_samples(item: Item, work: Path, n_samples: int, rate: int) -> np.ndarray:
    """An item by itself at its level, before its fades."""
    if item.kind == "pause":
        noise = np.random.default_rng(item.seed).standard_normal(n_samples)
        return np.zeros(n_samples) if item.level is None else noise * 10 ** (item.level / 20)
    if item.kind == "environment":
        return np.resize(
            closed_up(join(item.pieces, work, rate, item.level), rate, LONGEST_GAP["environment"]), n_samples
        )
    if item.kind == "speech_over_music":
        voice = closed_up(limited(join(item.pieces, work, rate), item.level, rate), rate, LONGEST_GAP["speech"])
        voice = at_level(np.resize(voice, n_samples), 0.0, rate)
        x = voice + at_level(np.resize(join(item.under_pieces, work, rate), n_samples), -item.above, rate)
    else:
        x = join(item.pieces, work, rate)
    return limited(np.resize(x, n_samples), item.level, rate)


def join(pieces: Sequence[Piece], work: Path, rate: int, level: float | None = None) -> np.ndarray:
    """Pieces one after the other, mono at the rate, each at the level where one is given.

    Short ones, words or blows, lose the silence around them and have a moment between them instead.
    """
    pause = np.zeros(round(JOIN * rate))
    parts: list[np.ndarray] = []
    for piece in pieces:
        x = _read(work, piece, rate)
        x = x if level is None else limited(x, level, rate)
        parts += [_softened(trimmed(x, rate) if len(x) < SHORT * rate else x, rate), pause]
    return np.concatenate(parts[:-1])


def trimmed(x: np.ndarray, rate: int) -> np.ndarray:
    """Without what is quiet before and after."""
    step = round(rate * STEP)
    loud = np.flatnonzero(frame_levels(at_level(x, 0.0, rate), rate) >= QUIET)
    return x[loud[0] * step : (loud[-1] + 1) * step] if len(loud) else x


def frame_levels(x: np.ndarray, rate: int) -> np.ndarray:
    """Root mean square of each step of the grid, in decibels under full scale."""
    step = round(rate * STEP)
    frames = np.asarray(x[: len(x) // step * step], dtype=np.float64).reshape(-1, step)
    return 10 * np.log10(np.square(frames).mean(axis=1) + 1e-20)


def at_level(x: np.ndarray, level: float, rate: int) -> np.ndarray:
    """With a root mean square of the louder half of its steps at the level: pauses do not count."""
    powers = np.sort(10 ** (frame_levels(x, rate) / 10))
    return x * 10 ** (level / 20) / np.sqrt(powers[len(powers) // 2 :].mean() + 1e-20)


def limited(x: np.ndarray, level: float, rate: int) -> np.ndarray:
    """At a level, or as far below it as its peaks demand."""
    y = at_level(x, level, rate)
    return y * min(1.0, PEAK / (np.abs(y).max() + 1e-20))


def closed_up(x: np.ndarray, rate: int, longest: float) -> np.ndarray:
    """With pauses shortened to so many seconds."""
    since = 0
    kept = np.zeros(len(x) // round(rate * STEP), dtype=bool)
    for i, is_quiet in enumerate(frame_levels(x, rate) < PAUSING):
        since = since + 1 if is_quiet else 0
        kept[i] = since <= round(longest / STEP)
    return x[: len(kept) * round(rate * STEP)].reshape(len(kept), -1)[kept].ravel()


def _faded(x: np.ndarray, n_in: int, n_out: int) -> np.ndarray:
    """Of equal power together with the neighbour's fade."""
    y = np.array(x)
    y[:n_in] *= np.sin(np.pi / 2 * (np.arange(n_in) + 0.5) / max(n_in, 1))
    y[len(y) - n_out :] *= np.cos(np.pi / 2 * (np.arange(n_out) + 0.5) / max(n_out, 1))
    return y


def _softened(x: np.ndarray, rate: int) -> np.ndarray:
    edge = np.minimum(1.0, np.arange(1, len(x) + 1) / (EDGE * rate))
    return x * edge * edge[::-1]


def _read(work: Path, piece: Piece, rate: int) -> np.ndarray:
    file, start, seconds = piece
    with soundfile.SoundFile(work / file) as sound:
        own = sound.samplerate
        sound.seek(min(int(start * own), max(sound.frames - 1, 0)))
        x = sound.read(int(np.ceil(seconds * own)), always_2d=True).mean(axis=1)
    return soxr.resample(x, own, rate) if own != rate else x
