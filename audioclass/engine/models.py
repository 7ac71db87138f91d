"""Models by path, or by the name of a shipped one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from audioclass.classifier import loading
from audioclass.classifier.model import Model
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
    """A model by its path or name, read once in a process; a model is itself."""
    return _load_once(str(model)) if isinstance(model, (str, Path)) else model


@cache
def _load_once(model: str) -> Model:
    return load_model(model)


def shipped_models() -> list[str]:
    """The names of the models that come with the package."""
    folder = files("audioclass").joinpath("models")
    if not folder.is_dir():
        return []
    return sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(SUFFIX))
