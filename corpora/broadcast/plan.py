"""Which clips are cut from which sounds, and what is done to each: everything that is drawn, drawn from one seed."""

from __future__ import annotations

import math
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

CLIPS = {"speech": 2200, "music": 2800, "environment": 2000, "silence": 500}
SHORT = {"speech": 600, "music": 500, "environment": 600}  # sounds of a moment, in digital silence
SUNG = 1300  # voices that sing alone
WORDS = 1200  # sounds of speech by themselves, as short as they are: letters, digits, words, shouts
SHORTEST = {"speech": 0.5, "music": 0.6, "environment": 0.15}  # seconds from which a moment can be told
LARGEST_SHARE = 0.12  # of a label, for any one source
WHOLE = "esc-"  # sources whose recordings are each used whole, besides what is drawn from them
NOTES, NOTE_SOURCES = "notes", "tonejs-"  # the part of single notes, and sources that hold nothing else
LONGEST_NOTE = 4.0  # seconds
LONGEST_WORD = 2.0
SPEEDS = (15 / 14, 14 / 15)  # of copies of these: other animals and other bells
SPOKEN = 0.3  # of the clips of speech that go through what voices are made to sing by
PLAIN = 0.3  # of the clips to which nothing is done but a level
SECONDS = (3.5, 6.5)
LEVELS = (-38.0, -12.0)  # decibels under full scale, root mean square
SILENT_KINDS = ("digital", "dither", "faint_white", "faint_pink", "faint_brown", "room_tone", "faint_hum")


@dataclass(frozen=True)
class Material:
    """A sound that clips can be cut from: a path below the work folder, its seconds, and what it counts as.

    `author` is whose it is where a group has sounds of many: these are held out one author at a time, of all groups.
    """

    file: str
    seconds: float
    label: str
    group: str
    part: str = ""
    leaf: str = ""
    author: str = ""

    @property
    def source(self) -> str:
        """What is held out together."""
        return self.author or self.group


@dataclass(frozen=True)
class Clip:
    """One recording of the corpus: pieces one after another, then treatments in their order.

    Pieces are (file, start, seconds); a treatment is its name and its values; `seed` serves what is noise. `leaf` is
    the label below, in the taxonomy.
    """

    name: str
    label: str
    group: str
    seconds: float
    pieces: tuple[tuple[str, float, float], ...]
    treatments: tuple[tuple[str, dict[str, Any]], ...] = ()
    seed: int = 0
    leaf: str = ""


@dataclass
class Drawer:
    """Draws pieces of a label's sources: parts by the root of their number, sounds by that of their length."""

    materials: Sequence[Material]
    sources: dict[str, dict[str, list[Material]]] = field(init=False)
    by_file: dict[str, Material] = field(init=False)

    def __post_init__(self) -> None:
        self.sources = defaultdict(lambda: defaultdict(list))
        for one in sorted(self.materials, key=lambda one: one.file):
            self.sources[one.group][f"{one.part} {one.leaf}"].append(one)
        self.by_file = {one.file: one for one in self.materials}

    def material(self, group: str, rng: np.random.Generator) -> Material:
        """One sound of a source."""
        parts = self.sources[group]
        names = sorted(parts)
        shares = np.sqrt([len(parts[name]) for name in names])
        part = parts[names[rng.choice(len(names), p=shares / shares.sum())]]
        weights = np.sqrt([min(one.seconds, 60.0) for one in part])
        return part[rng.choice(len(part), p=weights / weights.sum())]

    def pieces(self, group: str, seconds: float, rng: np.random.Generator) -> tuple[tuple[str, float, float], ...]:
        """Sounds of one source, one voice and one author until the clip is full."""
        found, filled = [], 0.0
        one = self.material(group, rng)
        alike = self.sources[group][f"{one.part} {one.leaf}"]
        others = [other for other in alike if other.author == one.author]
        while filled < seconds and len(found) < 12:
            length = min(seconds - filled, one.seconds)
            start = float(rng.uniform(0, one.seconds - length)) if one.seconds > length else 0.0
            found.append((one.file, round(start, 3), round(length, 3)))
            filled += length + 0.15
            one = one if rng.random() < 0.3 else others[rng.integers(len(others))]
        return tuple(found)

    def leaf(self, pieces: tuple[tuple[str, float, float], ...]) -> str:
        """What pieces of one source and one part are, below their label."""
        one = self.by_file[pieces[0][0]]
        return one.leaf or one.label

    def source(self, pieces: tuple[tuple[str, float, float], ...]) -> str:
        """Whose pieces of one source and one author are."""
        return self.by_file[pieces[0][0]].source


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
    if by_label["speech"]:
        clips += _sung_clips(by_label["speech"], math.ceil(SUNG * size), seed)
        clips += _word_clips(by_label["speech"], math.ceil(WORDS * size), seed)
    every = max(1, round(1 / size))
    whole = [one for one in materials if one.group.startswith(WHOLE)][::every]
    clips += [clip for one in whole for clip in _whole_clips(one, seed)]
    clips += [_note_clip(one, seed) for one in [one for one in materials if is_note(one)][::every]]
    return clips + [_silent_clip(index, seed) for index in range(math.ceil(CLIPS["silence"] * size))]


