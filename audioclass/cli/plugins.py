"""`audioclass plugins`: what there is, what a component can be told, writing, checking and mending plugins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audioclass.cli import screen
from audioclass.cli.options import Json
from audioclass.errors import unknown_name

if TYPE_CHECKING:
    from audioclass.parameters import Parameter
    from audioclass.plugins.manager import PluginManager
    from audioclass.plugins.manifests import Offer

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
    from audioclass.hookspecs import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete)]


def _known_names(incomplete: str) -> list[str]:
    return sorted({offer.name for offer in _manager().offers() if offer.name.startswith(incomplete)})


Kind = Annotated[
    str | None,
    typer.Option("--kind", help="Only components of this kind, such as kernel.", autocompletion=_known_kinds),
]
Name = Annotated[str, typer.Argument(help="Name of a component.", show_default=False, autocompletion=_known_names)]
Strict = Annotated[
    bool, typer.Option("--strict", envvar="AUDIOCLASS_STRICT", help="Fail if any plugin is in quarantine.")
]


@app.callback(invoke_without_command=True)
def list_plugins(context: typer.Context, kind: Kind = None, json: Json = False, strict: Strict = False) -> None:
    """List every component on offer: built in, and installed with pip."""
    if context.invoked_subcommand:
        return
    manager = _manager(strict)
    offers = manager.offers(kind)
    if json:
        screen.out_json([_as_plain(offer) for offer in offers])
    else:
        columns = ("name", "kind", "parameters", "what it is", "from")
        screen.table(columns, [_row(offer) for offer in offers])
    _mention_quarantine(manager)


@app.command(epilog=screen.examples("audioclass plugins show gaussian", "audioclass plugins show svm --kind trainer"))
def show(name: Name, kind: Kind = None, json: Json = False) -> None:
    """Show a component and its parameters.

    Each parameter stands with its range, the interval that searches walk, and what it means.
    """
    manager = _manager()
    offers = [offer for offer in manager.offers(kind) if offer.name == name]
    if not offers:
        raise unknown_name(kind or "name", name, {offer.name for offer in manager.offers(kind)})
    if json:
        screen.out_json([_as_plain(offer) for offer in offers])
        return
    for offer in offers:
        screen.out(f"{offer.name}: {_words(offer.kind)} of {offer.distribution} {offer.version} ({offer.module})")
        screen.out(f"  {offer.summary}")
        for parameter in offer.parameters:
            screen.out(f"  {_describe(parameter)}")


@app.command(
    epilog=screen.examples(
        "audioclass plugins new my-kernel --kind kernel",
        "audioclass plugins new my-format --kind format --directory ~/plugins",
    )
)
def new(
    name: Annotated[str, typer.Argument(help="Name of the component and of the new folder.", show_default=False)],
    kind: Annotated[str, typer.Option("--kind", help="What to write.", autocompletion=_known_kinds)],
    directory: Annotated[Path, typer.Option("--directory", help="Where to write the folder.")] = Path(),
) -> None:
    """Write a new plugin that works as it is.

    A complete distribution: a working component, its tests, manifest, packaging and README. Needs no network.
    """
    from audioclass.plugins.scaffold import write_plugin

    folder = write_plugin(name, kind, directory, _manager())
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

    Prints every law of the contract, those that hold and those that do not; exit code 1 if one is broken.
    """
    from audioclass.plugins.checking import judge_offers, select_offers

    manager, offers = select_offers(what, kind, _manager)
    judged = list(judge_offers(manager, offers, settings or []))
    if json:
        screen.out_json(judged)
    else:
        for component in judged:
            _print_verdicts(component)
    raise typer.Exit(1 if any(law["broken"] for component in judged for law in component["laws"]) else 0)


