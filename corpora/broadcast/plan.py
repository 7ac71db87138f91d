"""Which clips are cut from which sounds, and what is done to each: everything that is drawn, drawn from one seed."""

from __future__ import annotations

import math
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

CLIPS = {"speech": 1500, "music": 1700, "environment": 1600, "silence": 800}
SHORT = {"speech": 300, "music": 300, "environment": 600}  # sounds of a moment, in digital silence
SHORTEST = {"speech": 0.5, "music": 0.6, "environment": 0.15}  # seconds from which a moment can be told
LARGEST_SHARE = 0.12  # of a label, for any one source
SECONDS = (3.5, 6.5)
LEVELS = (-38.0, -12.0)  # decibels under full scale, root mean square
SILENT_KINDS = ("digital", "dither", "faint_white", "faint_pink", "faint_brown", "room_tone", "faint_hum")


@dataclass(frozen=True)
class Material:
    """A sound that clips can be cut from: a path below the work folder, its seconds, and what it counts as."""

    file: str
    seconds: float
    label: str
    group: str
    part: str = ""


@dataclass(frozen=True)
class Clip:
    """One recording of the corpus: pieces one after another, then treatments in their order.

    Pieces are (file, start, seconds); a treatment is its name and its values; `seed` serves what is noise.
    """

    name: str
    label: str
    group: str
    seconds: float
    pieces: tuple[tuple[str, float, float], ...]
    treatments: tuple[tuple[str, dict[str, Any]], ...] = ()
    seed: int = 0


@dataclass
class _Drawer:
    """Draws pieces of a label's sources: parts evenly, sounds by the root of their length."""

    materials: Sequence[Material]
    sources: dict[str, dict[str, list[Material]]] = field(init=False)

    def __post_init__(self) -> None:
        self.sources = defaultdict(lambda: defaultdict(list))
        for one in sorted(self.materials, key=lambda one: one.file):
            self.sources[one.group][one.part].append(one)

    def material(self, group: str, rng: np.random.Generator) -> Material:
        """One sound of a source."""
        parts = self.sources[group]
        part = parts[sorted(parts)[rng.integers(len(parts))]]
        weights = np.sqrt([min(one.seconds, 60.0) for one in part])
        return part[rng.choice(len(part), p=weights / weights.sum())]

    def pieces(self, group: str, seconds: float, rng: np.random.Generator) -> tuple[tuple[str, float, float], ...]:
        """Sounds of one source and one voice until the clip is full."""
        found, filled = [], 0.0
        one = self.material(group, rng)
        others = self.sources[group][one.part]
        while filled < seconds and len(found) < 12:
            length = min(seconds - filled, one.seconds)
            start = float(rng.uniform(0, one.seconds - length)) if one.seconds > length else 0.0
            found.append((one.file, round(start, 3), round(length, 3)))
            filled += length + 0.15
            one = one if rng.random() < 0.3 else others[rng.integers(len(others))]
        return tuple(found)


def shares(materials: Sequence[Material], count: int) -> dict[str, int]:
    """How many clips each source gives: by the root of its length, none more than the largest share."""
    seconds: dict[str, float] = defaultdict(float)
    for one in materials:
        seconds[one.group] += one.seconds
    groups = sorted(seconds)
    weights = np.sqrt([seconds[group] for group in groups])
    limit = max(LARGEST_SHARE, 1.0 / len(groups))
    for _ in groups:
        weights = np.minimum(weights / weights.sum(), limit)
    weights = weights / weights.sum()
    return {group: max(1, round(count * weight)) for group, weight in zip(groups, weights, strict=True)}


def plan(materials: Sequence[Material], seed: int = 0, size: float = 1.0) -> list[Clip]:
    """All clips of the corpus, `size` times the usual number; the same for the same materials and seed."""
    by_label = {label: [one for one in materials if one.label == label] for label in ("speech", "music", "environment")}
    clips = []
    for label, found in by_label.items():
        if found:
            clips += _clips_of(label, by_label, math.ceil(CLIPS[label] * size), seed)
            clips += _short_clips_of(label, found, math.ceil(SHORT[label] * size), seed)
    return clips + [_silent_clip(index, seed) for index in range(math.ceil(CLIPS["silence"] * size))]


def plain_plan(materials: Sequence[Material], seed: int = 0, each: int = 60) -> list[Clip]:
    """So many clips of each source and label as they are, nothing done to them: for trials, not for training."""
    clips = []
    for label in ("speech", "music", "environment"):
        drawer = _Drawer([one for one in materials if one.label == label])
        for group in sorted(drawer.sources):
            for index in range(each):
                name = f"{label}-{group}-{index:04d}"
                pieces = drawer.pieces(group, 5.0, _rng(seed, name))
                clips.append(Clip(name, label, group, 5.0, pieces))
    return clips