def plain_plan(materials: Sequence[Material], seed: int = 0, each: int = 60) -> list[Clip]:
    """So many clips of each source and label as they are, nothing done to them: for trials, not for training."""
    clips = []
    for label in ("speech", "music", "environment"):
        drawer = Drawer([one for one in materials if one.label == label])
        for group in sorted(drawer.sources):
            for index in range(each):
                name = f"{label}-{group}-{index:04d}"
                pieces = drawer.pieces(group, 5.0, _rng(seed, name))
                clips.append(Clip(name, label, group, 5.0, pieces, leaf=drawer.leaf(pieces)))
    return clips


def whole_plan(materials: Sequence[Material], longest: float = 5.0) -> list[Clip]:
    """Every sound by itself as it is, from its beginning: for trials."""
    return [
        Clip(name, one.label, one.group, seconds, ((one.file, 0.0, seconds),), leaf=one.leaf)
        for index, one in enumerate(materials)
        for name, seconds in [(f"{one.label}-{one.group}-{index:05d}", min(one.seconds, longest))]
    ]


def _clips_of(label: str, by_label: dict[str, list[Material]], count: int, seed: int) -> list[Clip]:
    drawers = {name: Drawer(found) for name, found in by_label.items() if found}
    clips = []
    for group, n_clips in shares(by_label[label], count).items():
        for index in range(n_clips):
            name = f"{label}-{group}-{index:04d}"
            rng = _rng(seed, name)
            seconds = round(float(rng.uniform(*SECONDS)), 2)
            pieces = drawers[label].pieces(group, seconds, rng)
            beside = _companions(label, drawers, seconds, rng)
            leaf = "singing" if any(kind in ("singing", "rap") for kind, _ in beside) else drawers[label].leaf(pieces)
            is_spoken = label == "speech" and rng.random() < SPOKEN
            treatments = ((("spoken", {}),) if is_spoken else ()) + (*beside, *channel(label, rng))
            source = drawers[label].source(pieces)
            clips.append(Clip(name, label, source, seconds, pieces, treatments, _seed(seed, name), leaf))
    return clips


def _sung_clips(speech: list[Material], count: int, seed: int) -> list[Clip]:
    """Voices that sing without accompaniment; the voice's source is what is held out."""
    drawer, clips = Drawer(speech), []
    for group, n_clips in shares(speech, count).items():
        for index in range(n_clips):
            name = f"music-{group}-sung-{index:04d}"
            rng = _rng(seed, name)
            seconds = round(float(rng.uniform(*SECONDS)), 2)
            treatments = (("sung", {}), *channel("speech", rng))
            pieces = drawer.pieces(group, seconds, rng)
            source = drawer.source(pieces)
            clips.append(Clip(name, "music", source, seconds, pieces, treatments, _seed(seed, name), "singing"))
    return clips


def _word_clips(speech: list[Material], count: int, seed: int) -> Iterator[Clip]:
    """Words by themselves, each from its beginning to its end."""
    words = [one for one in speech if one.seconds <= LONGEST_WORD]
    drawer = Drawer(words)
    for group, n_clips in shares(words, count).items() if words else ():
        for index in range(n_clips):
            name = f"speech-{group}-word-{index:04d}"
            rng = _rng(seed, name)
            one = drawer.material(group, rng)
            piece = (one.file, 0.0, one.seconds)
            treatments = channel("speech", rng)
            yield Clip(name, "speech", one.source, one.seconds, (piece,), treatments, _seed(seed, name), "speech")


def _whole_clips(one: Material, seed: int) -> Iterator[Clip]:
    """A recording as it is, at other speeds, and once treated."""
    name = f"{one.label}-{one.group}-{zlib.crc32(one.file.rpartition('/')[2].encode()):08x}"
    versions = {
        "": (),
        "-faster": (("speed", {"factor": SPEEDS[0]}),),
        "-slower": (("speed", {"factor": SPEEDS[1]}),),
        "-treated": channel(one.label, _rng(seed, f"{name}-treated")),
    }
    for suffix, treatments in versions.items():
        named, pieces = name + suffix, ((one.file, 0.0, one.seconds),)
        yield Clip(
            named, one.label, one.source, one.seconds, pieces, treatments, _seed(seed, named), one.leaf or one.label
        )


def is_note(one: Material) -> bool:
    """Whether a sound is a single note of an instrument."""
    return one.part == NOTES or one.group.startswith(NOTE_SOURCES)


def _note_clip(one: Material, seed: int) -> Clip:
    """A note by itself, from its beginning."""
    name = f"{one.label}-{one.group}-note-{zlib.crc32(one.file.rpartition('/')[2].encode()):08x}"
    seconds = min(one.seconds, LONGEST_NOTE)
    treatments = channel(one.label, _rng(seed, name))
    return Clip(
        name, one.label, one.source, seconds, ((one.file, 0.0, seconds),), treatments, _seed(seed, name), one.leaf
    )


