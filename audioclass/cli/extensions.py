"""Commands that are listed without being imported, those of plugins among them, and modules given with `-p`."""

from __future__ import annotations

import contextlib
import os
import sys
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from audioclass.cli.commands import COMMANDS, load_command
from audioclass.hookspecs import PROJECT

if TYPE_CHECKING:
    from audioclass.plugins.manager import PluginManager
    from audioclass.plugins.manifests import Entry

TRACE = "AUDIOCLASS_TRACE"
COMPLETION = ("install_completion", "show_completion")  # options that a whole program has, once


class LazyGroup(TyperGroup):
    """Our commands, then those of plugins; each is imported when it is used, and listed without that."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Every name."""
        return [*COMMANDS, *_plugin_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command where it was used already, else its name and summary."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        if cmd_name in COMMANDS:
            return TyperCommand(cmd_name, help=COMMANDS[cmd_name][2])
        entry = _plugin_commands(ctx).get(cmd_name)
        return None if entry is None else TyperCommand(cmd_name, help=entry.summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is to be run, imported now."""
        name = args[0]
        if name in COMMANDS:
            self.commands.setdefault(name, load_command(name))
        elif name in _plugin_commands(ctx):
            self.commands[name] = _plugin_command(name, _plugin_commands(ctx)[name])
        elif not name.startswith("-"):
            nearest = get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


def _plugin_command(name: str, entry: Entry) -> Any:
    command = typer.main.get_command(_manager().make(entry.kind, entry.name).app())
    command.name = name
    command.params = [param for param in command.params if param.name not in COMPLETION]
    return command


def _plugin_commands(ctx: Any) -> dict[str, Entry]:
    """The commands of plugins by the name under which they are typed, looked up once for a command line."""
    if "commands" not in ctx.meta:
        entries = _manager().entries("command") if ctx.meta.get("modules") or _anything_installed() else []
        ctx.meta["commands"] = {entry.name.replace("_", "-"): entry for entry in entries}
    commands: dict[str, Entry] = ctx.meta["commands"]
    return commands


def _manager() -> PluginManager:
    from audioclass.plugins.manager import plugin_manager

    return plugin_manager()


def _anything_installed() -> bool:
    """Whether any distribution has an entry point of ours: a look that costs less than making a manager."""
    header = f"[{PROJECT}]".encode()
    for folder in map(Path, sys.path):
        with contextlib.suppress(OSError):
            for item in folder.iterdir():
                if item.suffix in (".dist-info", ".egg-info") and _holds(item / "entry_points.txt", header):
                    return True
    return False


def _holds(path: Path, text: bytes) -> bool:
    try:
        return text in path.read_bytes()
    except OSError:
        return False


# --- options of every command


def _register(context: typer.Context, modules: list[str] | None) -> list[str] | None:
    """Take in modules that are not installed, until the command ends; one that is installed is in already."""
    for module in modules or ():
        manager = _manager()
        if module not in {entry.module for entry in manager.entries()}:
            context.call_on_close(partial(manager.unregister, manager.register(module)))
        context.meta["modules"] = True
    return modules


def _trace(context: typer.Context, wanted: bool) -> bool:
    """Have the manager of this command trace its hooks."""
    before = os.environ.get(TRACE)
    if wanted and before is None:
        os.environ[TRACE] = "1"
        context.call_on_close(lambda: os.environ.pop(TRACE, None))
    return wanted


Modules = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        "-p",
        metavar="MODULE",
        callback=_register,
        is_eager=True,
        help="Use a plugin that is not installed: a module, or the path of its file; again for more.",
        show_default=False,
    ),
]
TraceHooks = Annotated[
    bool,
    typer.Option(
        "--trace-hooks", callback=_trace, is_eager=True, help="Write every call of a plugin's hook to standard error."
    ),
]
