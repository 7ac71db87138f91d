"""Runs, configurations and options as tests need them: the built-ins only, nothing kept unless a folder is named."""

from pathlib import Path
from typing import Any

from audioclass.engine.streaming import SegmentationOptions
from audioclass.extraction.recipe import Recipe
from audioclass.extraction.recipes import load_recipe
from audioclass.plugins.manager import plugin_manager
from audioclass.run import Progress, Run, executor_for, silent
from audioclass.training.config import TrainingConfig

BUILTINS = plugin_manager(installed=False)


def run(cache: Path | None = None, jobs: int = 1, progress: Progress = silent, seed: int = 0) -> Run:
    """A run of the built-ins."""
    return Run(BUILTINS, executor_for(jobs), cache, progress, seed)


def recipe(name: str) -> Recipe:
    """The recipe of a name or a file."""
    return load_recipe(name, BUILTINS)


def config(**options: Any) -> TrainingConfig:
    """A configuration from options as a user states them."""
    return TrainingConfig.of(options, run())


def segmentation(smooth: Any = "hmm", **options: Any) -> SegmentationOptions:
    """Options of a segmentation with a smoother by name."""
    return SegmentationOptions.of(smooth, run(), **options)
