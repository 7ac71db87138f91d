"""Recordings to time segments with calibrated posterior probabilities over a taxonomy of labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; at run time `__getattr__` brings them
    from audioclass.engine.archives import open_archive
    from audioclass.engine.classifying import classify
    from audioclass.engine.features import extract
    from audioclass.engine.following import follow
    from audioclass.engine.models import load_model
    from audioclass.engine.training import train
    from audioclass.errors import AudioclassError
    from audioclass.estimator import AudioclassClassifier
    from audioclass.hookspecs import hookimpl
    from audioclass.parameters import component, parameter
    from audioclass.plugins.manager import plugin_manager
    from audioclass.taxonomy import Taxonomy

__version__ = "0.1.0"

# Public names and the modules they come from: a name costs its import only when it is used.
_HOMES = {
    "AudioclassClassifier": "estimator",
    "AudioclassError": "errors",
    "Taxonomy": "taxonomy",
    "component": "parameters",
    "classify": "engine.classifying",
    "extract": "engine.features",
    "follow": "engine.following",
    "hookimpl": "hookspecs",
    "load_model": "engine.models",
    "open_archive": "engine.archives",
    "parameter": "parameters",
    "plugin_manager": "plugins.manager",
    "train": "engine.training",
}
__all__ = [
    "AudioclassClassifier",
    "AudioclassError",
    "Taxonomy",
    "classify",
    "component",
    "extract",
    "follow",
    "hookimpl",
    "load_model",
    "open_archive",
    "parameter",
    "plugin_manager",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'audioclass' has no attribute {name!r}")
    return getattr(import_module(f"audioclass.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
