"""`audioclass tree show|export|edit`: the tree of groups that a model learnt or was given, and changes to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audioclass.cli import screen

app = typer.Typer(
    name="tree",
    help="The tree of a model: which labels stand in which group, with which machines.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, or the name of a shipped model.")]


@app.command(epilog=screen.examples("audioclass tree show birds.audioclass"))
def show(model: ModelPath) -> None:
    """Draw the tree: a line for each node, with what its machines are and reach."""
    from audioclass.cli.actions import edit_tree

    edit_tree.show(model)


@app.command(
    epilog=screen.examples(
        "audioclass tree export birds.audioclass -o birds.toml",
        "audioclass tree export birds.audioclass -o birds.svg",
        "audioclass tree export birds.audioclass --format newick | figtree",
    )
)
def export(
    model: ModelPath,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here; the suffix tells the format.", show_default=False),
    ] = None,
    format: Annotated[  # noqa: A002 (the name of the option)
        str | None,
        typer.Option("--format", "-f", help="toml, newick or svg (toml).", show_default=False),
    ] = None,
) -> None:
    """Write the tree as TOML, in Newick's notation or as a picture.

    TOML and Newick hold every machine with its kernel and C, and can be edited and read back by `audioclass train
    --tree`.
    """
    from audioclass.cli.actions import edit_tree

    edit_tree.export(model, output=output, format_name=format)


@app.command(
    epilog=screen.examples(
        "audioclass tree edit birds.audioclass -o edited.toml",
        "audioclass tree edit birds.audioclass --group owls=barn,tawny --move crow=songbirds -o edited.toml",
        'audioclass tree edit birds.audioclass --merge "group 3" --rename "group 2=waders" -o edited.toml',
        "audioclass train --update birds.audioclass --tree edited.toml -o birds2.audioclass",
    )
)
def edit(
    model: ModelPath,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The edited tree as TOML; an editor's goes to MODEL-tree.toml by default.",
            show_default=False,
        ),
    ] = None,
    tree: Annotated[
        Path | None,
        typer.Option("--tree", help="Go on from this file instead of the model's tree.", show_default=False),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="NAME=MEMBER,MEMBER", help="Make a group of labels or groups."),
    ] = None,
    move: Annotated[
        list[str] | None, typer.Option("--move", metavar="NAME=GROUP", help="Move a label or group into a group.")
    ] = None,
    add: Annotated[
        list[str] | None, typer.Option("--add", metavar="LABEL=GROUP", help="Put a label into one more group.")
    ] = None,
    merge: Annotated[
        list[str] | None, typer.Option("--merge", metavar="GROUP", help="Merge a group into the one above it.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option("--rename", metavar="OLD=NEW", help="Give a group another name.")
    ] = None,
    error_factor: Annotated[
        list[str] | None,
        typer.Option("--error-factor", "-C", metavar="NODE=C", help="Another C for the machines of a node."),
    ] = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option("--kernel", metavar="NODE=KERNEL", help="Another kernel, such as gaussian:sigma=2."),
    ] = None,
) -> None:
    """Change the tree and say what would be trained again; nothing is trained yet.

    Options are applied in the order of this list. Without any of them the tree is opened in $EDITOR and checked when
    that closes.
    """
    from audioclass.cli.actions import edit_tree

    edit_tree.edit(
        model,
        output=output,
        tree=tree,
        group=group,
        move=move,
        add=add,
        merge=merge,
        rename=rename,
        error_factor=error_factor,
        kernel=kernel,
    )
