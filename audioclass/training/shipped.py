"""Configurations by name that come with the package: `--config small`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any


def shipped_configs() -> dict[str, Mapping[str, Any]]:
    """What each of them states, by name."""
    folder = files("audioclass").joinpath("configs")
    tables = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    return {Path(file.name).stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in sorted(tables, key=str)}
