"""What a programme consists of: items, pauses, levels and fades, everything drawn from one seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sources import Material

Piece = tuple[str, float, float]  # file, start, seconds

STEP = 0.01  # seconds; all boundaries are multiples of it
SECONDS = (4.0, 60.0)
LEVELS = (-26.0, -16.0)  # decibels under full scale, root mean square
ABOVE = (0.0, 15.0)  # decibels of a voice above its music
KINDS = {"speech": 0.34, "music": 0.26, "speech_over_music": 0.18, "environment": 0.22}
SAME_KIND = 0.15  # how often an item follows one of its own kind where it was drawn
FADES = {0.0: 0.3, 0.1: 0.175, 0.5: 0.175, 1.0: 0.175, 2.0: 0.175}
PAUSES = 0.32  # how many items end with one
LENGTHS = ((0.2, 0.5), (0.5, 1.0), (1.0, 3.0), (3.0, 10.0))  # seconds of pauses
LONGEST_FADE = (0.0, 0.1, 0.5, 2.0)  # into and out of a pause of each of these lengths
NOISES = (None, -75.0, -65.0, -55.0)  # decibels; None is digital zero
AUDIBLE = -55.0  # a pause of this level is cut, never faded: its edges could not be told by level
SHORTEST_PIECE = 0.4  # seconds
ENOUGH = 600.0  # seconds of a source from which a longer one is not drawn more often


@dataclass(frozen=True)
class Item:
    """A stretch of one kind: `seconds` from the middle of the fade before it to the middle of the one after.

    `fade` is the one before it. `level` is the root mean square of the louder half, None for digital zero; a voice is
    `above` the music under it by so many decibels. `seed` serves what is noise.
    """

    kind: str
    seconds: float
    fade: float
    level: float | None
    source: str = ""
    pieces: tuple[Piece, ...] = ()
    under: str = ""
    under_pieces: tuple[Piece, ...] = ()
    above: float | None = None
    seed: int = 0


def draw_programme(materials: Sequence[Material], minutes: float, seed: Sequence[int]) -> list[Item]:
    """Items until the programme is full; the same materials and seed give the same items."""
    rng = np.random.default_rng(list(seed))
    drawers = {
        label: Drawer([one for one in materials if one.label == label]) for label in ("speech", "music", "environment")
    }
    pauses = _pauses(rng)
    items: list[Item] = []
    filled, kind = 0.0, ""
    while filled < minutes * 60:
        kind = _next_kind(kind, rng)
        items.append(draw_item(kind, drawers, rng, _seconds(rng), _fade(items, rng)))
        filled += items[-1].seconds
        if rng.random() < PAUSES:
            items.append(next(pauses))
            filled += items[-1].seconds
    return items


class Drawer:
    """Draws pieces of a label: a source by the root of its length, one of its parts evenly, then sounds of that."""

    def __init__(self, materials: Sequence[Material]) -> None:
        self.sources: dict[str, dict[str, list[Material]]] = defaultdict(lambda: defaultdict(list))
        for one in sorted(materials, key=lambda one: one.file):
            if one.seconds >= SHORTEST_PIECE or one.label == "speech":
                self.sources[one.group][one.part].append(one)
        lengths = [
            sum(one.seconds for part in parts.values() for one in part) for _, parts in sorted(self.sources.items())
        ]
        roots = np.sqrt(np.minimum(lengths, ENOUGH))
        self.chances = roots / roots.sum()

    def draw(self, seconds: float, rng: np.random.Generator) -> tuple[str, tuple[Piece, ...]]:
        """A source, and pieces of one of its parts that are as long as this together, or longer."""
        source = str(rng.choice(sorted(self.sources), p=self.chances))
        parts = self.sources[source]
        sounds = parts[sorted(parts)[rng.integers(len(parts))]]
        long = [one for one in sounds if one.seconds >= seconds]
        if long:
            one = long[rng.integers(len(long))]
            return source, ((one.file, round(float(rng.uniform(0, one.seconds - seconds)), 2), seconds),)
        pieces: list[Piece] = []
        while sum(length for *_, length in pieces) < seconds:
            pieces += [(sounds[i].file, 0.0, sounds[i].seconds) for i in rng.permutation(len(sounds))]
        ends = np.cumsum([length for *_, length in pieces])
        return source, tuple(pieces[: int(np.searchsorted(ends, seconds)) + 1])


def draw_item(kind: str, drawers: dict[str, Drawer], rng: np.random.Generator, seconds: float, fade: float) -> Item:
    """An item with more than enough pieces: fades take a part of what is beyond its edges, closed gaps another."""
    level, seed = round(float(rng.uniform(*LEVELS)), 1), int(rng.integers(2**31))
    if kind != "speech_over_music":
        wanted = seconds + 2 if kind != "environment" else 2 * seconds
        source, pieces = drawers[kind].draw(round(wanted, 2), rng)
        return Item(kind, seconds, fade, level, source, pieces, seed=seed)
    source, pieces = drawers["speech"].draw(round(2 * seconds, 2), rng)
    under, under_pieces = drawers["music"].draw(round(seconds + 2, 2), rng)
    above = round(float(rng.uniform(*ABOVE)), 1)
    return Item(kind, seconds, fade, level, source, pieces, under, under_pieces, above, seed)


def _next_kind(last: str, rng: np.random.Generator) -> str:
    while True:
        kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
        if kind != last or rng.random() < SAME_KIND:
            return kind


def _seconds(rng: np.random.Generator) -> float:
    """Few short items, most of half a minute."""
    shortest, longest = SECONDS
    return _on_grid(shortest + (longest - shortest) * rng.beta(1.2, 1.8))


def _pauses(rng: np.random.Generator) -> Iterator[Item]:
    """Every length at every level before any comes again."""
    while True:
        deck = [(i, level) for i in range(len(LENGTHS)) for level in NOISES]
        for k in rng.permutation(len(deck)):
            length, level = deck[k]
            seconds = _on_grid(np.exp(rng.uniform(*np.log(LENGTHS[length]))))
            longest = 0.0 if level == AUDIBLE else LONGEST_FADE[length]
            yield Item("pause", seconds, _drawn_fade(rng, longest), level, seed=int(rng.integers(2**31)))


def _fade(items: Sequence[Item], rng: np.random.Generator) -> float:
    """The fade into the next sound: none at the start; after a pause at most what fits into the pause."""
    if not items:
        return 0.0
    last = items[-1]
    if last.kind != "pause":
        return _drawn_fade(rng, max(FADES))
    length = next((i for i, (_, high) in enumerate(LENGTHS) if last.seconds < high), len(LENGTHS) - 1)
    return _drawn_fade(rng, 0.0 if last.level == AUDIBLE else LONGEST_FADE[length])


def _drawn_fade(rng: np.random.Generator, longest: float) -> float:
    fades = [fade for fade in FADES if fade <= longest]
    chances = np.array([FADES[fade] for fade in fades])
    return float(rng.choice(fades, p=chances / chances.sum()))


def _on_grid(seconds: float) -> float:
    return round(round(seconds / STEP) * STEP, 2)
