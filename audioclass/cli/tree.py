"""`audioclass tree show|export|edit`: the tree of groups that a model learnt or was given, and changes to it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audioclass.cli import screen
from audioclass.errors import UsageError

if TYPE_CHECKING:
    from audioclass.classifier.model import Model
    from audioclass.trees.text import WrittenTree

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
    from audioclass.trees.drawing import draw_lines

    screen.out("\n".join(draw_lines(_load(model)[1])))


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
    from audioclass.trees.files import WRITERS, tree_format

    place = _place(output)
    written = WRITERS[tree_format(place, format)](_load(model)[1])
    _write(written, place)


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
    from audioclass.engine.tree_editing import compare_trees, fitting_machines
    from audioclass.trees.files import read_tree

    edits = {"group": group, "move": move, "add": add, "merge": merge, "rename": rename}
    machines = {"C": error_factor, "kernel": kernel}
    uses_editor = not any(edits.values()) and not any(machines.values())
    place = _place(output or (Path(f"{Path(model).stem}-tree.toml") if uses_editor else None))
    loaded, before = _load(model)
    written = before if tree is None else read_tree(tree)
    if uses_editor:
        edited = _in_editor(written)
    else:
        edited = _with_machines(fitting_machines(loaded, _edited(written, edits)), machines)
    changes = compare_trees(loaded, edited)
    _write(edited.to_toml(), place)
    screen.note(changes.describe())
    if place is not None and not changes.is_same:
        screen.note(f"audioclass train --update {model} --tree {place}")


def _load(model: str) -> tuple[Model, WrittenTree]:
    from audioclass.engine.models import load_model
    from audioclass.engine.tree_editing import tree_of_model

    loaded = load_model(model)
    return loaded, tree_of_model(loaded)


def _place(output: Path | None) -> Path | None:
    """Where to write; None for standard output."""
    if output is None or str(output) == "-":
        return None
    screen.check_place(output)
    return output


def _write(text: str, place: Path | None) -> None:
    from audioclass.storage import atomic_write

    if place is None:
        screen.out(text.rstrip("\n"))
    else:
        atomic_write(place, text)
        screen.note(f"{place}: written")


def _edited(written: WrittenTree, edits: Mapping[str, list[str] | None]) -> WrittenTree:
    """The tree after every edit, kind by kind."""
    from audioclass.trees import editing

    for stated in edits["group"] or ():
        name, members = _pair("--group", stated)
        written = editing.make_group(written, name, [member.strip() for member in members.split(",")])
    for stated in edits["move"] or ():
        written = editing.move(written, *_pair("--move", stated))
    for stated in edits["add"] or ():
        written = editing.add(written, *_pair("--add", stated))
    for name in edits["merge"] or ():
        written = editing.merge_group(written, name)
    for stated in edits["rename"] or ():
        written = editing.rename_group(written, *_pair("--rename", stated))
    return written


def _with_machines(written: WrittenTree, edits: Mapping[str, list[str] | None]) -> WrittenTree:
    """The tree with other choices for the machines of some nodes."""
    from audioclass.trees.editing import set_machines

    for stated in edits["C"] or ():
        node, value = _pair("--error-factor", stated)
        written = set_machines(written, node, {"C": _error_factor(value)})
    for stated in edits["kernel"] or ():
        node, value = _pair("--kernel", stated)
        written = set_machines(written, node, {"kernel": _kernel_table(value)})
    return written


def _pair(option: str, stated: str) -> tuple[str, str]:
    left, equals, right = stated.partition("=")
    if not equals or not left.strip() or not right.strip():
        raise UsageError(f"{option} {stated!r} must be two names with = between")
    return left.strip(), right.strip()


def _error_factor(text: str) -> float:
    try:
        C = float(text)
    except ValueError:
        C = float("nan")
    if not 0 < C < float("inf"):
        raise UsageError(f"C={text} must be positive and finite")
    return C


def _kernel_table(text: str) -> dict[str, Any]:
    """The kernel that a text names, as a table of all its parameters."""
    from audioclass.engine.runs import make_run
    from audioclass.parameters import parameter_values

    kernel = make_run().component("kernel", text)
    return {"name": kernel.name, **parameter_values(kernel)}


def _in_editor(written: WrittenTree) -> WrittenTree:
    """The tree as somebody leaves it in an editor."""
    from audioclass.trees.reading import read_toml

    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise UsageError("no edit is stated, and there is no terminal to open an editor in; see tree edit --help")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")
    with tempfile.TemporaryDirectory(prefix="audioclass-") as folder:
        path = Path(folder) / "tree.toml"
        path.write_text(written.to_toml(), encoding="utf-8")
        try:
            subprocess.run([*shlex.split(editor), str(path)], check=True)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise UsageError(f"editor {editor!r} failed: {error}") from error
        return read_toml(path.read_text(encoding="utf-8"))
