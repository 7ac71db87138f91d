"""Files inside other distributions that pip installed, such as the weights of a network: found, and never imported."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from audioclass.errors import MissingPackage


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
