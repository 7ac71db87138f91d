"""What `audioclass tree` does: the tree of a model drawn, written and changed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from audioclass.classifier.model import Model
from audioclass.cli import screen
from audioclass.engine.models import load_model
from audioclass.engine.runs import make_run
from audioclass.engine.tree_editing import compare_trees, fitting_machines, tree_of_model
from audioclass.errors import UsageError
from audioclass.outputs import atomic_write
from audioclass.parameters import parameter_values
from audioclass.trees import editing
from audioclass.trees.drawing import draw_lines
from audioclass.trees.files import WRITERS, read_tree, tree_format
from audioclass.trees.reading import read_toml
from audioclass.trees.text import WrittenTree


def show(model: str) -> None:
    """Draw the tree of a model."""
    for line in draw_lines(_load(model)[1]):
        screen.out(line)


def export(model: str, *, output: Path | None, format_name: str | None) -> None:
    """Write the tree of a model in a format."""
    place = _place(output, [Path(model)])
    written = WRITERS[tree_format(place, format_name)](_load(model)[1])
    _write(written, place)


def edit(
    model: str,
    *,
    output: Path | None,
    tree: Path | None,
    group: list[str] | None,
    move: list[str] | None,
    add: list[str] | None,
    merge: list[str] | None,
    rename: list[str] | None,
    error_factor: list[str] | None,
    kernel: list[str] | None,
) -> None:
    """Apply the edits, or open an editor where there are none, and say what would be trained again."""
    edits = {"group": group, "move": move, "add": add, "merge": merge, "rename": rename}
    machines = {"C": error_factor, "kernel": kernel}
    inputs = [Path(model), *([tree] if tree else [])]
    uses_editor = not any(edits.values()) and not any(machines.values())
    place = _place(output or (Path(f"{Path(model).stem}-tree.toml") if uses_editor else None), inputs)
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
    loaded = load_model(model)
    return loaded, tree_of_model(loaded)


def _place(output: Path | None, inputs: Sequence[Path]) -> Path | None:
    """Where to write; None for standard output."""
    if output is None or str(output) == "-":
        return None
    screen.check_place(output, inputs)
    return output


def _write(text: str, place: Path | None) -> None:
    if place is None:
        screen.out_text(text.rstrip("\n"))
    else:
        atomic_write(place, text)
        screen.note(f"{place}: written")


def _edited(written: WrittenTree, edits: Mapping[str, list[str] | None]) -> WrittenTree:
    """The tree after every edit, kind by kind."""
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
    for stated in edits["C"] or ():
        node, value = _pair("--error-factor", stated)
        written = editing.set_machines(written, node, {"C": _error_factor(value)})
    for stated in edits["kernel"] or ():
        node, value = _pair("--kernel", stated)
        written = editing.set_machines(written, node, {"kernel": _kernel_table(value)})
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
    kernel = make_run().component("kernel", text)
    return {"name": kernel.name, **parameter_values(kernel)}


def _in_editor(written: WrittenTree) -> WrittenTree:
    """The tree as somebody leaves it in an editor."""
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