@app.command(epilog=screen.examples("audioclass plugins manifest ./my-kernel"))
def manifest(
    path: Annotated[Path, typer.Argument(help="Folder of a distribution, or audioclass itself.", show_default=False)],
) -> None:
    """Write the list of what a plugin offers.

    The list, audioclass-plugin.toml, is made from the classes; with it they are shown without being imported.
    """
    from audioclass.plugins.checking import write_manifest_file

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
    from audioclass.plugins.doctor import diagnose

    diagnosis = diagnose(progress=lambda name: screen.note(f"importing {name}"))
    ailing = diagnosis.manager.quarantine
    offers = diagnosis.manager.offers()
    rows = [
        {
            "distribution": source.distribution,
            "version": source.version,
            "pieces": sum(offer.distribution == source.distribution for offer in offers),
            "seconds": diagnosis.seconds.get(source.distribution),
            "state": "quarantine" if source.distribution in {q.distribution for q in ailing} else "works",
        }
        for source in diagnosis.sources
    ]
    if json:
        screen.out_json({"distributions": rows, "quarantine": [vars(quarantined) for quarantined in ailing]})
    else:
        _print_diagnosis(rows, ailing, traceback)
    raise typer.Exit(1 if ailing else 0)


# --- printing


def _manager(strict: bool | None = None) -> PluginManager:
    from audioclass.plugins.manager import plugin_manager

    return plugin_manager(strict=strict)


def _mention_quarantine(manager: PluginManager) -> None:
    if manager.quarantine:
        names = ", ".join(quarantined.distribution for quarantined in manager.quarantine)
        screen.note(f"in quarantine: {names}; `audioclass plugins doctor` says why")


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _local(folder: Path) -> str:
    return str(folder) if folder.is_absolute() or len(folder.parts) > 1 else f"./{folder}"


def _row(offer: Offer) -> tuple[str, ...]:
    settings = ", ".join(p.name if p.required else f"{p.name}={p.default}" for p in offer.parameters)
    return offer.name, _words(offer.kind), settings, offer.summary, f"{offer.distribution} {offer.version}"


def _describe(parameter: Parameter) -> str:
    said = [parameter.type.rstrip("?"), parameter.limits, parameter.help]
    if parameter.searchable:
        said.insert(2, f"searched from {parameter.searchable[0]:g} to {parameter.searchable[1]:g}, {parameter.scale}")
    start = parameter.name if parameter.required else f"{parameter.name}={parameter.default}"
    return f"{start}: " + "; ".join(part for part in said if part)


def _as_plain(offer: Offer) -> dict[str, Any]:
    parameters = [parameter.stated() for parameter in offer.parameters]
    return {**vars(offer), "parameters": parameters}


def _print_verdicts(component: dict[str, Any]) -> None:
    broken = sum(bool(law["broken"]) for law in component["laws"])
    state = (
        f"breaks {broken} of {len(component['laws'])} laws" if broken else f"keeps all {len(component['laws'])} laws"
    )
    screen.out(
        f"{_words(component['kind'])} {component['name']} ({component['distribution']} {component['version']}): {state}"
    )
    for law in component["laws"]:
        screen.out(f"  {'✗' if law['broken'] else '✓'} {law['sentence']}")
        if law["broken"]:
            screen.out(f"    {law['broken']}")


def _print_diagnosis(rows: Sequence[dict[str, Any]], ailing: Sequence[Any], traceback: bool) -> None:
    seconds = [f"{row['seconds']:.2f} s" if row["seconds"] is not None else "" for row in rows]
    columns = ("distribution", "version", "pieces", "import", "state")
    screen.table(
        columns,
        [
            (row["distribution"], row["version"], str(row["pieces"]), time, row["state"])
            for row, time in zip(rows, seconds, strict=True)
        ],
    )
    for quarantined in ailing:
        screen.out(f"\n{quarantined.distribution} {quarantined.version}: {quarantined.phase}: {quarantined.reason}")
        screen.out(f"  mend it with: {quarantined.remedy}")
        if traceback and quarantined.traceback:
            screen.out("  " + quarantined.traceback.rstrip().replace("\n", "\n  "))