def _clips_of(label: str, by_label: dict[str, list[Material]], count: int, seed: int) -> list[Clip]:
    drawers = {name: _Drawer(found) for name, found in by_label.items() if found}
    clips = []
    for group, n_clips in shares(by_label[label], count).items():
        for index in range(n_clips):
            name = f"{label}-{group}-{index:04d}"
            rng = _rng(seed, name)
            seconds = round(float(rng.uniform(*SECONDS)), 2)
            pieces = drawers[label].pieces(group, seconds, rng)
            treatments = (*_companions(label, drawers, seconds, rng), *_channel(label, rng))
            clips.append(Clip(name, label, group, seconds, pieces, treatments, _seed(seed, name)))
    return clips


def _companions(
    label: str, drawers: dict[str, _Drawer], seconds: float, rng: np.random.Generator
) -> tuple[tuple[str, dict[str, Any]], ...]:
    """What sounds beside, from any source, at stated levels: what a clip is called stays true.

    Speech stays speech over surroundings from 8 and over music from 14 decibels; music carries voices that sing.
    """
    chance = rng.random()
    if label == "speech" and chance < 0.3 and "environment" in drawers:
        return (_beside("environment", drawers, seconds, rng, 8, 25),)
    if label == "speech" and chance < 0.4 and "music" in drawers:
        return (_beside("music", drawers, seconds, rng, 14, 28),)
    if label == "music" and chance < 0.3 and "speech" in drawers:
        pieces = _any_pieces("speech", drawers, seconds, rng)
        return (("singing", {"pieces": pieces, "decibels": round(float(rng.uniform(-4, 10)), 1)}),)
    if label == "music" and chance < 0.38 and "environment" in drawers:
        return (_beside("environment", drawers, seconds, rng, 12, 28),)
    return ()


def _beside(
    label: str, drawers: dict[str, _Drawer], seconds: float, rng: np.random.Generator, low: float, high: float
) -> tuple[str, dict[str, Any]]:
    pieces = _any_pieces(label, drawers, seconds, rng)
    return "background", {"pieces": pieces, "decibels": round(float(rng.uniform(low, high)), 1)}


def _any_pieces(
    label: str, drawers: dict[str, _Drawer], seconds: float, rng: np.random.Generator
) -> tuple[tuple[str, float, float], ...]:
    groups = sorted(drawers[label].sources)
    return drawers[label].pieces(groups[rng.integers(len(groups))], seconds, rng)


def _channel(label: str, rng: np.random.Generator) -> tuple[tuple[str, dict[str, Any]], ...]:
    """A room, a colour, a noise, a level and a line, each for some clips: none may tell a label."""
    made: list[tuple[str, dict[str, Any]]] = []
    if rng.random() < (0.1 if label == "music" else 0.25):
        made.append(
            ("room", {"seconds": round(float(rng.uniform(0.15, 1.0)), 2), "wet": round(rng.uniform(0.1, 0.6), 2)})
        )
    if rng.random() < 0.4:
        made.append(("tilt", {"decibels": round(float(rng.uniform(-9, 9)), 1)}))
    if rng.random() < 0.35:
        colour = ("white", "pink", "brown")[rng.integers(3)]
        made.append(("noise", {"colour": colour, "decibels": round(float(rng.uniform(12, 40)), 1)}))
    made.append(("level", {"decibels": round(float(rng.uniform(*LEVELS)), 1)}))
    line = rng.random()
    if line < 0.12:
        made.append(("telephone", {}))
    elif line < 0.3:
        made.append(("mp3", {"loss": round(float(rng.uniform(0.3, 0.95)), 2)}))
    elif line < 0.45:
        made.append(("low_pass", {"hertz": int(rng.choice([3800, 5000, 6500]))}))
    return tuple(made)


def _short_clips_of(label: str, found: list[Material], count: int, seed: int) -> list[Clip]:
    """A moment of sound in digital silence, reached by every window of the clip."""
    drawer, clips = _Drawer(found), []
    for group, n_clips in shares(found, count).items():
        for index in range(n_clips):
            name = f"{label}-{group}-short-{index:04d}"
            rng = _rng(seed, name)
            shortest = SHORTEST[label]
            length = round(float(np.exp(rng.uniform(np.log(shortest), np.log(1.5)))), 3)
            pieces = drawer.pieces(group, length, rng)[:1]
            before = round(float(rng.uniform(0.0, 1.8 - min(length, 1.3))), 3)
            treatments = (
                ("level", {"decibels": round(float(rng.uniform(-35, -12)), 1)}),
                ("embed", {"before": before, "seconds": 2.0}),
            )
            clips.append(Clip(name, label, group, length, pieces, treatments, _seed(seed, name)))
    return clips


def _silent_clip(index: int, seed: int) -> Clip:
    rng = _rng(seed, f"silence {index}")
    kind = SILENT_KINDS[index % len(SILENT_KINDS)]
    values = {"kind": kind, "decibels": round(float(rng.uniform(-92, -62)), 1)}
    name = f"silence-{kind}-{index:04d}"
    return Clip(name, "silence", f"silence-{index % 20}", 5.0, (), (("silence", values),), _seed(seed, name))


def _rng(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def _seed(seed: int, name: str) -> int:
    return zlib.crc32(f"{seed} {name}".encode())
