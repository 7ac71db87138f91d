"""A new plugin: a complete, working distribution for any contract, written without the network."""

from __future__ import annotations

import keyword
import os
import re
import tempfile
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from audioclass import __version__
from audioclass.errors import UsageError, unknown_name
from audioclass.hookspecs import KINDS, PROJECT
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.manifests import MANIFEST, describe, write_manifest
from audioclass.plugins.sources import canonical


def write_plugin(name: str, kind: str, directory: Path, manager: PluginManager) -> Path:
    """Write the distribution `audioclass-NAME` into `directory/name` and return that folder.

    The folder is made beside its place and then renamed: it is there whole or not at all.
    """
    if kind not in KINDS:
        raise unknown_name("kind", kind, KINDS)
    folder = directory / name
    words = _words(name)
    _refuse_taken("_".join(words), kind, folder, manager)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory, prefix=".new-") as beside:
            draft = Path(beside) / "draft"
            _write(draft, words, kind)
            draft.rename(folder)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from error
    return folder


def _words(name: str) -> list[str]:
    """The words of a name: `my-kernel`, `My_Kernel` and `audioclass-my-kernel` are all my, kernel, as pip compares."""
    short = canonical(name).removeprefix(f"{PROJECT}-")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", short) or keyword.iskeyword(short):
        raise UsageError(f"name {name!r} must be letters and digits in words joined by hyphens")
    return short.split("-")


def _refuse_taken(component: str, kind: str, folder: Path, manager: PluginManager) -> None:
    if os.path.lexists(folder):
        raise UsageError(f"{folder} exists already; nothing was written")
    namespace = KINDS[kind].namespace
    for entry in manager.entries():
        if entry.key == (namespace, component):
            raise UsageError(
                f"the {entry.kind} {component!r} exists already: it comes from {entry.distribution} {entry.version}"
            )


def _write(folder: Path, words: list[str], kind: str) -> None:
    package = f"{PROJECT}_{'_'.join(words)}"
    code = _filled(f"{kind}.py", words, kind)
    entry = describe(import_module(f"{PROJECT}.plugins.templates.{kind}").ExampleName, kind, package, "", "")
    for path, text in {
        f"{package}/__init__.py": code,
        f"{package}/py.typed": "",
        f"{package}/{MANIFEST}": write_manifest([replace(entry, name="_".join(words))]),
        f"tests/test_{'_'.join(words)}.py": _filled("test.py.txt", words, kind),
        "pyproject.toml": _filled("pyproject.toml", words, kind),
        "README.md": _filled("README.md", words, kind).replace("EXAMPLE_SUMMARY", code.split('"""')[1]),
        "LICENSE": _filled("LICENSE", words, kind),
        ".gitignore": _filled("gitignore", words, kind),
        ".github/workflows/test.yml": _filled("workflow.yml", words, kind),
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def _compatible_versions() -> str:
    """The versions of audioclass that a plugin written today can count on."""
    major, minor = (int(part) for part in __version__.split(".")[:2])
    end = f"0.{minor + 1}" if major == 0 else str(major + 1)
    return f">={major}.{minor},<{end}"


def _filled(template: str, words: list[str], kind: str) -> str:
    """A template with its placeholders replaced; the templates are real modules, read and linted as such."""
    text = files(PROJECT).joinpath("plugins", "templates", template).read_text(encoding="utf-8")
    for placeholder, value in {
        "ExampleName": "".join(word.capitalize() for word in words),
        "example_name": "_".join(words),
        "example-name": "-".join(words),
        "check_EXAMPLE_KIND": f"check_{kind}",
        "EXAMPLE_KIND": kind.replace("_", " "),
        "register_EXAMPLE_HOOK": KINDS[kind].hook,
        "EXAMPLE_VERSIONS": _compatible_versions(),
    }.items():
        text = text.replace(placeholder, value)
    return text
