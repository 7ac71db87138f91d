"""Models by path or by the name of a shipped one, with their components made by the plugin manager."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from audioclass.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from audioclass.classifier.loading import Maker
    from audioclass.classifier.model import Model
    from audioclass.plugins.manager import PluginManager

DEFAULT_MODEL = "broadcast"
SUFFIX = ".audioclass"


def load_model(
    model: str | Path = DEFAULT_MODEL, *, manager: PluginManager | None = None, verify: bool = True
) -> Model:
    """A model file, or a shipped model by its name; its golden vectors are recomputed unless told not to."""
    from audioclass.classifier import loading
    from audioclass.plugins.manager import plugin_manager

    made = maker(manager or plugin_manager())
    shipped = shipped_models()
    if str(model) in shipped and not Path(model).exists():
        with as_file(files("audioclass").joinpath("models", f"{model}{SUFFIX}")) as path:
            return loading.load_model(path, made, verify=verify)
    if not Path(model).exists():
        raise UsageError(f"{model}: no such model file{did_you_mean(str(model), shipped)}; shipped: {_listed(shipped)}")
    return loading.load_model(Path(model), made, verify=verify)


def maker(manager: PluginManager) -> Maker:
    """What a model file is made of, by name."""
    from audioclass.classifier.loading import Maker

    def origin(kind: str, name: str) -> str:
        offer = manager.find(kind, name)
        return f"{offer.distribution} {offer.version}"

    return Maker(manager.make, origin)


def shipped_models() -> list[str]:
    """The names of the models that come with the package."""
    folder = files("audioclass").joinpath("models")
    if not folder.is_dir():
        return []
    return sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(SUFFIX))


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"
