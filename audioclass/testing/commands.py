"""The contract of a command: a Typer application that explains itself and refuses what it does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
import typer.main
from typer.testing import CliRunner

from audioclass.testing.checks import COMMON, Check, require

WRONG_USE = 2
INSIDE = re.compile(r"<class '|<function |<[\w.]+ object at |_MISSING_TYPE")  # how Python writes what is no value


def app_is_typer(command: Any) -> None:
    """`app()` gives a Typer application with at least one command."""
    app = command.app()
    require(isinstance(app, typer.Typer), f"returned {type(app).__name__}, not a typer.Typer")
    require(app.registered_commands or app.registered_groups, "the application has no command")


def help_is_shown(command: Any) -> None:
    """`--help` works for the command and for each of its subcommands, shows no insides, and nothing is done."""
    for path in _paths(command):
        shown = CliRunner().invoke(command.app(), [*path, "--help"])
        require(shown.exit_code == 0, f"{' '.join([*path, '--help'])} ends with {shown.exit_code}: {shown.exception}")
        require("Usage:" in shown.output, f"{' '.join([*path, '--help'])} prints no usage")
        inside = INSIDE.search(shown.output)
        require(inside is None, f"{' '.join([*path, '--help'])} shows {inside and inside[0]!r}, which is no value")


def commands_say_what_they_do(command: Any) -> None:
    """Each subcommand has a sentence of help."""
    for path, each in _commands(command):
        require(each.help, f"{' '.join(path) or 'the command'} has no help")


def options_say_what_they_do(command: Any) -> None:
    """Each option has a sentence of help."""
    for path, each in _commands(command):
        for option in each.params:
            silent = option.param_type_name == "option" and not getattr(option, "help", None)
            require(not silent, f"{' '.join(path)}: the option {option.name!r} has no help")


def unknown_options_are_refused(command: Any) -> None:
    """An option that it does not know ends with exit code 2."""
    for path in _paths(command):
        refused = CliRunner().invoke(command.app(), [*path, "--no-such-option"])
        require(refused.exit_code == WRONG_USE, f"{' '.join(path)} --no-such-option ends with {refused.exit_code}")


def _paths(command: Any) -> list[tuple[str, ...]]:
    """The words that lead to the command itself and to every subcommand."""
    return [(), *(path for path, _ in _commands(command) if path)]


def _commands(command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with the words that lead to it."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), typer.main.get_command(command.app()))]
    for path, each in waiting:
        inner = getattr(each, "commands", None)
        if inner is None:
            yield path, each
        else:
            waiting += [((*path, name), one) for name, one in inner.items()]


CHECKS: tuple[Check, ...] = (
    *COMMON,
    app_is_typer,
    help_is_shown,
    commands_say_what_they_do,
    options_say_what_they_do,
    unknown_options_are_refused,
)
