"""What a recipe may ask for: it is refused before the first recording is read, not after gigabytes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from audioclass.contracts import Descriptor
from audioclass.data import Framing
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.errors import UsageError
from audioclass.extraction.frames import FRAMES_PER_BLOCK
from audioclass.extraction.parts import Part

if TYPE_CHECKING:
    from audioclass.extraction.recipe import Recipe

LIMITS = {
    "sample_rate": 768_000,
    "frame_length": 2**14,
    "hop_length": 2**14,
    "window": 86_400.0,
    "window_hop": 86_400.0,
    "weight": 1e6,
}
MOST_FRAMES = 8000  # a second
MOST_OVERLAP = 64  # frames that a sample stands in
MOST_SAMPLES = 2**23  # of the frames that are computed together, with those beside them that descriptors look at
MOST_LISTED = 128  # parts, components of one, values of a parameter
MOST_FEATURES = 2**14  # of one version
MOST_VERSIONS = 9
SPEEDS = (0.5, 2.0)
ONE_VERSION = (1.0,)
MOST_POOLED = 2**25  # values of the windows that are pooled together


def checked_recipe(recipe: Recipe) -> Recipe:
    """The recipe itself; a UsageError where it cannot be afforded, or a component does not fit its frames."""
    if recipe.framing.hop_length > recipe.framing.frame_length:
        raise UsageError(f"recipe {recipe.name}: hop_length must be at most frame_length, or samples are skipped")
    for part in recipe.parts:
        if part.weight != recipe.group_weights[part.group]:
            raise UsageError(f"recipe {recipe.name}: parts of group {part.group} must have the same weight")
        shortest, longest = recipe.framing.hop_length, recipe.framing.frame_length
        if part.frame_length is not None and not shortest <= part.frame_length <= longest:
            raise UsageError(
                f"recipe {recipe.name}, group {part.group}: frame_length={part.frame_length} must be from hop_length to"
                f" frame_length of the recipe, {shortest} to {longest}"
            )
    check_cost(recipe)
    silence = CachedSpectra(np.zeros(recipe.framing.frame_length, np.float32), recipe.framing)
    try:  # what a component finds wrong with this sample rate or frame is found now, not at the first recording
        columns = recipe.columns
        for part in recipe.parts:
            framing = part.framing(recipe.framing)
            for speed in recipe.versions:
                spectra = silence.middle(framing.frame_length).at_speed(speed)
                for descriptor in part.descriptors:
                    _check_width(descriptor, spectra, framing)
    except ValueError as error:
        raise UsageError(f"recipe {recipe.name}: {error}") from error
    if len(set(columns)) < len(columns):
        repeated = min(name for name, count in Counter(columns).items() if count > 1)
        raise UsageError(f"recipe {recipe.name}: feature {repeated!r} is computed twice")
    return recipe


def check_learnt(part: Part, framing: Framing) -> None:
    """Refuse what poolings could not have learnt for these descriptors: a single frame is pooled with it."""
    if len(part.fitted) != len(part.learners):
        raise ValueError(f"group {part.group}: {len(part.fitted)} of {len(part.learners)} poolings have learnt")
    names = part.frame_columns(framing) if part.learners else []
    frame = np.zeros((1, 1, len(names)), np.float32)
    for pooling, learnt in zip(part.learners, part.fitted, strict=True):
        try:
            pooled = pooling.pool(frame, framing.frame_rate, learnt.arrays)
        except ValueError as error:
            raise ValueError(f"group {part.group}: {error}") from error
        if np.shape(pooled) != (1, len(pooling.columns(names))) or not np.isfinite(pooled).all():
            raise ValueError(f"group {part.group}: what pooling {pooling.name} has learnt does not fit it")


def _check_width(descriptor: Descriptor, spectra: CachedSpectra, framing: Framing) -> None:
    """A descriptor that counts bins for itself may give other columns at another speed."""
    width, expected = descriptor.frames(spectra).shape[1], len(descriptor.columns(framing))
    if spectra.framing.speed != 1 and width != expected:
        raise ValueError(f"{descriptor.name} gives {width} values at speed {spectra.framing.speed:g}, not {expected}")


def stated_versions(name: str, table: Mapping[str, Any]) -> tuple[float, ...]:
    """The versions of a recipe as a table."""
    return checked_versions(name, table.get("versions", list(ONE_VERSION)))


def checked_versions(name: str, stated: Any) -> tuple[float, ...]:
    """Speeds that a file or a user states, the first of them 1."""
    numbers = stated if isinstance(stated, list) else []
    are_numbers = all(type(speed) in (int, float) and SPEEDS[0] <= speed <= SPEEDS[1] for speed in numbers)
    if not 1 <= len(numbers) <= MOST_VERSIONS or not are_numbers or numbers[0] != 1:
        raise UsageError(
            f"recipe {name}: versions={str(stated)[:80]} must be 1 to {MOST_VERSIONS} speeds from {SPEEDS[0]:g} to"
            f" {SPEEDS[1]:g}, the first of them 1"
        )
    if len({f"{speed:.5g}" for speed in numbers}) < len(numbers):
        raise UsageError(f"recipe {name}: versions={stated} has a speed twice")
    return tuple(map(float, numbers))


def check_cost(recipe: Recipe) -> None:
    """Bound what a second of audio becomes, and the windows that are pooled together, before anything is computed."""
    framing, windows, where = recipe.framing, recipe.windows, f"recipe {recipe.name}"
    if framing.frame_rate > MOST_FRAMES:
        raise UsageError(f"{where}: {framing.frame_rate:g} frames a second, at most {MOST_FRAMES}")
    if framing.frame_length > MOST_OVERLAP * framing.hop_length:
        raise UsageError(f"{where}: frame_length must be at most {MOST_OVERLAP} times hop_length")
    reach = recipe.reach
    if (FRAMES_PER_BLOCK + 2 * reach) * framing.frame_length > MOST_SAMPLES:
        raise UsageError(f"{where}: frame_length={framing.frame_length} is too long with {reach} frames of context")
    n_features = 0
    try:
        for part in recipe.parts:
            # An embedding is handed the samples themselves; the others as many windows as a block of frames completes.
            width = framing.hop_length if part.embedding is not None else len(part.frame_columns(framing))
            together = (FRAMES_PER_BLOCK // windows.hop + 1) * min(windows.length, MOST_FRAMES) * width
            together = round(together * sum(1 / speed for speed in recipe.versions))
            n_features += len(part.columns(framing)) if together <= MOST_POOLED else 0
            if together > MOST_POOLED or n_features > MOST_FEATURES:
                raise UsageError(
                    f"{where}, group {part.group}: {together} values pooled together and {n_features} features,"
                    f" at most {MOST_POOLED} and {MOST_FEATURES}"
                )
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from error


def checked_number(name: str, table: Mapping[str, Any], key: str) -> float:
    """A positive number that a recipe states, within its limit."""
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise UsageError(f"recipe {name}: {key}={value!r} must be a positive number")
    if value > LIMITS[key]:
        raise UsageError(f"recipe {name}: {key}={value!r} must be at most {LIMITS[key]:g}")
    return float(value)
