"""Recordings to features: recipes by name, one recording or many."""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audioclass.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from audioclass.data import Features
    from audioclass.extraction.batch import Extracted
    from audioclass.extraction.recipe import Recipe
    from audioclass.plugins.manager import PluginManager
    from audioclass.recordings import Progress

DEFAULT_RECIPE = "broadcast"


def shipped_recipes() -> dict[str, Mapping[str, Any]]:
    """The recipes that come with the package, as plain tables by name."""
    folder = files("audioclass").joinpath("recipes")
    texts = {
        Path(file.name).stem: file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    }
    return {name: tomllib.loads(texts[name]) for name in sorted(texts)}


def load_recipe(name: str, manager: PluginManager | None = None) -> Recipe:
    """The recipe of a shipped name or of a TOML file, its components made."""
    from audioclass.extraction.recipe import recipe_of
    from audioclass.plugins.manager import plugin_manager

    manager = manager or plugin_manager()
    return recipe_of(
        Path(name).stem,
        _recipe_table(name),
        manager.make,
        lambda kind, component: f"{manager.find(kind, component).distribution} {manager.find(kind, component).version}",
    )


def extract(path: str | Path, recipe: str | Recipe = DEFAULT_RECIPE) -> Features:
    """The features of one recording's windows, all in memory; `-` reads standard input."""
    from audioclass.audio.blocks import read_blocks
    from audioclass.data import Features
    from audioclass.extraction.extract import extract_features

    made = load_recipe(recipe) if isinstance(recipe, str) else recipe
    source = path if path == "-" else Path(path)
    blocks = read_blocks(source, made.framing.sample_rate, trim=made.trim)
    return Features.joined(extract_features(blocks, made), made.columns, made.groups)


Outcomes = Callable[["Progress | None"], Iterator["Extracted"]]


@contextlib.contextmanager
def extract_many(
    paths: Sequence[Path], recipe: Recipe, *, jobs: int = 1, cache: Path | bool | None = None
) -> Iterator[tuple[list[Path], Outcomes]]:
    """The recordings under the paths, and a call that extracts them one outcome at a time.

    Results stay in `cache` (None: the user's own cache folder); with False they are gone when the context ends, as are
    those of standard input, which has no content to know it by.
    """
    from audioclass.extraction.batch import extract_batch
    from audioclass.extraction.cache import Cache
    from audioclass.recordings import find_recordings

    recordings = find_recordings(paths)
    if not recordings:
        raise UsageError(f"{', '.join(map(str, paths))}: no recordings found")
    with tempfile.TemporaryDirectory(prefix="audioclass-") as passing:
        is_passing = cache is False or any(str(path) == "-" for path in recordings)
        folder = Path(passing) if is_passing else Path(cache or user_cache()) / "features"
        yield (
            recordings,
            lambda progress: extract_batch(recordings, recipe, Cache(folder), jobs or os.cpu_count() or 1, progress),
        )


def user_cache() -> Path:
    """Where results are kept unless a user says otherwise."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "audioclass"


def recipe_text(name: str) -> str:
    """A recipe as it stands in its file."""
    shipped = files("audioclass").joinpath("recipes", f"{name}.toml")
    if name in shipped_recipes():
        return shipped.read_text(encoding="utf-8")
    _recipe_table(name)
    return Path(name).read_text(encoding="utf-8")


def _recipe_table(name: str) -> Mapping[str, Any]:
    shipped = shipped_recipes()
    if name in shipped:
        return shipped[name]
    if not name.endswith(".toml"):
        raise unknown_name("recipe", name, shipped)
    try:
        return tomllib.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{name}: not a TOML file: {error}") from error
