"""`audioclass plugins`: what there is, what a component can be told, writing, checking and mending plugins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from audioclass.cli import screen
from audioclass.cli.options import Json
from audioclass.errors import unknown_name
from audioclass.hookspecs import API_VERSION, KINDS
from audioclass.parameters import Parameter
from audioclass.plugins.checking import check_entries, select_entries, write_manifest_file
from audioclass.plugins.doctor import diagnose
from audioclass.plugins.manager import PluginManager, plugin_manager
from audioclass.plugins.manifests import Entry
from audioclass.plugins.scaffold import write_plugin

app = typer.Typer(
    name="plugins",
    rich_markup_mode=None,
    help="List, show, write, check and mend plugins.",
    epilog=screen.examples(
        "audioclass plugins --kind kernel",
        "audioclass plugins show gaussian",
        "audioclass plugins new my-kernel --kind kernel",
        "audioclass plugins check ./my-kernel",
    ),
)


def _known_kinds(incomplete: str) -> list[str]:
    return [kind for kind in KINDS if kind.startswith(incomplete)]


def _known_names(incomplete: str) -> list[str]:
    return sorted({entry.name for entry in plugin_manager().entries() if entry.name.startswith(incomplete)})


LISTED_KINDS = ", ".join(KINDS)
Kind = Annotated[
    str | None,
    typer.Option("--kind", help=f"Only components of this kind: {LISTED_KINDS}.", autocompletion=_known_kinds),
]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of a component.", show_default=False, autocompletion=_known_names)
]
Strict = Annotated[
    bool, typer.Option("--strict", envvar="AUDIOCLASS_STRICT", help="Fail if any plugin is in quarantine.")
]


@app.callback(invoke_without_command=True)
def list_plugins(context: typer.Context, kind: Kind = None, json: Json = False, strict: Strict = False) -> None:
    """List every component: built in, and installed with pip.

    With `--json` the version of the API for plugins stands beside them.
    """
    if context.invoked_subcommand:
        return
    manager = plugin_manager(strict=strict)
    entries = manager.entries(kind)
    if json:
        screen.out_json({"api": API_VERSION, "components": [_as_plain(entry) for entry in entries]})
    else:
        columns = ("name", "kind", "parameters", "what it is", "from")
        screen.table(columns, [_row(entry) for entry in entries])
    _mention_quarantine(manager)


@app.command(epilog=screen.examples("audioclass plugins show gaussian", "audioclass plugins show svm --kind trainer"))
def show(name: Name, kind: Kind = None, json: Json = False) -> None:
    """Show a component and its parameters.

    Each parameter stands with its range, the interval that searches walk, and what it means.
    """
    manager = plugin_manager()
    entries = [entry for entry in manager.entries(kind) if entry.name == name]
    if not entries:
        raise unknown_name(kind or "name", name, {entry.name for entry in manager.entries(kind)})
    if json:
        screen.out_json([_as_plain(entry) for entry in entries])
        return
    for entry in entries:
        screen.out(f"{entry.name}: {_words(entry.kind)} of {entry.distribution} {entry.version} ({entry.module})")
        screen.out(f"  {entry.summary}")
        for parameter in entry.parameters:
            screen.out(f"  {_describe(parameter)}")


@app.command(
    epilog=screen.examples(
        "audioclass plugins new my-kernel --kind kernel",
        "audioclass plugins new my-format --kind format --directory ~/plugins",
    )
)
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the component and of the new folder.", show_default=False)
    ],
    kind: Annotated[str, typer.Option("--kind", help=f"What to write: {LISTED_KINDS}.", autocompletion=_known_kinds)],
    directory: Annotated[Path, typer.Option("--directory", help="Where to write the folder.")] = Path(),
) -> None:
    """Write a new plugin that works as it is.

    A complete distribution: a working component, its tests, manifest, packaging, licence and CI. Needs no network.
    """
    folder = write_plugin(name, kind, directory, plugin_manager())
    screen.out(str(folder))
    screen.note(f"next: pip install {_local(folder)} && audioclass plugins check {_local(folder)}")


@app.command(
    epilog=screen.examples(
        "audioclass plugins check gaussian --kind kernel --set sigma=0.5", "audioclass plugins check ./my-kernel"
    )
)
def check(
    what: Annotated[
        str, typer.Argument(metavar="NAME|PATH", help="A component, a distribution, or a folder or module on disk.")
    ],
    kind: Kind = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="PARAMETER=VALUE", help="Check with this value.")
    ] = None,
    json: Json = False,
) -> None:
    """Run the contract of a component.

    Prints every check of the contract with its result; exit code 1 if one fails.
    """
    manager, entries = select_entries(what, kind, plugin_manager)
    checked = list(check_entries(manager, entries, settings or []))
    if json:
        screen.out_json(checked)
    else:
        for component in checked:
            _print_results(component)
    outcomes = {result["outcome"] for component in checked for result in component["checks"]}
    raise typer.Exit(1 if "failed" in outcomes else 0)


@app.command(epilog=screen.examples("audioclass plugins manifest ./my-kernel"))
def manifest(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Folder of a distribution.", show_default=False)],
) -> None:
    """Write the manifest of a plugin.

    The manifest, audioclass-plugin.toml, is made from the classes; with it they are listed without being imported.
    """
    screen.out(str(write_manifest_file(path)))


@app.command(epilog=screen.examples("audioclass plugins doctor --traceback"))
def doctor(
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where each failure came from.")] = False,
    json: Json = False,
) -> None:
    """Find out which plugins fail, and why.

    Imports every distribution apart from the others and prints the reason of each failure and the command that
    mends it; exit code 1 if there is one.
    """
    diagnosis = diagnose(progress=lambda name: screen.note(f"importing {name}"))
    ailing = [*diagnosis.manager.quarantine, *diagnosis.outdated]
    entries = diagnosis.manager.entries()
    states = {each.distribution: "manifest out of date" for each in diagnosis.outdated}
    states |= {each.distribution: "quarantine" for each in diagnosis.manager.quarantine}
    rows = [
        {
            "distribution": source.distribution,
            "version": source.version,
            "components": sum(entry.distribution == source.distribution for entry in entries),
            "seconds": diagnosis.seconds.get(source.distribution),
            "state": states.get(source.distribution, "works"),
        }
        for source in diagnosis.sources
    ]
    if json:
        screen.out_json(
            {
                "distributions": rows,
                "quarantine": [vars(each) for each in diagnosis.manager.quarantine],
                "outdated": [vars(each) for each in diagnosis.outdated],
            }
        )
    else:
        _print_diagnosis(rows, ailing, traceback)
    raise typer.Exit(1 if ailing else 0)


# --- printing


def _mention_quarantine(manager: PluginManager) -> None:
    if manager.quarantine:
        names = ", ".join(quarantined.distribution for quarantined in manager.quarantine)
        screen.note(f"in quarantine: {names}; `audioclass plugins doctor` says why")


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _local(folder: Path) -> str:
    return str(folder) if folder.is_absolute() or len(folder.parts) > 1 else f"./{folder}"


def _row(entry: Entry) -> tuple[str, ...]:
    settings = ", ".join(p.name if p.required else f"{p.name}={p.default}" for p in entry.parameters)
    return entry.name, _words(entry.kind), settings, entry.summary, f"{entry.distribution} {entry.version}"


def _describe(parameter: Parameter) -> str:
    parts = [parameter.type.rstrip("?"), parameter.limits, parameter.help]
    if parameter.searchable:
        parts.insert(2, f"searched from {parameter.searchable[0]:g} to {parameter.searchable[1]:g}, {parameter.scale}")
    start = parameter.name if parameter.required else f"{parameter.name}={parameter.default}"
    return f"{start}: " + "; ".join(part for part in parts if part)


def _as_plain(entry: Entry) -> dict[str, Any]:
    parameters = [parameter.stated() for parameter in entry.parameters]
    return {**vars(entry), "parameters": parameters}


MARKS = {"passed": "✓", "failed": "✗", "does not apply": "–"}


def _print_results(component: dict[str, Any]) -> None:
    results = component["checks"]
    source = f"{component['distribution']} {component['version']}"
    screen.out(f"{_words(component['kind'])} {component['name']} ({source}): {_summary(results)}")
    for result in results:
        aside = " (does not apply)" if result["outcome"] == "does not apply" else ""
        screen.out(f"  {MARKS[result['outcome']]} {result['sentence']}{aside}")
        if result["reason"]:
            screen.out(f"    {result['reason']}")


def _summary(results: Sequence[dict[str, Any]]) -> str:
    """`fails 2 of 13 checks`, or `passes all 11 checks, 2 do not apply`."""
    counts = Counter(result["outcome"] for result in results)
    if counts["failed"]:
        return f"fails {counts['failed']} of {len(results)} checks"
    skipped = counts["does not apply"]
    aside = f", {skipped} {'do' if skipped > 1 else 'does'} not apply" if skipped else ""
    return f"passes all {counts['passed']} checks{aside}"


def _print_diagnosis(rows: Sequence[dict[str, Any]], ailing: Sequence[Any], traceback: bool) -> None:
    seconds = [f"{row['seconds']:.2f} s" if row["seconds"] is not None else "" for row in rows]
    columns = ("distribution", "version", "components", "import", "state")
    screen.table(
        columns,
        [
            (row["distribution"], row["version"], str(row["components"]), time, row["state"])
            for row, time in zip(rows, seconds, strict=True)
        ],
    )
    for quarantined in ailing:
        screen.out("")
        screen.out(f"{quarantined.distribution} {quarantined.version}: {quarantined.phase}: {quarantined.reason}")
        screen.out(f"  mend it with: {quarantined.remedy}")
        if traceback and quarantined.traceback:
            screen.out_text("  " + quarantined.traceback.rstrip().replace("\n", "\n  "))