def _companions(
    label: str, drawers: dict[str, Drawer], seconds: float, rng: np.random.Generator
) -> tuple[tuple[str, dict[str, Any]], ...]:
    """What sounds beside, from any source, at stated levels: what a clip is called stays true.

    Speech stays speech over surroundings and over music from 8 decibels; music carries voices that sing, or that rap:
    words as they are spoken, no more than 3 decibels above it.
    """
    chance = rng.random()
    if label == "speech" and chance < 0.3 and "environment" in drawers:
        return (_beside("environment", drawers, seconds, rng, 8, 25),)
    if label == "speech" and chance < 0.4 and "music" in drawers:
        return (_beside("music", drawers, seconds, rng, 8, 28),)
    if label == "music" and chance < 0.3 and "speech" in drawers:
        pieces = _any_pieces("speech", drawers, seconds, rng)
        return (("singing", {"pieces": pieces, "decibels": round(float(rng.uniform(-4, 10)), 1)}),)
    if label == "music" and chance < 0.36 and "speech" in drawers:
        pieces = _any_pieces("speech", drawers, seconds, rng)
        return (("rap", {"pieces": pieces, "decibels": round(float(rng.uniform(-6, 3)), 1)}),)
    if label == "music" and chance < 0.44 and "environment" in drawers:
        return (_beside("environment", drawers, seconds, rng, 12, 28),)
    return ()


def _beside(
    label: str, drawers: dict[str, Drawer], seconds: float, rng: np.random.Generator, low: float, high: float
) -> tuple[str, dict[str, Any]]:
    pieces = _any_pieces(label, drawers, seconds, rng)
    return "background", {"pieces": pieces, "decibels": round(float(rng.uniform(low, high)), 1)}


def _any_pieces(
    label: str, drawers: dict[str, Drawer], seconds: float, rng: np.random.Generator
) -> tuple[tuple[str, float, float], ...]:
    groups = sorted(drawers[label].sources)
    return drawers[label].pieces(groups[rng.integers(len(groups))], seconds, rng)


def channel(label: str, rng: np.random.Generator) -> tuple[tuple[str, dict[str, Any]], ...]:
    """A room, a colour, a noise, a level and a line, each for some clips: none may tell a label."""
    made: list[tuple[str, dict[str, Any]]] = []
    if rng.random() < PLAIN:
        return (("level", {"decibels": round(float(rng.uniform(*LEVELS)), 1)}),)
    if rng.random() < (0.1 if label == "music" else 0.25):
        made.append(
            ("room", {"seconds": round(float(rng.uniform(0.15, 1.0)), 2), "wet": round(rng.uniform(0.1, 0.6), 2)})
        )
    if rng.random() < 0.4:
        made.append(("tilt", {"decibels": round(float(rng.uniform(-9, 9)), 1)}))
    if rng.random() < 0.15:
        made.append(("speed", {"factor": round(float(rng.uniform(0.85, 1.18)), 3)}))
    if rng.random() < 0.35:
        colour = ("white", "pink", "brown")[rng.integers(3)]
        made.append(("noise", {"colour": colour, "decibels": round(float(rng.uniform(12, 40)), 1)}))
    if rng.random() < 0.06:
        made.append(("clipped", {"share": round(float(rng.uniform(0.1, 0.6)), 2)}))
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
    drawer, clips = Drawer(found), []
    for group, n_clips in shares(found, count).items():
        for index in range(n_clips):
            name = f"{label}-{group}-short-{index:04d}"
            rng = _rng(seed, name)
            shortest = SHORTEST[label]
            length = round(float(np.exp(rng.uniform(np.log(shortest), np.log(1.5)))), 3)
            pieces = drawer.pieces(group, length, rng)[:1]
            before = round(float(rng.uniform(0.0, 1.8 - min(length, 1.3))), 3)
            is_spoken = label == "speech" and rng.random() < SPOKEN
            treatments = ((("spoken", {}),) if is_spoken else ()) + (
                ("level", {"decibels": round(float(rng.uniform(-35, -12)), 1)}),
                ("embed", {"before": before, "seconds": 2.0}),
            )
            leaf = drawer.leaf(pieces)
            source = drawer.source(pieces)
            clips.append(Clip(name, label, source, length, pieces, treatments, _seed(seed, name), leaf))
    return clips


def _silent_clip(index: int, seed: int) -> Clip:
    rng = _rng(seed, f"silence {index}")
    kind = SILENT_KINDS[index % len(SILENT_KINDS)]
    values = {"kind": kind, "decibels": round(float(rng.uniform(-92, -62)), 1)}
    name = f"silence-{kind}-{index:04d}"
    return Clip(name, "silence", f"silence-{index % 20}", 5.0, (), (("silence", values),), _seed(seed, name), "silence")


def _rng(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def _seed(seed: int, name: str) -> int:
    return zlib.crc32(f"{seed} {name}".encode())
