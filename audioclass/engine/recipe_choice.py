"""Which of the shipped recipes tells the labels of a corpus apart best, judged on a sample of its clips.

Every candidate is extracted from the sample, its poolings fitted there; plain least-squares machines of every label
against the rest are held out by groups, and the lowest log-loss wins. What was extracted stays in the cache of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audioclass.audio.decode import open_audio
from audioclass.classifier.preprocessing import Preprocessing
from audioclass.data import Clip, Corpus
from audioclass.engine.datasets import Dataset
from audioclass.engine.fitting import fit_recipe
from audioclass.engine.gathering import gather
from audioclass.engine.rates import recipe_for
from audioclass.engine.window_choice import FittingWindows
from audioclass.errors import AudioclassError, CorpusError
from audioclass.extraction.recipe import Recipe
from audioclass.extraction.recipes import load_recipe, shipped_recipes
from audioclass.kernels.statistics import pairwise, squared_distance
from audioclass.label_sets import are_multi_label
from audioclass.numerics import log_losses, softmax
from audioclass.run import Run
from audioclass.temperature import best_temperature
from audioclass.threads import one_thread
from audioclass.training.config import TrainingConfig
from audioclass.training.label_machines import LabelMachines
from audioclass.training.options import AUTO_RECIPE

MOST_CLIPS = 300
MOST_WINDOWS = 1200
CLEARLY = 0.03  # of the log-loss of the general recipe, by which another must be lower
MACHINES = ((1.0, 0.1), (0.7, 0.05), (0.5, 0.02), (0.35, 0.01))  # γ of exp(−γ · distance) and λ of K + λI


@dataclass(frozen=True)
class RecipeChoice:
    """The recipe that was chosen, the held-out log-loss of each that was tried, and why others were not."""

    recipe: Recipe
    n_clips: int
    losses: Mapping[str, float]
    reasons: Mapping[str, str]

    def __str__(self) -> str:
        tried = ", ".join(f"{name} {loss:.3f}" for name, loss in self.losses.items())
        left_out = "".join(f"; {name} {reason}" for name, reason in self.reasons.items())
        judged = f"held-out log-loss on {self.n_clips} clips: {tried}" if tried else "nothing could be held out"
        return f"recipe {self.recipe.name} was chosen ({judged}{left_out})"

    def to_plain(self) -> dict[str, Any]:
        """As a model keeps it."""
        return {"clips": self.n_clips, "log_loss": dict(self.losses), "left_out": dict(self.reasons)}


def with_chosen_recipe(
    config: TrainingConfig, corpus: Corpus, run: Run, used: Sequence[int] | None = None
) -> tuple[TrainingConfig, RecipeChoice | None]:
    """The configuration with a recipe, chosen on the corpus, or on the clips that are `used`, where that was asked."""
    if config.recipe != AUTO_RECIPE:
        return config, None
    choice = choose_recipe(corpus, run, used, FittingWindows.for_corpus(corpus, config))
    return replace(config, recipe=choice.recipe).with_windows(), choice


def choose_recipe(
    corpus: Corpus, run: Run, used: Sequence[int] | None = None, windows: FittingWindows | None = None
) -> RecipeChoice:
    """The candidate of the lowest held-out log-loss on a sample of the clips, the same for the same clips.

    The first of them unless another is clearly better, and where the sample has no two groups to hold out.
    """
    known = [corpus.clips[i] for i in (range(len(corpus.clips)) if used is None else used)]
    clips = spread_clips(known, MOST_CLIPS)
    if are_multi_label(corpus.clips):  # what overlaps is known of whole recordings only
        files = {clip.file for clip in clips}
        clips = tuple(clip for clip in known if clip.file in files)
    sample = replace(corpus, clips=clips, ignored=())
    seconds = _median_seconds(clips)
    recipes, losses, reasons = {}, {}, {}
    for name, bounds in candidates().items():
        reason = _out_of(bounds, seconds)
        if reason:
            reasons[name] = reason
            continue
        recipe = load_recipe(name, run.registry)
        recipes[name] = recipe if windows is None else windows.applied(recipe)
        fitted = fit_recipe(recipe_for(sample, recipes[name].at_one_speed)[0], clips, run.telling(f"recipe {name}"))
        gathered = gather(sample, fitted, run.telling(f"recipe {name}"), as_sets=are_multi_label(corpus.clips))
        dataset = _spread_windows(gathered, MOST_WINDOWS)
        if len(np.unique(dataset.groups)) > 1 and len(dataset.labels) > 1:
            losses[name] = held_out_log_loss(dataset, fitted)
    return RecipeChoice(recipes[best_of(losses, next(iter(recipes)))], len(clips), losses, reasons)


def best_of(losses: Mapping[str, float], first: str) -> str:
    """The name of the lowest loss, or the first candidate where that is not clearly higher or nothing was judged."""
    best = min(losses, key=lambda name: losses[name], default=first)
    is_clear = first not in losses or losses[best] < (1 - CLEARLY) * losses[first]
    return best if is_clear else first


def candidates() -> dict[str, Mapping[str, float]]:
    """The shipped recipes that compete, the general one first, each with the bounds of clips that it is for."""
    tables = {name: table["candidate"] for name, table in shipped_recipes().items() if "candidate" in table}
    return dict(sorted(tables.items(), key=lambda item: (len(item[1]), item[0])))


def spread_clips(clips: Sequence[Clip], most: int) -> tuple[Clip, ...]:
    """At most so many, in turn from every label and within it from every group, in the order of the corpus."""
    by_label: dict[str, dict[str, list[int]]] = {}
    for i, clip in enumerate(clips):
        by_label.setdefault(clip.label, {}).setdefault(clip.held_out_with, []).append(i)
    turns = [_in_turn(list(groups.values())) for _, groups in sorted(by_label.items())]
    chosen = list(_in_turn([list(turn) for turn in turns]))[:most]
    return tuple(clips[i] for i in sorted(chosen))


def _in_turn(queues: Sequence[Sequence[int]]) -> Iterator[int]:
    for turn in range(max(map(len, queues), default=0)):
        yield from (queue[turn] for queue in queues if turn < len(queue))


def _spread_windows(dataset: Dataset, most: int) -> Dataset:
    """At most so many windows, evenly from each clip."""
    rows = np.argsort(dataset.which, kind="stable")
    counts = np.unique(dataset.which, return_counts=True)[1]
    share = max(1, most // len(counts))
    places = [np.unique(np.linspace(0, count - 1, min(count, share)).round().astype(int)) for count in counts]
    starts = np.cumsum(counts) - counts
    return dataset.take(rows[np.concatenate([start + place for start, place in zip(starts, places, strict=True)])])


@one_thread()
def held_out_log_loss(dataset: Dataset, recipe: Recipe) -> float:
    """Of clips, the mean of their windows' scores, by the best of a few machines that never saw their group."""
    preprocessing = Preprocessing.fit(dataset.X, recipe.groups, group_weights=recipe.group_weights)
    D = pairwise(squared_distance, preprocessing.apply(dataset.X))
    which = np.arange(len(dataset.X)) if dataset.is_multi_label else dataset.which
    clips, first, clip_of = np.unique(which, return_index=True, return_inverse=True)
    y = dataset.y[first]
    counts = np.bincount(clip_of, minlength=len(clips))[:, None]
    losses = []
    for gamma, ridge in MACHINES:
        machines = LabelMachines(np.exp(-gamma * D), dataset.y, len(dataset.labels), ridge, dataset.weights)
        sums = np.zeros((len(clips), len(dataset.labels)))
        np.add.at(sums, clip_of, machines.held_out(dataset.groups))
        scores = sums / counts
        losses.append(float(log_losses(softmax(scores, best_temperature(scores, y)[0]), y).mean()))
    return min(losses)


def _median_seconds(clips: Sequence[Clip]) -> float:
    """The median length of clips; recordings that cannot be read, or do not say how long they are, do not count."""
    lengths = [length for clip in clips if (length := _seconds(clip)) is not None]
    if not lengths:
        raise CorpusError("no recording of the corpus could be used: none says how long it is")
    return float(np.median(lengths))


def _seconds(clip: Clip) -> float | None:
    if clip.end is not None:
        return clip.end - clip.start
    try:
        with open_audio(clip.file, strict=False) as audio:
            return audio.declared / audio.sample_rate - clip.start if audio.declared else None
    except (AudioclassError, OSError):
        return None


def _out_of(bounds: Mapping[str, float], seconds: float) -> str:
    """Why clips of this length are none that a candidate is for; nothing where they are."""
    if seconds < bounds.get("shortest", 0.0):
        return f"is for clips of {bounds['shortest']:g} s and more"
    if seconds > bounds.get("longest", np.inf):
        return f"is for clips of {bounds['longest']:g} s and less"
    return ""
