"""Our own commands by name: listed with their summaries, imported when one is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
import typer.main

# Where each command is, and what it does as the list of commands says it: the first sentence of its help.
COMMANDS = {
    "extract": ("extract", "extract", "Turn recordings into a table of features."),
    "recipes": ("extract", "recipes", "List the recipes, or show one."),
    "classify": (
        "classify",
        "classify",
        "Classify recordings: segments with their label and probability.",
    ),
    "index": ("index", "app", "Keep the segments of an archive of recordings in tables that grow."),
    "find": ("find", "find", "Find segments in an archive: those that fit all that is stated."),
    "train": ("train", "train", "Train a model on a labelled corpus."),
    "evaluate": ("evaluate", "evaluate", "Evaluate a model on a corpus, or a configuration on grouped folds of one."),
    "compare": ("evaluate", "compare", "Compare strategies, or models, on the same recordings and folds."),
    "calibrate": ("models", "calibrate", "Fit only the calibration of a model anew, from local recordings."),
    "model": ("models", "app", "Look at a model file: what it knows, whether it still computes what it did, its card."),
    "tree": ("tree", "app", "The tree of a model: which labels stand in which group, with which machines."),
    "corpus": ("corpus", "app", "Check, measure and split a labelled corpus."),
    "plugins": ("plugins", "app", "List, show, write, check and mend plugins."),
}


def load_command(name: str) -> Any:
    """The command of a name, as Typer makes it; its module is imported now."""
    module, attribute, _ = COMMANDS[name]
    target = getattr(import_module(f"audioclass.cli.{module}"), attribute)
    app = target
    if not isinstance(target, typer.Typer):
        app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        app.command(name, epilog=getattr(target, "examples", None))(target)
    command = typer.main.get_command(app)
    command.name = name
    return command
