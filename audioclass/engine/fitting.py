"""A recipe and training recordings: what its poolings learn, from windows that the training may know and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from audioclass.audio.blocks import cut_blocks
from audioclass.audio.decode import open_audio
from audioclass.contracts import Arrays, FittedPooling
from audioclass.data import Clip, Segment
from audioclass.engine.labelled_windows import owners_of, reaches_beyond
from audioclass.errors import AudioclassError, CorpusError, UsageError
from audioclass.extraction.extract import extract_windows
from audioclass.extraction.parts import Part
from audioclass.extraction.recipe import Recipe
from audioclass.run import Run
from audioclass.threads import one_thread

MOST_WINDOWS = 500
MOST_VALUES = 2**26  # of the frames of all windows that are learnt from

Frames = Sequence[np.ndarray]  # of one window, a matrix for each front


def fit_recipe(recipe: Recipe, clips: Sequence[Clip], run: Run, used: Sequence[int] | None = None) -> Recipe:
    """The same recipe, every pooling that learns fitted to windows of the clips, or of those that are `used`.

    At most 500 windows are learnt from, spread over the labels and over the recordings of each, the same for the same
    clips and seed. A window belongs to a clip as it does in training: nothing is learnt from clips that are not used.
    """
    if not recipe.learns:
        return recipe
    fronts = _Fronts.of(recipe)
    most = max(1, min(MOST_WINDOWS, MOST_VALUES // fronts.n_values))
    items = _choose(clips, range(len(clips)) if used is None else used, most, run.seed)
    work = partial(_windows_of, recipe=fronts.recipe, seed=run.seed)
    windows: dict[int, list[Frames]] = {}
    for done, (number, frames) in enumerate(run.executor.map_unordered(work, items, _nothing_of), start=1):
        windows[number] = frames
        run.progress("fitting", done, len(items))
    learnt_from = [frames for number in sorted(windows) for frames in windows[number]][:most]
    if not learnt_from:
        raise CorpusError(f"recipe {recipe.name}: no recording could be read to learn from")
    return fronts.fitted(recipe, learnt_from, run.seed)


@dataclass(frozen=True, eq=False)
class _Fronts:
    """The frames that poolings learn from: those of parts with the same descriptors are computed and held once.

    `recipe` has a part without poolings for each of them, `places` the one of each pooling that learns, part by part.
    """

    recipe: Recipe
    places: tuple[int, ...]

    @classmethod
    def of(cls, recipe: Recipe) -> _Fronts:
        """Those of the parts that learn; frames are computed in the same blocks as when they are extracted."""
        fronts = [_front(part) if part.learners else None for part in recipe.parts]
        unique = list(dict.fromkeys(front for front in fronts if front is not None))
        places = tuple(-1 if front is None else unique.index(front) for front in fronts)
        return cls(replace(recipe.at_one_speed, parts=tuple(unique), context=recipe.reach), places)

    @property
    def n_values(self) -> int:
        """How many values the frames of one window have."""
        widths = [len(part.frame_columns(self.recipe.framing)) for part in self.recipe.parts]
        return self.recipe.windows.length * sum(widths)

    @one_thread()
    def fitted(self, recipe: Recipe, windows: Sequence[Frames], seed: int) -> Recipe:
        """The recipe with what each pooling learns from these windows."""
        rate = recipe.framing.frame_rate
        try:
            return recipe.with_learnt(
                [
                    [_learn(pooling, windows, place, rate, seed) for pooling in part.learners]
                    for part, place in zip(recipe.parts, self.places, strict=True)
                ]
            )
        except ValueError as error:
            raise UsageError(f"recipe {recipe.name}: {error}") from error


def _front(part: Part) -> Part:
    """The frames that its poolings read."""
    return Part("frames", part.descriptors, (), part.derivatives, frame_length=part.frame_length)


def _learn(pooling: FittedPooling, windows: Sequence[Frames], place: int, rate: float, seed: int) -> Arrays:
    return pooling.fit((frames[place] for frames in windows), rate, np.random.default_rng(seed))


@dataclass(frozen=True)
class _Item:
    """A recording that is learnt from: its clips, which of them may be known, and how many windows are taken."""

    number: int
    path: Path
    clips: tuple[Clip, ...]
    is_used: tuple[bool, ...]
    n_windows: int


def _choose(clips: Sequence[Clip], used: Sequence[int], most: int, seed: int) -> list[_Item]:
    """Recordings in turn from every label, each label's in an order of chance."""
    by_label: dict[str, dict[Path, None]] = {}
    for i in used:
        by_label.setdefault(clips[i].label, {})[clips[i].file] = None
    rng = np.random.default_rng(seed)
    orders = [[list(files)[i] for i in rng.permutation(len(files))] for _, files in sorted(by_label.items())]
    longest = max(map(len, orders), default=0)
    turns = (order[turn] for turn in range(longest) for order in orders if turn < len(order))
    paths = list(dict.fromkeys(turns))[:most]
    known, members = set(used), {path: list[int]() for path in paths}
    for i, clip in enumerate(clips):
        if clip.file in members:
            members[clip.file].append(i)
    return [
        _Item(n, path, tuple(clips[i] for i in members[path]), tuple(i in known for i in members[path]), share)
        for n, (path, share) in enumerate(zip(paths, _shares(most, len(paths)), strict=True))
    ]


def _shares(most: int, count: int) -> list[int]:
    """How many windows each of some recordings gives, so that all together give no more than there may be."""
    return [most // count + (i < most % count) for i in range(count)]


def _windows_of(item: _Item, recipe: Recipe, seed: int) -> tuple[int, list[Frames]]:
    """The frames of some windows of a recording, drawn by chance from those of clips that may be known.

    Of a damaged recording only clips that are whole count, as they do in training.
    """
    rng = np.random.default_rng([seed, item.number])
    try:
        with open_audio(item.path, strict=False) as audio:
            blocks = cut_blocks(audio, recipe.framing.sample_rate, trim=recipe.trim)
            chosen = _drawn(_owned(extract_windows(blocks, recipe), item), item.n_windows, rng)
    except (AudioclassError, OSError):  # whoever extracts its features says why it cannot be read
        return _nothing_of(item)
    cut = audio.cut
    lost = {i for i, clip in enumerate(item.clips) if cut is not None and reaches_beyond(clip, cut)}
    return item.number, [frames for owner, frames in chosen if owner not in lost]


def _owned(windows: Iterable[tuple[Segment, Frames]], item: _Item) -> Iterator[tuple[int, Frames]]:
    """The windows of clips that may be known, each with its clip."""
    for segment, frames in windows:
        [owner] = owners_of([segment], item.clips).tolist()
        if owner >= 0 and item.is_used[owner]:
            yield owner, frames


def _drawn(windows: Iterable[tuple[int, Frames]], most: int, rng: np.random.Generator) -> list[tuple[int, Frames]]:
    """So many of the windows by chance, each as likely as any other, while no more of them are held."""
    drawn: list[tuple[int, Frames]] = []
    for n_before, (owner, frames) in enumerate(windows):
        place = n_before if n_before < most else int(rng.integers(n_before + 1))
        if place < most:
            drawn[place : place + 1] = [(owner, [each.copy() for each in frames])]
    return drawn


def _nothing_of(item: _Item) -> tuple[int, list[Frames]]:
    return item.number, []
