"""Models by path, or by the name of a shipped one."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from audioclass.classifier import loading
from audioclass.classifier.model import Model
from audioclass.errors import UsageError, did_you_mean
from audioclass.plugins.manager import plugin_manager
from audioclass.run import Registry

DEFAULT_MODEL = "broadcast"
SUFFIX = ".audioclass"


def load_model(model: str | Path = DEFAULT_MODEL, *, registry: Registry | None = None, verify: bool = True) -> Model:
    """A model file, or a shipped model by its name; its golden vectors are recomputed unless told not to."""
    registry = registry or plugin_manager()
    shipped = shipped_models()
    if str(model) in shipped and not Path(model).exists():
        with as_file(files("audioclass").joinpath("models", f"{model}{SUFFIX}")) as path:
            return loading.load_model(path, registry, verify=verify)
    if not Path(model).exists():
        names = ", ".join(shipped) or "none"
        raise UsageError(f"{model}: no such model file{did_you_mean(str(model), shipped)}; shipped: {names}")
    return loading.load_model(Path(model), registry, verify=verify)


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
