"""A new plugin: a complete, working distribution for any contract, written without the network."""

from __future__ import annotations

import keyword
import re
import tempfile
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from audioclass.errors import UsageError, unknown_name
from audioclass.hookspecs import KINDS, PROJECT
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.manifests import MANIFEST, describe, write_manifest


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
    """The words of a name: `my-kernel`, `my_kernel` and `audioclass-my-kernel` are all my, kernel."""
    short = re.sub(rf"^{PROJECT}[-_]", "", name)
    if not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", short) or keyword.iskeyword(short):
        raise UsageError(f"name {name!r} must be lower-case letters and digits in words joined by hyphens")
    return re.split("[-_]", short)


def _refuse_taken(component: str, kind: str, folder: Path, manager: PluginManager) -> None:
    if folder.exists():
        raise UsageError(f"{folder} exists already; nothing was written")
    namespace = KINDS[kind].namespace
    for offer in manager.offers():
        if offer.key == (namespace, component):
            raise UsageError(
                f"the {offer.kind} {component!r} exists already: {offer.distribution} {offer.version} offers it"
            )


def _write(folder: Path, words: list[str], kind: str) -> None:
    module = f"audioclass_{'_'.join(words)}"
    code = _filled(f"{kind}.py", words, kind)
    (folder / "tests").mkdir(parents=True)
    for path, text in {
        f"{module}.py": code,
        "pyproject.toml": _filled("pyproject.toml", words, kind),
        f"tests/test_{'_'.join(words)}.py": _filled("test.py", words, kind),
        "README.md": _filled("README.md", words, kind).replace("EXAMPLE_SUMMARY", code.split('"""')[1]),
    }.items():
        (folder / path).write_text(text, encoding="utf-8")
    template = import_module(f"{PROJECT}.plugins.templates.{kind}")
    offer = describe(template.ExampleName, kind, module, "", "")
    manifest = write_manifest([replace(offer, name="_".join(words))])
    (folder / MANIFEST).write_text(manifest, encoding="utf-8")


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
    }.items():
        text = text.replace(placeholder, value)
    return text
