"""Models by path, or by the name of a shipped one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from audioclass.classifier import loading
from audioclass.classifier.archive import naming
from audioclass.classifier.blame import changed_components, culprit
from audioclass.classifier.golden import Drift
from audioclass.classifier.model import Model
from audioclass.classifier.summary import Summary
from audioclass.errors import UsageError, did_you_mean
from audioclass.plugins.manager import plugin_manager
from audioclass.recordings import ABSENT, irregularity
from audioclass.run import Registry

DEFAULT_MODEL = "broadcast"
SUFFIX = ".audioclass"


def load_model(model: str | Path = DEFAULT_MODEL, *, registry: Registry | None = None, verify: bool = True) -> Model:
    """A model file, or a shipped model by its name; its golden vectors are recomputed unless told not to.

    The name of a shipped model is always that model: a file of that name in the working directory is `./broadcast`.
    """
    with model_path(model) as path:
        return loading.load_model(path, registry or plugin_manager(), verify=verify)


def read_summary(model: str | Path = DEFAULT_MODEL) -> tuple[Summary, Mapping[str, Any], list[str]]:
    """What a model says of itself, its manifest, and what differs here from where it was made; it is not computed with.

    It can be read without the plugins that the model needs.
    """
    registry = plugin_manager()
    with model_path(model) as path:
        summary, manifest = loading.read_summary(path, registry)
    return summary, manifest, changed_components(summary.about, registry)


def verify_model(model: str | Path = DEFAULT_MODEL) -> tuple[Drift, str, list[str]]:
    """How far a model's golden vectors are from what is computed here, who is to blame, and what differs.

    Nobody is to blame for rounding.
    """
    registry = plugin_manager()
    unverified = load_model(model, registry=registry, verify=False)
    with naming(Path(model)):
        drift = unverified.drift()
        blamed = "" if drift.is_rounding else culprit(unverified.about, drift, registry)
    return drift, blamed, changed_components(unverified.about, registry)


@contextmanager
def model_path(model: str | Path) -> Iterator[Path]:
    """The file of a model, while it is needed: a shipped model may have to be unpacked first."""
    shipped = shipped_models()
    if str(model) in shipped:
        with as_file(files("audioclass").joinpath("models", f"{model}{SUFFIX}")) as path:
            yield path
    elif irregularity(Path(model)) == ABSENT:
        names = ", ".join(shipped) or "none"
        raise UsageError(f"{model}: no such model file{did_you_mean(str(model), shipped)}; shipped: {names}")
    else:
        yield Path(model)


def names_model(text: str) -> bool:
    """Whether a text is the name of a shipped model or has the suffix of a model file."""
    return text.endswith(SUFFIX) or text in shipped_models()


def loaded(model: str | Path | Model) -> Model:
    """A model by its path or name, read again only where its file has changed; a model is itself."""
    return ModelFile.of(model).load() if isinstance(model, (str, Path)) else model


@dataclass(frozen=True)
class ModelFile:
    """A model by its path or name, and what tells its file from one that takes its place; None for a shipped one."""

    name: str
    state: tuple[str | int, ...] | None

    @classmethod
    def of(cls, model: str | Path) -> ModelFile:
        """The file as it is now."""
        if str(model) in shipped_models():
            return cls(str(model), None)
        try:
            status = Path(model).stat()
        except (OSError, ValueError):  # who loads it says what is wrong
            return cls(str(model), None)
        return cls(str(model), (os.path.realpath(model), status.st_ino, status.st_size, status.st_mtime_ns))

    def needed_files(self) -> list[Path]:
        """Its file, where it is not shipped: other machines must have the same."""
        return [] if self.state is None else [Path(self.name)]

    def load(self) -> Model:
        """The model, read once in a process: a batch that has begun keeps what it has read."""
        return _load_once(self)


@lru_cache(maxsize=4)
def _load_once(file: ModelFile) -> Model:
    return load_model(file.name)


def shipped_models() -> list[str]:
    """The names of the models that come with the package."""
    folder = files("audioclass").joinpath("models")
    if not folder.is_dir():
        return []
    return sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(SUFFIX))
