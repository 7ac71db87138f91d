"""Commands that are listed without being imported, those of plugins among them, and modules given with `-p`."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from audioclass.cli.commands import COMMANDS, load_command
from audioclass.display import printable
from audioclass.hookspecs import PROJECT

if TYPE_CHECKING:
    from audioclass.plugins.manager import PluginManager

TRACE = "AUDIOCLASS_TRACE"
MANIFEST = "audioclass-plugin.toml"  # as in plugins.manifests, whose import this look does without
# How a command says that it is done, or that an option is wrong; and a pipe whose reader has gone.
WAYS_TO_END = (typer.Exit, typer.Abort, typer.TyperException, SystemExit, BrokenPipeError)
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
        summary = _plugin_commands(ctx).get(cmd_name)
        return None if summary is None else TyperCommand(cmd_name, help=printable(summary))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is to be run, imported now."""
        name = args[0]
        if name in COMMANDS:
            self.commands.setdefault(name, load_command(name))
        elif name in _plugin_commands(ctx):
            self.commands[name] = _plugin_command(name)
        elif not name.startswith("-"):
            nearest = get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


def _plugin_command(name: str) -> Any:
    """The command of a plugin, which is imported now; what it raises when it is run names it."""
    from audioclass.plugins.attribution import attributing, origin_of

    component = _manager().make("command", name.replace("-", "_"))
    with attributing(origin_of(component)):
        command = typer.main.get_command(component.app())
    command.name = name
    command.params = [param for param in command.params if param.name not in COMPLETION]
    run = command.invoke

    def run_attributed(context: Any) -> Any:
        with attributing(origin_of(component), passing=WAYS_TO_END):
            return run(context)

    vars(command)["invoke"] = run_attributed
    return command


def _plugin_commands(ctx: Any) -> dict[str, str]:
    """The commands of plugins, as they are typed, with their summaries; looked up once for a command line."""
    if "commands" not in ctx.meta:
        listed = None if ctx.meta.get("modules") else _listed_commands()
        if listed is None:
            listed = {entry.name: entry.summary for entry in _manager().entries("command")}
        ctx.meta["commands"] = {name.replace("_", "-"): summary for name, summary in listed.items()}
    commands: dict[str, str] = ctx.meta["commands"]
    return commands


def _manager() -> PluginManager:
    from audioclass.plugins.manager import plugin_manager

    return plugin_manager()


def _listed_commands() -> dict[str, str] | None:
    """Names and summaries from the manifests of what is installed: a look that costs less than making a manager.

    None where manifests alone do not tell: a plugin has none that can be read, or the environment restricts plugins.
    """
    if any(name.startswith("AUDIOCLASS_") for name in os.environ):
        return None
    listed: dict[str, str] = {}
    for information in _our_distributions():
        manifest = _manifest_of(information)
        if manifest is None:
            return None
        if b"command" in manifest:
            try:
                entries = tomllib.loads(manifest.decode())["entries"]
                listed |= {entry["name"]: entry["summary"] for entry in entries if entry["kind"] == "command"}
            except (ValueError, KeyError, TypeError):
                return None
    return {name: summary for name, summary in listed.items() if name.replace("_", "-") not in COMMANDS}


def _our_distributions() -> Iterator[Path]:
    """The folders of metadata of distributions that have an entry point of ours."""
    header = f"[{PROJECT}]".encode()
    for item in (item for folder in map(Path, sys.path) for item in _items(folder)):
        is_information = item.suffix in (".dist-info", ".egg-info")
        if is_information and header in _content(item / "entry_points.txt"):
            yield item


def _items(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # a zip, or a folder that is not there
        return []


def _manifest_of(information: Path) -> bytes | None:
    """The manifest that the record of a distribution names; None where there is none."""
    for line in _content(information / "RECORD").decode(errors="replace").splitlines():
        path = line.partition(",")[0]
        if path.endswith(MANIFEST):
            return _content(information.parent / path) or None
    return None


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


# --- options of every command


def _register(context: typer.Context, modules: list[str] | None) -> list[str] | None:
    """Take in modules that are not installed, until the command ends; one that is installed is in already."""
    for module in modules or ():
        manager = _manager()
        if module not in {entry.module for entry in manager.entries()}:
            context.call_on_close(partial(manager.unregister, manager.register(module)))
            _hand_down(context, module)
        context.meta["modules"] = True
    return modules


def _hand_down(context: typer.Context, module: str) -> None:
    """Have the processes that this command starts take in the module too."""
    from audioclass.plugins.manager import MODULES

    handed = os.environ.pop(MODULES, "").split(os.pathsep)
    os.environ[MODULES] = os.pathsep.join(filter(None, [*handed, module]))
    context.call_on_close(partial(os.environ.pop, MODULES, None))


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
