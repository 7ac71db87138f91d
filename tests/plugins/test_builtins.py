"""A new built-in is its file: a checkout has no list of components, and a wheel gets its own when it is built."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from environments import OFFLINE, REPOSITORY

from audioclass.cli import run
from audioclass.plugins import builtins, manager
from audioclass.plugins.manifests import BUILTIN_MANIFEST

CAUCHY = """
from typing import ClassVar
from audioclass.parameters import component
from audioclass.hookspecs import hookimpl

@component
class Cauchy:
    "A kernel in a file of its own."
    name: ClassVar[str] = "cauchy"

@hookimpl
def register_kernels():
    return [Cauchy]
"""


def names(manifest):
    return {entry["name"] for entry in json.loads(manifest)["entries"]}


@pytest.fixture
def checkout(tmp_path):
    """The files that offer kernels, in a folder that can be changed."""
    shutil.copytree(Path(builtins.__file__).parents[1] / "kernels", tmp_path / "audioclass" / "kernels")
    return tmp_path / "audioclass"


def test_a_new_file_is_there_and_a_removed_one_is_gone(checkout, tmp_path):
    before = names(builtins._manifest_of_files(checkout, tmp_path / "cache"))
    (checkout / "kernels" / "cauchy.py").write_text(CAUCHY)
    assert names(builtins._manifest_of_files(checkout, tmp_path / "cache")) == before | {"cauchy"}
    (checkout / "kernels" / "cauchy.py").unlink()
    assert names(builtins._manifest_of_files(checkout, tmp_path / "cache")) == before


def test_files_that_did_not_change_are_not_read_again(checkout, tmp_path, monkeypatch):
    first = builtins._manifest_of_files(checkout, tmp_path / "cache")
    monkeypatch.setattr(builtins, "make_builtin_manifest", None)
    assert builtins._manifest_of_files(checkout, tmp_path / "cache") == first


def test_a_folder_that_cannot_be_written_is_no_failure(checkout, tmp_path):
    (tmp_path / "file").write_text("")
    assert "gaussian" in names(builtins._manifest_of_files(checkout, tmp_path / "file" / "cache"))


def test_no_manifest_of_the_builtins_is_under_version_control():
    assert not list((REPOSITORY / "audioclass").glob("audioclass-plugin.*"))


def test_a_wheel_carries_the_manifest_and_the_build_imports_nothing_heavy(tmp_path):
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        *OFFLINE,
        "--no-deps",
        "--wheel-dir",
        str(tmp_path),
        str(REPOSITORY),
    ]
    blocked = "import sys\nfor name in ('numpy', 'scipy', 'sklearn', 'typer'):\n    sys.modules[name] = None\n"
    (tmp_path / "sitecustomize.py").write_text(blocked)
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert {"gaussian", "svm", "csv"} <= names(archive.read(f"audioclass/{BUILTIN_MANIFEST}"))
        assert not [name for name in archive.namelist() if "__pycache__" in name]


def test_classifying_the_demo_makes_one_manager(monkeypatch, capsys):
    made = []
    init = manager.PluginManager.__init__
    monkeypatch.setattr(
        manager.PluginManager, "__init__", lambda self, *given: (made.append(self), init(self, *given))[1]
    )
    manager.shared_manager.cache_clear()
    assert run(["classify", str(REPOSITORY / "corpora" / "demo" / "demo.flac")]) == 0
    assert len(made) == 1
